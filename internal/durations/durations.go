// Package durations writes nanoseconds for people, exactly.
package durations

import (
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

// UnitOf returns the largest unit that fits once into ns; ns for 0.
func UnitOf(ns int64) Unit {
	u := Units[0]
	for _, v := range Units {
		if ns >= v.Scale {
			u = v
		}
	}
	return u
}

// Text writes ns exactly in its largest unit: "5 s", "284.851 ms".
func Text(ns int64) string {
	u := UnitOf(ns)
	return In(ns, u) + " " + u.Name
}

// In writes ns exactly in unit u, without the unit's name and without trailing
// zeros.
func In(ns int64, u Unit) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	whole, rest := ns/u.Scale, ns%u.Scale
	if rest == 0 {
		return sign + strconv.FormatInt(whole, 10)
	}
	frac := strconv.FormatInt(rest+u.Scale, 10)[1:]
	return sign + strconv.FormatInt(whole, 10) + "." + strings.TrimRight(frac, "0")
}
