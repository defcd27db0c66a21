package mirror

import (
	"testing"

	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/timeouts"
)

func TestFittedNumbersHaveSixDigits(t *testing.T) {
	if got := sixDigits(.13524946789); *got != .135249 {
		t.Errorf("%v", *got)
	}
}

func TestCanaryNamesTheDesignEffect(t *testing.T) {
	got := canaryJSON(&timeouts.Canary{Effect: depend.Effect{Hundredths: 792, Sure: true}}).Effect
	if got == nil || *got != 7.92 {
		t.Errorf("JSON has %v", got)
	}
}
