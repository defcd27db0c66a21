package report

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/ratio"
)

const (
	// Dash stands for no value.
	Dash        = "–"
	maxDecimals = 3
)

// Scale writes durations that people compare: one unit, one number of
// decimals.
type Scale struct {
	unit     durations.Unit
	decimals int
}

// ScaleOf takes the largest unit in which the smallest value above 0 is still
// at least 1, and as many decimals as the values need, three at most.
func ScaleOf(values []int64) Scale {
	smallest := int64(0)
	for _, v := range values {
		if v > 0 && (smallest == 0 || v < smallest) {
			smallest = v
		}
	}
	s := Scale{unit: durations.UnitOf(smallest)}
	for s.decimals < min(maxDecimals, s.unit.Digits) && !s.exact(values) {
		s.decimals++
	}
	return s
}

func (s Scale) exact(values []int64) bool {
	for _, v := range values {
		if v%s.step() != 0 {
			return false
		}
	}
	return true
}

// step is the duration of one unit in the last decimal.
func (s Scale) step() int64 {
	step := s.unit.Scale
	for range s.decimals {
		step /= 10
	}
	return step
}

// Nearest rounds half up: for values that are known.
func (s Scale) Nearest(ns int64) string { return s.rounded(ns, s.step()-s.step()/2) }

// Down rounds down: a lower bound must never grow.
func (s Scale) Down(ns int64) string { return s.rounded(ns, s.step()) }

// Up rounds up: an upper bound must never shrink.
func (s Scale) Up(ns int64) string { return s.rounded(ns, 1) }

// rounded rounds up where so many ns or more are left over, else down.
func (s Scale) rounded(ns, upFrom int64) string {
	steps, rest := ns/s.step(), ns%s.step()
	if rest < 0 {
		steps, rest = steps-1, rest+s.step()
	}
	if rest >= upFrom {
		steps++
	}
	return s.format(steps)
}

func (s Scale) format(steps int64) string {
	sign := ""
	if steps < 0 {
		sign, steps = "-", -steps
	}
	digits := fmt.Sprintf("%0*d", s.decimals+1, steps)
	whole, frac := digits[:len(digits)-s.decimals], digits[len(digits)-s.decimals:]
	if frac != "" {
		frac = "." + frac
	}
	return sign + whole + frac + " " + s.unit.Name
}

// Round writes one duration in its own unit, as coarsely as a guess is known.
func Round(ns int64) string { return ScaleOf([]int64{ns}).Nearest(ns) }

// Limits writes a range of shares, each end rounded outwards.
func Limits(lower, upper float64) string {
	return ratio.Down(lower) + "–" + ratio.Up(upper) + " %"
}
