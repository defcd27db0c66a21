package orphans

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

var kinds = []spans.Kind{spans.Internal, server, client, client, spans.Producer, spans.Consumer}

// anyTrace draws a trace of few hops in which everything occurs.
func anyTrace(t *rapid.T) []testSpan {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	list := randomTree(r, 1+r.IntN(12))
	for i := range list {
		s := &list[i]
		s.hop = []string{"a/x", "a/y", "b/x", "c/z"}[r.IntN(4)]
		s.kind = kinds[r.IntN(len(kinds))]
		s.by = []spans.CutBy{spans.Own, spans.Below, spans.Caller}[r.IntN(3)]
		s.host = []string{"", "", "n1", "n2"}[r.IntN(4)]
		s.noStart, s.noEnd, s.retry = r.IntN(30) == 0, r.IntN(30) == 0, r.IntN(10) == 0
		if i > 0 && r.IntN(20) == 0 {
			s.parent = 99
		}
		if r.IntN(10) == 0 {
			s.ties |= spans.Shifted
		}
	}
	return list
}

// all is everything that an accumulator tells.
type all struct {
	Result Result
	Server [][]ServerSide
}

func allOf(w *Accumulator) all {
	ps := []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.99")}
	a := all{Result: w.Result(Query{Quantiles: ps, Wall: wallsOf(map[string]int{"a/x": 60, "b/x": 50, "c/z": 50})})}
	for _, name := range []string{"a/x", "a/y", "b/x", "c/z"} {
		a.Server = append(a.Server, w.ServerSide(testSpan{hop: name, kind: client}.hopValue(), nil, ps))
	}
	return a
}

var exactly = cmp.Options{cmpopts.IgnoreUnexported(Case{}), cmp.Comparer(func(a, b quantile.P) bool { return a.Compare(b) == 0 })}

func TestResultsDoNotDependOnTheSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		traces := rapid.SliceOfN(rapid.Custom(anyTrace), 1, 12).Draw(t, "traces")
		config := Config{Tolerance: ms, Limit: rapid.IntRange(0, 9).Draw(t, "limit"), ByOverrun: rapid.Bool().Draw(t, "by overrun")}
		whole := NewAccumulator(config)
		for n, list := range traces {
			whole.AddTrace(traceOf(n+1, list...))
		}
		parts := make([]*Accumulator, rapid.IntRange(1, 4).Draw(t, "accumulators"))
		for i := range parts {
			parts[i] = NewAccumulator(config)
		}
		for _, n := range rapid.Permutation(seq(len(traces))).Draw(t, "order") {
			// The spans in another order give other tables of hops and hosts.
			list := slices.Clone(traces[n])
			if rapid.Bool().Draw(t, "reversed") {
				slices.Reverse(list)
			}
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "to")].AddTrace(traceOf(n+1, list...))
		}
		into := NewAccumulator(config)
		for _, i := range rapid.Permutation(seq(len(parts))).Draw(t, "merged") {
			into.Merge(parts[i])
		}
		want := allOf(whole)
		if d := cmp.Diff(want, allOf(into), exactly); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(want, allOf(whole), exactly); d != "" {
			t.Fatalf("asking changed it: %s", d)
		}
	})
}

func TestTheLargestSkewStays(t *testing.T) {
	for _, outs := range [][]int{{10, 40}, {40, 10}} {
		w := watchOf(usual, testSpan{id: 1, end: 100, hop: "a/x", outcome: cut}, testSpan{id: 2, parent: 1, start: 60, end: 130, hop: "b/y"})
		for _, out := range outs {
			w.Merge(watchOf(usual, testSpan{id: 1, end: 100, hop: "a/x"}, testSpan{id: 2, parent: 1, start: 50 + out, end: 100 + out, hop: "b/y"}))
		}
		if item := w.Result(Query{}).Items[0]; item.Sure != Doubtful {
			t.Errorf("%v: %s", outs, item.Evidence)
		}
	}
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestTablesOfHops: traces may share a table, bring another of as many hops, or
// the same grown by some.
func TestTablesOfHops(t *testing.T) {
	table := make([]spans.Hop, 0, 4)
	table = append(table, spans.Hop{Name: "a", Kind: client}, spans.Hop{Name: "b", Kind: server})
	other := []spans.Hop{{Name: "x", Kind: client}, {Name: "b", Kind: server}}
	grown := append(table, spans.Hop{Name: "c", Kind: server})
	w := NewAccumulator(usual)
	for _, c := range []struct {
		hops  []spans.Hop
		child int32
	}{{table, 1}, {table, 1}, {other, 1}, {table, 1}, {grown, 2}, {table, 1}} {
		timed := spans.HasStart | spans.HasDuration
		w.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{
			{ID: 1, Duration: 100 * ms, Flags: timed, Outcome: cut}, {ID: 2, Parent: 1, Duration: 200 * ms, Hop: c.child, Flags: timed},
		}, c.hops, nil))
	}
	r := w.Result(Query{Quantiles: median})
	for names, want := range map[[2]string]uint64{{"a", "b"}: 4, {"x", "b"}: 1, {"a", "c"}: 1} {
		if p := pairOf(t, r, names[0], names[1]); p.Orphaned != want {
			t.Errorf("%v: %d, want %d", names, p.Orphaned, want)
		}
	}
	w.AddTrace(spans.NewTrace(spans.TraceID{}, nil, nil, nil))
	if d := cmp.Diff(r, w.Result(Query{Quantiles: median}), exactly); d != "" {
		t.Errorf("an empty trace changed it: %s", d)
	}
}
