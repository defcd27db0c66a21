package buckets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/spans"
)

// exponential is a hop of n attempts with a mean of 100 ms, cut at 300: one in
// twenty.
func exponential(n int) rows {
	var log rows
	for i := range n {
		if v := -100 * math.Log(1-(float64(i)+.5)/float64(n)); v < 300 {
			log = append(log, done(0).each(func(one *row) { one.Duration = int64(v * 1e6) })...)
		} else {
			log = append(log, cut(300)...)
		}
	}
	return log
}

func failingGates(e *fit.Estimate) (numbers []fit.Gate) {
	for _, j := range e.Gates {
		if !j.Passed {
			numbers = append(numbers, j.Gate)
		}
	}
	return numbers
}

func TestHiddenQuantilesAreEstimated(t *testing.T) {
	r := hopOf(t, timeouts(map[string]int64{"h": 300}), asked("0.5", "0.99", "0.999"), exponential(2000))
	if r.Tail[0].Estimate != nil {
		t.Error("an exact quantile needs none")
	}
	e := r.Tail[1].Estimate
	if e == nil || e.Bound == nil || len(e.Models) != 3 {
		t.Fatalf("p99: %+v", e)
	}
	if v := *e.Value; v < 440*ms || v > 480*ms || *e.Bound < v {
		t.Errorf("p99 %d up to %d, the truth is 460.5 ms", v, *e.Bound)
	}
	if got := failingGates(r.Tail[2].Estimate); !slices.Equal(got, []fit.Gate{fit.NotTooFar}) {
		t.Errorf("p99.9: gates %v fail", got)
	}
}

func TestNothingIsEstimatedWhereTheSampleDoesNotAllowIt(t *testing.T) {
	log, q := exponential(2000), asked("0.99")
	none, biased := q, q
	none.NoEstimate, biased.Biased = true, true
	for name, c := range map[string]struct {
		q    Query
		log  rows
		says string
	}{
		"not asked for": {none, log, ""},
		"biased":        {biased, log, "biased sample"},
		"unmarked":      {without(q), log.unmarked(), "; no estimate: the input does not say which attempts timed out"},
	} {
		r := hopOf(t, timeouts(map[string]int64{"h": 300}), c.q, c.log)
		if r.Tail[0].Estimate != nil || !strings.Contains(r.Tail[0].Reason, c.says) || c.says == "" && strings.Contains(r.Tail[0].Reason, "estimate") {
			t.Errorf("%s: %+v, %q", name, r.Tail[0].Estimate, r.Tail[0].Reason)
		}
	}
}

func TestWeightedTailsAreNotEstimated(t *testing.T) {
	c := NewAccumulator(weighedConfig(256))
	for _, weight := range []float64{1, 10} {
		for _, one := range exponential(1000) {
			outcome := spans.Completed
			if one.Outcome == spans.Truncated {
				outcome = spans.Truncated
			}
			c.AddTrace(weighed{spans: []spans.Span{span(0, one.Duration/ms, outcome)}}.trace(), weight)
		}
	}
	q := weighing(true)
	q.Quantiles = asked("0.99").Quantiles
	r := c.Results(q)[0]
	if r.Effective == 0 || r.Tail[0].Estimate != nil || !strings.HasSuffix(r.Tail[0].Reason, "; no estimate: the attempts have different weights") {
		t.Errorf("n_eff %d, %+v, %q", r.Effective, r.Tail[0].Estimate, r.Tail[0].Reason)
	}
}

// 33 of 200 cut at about 5.7 s, the slowest completed one 2.026 s: nothing in
// between tells what the tail is like.
func TestThePublishedBatchIsNotEstimated(t *testing.T) {
	for _, c := range []struct {
		config Config
		figure float64
	}{{NewConfig(nil), 5703. / 2026}, {timeouts(map[string]int64{"generate": 5000}), 5000. / 2026}} {
		for _, q := range generate(t, c.config).Tail[1:] {
			e := q.Estimate
			if e == nil || e.Value != nil || e.Bound != nil || !slices.Contains(failingGates(e), fit.SeenNearWall) {
				t.Fatalf("%s: %+v", q.P.Label(), e)
			}
			for _, j := range e.Gates {
				if j.Gate == fit.SeenNearWall && j.Figure != c.figure {
					t.Errorf("%s: gate 5 judges %v, want %v", q.P.Label(), j.Figure, c.figure)
				}
			}
		}
	}
}
