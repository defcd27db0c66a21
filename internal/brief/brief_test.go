package brief

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const ms = 1_000_000

func TestDurationHasThreeDigits(t *testing.T) {
	for _, c := range []struct {
		ns                int64
		down, near, above string
	}{
		{0, "0 ns", "0 ns", "0 ns"},
		{7, "7 ns", "7 ns", "7 ns"},
		{999_500, "999 µs", "1 ms", "1 ms"},
		{250 * ms, "250 ms", "250 ms", "250 ms"},
		{249_841_000, "249 ms", "250 ms", "250 ms"},
		{5_737_400_000, "5.73 s", "5.74 s", "5.74 s"},
		{12_497_000, "12.4 ms", "12.5 ms", "12.5 ms"},
		{1_234_567_000_000, "1230 s", "1230 s", "1240 s"},
		{-1_234_567, "-1.24 ms", "-1.23 ms", "-1.23 ms"},
	} {
		if got := [3]string{Duration(c.ns, Down), Duration(c.ns, Nearest), Duration(c.ns, Up)}; got != [3]string{c.down, c.near, c.above} {
			t.Errorf("%d: %v", c.ns, got)
		}
	}
}

func TestShareStaysBetweenNothingAndAll(t *testing.T) {
	for _, c := range []struct {
		share             float64
		down, near, above string
	}{
		{0, "0 %", "0 %", "0 %"},
		{-.02, "0 %", "0 %", "0 %"},
		{1.04, "100 %", "100 %", "100 %"},
		{.0005, "0 %", "<0.1 %", "<0.1 %"},
		{.9667, "96.6 %", "96.7 %", "96.7 %"},
		{.9999, "99.9 %", "99.9 %", "100 %"},
		{.0123, "1.23 %", "1.23 %", "1.23 %"},
		{.25, "25 %", "25 %", "25 %"},
		{.1325, "13.2 %", "13.3 %", "13.3 %"}, // half goes up
		{.13249, "13.2 %", "13.2 %", "13.3 %"},
		{.01005, "1 %", "1.01 %", "1.01 %"}, // whatever its last bit says
	} {
		if got := [3]string{Share(c.share, Down), Share(c.share, Nearest), Share(c.share, Up)}; got != [3]string{c.down, c.near, c.above} {
			t.Errorf("%v: %v", c.share, got)
		}
	}
}

func TestLengthIsInMinutesHoursOrDays(t *testing.T) {
	for ns, want := range map[int64][2]string{
		7_969_016_000: {"7.96 s", "7.97 s"}, 19_889_000_000: {"19.8 s", "19.9 s"}, 3480e9: {"58 min", "58 min"}, 8300e9: {"2.3 h", "2.4 h"}, 7 * 24 * 3600e9: {"7 days", "7 days"},
	} {
		if got := [2]string{Length(ns, Down), Length(ns, Up)}; got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 7.9249: "7.92", 1234.5: "1230", .001234: "0.00123", 150.58: "151"} {
		if got := Number(f, Nearest); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestScaleTakesTheUnitOfTheMedian(t *testing.T) {
	for _, c := range []struct {
		values []int64
		unit   string
		want   string
	}{
		{[]int64{0, 2_000, 249_841_000, 145_730_000}, "ms", "<0.1 250 146"},
		{[]int64{368_000_000, 2_800_000_000, 10_537_000_000}, "s", "0.368 2.80 10.5"},
		{[]int64{20 * ms, 200 * ms, 2000 * ms}, "ms", "20 200 2000"},
		{[]int64{20_500_000, 120 * ms, 38 * ms}, "ms", "20.5 120 38.0"},
		{[]int64{5, 7}, "ns", "5 7"},
	} {
		s := ScaleOf(c.values)
		var got []string
		for _, v := range c.values {
			if v > 0 {
				got = append(got, s.Text(v, Nearest))
			}
		}
		if s.Unit() != c.unit || strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v in %s", c.values, got, s.Unit())
		}
	}
}

// A bound moves to its own side only, and by less than one in a hundred.
func TestBoundsKeepTheirSide(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ns := rapid.Int64Range(1, 1<<55).Draw(r, "ns")
		values := append(rapid.SliceOfN(rapid.Int64Range(1, 1<<55), 0, 5).Draw(r, "others"), ns)
		s := ScaleOf(values)
		for _, side := range []Rounding{Down, Up} {
			for _, text := range []string{s.Text(ns, side) + " " + s.Unit(), Duration(ns, side)} {
				if text == "<0.1 "+s.Unit() && ns < s.unit.Scale/10 {
					continue
				}
				got := read(t, text)
				if side == Down && got > ns || side == Up && got < ns {
					r.Fatalf("%d to side %d reads %s", ns, side, text)
				}
				if off := got - ns; abs(off)/max(1, ns/100) > 1 && got != 0 {
					r.Fatalf("%d reads %s", ns, text)
				}
			}
		}
	})
}

// read is the inverse of what is written.
func read(t *testing.T, text string) int64 {
	number, unit, _ := strings.Cut(text, " ")
	scale := map[string]int{"ns": 0, "µs": 3, "ms": 6, "s": 9}[unit]
	whole, fraction, _ := strings.Cut(number, ".")
	fraction = (fraction + strings.Repeat("0", scale))[:scale]
	ns, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return ns
}
