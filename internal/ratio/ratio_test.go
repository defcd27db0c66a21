package ratio

import "testing"

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
