package buckets

import (
	"math"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
)

func TestWallText(t *testing.T) {
	sc := report.ScaleOf([]int64{2026e6})
	for want, w := range map[string]Wall{
		"between 2.026 s and 5.704 s": {From: 2026e6 + 1, To: 5703e6 + 1},
		"at most 4.001 s":             {To: 4001e6},
	} {
		if got := wallText(w, sc); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := wallSource("measured"); got != "measured" {
		t.Errorf("an unknown source reads %q", got)
	}
}

// A share of nothing is no share.
func TestSharesOfNothing(t *testing.T) {
	none := &Result{}
	if null := (value{}); cutShare(none) != null || cutLimits(none) != null || failedShare(none) != null {
		t.Errorf("shares of no attempts: %v, %v, %v", cutShare(none), cutLimits(none), failedShare(none))
	}
}

const conditioned = "if the tail goes on as below the timeout"

// guessed is a quantile that the wall hides, with an estimate.
func guessed() *Tail {
	p := quantile.MustP("0.9")
	return &Tail{
		Tail: quantile.Tail{P: p, N: 5, Rank: 5, Status: quantile.AtLeast, Value: 1e9},
		Estimate: &fit.Estimate{
			Value: new(int64(1234e6)), Bound: new(int64(2871230e3)), F: 1.06, Fitted: true,
			Gates:  []fit.Judgement{{Gate: fit.EnoughExceedances, Figure: 212, Limit: 50, Passed: true}},
			Models: []fit.Model{{Name: fit.Pareto}, {Name: fit.Weibull}, {Name: fit.Lognormal}},
		},
	}
}

func TestServerSideComesBeforeTheEstimate(t *testing.T) {
	q := guessed()
	q.ServerSide = &ServerSide{Value: new(int64(1500e6)), Coverage: Coverage{N: 73, Of: 73}}
	want := "server side 1.5 s (73 of 73 first attempts that timed out have a server span); estimate 1.234 s, by the most careful of 3 models"
	if got := beyondWall(q); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
}

func TestEveryFailingGateStandsWithItsFigure(t *testing.T) {
	q := guessed()
	q.ServerSide = &ServerSide{Coverage: Coverage{N: 3, Of: 73}, Selected: true}
	q.Estimate = &fit.Estimate{F: math.Inf(1), Gates: []fit.Judgement{
		{Gate: fit.EnoughExceedances, Figure: 12, Limit: 50}, {Gate: fit.NotTooFar, Figure: math.Inf(1), Limit: 5},
		{Gate: fit.SeenNearWall, Figure: 2.814, Limit: 1.5}, {Gate: fit.OneWall, Figure: 2, Limit: 1},
	}}
	want := "server side: 3 of 73 first attempts that timed out have a server span, a selected sample, and p90 is not among them; " +
		"no estimate; only 12 completed attempts in its tail (gate 1: at least 50); no attempt lies beyond p90 (gate 2: at most 5); " +
		"the timeout is 2.81 times the slowest completed attempt (gate 5: below 1.5); signs of 2 timeouts (gate 6: only 1)"
	if got := beyondWall(q); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A fit that is too large for a number has a value and no bound, or is said to have
// neither.
func TestEstimateWithoutABound(t *testing.T) {
	q := guessed()
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
		if got := fit.FigureText(f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
	if fit.Condition == conditioned {
		t.Error("JSON has the longer sentence")
	}
}
