package quantile

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/quantile/depend"
	"pgregory.net/rapid"
)

// An effect that does not count changes no limit; one that does puts each limit at
// the value that the rank of n_eff reaches.
func TestWidenedLimits(t *testing.T) {
	ps := []P{MustP("0.5"), MustP("0.9"), MustP("0.95")}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 400).Draw(t, "values")
		e := depend.Effect{Hundredths: rapid.Uint64Range(100, 1000).Draw(t, "effect")}
		o := Observed{Completed: Union{sampleOf(values...)}}
		want, got := o.Tails(ps, ninetyFive), o.Tails(ps, ninetyFive)
		o.Widen(&got, []depend.Dependent{{Effect: e}, {Effect: e}, {Effect: e}}, ninetyFive)
		slices.Sort(values)
		for i := range want.Tails {
			w := &want.Tails[i]
			w.Effect = e
			if e.Counts() {
				dumbLimits(w, values, e)
			}
			if d := cmp.Diff(*w, got.Tails[i], cmp.Comparer(func(a, b P) bool { return a == b })); d != "" {
				t.Fatalf("%s (-want +got):\n%s", w.P.Label(), d)
			}
		}
	})
}

// dumbLimits reads the limits off the sorted values.
func dumbLimits(w *Tail, sorted []int64, e depend.Effect) {
	n := uint64(len(sorted))
	size := max(1, n*100/e.Hundredths)
	w.Effective, w.LowerRank, w.UpperRank = size, LowerRank(size, w.P, ninetyFive), UpperRank(size, w.P, ninetyFive)
	w.Lower, w.Upper = nil, nil
	if w.LowerRank > 0 {
		w.Lower = &sorted[(w.LowerRank-1)*n/size]
	}
	if w.UpperRank <= size {
		w.Upper = &sorted[(w.UpperRank*n+size-1)/size-1]
	}
}

// The threshold is the step with the nearest number of attempts beyond it.
func TestEffectIsThatBetweenTheStepsNextToTheQuantile(t *testing.T) {
	done := new(Sample)
	d := depend.Dependence{Traces: new(depend.Clusters), Blocks: depend.NewWindow().New(), CutFrom: depend.CutBucket}
	// 100 traces of ten calls: in ten of them all are slow, so beyond p90 lie whole
	// traces. Beyond p50 lies every second call of each.
	for trace := range 100 {
		var buckets []depend.LogBucket
		for call := range 10 {
			ns := int64(1e6 + call%2*1e6)
			if trace%10 == 0 {
				ns = 50e6
			}
			done.Add(ns)
			buckets = append(buckets, depend.LogBucketOf(ns))
		}
		d.Traces.Add(buckets)
	}
	o := Observed{Completed: Union{done}}
	tails := o.Tails([]P{MustP("0.5"), MustP("0.9")}, ninetyFive)
	effects, cut := o.Effects(tails, d)
	if got := effects[1].Effect; got.Hundredths != 1028 {
		t.Errorf("p90: %+v, want 10.09 (1.66039/1.64485)^2", got)
	}
	if got := effects[0].Effect; !got.Known() || got.Hundredths >= 210 {
		t.Errorf("p50: %+v", got)
	}
	if cut.Effect.Known() {
		t.Errorf("nothing was cut, but its effect is %+v", cut.Effect)
	}
}

// A quantile that the cuts hide is judged by who was cut.
func TestEffectOfAHiddenQuantileIsThatOfTheCuts(t *testing.T) {
	done, cuts := new(Sample), new(Sample)
	d := depend.Dependence{Traces: new(depend.Clusters), Blocks: depend.NewWindow().New(), CutFrom: depend.CutBucket}
	for trace := range 100 {
		buckets := []depend.LogBucket{depend.LogBucketOf(1e6), depend.LogBucketOf(1e6)}
		done.AddN(1e6, 2)
		if trace%5 == 0 {
			buckets = append(buckets, depend.CutBucket, depend.CutBucket, depend.CutBucket, depend.CutBucket)
			cuts.AddN(9e6, 4)
		} else {
			buckets = append(buckets, depend.LogBucketOf(2e6), depend.LogBucketOf(2e6), depend.LogBucketOf(2e6), depend.LogBucketOf(2e6))
			done.AddN(2e6, 4)
		}
		d.Traces.Add(buckets)
	}
	o := Observed{Completed: Union{done}, CutAt: Union{cuts}}
	effects, cut := o.Effects(o.Tails([]P{MustP("0.95")}, ninetyFive), d)
	if effects[0].Effect != cut.Effect || !cut.Effect.Counts() {
		t.Errorf("p95 %+v, cut share %+v", effects[0].Effect, cut.Effect)
	}
}

// Three cut attempts show no effect of their own; the slow ones of their traces do.
func TestEffectOfFewCuts(t *testing.T) {
	done, cuts := new(Sample), new(Sample)
	d := depend.Dependence{Traces: new(depend.Clusters), Blocks: depend.NewWindow().New(), CutFrom: depend.CutBucket}
	for trace := range 100 {
		buckets := make([]depend.LogBucket, 0, 10)
		for call := range 10 {
			switch {
			case trace < 3 && call == 0:
				cuts.Add(9e6)
				buckets = append(buckets, depend.CutBucket)
			case trace < 3:
				done.Add(8e6)
				buckets = append(buckets, depend.LogBucketOf(8e6))
			default:
				done.Add(1e6)
				buckets = append(buckets, depend.LogBucketOf(1e6))
			}
		}
		d.Traces.Add(buckets)
	}
	o := Observed{Completed: Union{done}, CutAt: Union{cuts}}
	tails := o.Tails([]P{MustP("0.5"), MustP("0.999")}, ninetyFive)
	effects, cut := o.Effects(tails, d)
	if cut.Effect.Hundredths != 1028 || effects[1].Effect != cut.Effect {
		t.Errorf("cut share %+v, p99.9 %+v, want 10.28", cut.Effect, effects[1].Effect)
	}
	// Beyond all that take the same time lie those of the slow traces.
	if effects[0].Effect != cut.Effect {
		t.Errorf("p50 lies among equal values, and has %+v", effects[0].Effect)
	}
}

func TestTooFewTracesCountAsOneAttemptEach(t *testing.T) {
	var traces depend.Clusters
	done := new(Sample)
	for range 4 {
		var buckets []depend.LogBucket
		for i := range 50 {
			ns := int64(1+i) * 1e6
			done.Add(ns)
			buckets = append(buckets, depend.LogBucketOf(ns))
		}
		traces.Add(buckets)
	}
	o := Observed{Completed: Union{done}}
	p95 := []P{MustP("0.95")}
	tails := o.Tails(p95, p95[0])
	if tails.Tails[0].Upper == nil {
		t.Fatal("200 independent attempts have an upper limit")
	}
	effects, _ := o.Effects(tails, depend.Dependence{Traces: &traces, Blocks: new(depend.Blocks), CutFrom: depend.CutBucket})
	o.Widen(&tails, effects, p95[0])
	if q := tails.Tails[0]; q.Upper != nil || q.Effective != 4 || q.Effect != (depend.Effect{Hundredths: 5000, Assumed: true}) {
		t.Errorf("%+v", q)
	}
}
