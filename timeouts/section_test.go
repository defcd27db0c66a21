package timeouts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
)

// As many first attempts as certify a quantile are too few where they come together.
func TestCanaryOfAttemptsThatComeTogether(t *testing.T) {
	c := &Canary{RaiseTo: 120e6, From: "twice today's timeout", Sizes: []Size{{P: quantile.MustP("0.95"), Attempts: 59}}}
	const alone = "59 first attempts for p95, none of them timed out, would do"
	if got := canaryText(c); !strings.HasSuffix(got, alone) {
		t.Errorf("independent: %q", got)
	}
	c.Effect = depend.Effect{Hundredths: 792}
	if got, want := canaryText(c), alone+", if they were independent; today's are not (design effect 7.92), so take more, from many traces and minutes"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want at its end %q", got, want)
	}
	if got, err := json.Marshal(c); err != nil || !strings.Contains(string(got), `"design_effect":7.92`) {
		t.Errorf("JSON: %s, %v", got, err)
	}
}
