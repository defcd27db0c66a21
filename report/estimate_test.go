package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/timeouts"
)

const conditioned = "if the tail goes on as below the wall"

// A figure never stands without its condition, and never as if it were sure.
func TestEstimatesNameTheirConditionAndNoConfidence(t *testing.T) {
	for _, f := range []Format{Text, Markdown} {
		page := write(t, f, estimated(), Options{})
		for _, line := range strings.Split(page, "\n") {
			if strings.Contains(line, "estimate ") && !strings.Contains(line, conditioned) || strings.Contains(line, "estimate") && strings.Contains(line, "95 %") {
				t.Errorf("%q", line)
			}
		}
		if n := strings.Count(page, conditioned); n != 2 {
			t.Errorf("%d conditions, want those of two estimates", n)
		}
	}
}

func TestServerSideComesBeforeTheEstimate(t *testing.T) {
	r := estimated()
	note := beyondWall(&r.Hops[2].Tail[1])
	want := "server side 1.5 s (73 of 73 cut first attempts have a server span); estimate 1.234 s"
	if !strings.HasPrefix(note, want) {
		t.Errorf("%q, want it to begin with %q", note, want)
	}
}

func TestEveryFailingGateStandsWithItsFigure(t *testing.T) {
	r := estimated()
	want := "server side: 3 of 73 cut first attempts have a server span, a selected sample, and p90 is not among them; " +
		"no estimate; only 12 completed attempts in its tail (gate 1: at least 50); no attempt lies beyond p90 (gate 2: at most 5); " +
		"the wall is 2.81 times the slowest completed attempt (gate 5: below 1.5); signs of 2 walls (gate 6: only 1)"
	if got := beyondWall(&r.Hops[3].Tail[1]); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	rows := records(t, r)
	var failed []string
	for _, row := range rows[1:] {
		if row["p"] == "0.9" {
			failed = append(failed, row["estimate_ns"]+"|"+row["estimate_bound_ns"]+"|"+row["estimate_failed_gates"])
		}
	}
	if diff := cmp.Diff([]string{"1234000000|2871230000|", "||2", "1234000000|2871230000|", "||1 2 5 6"}, failed); diff != "" {
		t.Error(diff)
	}
}

// A fit that is too large for a number has a value and no bound, or is said to have
// neither.
func TestEstimateWithoutABound(t *testing.T) {
	r := estimated()
	q := &r.Hops[0].Tail[1]
	q.Estimate.Bound = nil
	if got := estimateNote(q); !strings.HasPrefix(got, "estimate 1.234 s without a bound, "+conditioned) {
		t.Error(got)
	}
	q.Estimate.Value = nil
	if got := estimateNote(q); got != "no estimate; it would be longer than a duration can be" {
		t.Error(got)
	}
}

func TestFiguresHaveThreeDigits(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 2.99328: "2.99", 165: "165", 16.5: "16.5", 123456: "123456", 1e7: "10000000", .6343: "0.634", -.13524946: "-0.135"} {
		if got := gateFigure(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if quantile.Condition == conditioned {
		t.Error("JSON has the longer sentence")
	}
}

// As many first attempts as certify a quantile are too few where they come together.
func TestCanaryOfAttemptsThatComeTogether(t *testing.T) {
	c := &timeouts.Canary{RaiseTo: 120e6, From: "twice today's timeout", Sizes: []timeouts.Size{{P: quantile.MustP("0.95"), Attempts: 59}}}
	const alone = "59 first attempts for p95, none of them cut, would do"
	if got := canaryText(c); !strings.HasSuffix(got, alone) {
		t.Errorf("independent: %q", got)
	}
	c.Effect = quantile.Effect{Hundredths: 792, Sure: true}
	if got, want := canaryText(c), alone+", if they were independent; today's are not (design effect 7.92), so take more, from many traces and minutes"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want at its end %q", got, want)
	}
	if got, err := json.Marshal(c); err != nil || !strings.Contains(string(got), `"design_effect":7.92`) {
		t.Errorf("JSON: %s, %v", got, err)
	}
}
