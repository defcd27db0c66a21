package waterfall

import (
	"slices"
	"strconv"

	"github.com/tailscope/tailscope/internal/durations"
)

// unitOf returns the unit of which the median of some times is 1 to 999, so that most of
// them are read without an exponent in mind; ms where there are none.
func unitOf(times []int64) durations.Unit {
	var list []int64
	for _, ns := range times {
		if ns > 0 {
			list = append(list, ns)
		}
	}
	if list == nil {
		return durations.Units[2]
	}
	slices.Sort(list)
	return durations.UnitOf(list[len(list)/2])
}

// figure writes a time in a unit, with three significant digits.
func figure(ns int64, u durations.Unit) string {
	v := float64(ns) / float64(u.Scale)
	if v > 0 && v < 0.1 {
		return "<0.1"
	}
	digits := strconv.FormatFloat(v, 'g', 3, 64)
	rounded, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return digits // never: it was just written
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// lone writes one time in its own unit.
func lone(ns int64) string {
	u := durations.UnitOf(ns)
	return figure(ns, u) + " " + u.Name
}
