package attribution

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// anyTrace draws spans of few hops in which everything occurs.
func anyTrace(t *rapid.T) []testSpan {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	list := make([]testSpan, 1+r.IntN(12))
	for i := range list {
		start := r.IntN(60)
		list[i] = testSpan{
			id: i + 1, parent: r.IntN(i + 1), start: start, end: start + r.IntN(60), hop: []string{"a", "b", "c", "d"}[r.IntN(4)],
			kind:    []spans.Kind{spans.Internal, spans.Server, spans.Client, spans.Client, spans.Consumer}[r.IntN(5)],
			outcome: []spans.Outcome{spans.Completed, spans.Completed, cut, failed}[r.IntN(4)],
			by:      []spans.CutBy{spans.Own, spans.Below, spans.Caller}[r.IntN(3)],
			host:    []string{"", "n1", "n2"}[r.IntN(3)], peer: []string{"", "", "p1", "p2"}[r.IntN(4)], retry: r.IntN(8) == 0, noEnd: r.IntN(30) == 0, noStart: r.IntN(30) == 0,
		}
		if r.IntN(30) == 0 {
			list[i].parent = 99
		}
	}
	return list
}

// pathOracle gives the window of a span to hops by the words of the rule: again
// and again the child that ends last of those that start before the point reached.
func pathOracle(t *spans.Trace, i int32, lo, hi int64, into map[string]int64) {
	at := hi
	used := map[int32]bool{}
	for {
		best := int32(-1)
		for _, c := range t.Children(i) {
			s := &t.Spans[c]
			if used[c] || !s.Timed() || !t.HoldsUp(c) || s.Start >= at || min(s.End(), at) <= max(s.Start, lo) {
				continue
			}
			if best < 0 || min(s.End(), hi) > min(t.Spans[best].End(), hi) {
				best = c
			}
		}
		if best < 0 {
			break
		}
		used[best] = true
		s := &t.Spans[best]
		from, to := max(s.Start, lo), min(s.End(), at)
		pathOracle(t, best, from, to, into)
		into[t.HopOf(i).Name] += at - to
		at = from
	}
	into[t.HopOf(i).Name] += at - lo
}

func TestThePathAgreesWithTheRuleReadAloud(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := anyTrace(t)
		w, tr := accumulatorOf(list...), traceOf(1, list...)
		want, got := map[string]int64{}, map[string]int64{}
		root := rootOf(tr)
		if root >= 0 {
			pathOracle(tr, root, tr.Spans[root].Start, tr.Spans[root].End(), want)
		}
		sum := int64(0)
		w.each(func(r *traceRecord) {
			for _, e := range r.entries {
				got[w.table.hops()[w.table.parts[e.part].hop].Name] += e.ns
				sum += e.ns
			}
		})
		for _, m := range []map[string]int64{want, got} {
			for hop, ns := range m {
				if ns == 0 {
					delete(m, hop)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		if root >= 0 && sum != tr.Spans[root].Duration {
			t.Fatalf("the hops' times add up to %d, the trace took %d", sum, tr.Spans[root].Duration)
		}
	})
}

// anyLog draws the lines of a few chains.
func anyLog(t *rapid.T) (lines []testLine) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "log"), 1))
	for range r.IntN(30) {
		start := r.IntN(100)
		lines = append(lines, testLine{
			chain: []string{"", "c-1", "c-2", "0a", "0A", "a long id that is no number"}[r.IntN(6)], hop: []string{"a", "b", "c"}[r.IntN(3)],
			start: start, end: start + r.IntN(60), outcome: []spans.Outcome{spans.Completed, spans.Completed, cut, failed}[r.IntN(4)],
			by: []spans.CutBy{spans.Own, spans.Caller}[r.IntN(2)], untimed: r.IntN(20) == 0,
			pod: []string{"", "a-1", "a-2"}[r.IntN(3)],
		})
	}
	return lines
}

// exactly compares results; probabilities by their values.
var exactly = cmp.Comparer(func(a, b quantile.P) bool { return a.Compare(b) == 0 })

func TestResultsDoNotDependOnOrderOrSplit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		traces := rapid.SliceOfN(rapid.Custom(anyTrace), 1, 30).Draw(rt, "traces")
		lines := anyLog(rt)
		query := usual
		query.TailFrom = quantile.MustP(rapid.SampledFrom([]string{"0.5", "0.9"}).Draw(rt, "tail from"))
		all := newLog(t, assembly.ChainConfig{}, NewAccumulator())
		whole := all.accumulators[0]
		for n, list := range traces {
			whole.AddTrace(traceOf(n+1, list...))
		}
		all.add(0, lines...)
		all.chains()

		parts := make([]*Accumulator, rapid.IntRange(1, 4).Draw(rt, "accumulators"))
		for i := range parts {
			parts[i] = NewAccumulator()
		}
		l := newLog(t, assembly.ChainConfig{Memory: int64(rapid.IntRange(0, 800).Draw(rt, "memory")), TempDir: t.TempDir()}, parts...)
		for _, n := range rapid.Permutation(seq(len(traces))).Draw(rt, "order") {
			list := slices.Clone(traces[n])
			if rapid.Bool().Draw(rt, "reversed") {
				slices.Reverse(list)
			}
			parts[rapid.IntRange(0, len(parts)-1).Draw(rt, "to")].AddTrace(traceOf(n+1, list...))
		}
		for _, n := range rapid.Permutation(seq(len(lines))).Draw(rt, "lines") {
			l.add(rapid.IntRange(0, len(parts)-1).Draw(rt, "to"), lines[n])
		}
		into := l.merged()
		want := whole.Result(query)
		if d := cmp.Diff(want, into.Result(query), exactly); d != "" {
			rt.Fatal(d)
		}
		if d := cmp.Diff(want, whole.Result(query), exactly); d != "" {
			rt.Fatalf("asking changed it: %s", d)
		}
	})
}

// FuzzTraces reads spans from bytes, with times up to the ends of an int64.
func FuzzTraces(f *testing.F) {
	f.Add([]byte{0, 0, 100, 0, 0, 1, 10, 50, 1, 2, 2, 20, 255, 2, 1})
	f.Add([]byte{0, 255, 255, 0, 1, 1, 254, 255, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []spans.Span
		for i := 0; i+5 <= len(data) && i < 500; i += 5 {
			s := spans.Span{
				ID: spans.SpanID(i + 1), Parent: spans.SpanID(int(data[i])*5%(i+1) + 1), Start: extreme(data[i+1]), Duration: extreme(data[i+2]) & (1<<63 - 1),
				Hop: int32(data[i+3] & 3), Host: int32(data[i+3] >> 7), Outcome: spans.Outcome(data[i+4] & 3), CutBy: spans.CutBy(data[i+4] >> 2 % 5),
				Flags: spans.HasStart | spans.HasDuration, Ties: spans.Ties(data[i+4]>>7) * spans.LogLine,
			}
			if i == 0 || data[i] > 250 {
				s.Parent = 0
			}
			list = append(list, s)
		}
		tr := spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}, []string{"", "n"})
		tr.MarkRetries(spans.RetryOptions{})
		w := NewAccumulator()
		w.AddTrace(tr)
		checkTrips(t, w)
		r := w.Result(usual)
		if r.EndToEnd.N > 1 || r.Failures.N > 1 || r.Failures.AnyCut.N > 1 {
			t.Errorf("one trace counts more than once: %+v", r)
		}
	})
}

// extreme spreads a byte over an int64: small numbers, and those near its ends.
func extreme(b byte) int64 {
	switch {
	case b >= 250:
		return 1<<63 - 1 - int64(255-b)
	case b >= 240:
		return -1 << 63 / int64(b-238)
	}
	return int64(b) * 997
}

func checkTrips(t *testing.T, w *Accumulator) {
	w.flush()
	w.each(func(r *traceRecord) {
		sum := int64(0)
		for _, e := range r.entries {
			if e.ns < 0 || sum+e.ns < 0 {
				t.Errorf("times %v", r.entries)
			}
			sum += e.ns
		}
		if w.total.N() != 1 || w.total.Clone() == nil || quantile.Summarize(quantile.Union{&w.total}, nil).Max != sum {
			t.Errorf("the hops' times add up to %d, which is not the end-to-end time", sum)
		}
	})
}

// FuzzLines reads lines of a hop log from bytes, and holds the store against the
// same lines read as one trace.
func FuzzLines(f *testing.F) {
	f.Add([]byte{0, 0, 100, 1, 10, 20, 6, 15, 10})
	f.Fuzz(func(t *testing.T, data []byte) {
		var lines []testLine
		for i := 0; i+3 <= len(data) && i < 300; i += 3 {
			lines = append(lines, testLine{
				chain: "0000000000000000000000000000000a", hop: string(rune('a' + data[i]&3)), outcome: spans.Outcome(data[i] >> 2 % 3),
				untimed: data[i]>>7 != 0 && i%7 == 0, start: int(data[i+1]), end: int(data[i+1]) + int(data[i+2]),
			})
		}
		if anyTied(lines) {
			return
		}
		w := logOf(t, lines...)
		var list []testSpan
		for i, l := range lines {
			list = append(list, testSpan{id: i + 1, start: l.start, end: l.end, hop: l.hop, outcome: l.outcome, noStart: l.untimed, ties: spans.LogLine})
		}
		if len(list) == 0 {
			return
		}
		checkTrips(t, w)
		if a, b := timesOnPath(w), timesOnPath(accumulatorOf(list...)); a != b {
			t.Errorf("%s; as a trace %s", a, b)
		}
		if a, b := fate(w), fate(accumulatorOf(list...)); a != b {
			t.Errorf("%s; as a trace %s", a, b)
		}
	})
}

// anyTied reports whether attempts of two hops start and end together, or last as long
// where some have no times: either may hold the other, and a chain and a trace may
// decide that differently.
func anyTied(lines []testLine) bool {
	untimed := slices.ContainsFunc(lines, func(l testLine) bool { return l.untimed })
	hops := map[[2]int]string{}
	for _, l := range lines {
		at := [2]int{l.start, l.end}
		if untimed {
			at = [2]int{0, l.end - l.start}
		}
		if hop, seen := hops[at]; seen && hop != l.hop {
			return true
		}
		hops[at] = l.hop
	}
	return false
}

// TestTablesOfNames: traces may share tables of hops and hosts, bring others of
// the same size, or the same grown by some.
func TestTablesOfNames(t *testing.T) {
	hops := append(make([]spans.Hop, 0, 4), spans.Hop{Name: "a"}, spans.Hop{Name: "b"})
	hosts := []string{"n1", "n2"}
	w := NewAccumulator()
	for _, c := range []struct {
		hops  []spans.Hop
		hosts []string
		hop   int32
	}{
		{hops, hosts, 1}, {hops, hosts, 1}, {hops, []string{"n3", "n4"}, 1}, {[]spans.Hop{{Name: "x"}, {Name: "b"}}, hosts, 1},
		{append(hops, spans.Hop{Name: "c"}), hosts, 2}, {hops, hosts, 1},
	} {
		w.AddTrace(spans.NewTrace(spans.TraceID{Lo: 1}, []spans.Span{
			{ID: 1, Duration: 100, Flags: spans.HasStart | spans.HasDuration, Hop: c.hop, Host: 1},
		}, c.hops, c.hosts))
	}
	got := map[string]int{}
	w.each(func(r *traceRecord) {
		p := w.table.parts[r.entries[0].part]
		got[w.table.hops()[p.hop].Name+" on "+w.table.names[p.process]]++
	})
	if d := cmp.Diff(map[string]int{"b on n2": 4, "b on n4": 1, "c on n2": 1}, got); d != "" {
		t.Error(d)
	}
}
