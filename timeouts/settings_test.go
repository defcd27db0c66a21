package timeouts

import (
	"math"
	"testing"
)

func TestParseShare(t *testing.T) {
	for text, want := range map[string]Share{"0.1%": 1e6, "0.1 %": 1e6, "0.001": 1e6, ".001": 1e6, "1%": 1e7, "99.9999999%": 999_999_999, "0.000000001": 1, "0.0000001%": 1, "50%": 5e8} {
		if got, err := ParseShare(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "0", "0%", "1", "100%", "-1%", "1e-3", "0.0000000001", "x", "1.5", "200%", "+0.1", "0.1.2", "0,1"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestBeyondIsTheRest(t *testing.T) {
	for share, want := range map[Share]string{1e6: "0.999", 1: "0.999999999", 5e8: "0.5", 333_334: "0.999666666", 999_999_999: "0.000000001"} {
		if got := share.Beyond().String(); got != want {
			t.Errorf("%d: %s", share, got)
		}
	}
}

func TestShareText(t *testing.T) {
	for share, want := range map[Share]string{1e6: "0.1 %", 1: "0.0000001 %", 5e8: "50 %", 12_345_678: "1.2345678 %"} {
		if got := share.Text(); got != want {
			t.Errorf("%d: %s", share, got)
		}
	}
}

func TestParseFactor(t *testing.T) {
	for text, want := range map[string]Factor{"1.33": 133, "1": 100, "2.": 200, "100": 10_000, "1.5": 150} {
		if got, err := ParseFactor(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0.9", "-1", "1.333", "101", "x", "1e3"} {
		if got, err := ParseFactor(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestHeadroomIsExactAndRoundedUp(t *testing.T) {
	for _, c := range []struct {
		f        Factor
		ns, want int64
	}{{133, 300, 399}, {133, 1, 2}, {133, 0, 0}, {100, 7, 7}, {133, 1e9, 1_330_000_000}, {10_000, math.MaxInt64, math.MaxInt64}, {100, math.MaxInt64, math.MaxInt64}, {150, math.MaxInt64 / 2, 6917529027641081855}} {
		if got := c.f.Of(c.ns); got != c.want {
			t.Errorf("%d × %d: %d, want %d", c.f, c.ns, got, c.want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for ns, want := range map[int64]int64{
		0: 1, 1: 1, 9: 9, 10: 10, 11: 12, 13: 15, 16: 20, 21: 25, 26: 30, 31: 40, 41: 50, 51: 60, 61: 80, 81: 100, 1_300_000_000: 1_500_000_000, 11_970_000_000: 12_000_000_000, math.MaxInt64: math.MaxInt64,
	} {
		if got := roundUp(ns); got != want {
			t.Errorf("%d: %d, want %d", ns, got, want)
		}
	}
	for ns := int64(1); ns > 0 && ns < math.MaxInt64/3; ns = ns*3/2 + 1 {
		if got := roundUp(ns); got < ns || float64(got) > 1.34*float64(ns)+1 {
			t.Errorf("%d: %d", ns, got)
		}
	}
}

func TestSumsStopAtTheLargestNumber(t *testing.T) {
	if times(3, math.MaxInt64/2) != math.MaxInt64 || times(3, 5) != 15 || times(0, 5) != 0 {
		t.Error("a sum or a product is wrong")
	}
}
