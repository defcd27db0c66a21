package buckets

import (
	"testing"

	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Only first attempts that completed or were cut come together, and only several of
// one hop.
func TestFirstAttemptsOfAChainComeTogether(t *testing.T) {
	hops := []spans.Hop{{Name: "a"}, {Name: "b"}}
	attempt := func(hop int32, outcome spans.Outcome, retry bool) spans.Attempt {
		return spans.Attempt{Hop: hop, Duration: 5 * ms, Outcome: outcome, Retry: retry, Parent: -1}
	}
	many := make([]spans.Attempt, 20)
	for i := range many {
		many[i] = attempt(int32(i/19), spans.Completed, false)
	}
	for name, c := range map[string]struct {
		chain    []spans.Attempt
		clusters bool
	}{
		"two calls":           {[]spans.Attempt{attempt(0, spans.Completed, false), attempt(1, spans.Completed, false), attempt(0, spans.Truncated, false)}, true},
		"a call with a retry": {[]spans.Attempt{attempt(0, spans.Truncated, false), attempt(0, spans.Completed, true)}, false},
		"a call that failed":  {[]spans.Attempt{attempt(0, spans.Failed, false), attempt(0, spans.Completed, false)}, false},
		"one of each":         {[]spans.Attempt{attempt(0, spans.Completed, false), attempt(1, spans.Completed, false)}, false},
		"many":                {many, true},
	} {
		set := newHopSet(NewConfig(nil))
		set.addChain(&spans.Chain{Hops: hops, Attempts: c.chain})
		if got := !set.hop(hops[0]).clusters.ofTraces().Empty(); got != c.clusters {
			t.Errorf("%s: %v", name, got)
		}
		if !set.hop(hops[1]).clusters.ofTraces().Empty() {
			t.Errorf("%s: one call alone is a cluster", name)
		}
	}
	if s := stepOf(&spans.Attempt{Outcome: spans.Truncated}); s != depend.CutBucket {
		t.Errorf("a cut attempt in step %d", s)
	}
}
