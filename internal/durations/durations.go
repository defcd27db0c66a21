// Package durations writes nanoseconds for people, exactly, and adds them up.
package durations

import (
	"math"
	"strconv"
	"strings"
)

// Unit is a decimal time unit.
type Unit struct {
	Name   string
	Digits int   // power of ten over a nanosecond
	Scale  int64 // nanoseconds
}

// Units lists the units from the smallest to the largest.
var Units = [...]Unit{{"ns", 0, 1}, {"µs", 3, 1e3}, {"ms", 6, 1e6}, {"s", 9, 1e9}}

// Sum returns a + b, which are not negative, at most the largest int64. Sums that
// end there still do not depend on the order of what they add up.
func Sum(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// UnitOf returns the largest unit that fits once into ns, whatever its sign; ns
// for 0.
func UnitOf(ns int64) Unit {
	u := Units[0]
	for _, v := range Units {
		if magnitude(ns) >= uint64(v.Scale) {
			u = v
		}
	}
	return u
}

func magnitude(ns int64) uint64 {
	if ns < 0 {
		return -uint64(ns) // right for the smallest int64 too
	}
	return uint64(ns)
}

// Text writes ns exactly in its largest unit: "5 s", "284.851 ms".
func Text(ns int64) string {
	u := UnitOf(ns)
	return In(ns, u) + " " + u.Name
}

// In writes ns exactly in unit u, without the unit's name and without trailing
// zeros.
func In(ns int64, u Unit) string {
	scale := uint64(u.Scale)
	text := strconv.FormatUint(magnitude(ns)/scale, 10)
	if ns < 0 {
		text = "-" + text
	}
	rest := magnitude(ns) % scale
	if rest == 0 {
		return text
	}
	fraction := strconv.FormatUint(scale+rest, 10)[1:]
	return text + "." + strings.TrimRight(fraction, "0")
}
