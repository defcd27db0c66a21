// Package brief writes figures for people with three significant digits, bounds only
// to their own side, and chooses the one unit of a table.
package brief

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
)

// Rounding is to which side a figure may move when it is shortened.
type Rounding int8

// A lower bound goes Down, an upper bound Up, and a known value to the Nearest.
const (
	Down    Rounding = -1
	Nearest Rounding = 0
	Up      Rounding = 1
)

// digits is how many of them people read.
const digits = 3

// coarsest is the step, in ns, of the last of the three digits of a duration.
func coarsest(ns int64) int64 {
	step := int64(1)
	for abs(ns)/step >= 1000 {
		step *= 10
	}
	return step
}

func abs(ns int64) int64 {
	if ns < 0 {
		return max(-ns, 0)
	}
	return ns
}

// round moves ns to a multiple of step.
func round(ns, step int64, r Rounding) int64 {
	rest := ns % step
	if rest < 0 {
		rest += step
	}
	up := r == Up && rest > 0 || r == Nearest && rest >= step-step/2
	if down := ns - rest; up && down <= math.MaxInt64-step {
		return down + step
	} else if up {
		return ns
	} else {
		return down
	}
}

// Duration writes ns in its own unit: "277 ms", "5.74 s".
func Duration(ns int64, r Rounding) string {
	return durations.Text(round(ns, coarsest(ns), r))
}

// Range writes a span of durations, rounded outwards: "389 to 401 ms".
func Range(from, to int64) string {
	a, b := Duration(from, Down), Duration(to, Up)
	number, unit, _ := strings.Cut(a, " ")
	if strings.HasSuffix(b, " "+unit) {
		return number + " to " + b
	}
	return a + " to " + b
}

// lengths are the units of what is longer than a few minutes.
var lengths = [...]struct {
	name string
	ns   int64
}{{"days", 24 * 3600e9}, {"h", 3600e9}, {"min", 60e9}}

// Length writes how long something went on: "8 s", "58 min", "2.3 h", "7 days".
func Length(ns int64, r Rounding) string {
	for _, u := range lengths {
		if ns >= 2*u.ns {
			return strconv.FormatFloat(toSide(float64(ns)/float64(u.ns), 1, r), 'f', -1, 64) + " " + u.name
		}
	}
	return durations.Text(round(ns, coarsest(ns), r))
}

// Share writes a share of 1 in percent, within 0 and 100 %. A share that is neither
// nothing nor everything does not look so.
func Share(share float64, r Rounding) string {
	v := min(max(share, 0), 1) * 100
	switch {
	case math.IsNaN(share):
		return "–"
	case v > 0 && v < leastShare && r == Down:
		return "0 %"
	case v > 0 && v < leastShare:
		return "<0.1 %"
	}
	places := 2
	for limit := 10.0; v >= limit && places > 0; limit *= 10 {
		places--
	}
	return trim(strconv.FormatFloat(toSide(v, places, r), 'f', places, 64)) + " %"
}

// leastShare, in percent, is the smallest that is written as a figure.
const leastShare = 0.1

func toSide(v float64, places int, r Rounding) float64 {
	scale := math.Pow10(places)
	down, up := math.Floor(v*scale)/scale, math.Ceil(v*scale)/scale
	if near := math.Round(v * scale); math.Abs(v*scale-near) < 1e-9 { // 93.1 times 10 is not quite 931
		down, up = near/scale, near/scale
	}
	switch {
	case r == Down || r == Nearest && v < 100 && v*scale >= 100*scale-.5:
		return down
	case r == Up:
		return up
	}
	return math.Floor(v*scale+.5+1e-9) / scale // half goes up, also where the last bit says less
}

// Number writes a figure without a unit.
func Number(f float64, r Rounding) string {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return "0"
	}
	places := digits - 1 - int(math.Floor(math.Log10(math.Abs(f))))
	if places < 0 {
		unit := math.Pow10(-places)
		return strconv.FormatFloat(math.Round(toSide(f/unit, 0, r))*unit, 'f', 0, 64)
	}
	return trim(strconv.FormatFloat(toSide(f, places, r), 'f', places, 64))
}

func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Scale is the one unit of a table.
type Scale struct {
	unit durations.Unit
	step int64 // ns, of which all values are multiples
}

// ScaleOf takes the unit in which the median of the values above 0 lies between 1 and
// 999, and no digits that none of them has.
func ScaleOf(values []int64) Scale {
	var some []int64
	s := Scale{step: math.MaxInt64}
	for _, v := range values {
		if v > 0 {
			some = append(some, v)
			s.step = min(s.step, wholeStep(v))
		}
	}
	if len(some) == 0 {
		return Scale{unit: durations.Units[2], step: 1}
	}
	slices.Sort(some)
	s.unit = durations.UnitOf(some[(len(some)-1)/2])
	return s
}

// wholeStep is the largest power of ten that divides ns.
func wholeStep(ns int64) int64 {
	step := int64(1)
	for ns%(step*10) == 0 && step < 1e15 {
		step *= 10
	}
	return step
}

// Unit is the name of the unit.
func (s Scale) Unit() string { return s.unit.Name }

// Word is the unit as a title has it.
func (s Scale) Word() string {
	if s.unit.Name == "s" {
		return "seconds"
	}
	return s.unit.Name
}

// Text writes ns in the unit, without its name. What is too small for it reads "<0.1",
// and 0 as a bound.
func (s Scale) Text(ns int64, r Rounding) string {
	tenth := s.unit.Scale / 10
	if ns == 0 {
		return "0"
	}
	if s.unit.Scale >= 10 && ns > 0 && ns < tenth {
		if r == Down {
			return "0"
		}
		return "<0.1"
	}
	step := max(coarsest(ns), min(s.step, s.unit.Scale))
	ns = round(ns, step, r)
	step = max(coarsest(ns), min(s.step, s.unit.Scale))
	places := 0
	for at := s.unit.Scale; at > step && at > 1; at /= 10 {
		places++
	}
	return fixed(ns, s.unit, places)
}

// fixed writes ns with so many decimals, which are all that it has.
func fixed(ns int64, u durations.Unit, places int) string {
	text := durations.In(ns, u)
	whole, fraction, _ := strings.Cut(text, ".")
	if places == 0 {
		return whole
	}
	return whole + "." + fraction + strings.Repeat("0", max(0, places-len(fraction)))
}
