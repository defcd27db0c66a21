package spans

import (
	"math"
	"testing"
)

func TestAnIntervalHoldsAnother(t *testing.T) {
	at := func(start, duration int64) Interval { return Interval{start, duration, true} }
	for _, c := range []struct {
		name          string
		outer, inner  Interval
		held, byTimes bool
	}{
		{"inside", at(1, 100), at(5, 50), true, true},
		{"a millisecond out", at(1_000_001, 100), at(1, 1_000_100), true, true},
		{"more than a millisecond before", at(1_000_002, 100), at(1, 50), false, true},
		{"more than a millisecond after", at(1, 100), at(5, 1_000_097), false, true},
		{"a logger of whole seconds", at(5_000_000_000, 1_234_567), at(4_500_000_001, 400_000_001), true, true},
		{"no times, shorter", Interval{Duration: 100}, at(5, 100), true, false},
		{"no times, longer", at(1, 100), Interval{Duration: 101}, false, false},
		{"apart by more than an int64", at(math.MinInt64, 100), at(math.MaxInt64-1, 1), false, true},
	} {
		if held, by := c.outer.Holds(c.inner); held != c.held || by != c.byTimes {
			t.Errorf("%s: %v by times %v", c.name, held, by)
		}
	}
}
