package ratio

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestCloserHasTwoDecimals(t *testing.T) {
	for share, want := range map[float64]string{.1325: "13.25 %", .165: "16.5 %", .0464: "4.64 %", .5: "50 %", 1: "100 %", .99999: "99.999 %"} {
		if got := Closer(share); got != want {
			t.Errorf("Closer(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestPercentNeverLooksLikeNothingOrEverything(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.165: "16.5 %", 0.123: "12.3 %", 0.0464: "4.64 %", 0.048: "4.8 %", 0.5: "50 %",
		0.001: "0.1 %", 0.0001: "0.01 %", 0.00001: "0.001 %", 0.000012: "0.001 %", 0.999: "99.9 %", 0.9999: "99.99 %",
		0.99999: "99.999 %", 0.9999999: "99.9999 %", 0.05: "5 %", 1e-9: "1e-07 %",
	} {
		if got := Percent(share); got != want {
			t.Errorf("Percent(%v) = %q, want %q", share, got, want)
		}
	}
}

func TestLimitsAreRoundedToTheirOwnSide(t *testing.T) {
	for share, want := range map[float64][2]string{
		0: {"0", "0"}, 1: {"100", "100"}, .11667: {"11.6", "11.7"}, .045036: {"4.5", "4.51"}, .039253: {"3.92", "3.93"},
		.931: {"93.1", "93.1"}, .29: {"29", "29"}, .0123456: {"1.23", "1.24"}, .99999991: {"99.9999", "100"}, .000058: {"0.005", "0.006"},
		-.0006: {"-0.06", "-0.06"}, -.00066: {"-0.07", "-0.06"}, 1.008967: {"100.8", "100.9"},
	} {
		if got := [2]string{Down(share), Up(share)}; got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(1e-9, 1).Draw(t, "share")
		low, _ := strconv.ParseFloat(Down(share), 64)
		high, _ := strconv.ParseFloat(Up(share), 64)
		if v := share * 100; low > v*(1+1e-9) || high < v*(1-1e-9) || high > 2*v && v < 1e-3 && high > 10*v {
			t.Fatalf("%v %%: %v to %v", v, low, high)
		}
	})
}
