package quantile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile/depend"
)

// simulated draws traces of so many calls each, whose latent durations are
// correlated within the trace.
func simulated(r *rand.Rand, traces, calls int, correlation float64) (Observed, depend.Dependence) {
	done := new(Sample)
	d := depend.Dependence{Traces: new(depend.Clusters), Blocks: depend.NewWindow().New(), CutFrom: depend.CutBucket}
	for range traces {
		shared := math.Sqrt(correlation) * r.NormFloat64()
		var buckets []depend.LogBucket
		for range calls {
			ns := int64(1e8 * math.Exp(shared+math.Sqrt(1-correlation)*r.NormFloat64()))
			done.Add(ns)
			buckets = append(buckets, depend.LogBucketOf(ns))
		}
		if calls > 1 {
			d.Traces.Add(buckets)
		}
	}
	return Observed{Completed: Union{done}}, d
}

// coverage is the share of systems whose upper limit of p lies at the truth or
// above, without the design effect and with it.
func coverage(traces, calls int, correlation float64, p P, z float64, runs int) (without, with float64) {
	truth := int64(1e8 * math.Exp(z))
	r := rand.New(rand.NewPCG(uint64(traces), uint64(calls)))
	covers := func(q Tail) float64 {
		if q.Upper == nil || *q.Upper >= truth {
			return 1 / float64(runs)
		}
		return 0
	}
	for range runs {
		o, d := simulated(r, traces, calls, correlation)
		t := o.Tails([]P{p}, ninetyFive)
		without += covers(t.Tails[0])
		effects, _ := o.Effects(t, d)
		o.Widen(&t, effects, ninetyFive)
		with += covers(t.Tails[0])
	}
	return without, with
}

// A certified p95 of ten calls a trace: .88 where they are taken for independent.
func TestCoverageOfClusteredCalls(t *testing.T) {
	for _, c := range []struct {
		name                 string
		traces, calls        int
		correlation          float64
		mostWithout, atLeast float64
	}{
		{"ten calls a trace", 200, 10, .3, .91, .91},
		{"fifty calls a trace", 60, 50, .3, .80, .92},
		{"one call a trace", 1000, 1, .3, 1, .92},
	} {
		t.Run(c.name, func(t *testing.T) {
			if t.Parallel(); testing.Short() && c.traces*c.calls > 1000 {
				t.Skip("hundreds of large systems")
			}
			without, with := coverage(c.traces, c.calls, c.correlation, MustP("0.95"), 1.6448536, 300)
			t.Logf("coverage %.3f without the design effect, %.3f with it", without, with)
			if without > c.mostWithout || with < c.atLeast || with < without {
				t.Errorf("want at most %v without and at least %v with it", c.mostWithout, c.atLeast)
			}
		})
	}
}

// Beyond a quantile lie too few attempts to show that they come together, as many
// above a lower one do: the certified limit is the longest that was seen.
func TestCoverageWhereFewLieBeyond(t *testing.T) {
	for _, c := range []struct {
		name          string
		traces, calls int
		correlation   float64
		p             string
		z             float64
	}{
		{"three beyond p99.9", 60, 50, .5, "0.999", 3.0902323},
		{"ten beyond p99.9", 200, 50, .5, "0.999", 3.0902323},
		{"three beyond p99", 12, 25, .5, "0.99", 2.3263479},
	} {
		t.Run(c.name, func(t *testing.T) {
			if t.Parallel(); testing.Short() && c.traces*c.calls > 1000 {
				t.Skip("hundreds of large systems")
			}
			without, with := coverage(c.traces, c.calls, c.correlation, MustP(c.p), c.z, 200)
			t.Logf("coverage %.3f without the design effect, %.3f with it", without, with)
			if without > .88 || with < .91 {
				t.Error("want at most .88 without and at least .91 with it")
			}
		})
	}
}

// Independent attempts, in clusters all the same, have an effect of about 1.
func TestIndependentAttemptsHaveNoEffect(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	o, d := simulated(r, 2000, 5, 0)
	tails := o.Tails(weightedPs, ninetyFive)
	effects, _ := o.Effects(tails, d)
	for i, e := range effects {
		if e.Effect.Counts() {
			t.Errorf("%s: %+v", weightedPs[i].Label(), e.Effect)
		}
	}
	if !effects[2].Effect.Known() || !effects[4].Effect.Known() {
		t.Errorf("%+v", effects)
	}
}
