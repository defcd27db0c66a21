package durations

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
)

func TestTextIsExactInTheLargestUnit(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns", 1000: "1 µs", 1001: "1.001 µs", 1500: "1.5 µs", 999_999: "999.999 µs",
		1e6: "1 ms", 284_851_000: "284.851 ms", 300_000_001: "300.000001 ms", 5e9: "5 s", 5_100_001_000: "5.100001 s",
		1_000_000_010: "1.00000001 s", 3600e9: "3600 s", 90_000e9: "90000 s",
		-1: "-1 ns", -1500: "-1.5 µs", -5e9: "-5 s", -500_000: "-500 µs",
		math.MaxInt64: "9223372036.854775807 s", math.MinInt64: "-9223372036.854775808 s",
	} {
		if got := Text(ns); got != want {
			t.Errorf("Text(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestInWritesAnyUnit(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		unit int
		want string
	}{
		{5703e6, 2, "5703"}, {5703e6, 3, "5.703"}, {5703e6, 0, "5703000000"}, {1, 3, "0.000000001"}, {0, 3, "0"},
		{-1, 3, "-0.000000001"}, {-1500, 2, "-0.0015"}, {10e9, 3, "10"}, {100_000_000, 3, "0.1"},
	} {
		if got := In(c.ns, Units[c.unit]); got != c.want {
			t.Errorf("In(%d, %s) = %q, want %q", c.ns, Units[c.unit].Name, got, c.want)
		}
	}
}

func TestUnitOfIsTheLargestThatFits(t *testing.T) {
	for ns, want := range map[int64]string{0: "ns", 999: "ns", 1000: "µs", 999_999: "µs", 1e6: "ms", 999_999_999: "ms", 1e9: "s", -1e6: "ms", math.MinInt64: "s"} {
		if got := UnitOf(ns).Name; got != want {
			t.Errorf("UnitOf(%d) = %s, want %s", ns, got, want)
		}
	}
}

func TestUnitsAgreeWithThemselves(t *testing.T) {
	for _, u := range Units {
		if float64(u.Scale) != math.Pow10(u.Digits) {
			t.Errorf("%s: 10^%d is not %d", u.Name, u.Digits, u.Scale)
		}
	}
}

func TestTextReadsBack(t *testing.T) {
	back := func(ns int64, unit uint8) bool {
		u := Units[unit%4]
		text := In(ns, u)
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
		fraction += strings.Repeat("0", u.Digits-len(fraction))
		n, err := strconv.ParseUint(whole+fraction, 10, 64)
		return err == nil && n == magnitude(ns) && strings.HasPrefix(text, "-") == (ns < 0)
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
}

func TestSumsEndAtTheLargestNumber(t *testing.T) {
	if Sum(math.MaxInt64-1, 5) != math.MaxInt64 || Sum(2, 3) != 5 {
		t.Error("sums are wrong")
	}
}
