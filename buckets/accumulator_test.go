package buckets

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// weighed is a trace of single spans with the weight that it stands for.
type weighed struct {
	weight float64
	spans  []spans.Span
}

var weighedHops = []spans.Hop{{Name: "a", Service: "a", Kind: spans.Client}, {Name: "b", Service: "b"}, {Name: "c", Service: "c"}}

// span is read from a clock of 1 ms, which shows no pile-up of short durations.
func span(hop int32, milliseconds int64, o spans.Outcome) spans.Span {
	one := spans.Span{Hop: hop, Duration: milliseconds * ms, Outcome: o, Resolution: 6, Flags: spans.HasDuration | spans.OutcomeMarked}
	switch o {
	case spans.Truncated:
		one.CutBy = spans.Own
	case spans.Failed:
		one.Failure = spans.OtherFailure
	}
	return one
}

func (w weighed) trace() *spans.Trace {
	return spans.NewTrace(spans.TraceID{}, slices.Clone(w.spans), weighedHops, nil)
}

func drawWeighed(t *rapid.T, weights []float64) []weighed {
	var list []weighed
	for range rapid.IntRange(1, 25).Draw(t, "traces") {
		w := weighed{weight: rapid.SampledFrom(weights).Draw(t, "weight")}
		for range rapid.IntRange(1, 4).Draw(t, "spans") {
			one := span(rapid.Int32Range(0, 2).Draw(t, "hop"), rapid.Int64Range(0, 40).Draw(t, "ms"),
				rapid.SampledFrom([]spans.Outcome{spans.Completed, spans.Completed, spans.Truncated, spans.Failed, spans.Unfinished}).Draw(t, "outcome"))
			if rapid.Bool().Draw(t, "retry") {
				one.Flags |= spans.RetryByMark
			}
			if rapid.Bool().Draw(t, "timed") {
				one.Start, one.Flags = rapid.Int64Range(0, 90).Draw(t, "start")*ms, one.Flags|spans.HasStart
			}
			if rapid.Bool().Draw(t, "timeout") {
				one.Timeout = 30 * ms
			}
			if rapid.Bool().Draw(t, "unmarked") {
				one.Flags &^= spans.OutcomeMarked
			}
			w.spans = append(w.spans, one)
		}
		list = append(list, w)
	}
	return list
}

func weighedConfig(most int) Config {
	c := NewConfig(map[string]int64{"b": 35 * ms})
	c.MaxWeights = most
	return c
}

// classesOf shares traces out over workers and merges these.
func classesOf(c Config, workers int, list []weighed) *Accumulator {
	parts := make([]*Accumulator, workers)
	for i := range parts {
		parts[i] = NewAccumulator(c)
	}
	for i, w := range list {
		parts[i%workers].AddTrace(w.trace(), w.weight)
	}
	for _, p := range parts[1:] {
		parts[0].Merge(p)
	}
	return parts[0]
}

func weighing(marked bool) Query {
	q := asked("0.1", "0.5", "0.9", "0.99")
	q.Marked, q.Weighted = marked, true
	return q
}

func unweighted(q Query) Query {
	q.Weighted = false
	return q
}

func TestWeightedResultsDependOnNoWorkersAndNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawWeighed(t, []float64{1, 1 / 0.3, 10, 1000})
		c := weighedConfig(rapid.SampledFrom([]int{2, 256}).Draw(t, "most weights"))
		q := weighing(rapid.Bool().Draw(t, "marked"))
		q.MaxHops = rapid.IntRange(0, 3).Draw(t, "most hops")
		want := classesOf(c, 1, list).Results(q)
		got := classesOf(c, rapid.IntRange(1, 5).Draw(t, "workers"), rapid.Permutation(list).Draw(t, "order")).Results(q)
		if diff := same(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Equal weights are none: the results are those of a hopSet that knows of none.
func TestEqualWeightsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawWeighed(t, []float64{rapid.SampledFrom([]float64{1, 1 / 0.3, 1000}).Draw(t, "weight")})
		c, q := weighedConfig(256), weighing(rapid.Bool().Draw(t, "marked"))
		set := newHopSet(c)
		for _, w := range list {
			set.AddTrace(w.trace())
		}
		classes := classesOf(c, 3, list)
		if classes.Attempts() != set.Attempts() {
			t.Fatalf("%d attempts, want %d", classes.Attempts(), set.Attempts())
		}
		if diff := same(set.Results(unweighted(q)), classes.Results(q)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Whole weights are repetitions: value, status and shares are those of a set in
// which each trace comes so often.
func TestWholeWeightsRepeatTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawWeighed(t, []float64{1, 2, 7})
		c, q := weighedConfig(256), weighing(rapid.Bool().Draw(t, "marked"))
		set := newHopSet(c)
		for _, w := range list {
			for range int(w.weight) {
				set.AddTrace(w.trace())
			}
		}
		want, got := set.Results(unweighted(q)), classesOf(c, 2, list).Results(q)
		for i := range want {
			if diff := cmp.Diff(valuesOf(want[i]), valuesOf(got[i])); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", want[i].Name, diff)
			}
		}
	})
}

// valuesOf is what weights and repetitions have in common.
func valuesOf(r Result) []string {
	list := []string{fmt.Sprintf("shares %.12f %.12f", r.TruncatedShare.Value, r.FailedShare)}
	for _, q := range r.Tail {
		list = append(list, fmt.Sprintf("%s %s %s", q.P.Label(), q.Status, millis(q.Value)))
	}
	return list
}

// A log stands beside traces: each of its attempts stands for itself.
func TestLogsWeighOne(t *testing.T) {
	c := NewAccumulator(weighedConfig(256))
	c.unweighted = setOf(t, c.config, all(done(to(50)...), cut(60, 60).under(60)))
	c.AddTrace(weighed{4, []spans.Span{span(0, 5, spans.Completed)}}.trace(), 4)
	c.AddTrace(weighed{2, []spans.Span{span(0, 9, spans.Completed)}}.trace(), 2)
	if !maps.Equal(c.Names(), map[string]bool{"h": true, "a": true}) {
		t.Error("names of logs and traces are not those of all sets")
	}
	r := c.Results(weighing(true))
	if r[0].Effective != 1 || r[0].Tail[1].Value != 5*ms || r[1].Effective != 0 || r[1].Tail[1].Value != 26*ms {
		t.Errorf("a: n_eff %d, p50 %d; h: n_eff %d, p50 %d", r[0].Effective, r[0].Tail[1].Value, r[1].Effective, r[1].Tail[1].Value)
	}
}

// 900 fast traces kept one in 10, and all 40 that were cut: 40 of 9040 were.
func weightedWorld() []weighed {
	var list []weighed
	for i := range int64(900) {
		list = append(list, weighed{10, []spans.Span{span(0, 10+i%50, spans.Completed)}})
	}
	for range 40 {
		list = append(list, weighed{1, []spans.Span{span(0, 300, spans.Truncated)}})
	}
	return list
}

func TestWeightedTextsNameTheEffectiveSize(t *testing.T) {
	q := weighing(true)
	q.Quantiles = append(q.Quantiles, quantile.MustP("0.999"))
	r := classesOf(weighedConfig(256), 2, weightedWorld()).Results(q)[0]
	if r.Effective != 907 || r.TruncatedShare.Count != 40 || r.TruncatedShare.Of != 940 {
		t.Errorf("n_eff %d, share %+v", r.Effective, r.TruncatedShare)
	}
	if got, want := r.TruncatedShare.Value, 40/9040.; got != want {
		t.Errorf("share %v, want %v", got, want)
	}
	for _, want := range []string{"weighted: traces of different weights", "each of the 940 first attempts (n)", "907 equal ones (n_eff)"} {
		if !strings.Contains(warned(r, "weighted"), want) {
			t.Errorf("%q is missing from %q", want, warned(r, "weighted"))
		}
	}
	last := r.Tail[4]
	if last.Status != quantile.AtLeast || !strings.HasPrefix(last.Reason, "40 of 940 first attempts worth 907 equal ones (n_eff) timed out (0.44 % by weight; one-sided 95 % limits ") || !strings.Contains(last.Reason, "highest certifiable quantile p9") {
		t.Errorf("p99.9: %s %q", last.Status, last.Reason)
	}
	if p90 := r.Tail[2]; p90.Status != quantile.Exact || p90.Value != 55*ms || p90.Upper == nil || *p90.Upper < 55*ms || p90.Reason != "" {
		t.Errorf("p90: %+v", p90)
	}
	if p99 := r.Tail[3]; p99.Status != quantile.Exact || p99.Value != 59*ms || p99.Upper != nil || p99.KM != nil {
		t.Errorf("p99: %+v", p99)
	}
}

func TestWeightedReasonsWithoutUpperLimit(t *testing.T) {
	few := []weighed{{10, []spans.Span{span(0, 5, spans.Completed)}}, {1, []spans.Span{span(0, 9, spans.Completed)}}}
	r := classesOf(weighedConfig(256), 1, few).Results(weighing(true))[0]
	if got, want := r.Tail[1].Reason, "no upper limit from 2 first attempts worth 1 equal one (n_eff): p50 needs 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	list := weightedWorld()
	for range 10 {
		list = append(list, weighed{8, []spans.Span{span(0, 300, spans.Truncated)}})
	}
	q := weighing(true)
	q.Quantiles = []quantile.P{quantile.MustP("0.986")}
	r = classesOf(weighedConfig(256), 1, list).Results(q)[0]
	if got := r.Tail[0]; got.Status != quantile.Exact || !strings.Contains(got.Reason, "of n_eff 917, beyond the weight that completed") {
		t.Errorf("%s %q", got.Status, got.Reason)
	}
}

// More weights than can be told apart: all count once, whoever saw them.
func TestTooManyWeightsCountOnce(t *testing.T) {
	var list []weighed
	for i := range 6 {
		list = append(list, weighed{float64(i + 1), []spans.Span{span(0, int64(10*i), spans.Completed)}})
	}
	want := classesOf(weighedConfig(6), 1, list).Results(unweighted(weighing(true)))
	for _, workers := range []int{1, 2, 6} {
		c := classesOf(weighedConfig(5), workers, list)
		if diff := same(want, c.Results(weighing(true))); diff != "" || !c.tooMany {
			t.Errorf("%d workers: %v\n%s", workers, c.tooMany, diff)
		}
	}
}

func TestBiasedSampleHasNoQuantileAndNoShare(t *testing.T) {
	q := asked("0.5", "0.99")
	q.Biased, q.Weighted = true, true
	list := append(weightedWorld(), weighed{1, []spans.Span{span(0, 3, spans.Failed)}}, weighed{1, []spans.Span{span(1, 3, spans.Completed)}})
	for _, r := range classesOf(weighedConfig(256), 2, list).Results(q) {
		if !r.Biased || r.FailedShare != 0 || r.TruncatedShare.Value != 0 || r.TruncatedShare.Upper != 0 || r.TruncatedShare.Of == 0 {
			t.Errorf("%s: shares %v %+v", r.Name, r.FailedShare, r.TruncatedShare)
		}
		for _, one := range r.Tail {
			if one.Status != quantile.NoValue || one.Lower != nil || one.Upper != nil || one.KM != nil || !strings.HasPrefix(one.Reason, "biased sample: ") {
				t.Errorf("%s: %+v", r.Name, one)
			}
		}
		for _, b := range []Bucket{r.Completed, r.Truncated.Bucket, r.Failed.Bucket, r.Recorded} {
			if b.All.Mean != 0 || b.All.Quantiles != nil || b.First.Quantiles != nil {
				t.Errorf("%s: bucket %+v", r.Name, b)
			}
		}
		if r.Name == "a" && (r.Truncated.All.N != 40 || r.Truncated.All.Min != 300*ms || len(r.Walls) != 1) {
			t.Errorf("counts, extremes or walls are gone: %+v", r)
		}
	}
	q.MaxHops = 1
	folded := classesOf(weighedConfig(256), 1, list).Results(q)
	if got := folded[len(folded)-1].Tail[0].Reason; !strings.HasPrefix(got, "biased sample: ") {
		t.Errorf("folded: %q", got)
	}
}

func BenchmarkAddTrace(b *testing.B) {
	one := weighed{spans: []spans.Span{span(0, 5, spans.Completed), span(1, 7, spans.Completed), span(2, 9, spans.Completed)}}.trace()
	for name, weight := range map[string]float64{"unweighted": 0, "weighted": 10} {
		b.Run(name, func(b *testing.B) {
			c := NewAccumulator(weighedConfig(256))
			for b.Loop() {
				c.AddTrace(one, weight)
			}
		})
	}
	b.Run("set", func(b *testing.B) {
		s := newHopSet(weighedConfig(256))
		for b.Loop() {
			s.AddTrace(one)
		}
	})
}

// nanosecondLog is long enough to be written out.
func nanosecondLog() rows {
	r := rand.New(rand.NewPCG(6, 6))
	var list []int64
	for range 30_000 {
		list = append(list, r.Int64N(1e9))
	}
	return all(done(list[:20_000]...), cut(list[20_000:25_000]...).retried(), failed(list[25_000:]...), done(list[:9000]...).on("other"))
}

func TestDurationsThatWereWrittenOutGiveTheSameResults(t *testing.T) {
	log, q := nanosecondLog(), asked("0.5", "0.99")
	var want []Result
	for _, memory := range []int64{0, 1, 50_000} {
		c := NewConfig(nil)
		c.Memory, c.TempDir = memory, t.TempDir()
		one, other := NewAccumulator(c), NewAccumulator(c)
		one.unweighted.Merge(setOf(t, one.config, log[:15_000]))
		other.unweighted.Merge(setOf(t, other.config, log[15_000:]))
		one.Merge(other)
		got := one.Results(q)
		if want == nil {
			want = got
		}
		if diff := same(want, got); diff != "" {
			t.Errorf("%d bytes of memory: %s", memory, diff)
		}
		if err := errors.Join(one.Err(), one.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestFolderThatCannotBeWrittenIsAnError(t *testing.T) {
	c := NewConfig(nil)
	c.Memory, c.TempDir = 1000, filepath.Join(t.TempDir(), "absent")
	classes := NewAccumulator(c)
	classes.unweighted.Merge(setOf(t, classes.config, nanosecondLog()))
	if err := classes.Err(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("error %v", err)
	}
	if err := classes.Close(); err != nil {
		t.Error(err)
	}
}
