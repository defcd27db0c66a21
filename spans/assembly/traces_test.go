package assembly

import (
	compare "cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailscope/tailscope/spans"
)

// drawForest draws spans of a few traces with small numbers, so that ids,
// starts and digests collide, parents miss and ties close cycles.
func drawForest(rt *rapid.T) []testSpan {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) testSpan {
		s := testSpan{
			trace: rapid.IntRange(1, 6).Draw(rt, "trace"), id: rapid.IntRange(0, 9).Draw(rt, "id"), parent: rapid.IntRange(0, 10).Draw(rt, "parent"),
			start: rapid.IntRange(0, 9).Draw(rt, "start"), kind: spans.Kind(rapid.IntRange(1, 5).Draw(rt, "kind")),
			outcome: spans.Outcome(rapid.IntRange(0, 3).Draw(rt, "outcome")), digest: rapid.IntRange(1, 5).Draw(rt, "digest"),
			hop: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "hop"), host: rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(rt, "host"),
			instance: rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(rt, "instance"),
			file:     rapid.IntRange(0, 2).Draw(rt, "file"), line: rapid.IntRange(1, 50).Draw(rt, "line"),
			noStart: rapid.IntRange(0, 9).Draw(rt, "start missing") == 0, noEnd: rapid.IntRange(0, 9).Draw(rt, "end missing") == 0,
			retry: rapid.IntRange(0, 5).Draw(rt, "retry") == 0, textual: rapid.SampledFrom([]string{"", "", "", "s-1", "s-2"}).Draw(rt, "text"),
		}
		s.end = s.start + rapid.IntRange(0, 5).Draw(rt, "duration")
		if s.trace > 4 {
			s.traceText = fmt.Sprint("trace-", s.trace)
		}
		return s
	}), 1, 60).Draw(rt, "spans")
}

// whole is what a test compares: everything that a consumer can see.
type whole struct {
	Name                        string
	Spans                       []spans.Span
	Hops                        []spans.Hop
	Hosts, Instances, SpanNames []string
	Parents, Roots, Missing, Of []int32
	Children                    [][]int32
	Duplicates, Cycles          int
}

// wholeOf shows a trace with hops and hosts in full; indices into the tables
// are the assembler's own business.
func wholeOf(t *spans.Trace) whole {
	indices := func(list []int32) []int32 { return append([]int32{}, list...) } // empty is never nil
	w := whole{
		Name: t.Name(), Parents: indices(t.Parents), Roots: indices(t.Roots), Missing: indices(t.Missing), Of: indices(t.RetryOf),
		Duplicates: t.Duplicates, Cycles: t.Cycles,
	}
	for i, s := range t.Spans {
		w.Hops = append(w.Hops, t.Hops[s.Hop])
		w.Hosts, w.Instances = append(w.Hosts, t.Hosts[s.Host]), append(w.Instances, t.Instances[s.Instance])
		w.SpanNames = append(w.SpanNames, t.SpanName(int32(i)))
		w.Children = append(w.Children, indices(t.Children(int32(i))))
		s.Hop, s.Host, s.Instance = 0, 0, 0
		w.Spans = append(w.Spans, s)
	}
	return w
}

func wholes(traces []*spans.Trace) (list []whole) {
	for _, t := range traces {
		t.MarkRetries(spans.RetryOptions{})
		t.PassUpCuts()
		list = append(list, wholeOf(t))
	}
	return list
}

// difference is cmp.Diff, which is slow, only where there is one.
func difference(want, got []whole) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%.3000s", cmp.Diff(want, got))
}

func TestTracesDoNotDependOnHowTheyCame(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		list := drawForest(rt)
		want := wholes(assemble(rt, TraceConfig{TempDir: folder}, 1, list))
		shuffled := rapid.Permutation(list).Draw(rt, "order")
		c := TraceConfig{
			TempDir: folder, Workers: rapid.IntRange(1, 4).Draw(rt, "workers"),
			Memory: rapid.SampledFrom([]int64{1 << 10, 64 << 10, 256 << 10, 0}).Draw(rt, "memory"),
		}
		got := wholes(assemble(rt, c, rapid.IntRange(1, 3).Draw(rt, "visitors"), shuffled))
		if d := difference(want, got); d != "" {
			rt.Fatalf("%d workers, %d bytes:\n%s", c.Workers, c.Memory, d)
		}
	})
}

// TestTracesAreThoseOfADumbOracle holds the linker against maps and loops.
func TestTracesAreThoseOfADumbOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		list := drawForest(rt)
		for _, tr := range assemble(rt, TraceConfig{}, 1, list) {
			o := newOracle(list, tr)
			if len(tr.Spans) != len(o.spans) || tr.Duplicates != o.total-len(o.spans) {
				rt.Fatalf("%d spans and %d duplicates of %d, want %d spans", len(tr.Spans), tr.Duplicates, o.total, len(o.spans))
			}
			if tr.Cycles != o.cycles || !slices.Equal(tr.Parents, o.parents) {
				rt.Fatalf("%d cycles, parents %v; want %d, %v", tr.Cycles, tr.Parents, o.cycles, o.parents)
			}
			tr.MarkRetries(spans.RetryOptions{})
			if of := o.retries(); !slices.Equal(tr.RetryOf, of) {
				rt.Fatalf("retries %v, want %v", tr.RetryOf, of)
			}
			tr.PassUpCuts()
			for i := range tr.Spans {
				if got, want := tr.Spans[i].Outcome, o.outcome(i); got != want {
					rt.Fatalf("span %d ended %v, want %v", i, got, want)
				}
			}
		}
	})
}

// oracle links a trace the plain way.
type oracle struct {
	total   int
	spans   []testSpan // in the order of Trace.Spans
	parents []int32
	cycles  int
}

type identity struct {
	id, parent spans.SpanID
	digest     uint64
	hop        spans.Hop
}

func newOracle(list []testSpan, tr *spans.Trace) *oracle {
	o := &oracle{}
	first := map[identity]testSpan{}
	for _, s := range list {
		if s.traceID() != tr.ID {
			continue
		}
		o.total++
		key := identity{s.spanID(), spans.SpanID(s.parent), s.digestValue(), s.hopValue()}
		if old, ok := first[key]; !ok || inOrder(s, old) < 0 {
			first[key] = s
		}
	}
	for _, s := range first {
		o.spans = append(o.spans, s)
	}
	slices.SortFunc(o.spans, inOrder)
	for i := range o.spans {
		o.parents = append(o.parents, o.parentOf(i))
	}
	o.cutCycles()
	return o
}

// inOrder is the order of Trace.Spans, of exact duplicates too.
func inOrder(a, b testSpan) int {
	start := func(s testSpan) int { return s.start * zeroIf(s.noStart) }
	duration := func(s testSpan) int { return (s.end - s.start) * zeroIf(s.noEnd) }
	flags := func(s testSpan) int { return zeroIf(s.noStart) + 2*zeroIf(s.noEnd) + 16*zeroIf(!s.retry) }
	hop := func(s testSpan) string { return s.hopValue().Name + " " + s.hopValue().Kind.String() }
	return compare.Or(
		compare.Compare(start(a), start(b)), compare.Compare(a.spanID(), b.spanID()), compare.Compare(a.digestValue(), b.digestValue()),
		compare.Compare(a.parent, b.parent), compare.Compare(hop(a), hop(b)), compare.Compare(duration(a), duration(b)),
		compare.Compare(a.host, b.host), compare.Compare(a.instance, b.instance), compare.Compare(a.outcome, b.outcome), compare.Compare(a.ties, b.ties),
		compare.Compare(flags(a), flags(b)), compare.Compare(a.file, b.file), compare.Compare(a.line, b.line))
}

func zeroIf(missing bool) int {
	if missing {
		return 0
	}
	return 1
}

func (o *oracle) parentOf(i int) int32 {
	s := o.spans[i]
	if s.kind == spans.Server && s.spanID() != 0 {
		if c := o.first(s.spanID(), spans.Client); c >= 0 {
			return c
		}
	}
	if s.parent == 0 || spans.SpanID(s.parent) == s.spanID() {
		if s.parent != 0 {
			o.cycles++
		}
		return -1
	}
	id := spans.SpanID(s.parent)
	if server := o.first(id, spans.Server); server >= 0 && o.first(id, spans.Client) >= 0 {
		return server
	}
	return int32(slices.IndexFunc(o.spans, func(s testSpan) bool { return s.spanID() == id }))
}

func (o *oracle) first(id spans.SpanID, k spans.Kind) int32 {
	return int32(slices.IndexFunc(o.spans, func(s testSpan) bool { return s.spanID() == id && s.kind == k }))
}

// cutCycles cuts at the first span from which the way up leads back to it: in
// the order of spans that is each cycle's first.
func (o *oracle) cutCycles() {
	for i := range o.spans {
		at := o.parents[i]
		for steps := 0; at >= 0 && at != int32(i) && steps <= len(o.spans); steps++ {
			at = o.parents[at]
		}
		if at == int32(i) {
			o.parents[i] = -1
			o.cycles++
		}
	}
}

// retries looks, for each span in order, at all spans before it. What is marked as a
// retry may begin a little before the attempt that it retries has ended: all times
// here are as near as that.
func (o *oracle) retries() []int32 {
	of := make([]int32, len(o.spans))
	timed := func(s testSpan) bool { return !s.noStart && !s.noEnd }
	taken := map[int]bool{}
	for i, s := range o.spans {
		of[i] = -1
		if !timed(s) || !s.retry && (s.kind == spans.Server || s.kind == spans.Consumer) {
			continue
		}
		best := -1
		for k, e := range o.spans[:i] {
			gaveUp := timed(e) && (e.outcome == spans.Failed || e.outcome == spans.Truncated) && (e.end <= s.start || s.retry)
			if gaveUp && !taken[k] && o.siblings(i, k) && e.hopValue() == s.hopValue() && (best < 0 || e.end >= o.spans[best].end) {
				best = k
			}
		}
		if best >= 0 {
			of[i], taken[best] = int32(best), true
		}
	}
	return of
}

func (o *oracle) siblings(i, k int) bool {
	if o.parents[i] >= 0 || o.parents[k] >= 0 {
		return o.parents[i] == o.parents[k]
	}
	return o.missing(i) && o.missing(k) && o.spans[i].parent == o.spans[k].parent
}

func (o *oracle) missing(i int) bool {
	p := spans.SpanID(o.spans[i].parent)
	return p != 0 && !slices.ContainsFunc(o.spans, func(s testSpan) bool { return s.spanID() == p })
}

// outcome looks down from a failed span.
func (o *oracle) outcome(i int) spans.Outcome {
	if o.spans[i].outcome == spans.Failed && o.cutBelow(i) {
		return spans.Truncated
	}
	return o.spans[i].outcome
}

func (o *oracle) cutBelow(i int) bool {
	for k, s := range o.spans {
		waits := s.kind != spans.Consumer && !s.ties.Has(spans.Async)
		if o.parents[k] == int32(i) && waits && (s.outcome == spans.Truncated || o.cutBelow(k)) {
			return true
		}
	}
	return false
}

func TestIDsThatAreNoNumberKeepTheirText(t *testing.T) {
	list := []testSpan{
		{traceText: "trace-123", textual: "span-1", end: 9}, {traceText: "trace-123", textual: "span-2", start: 1, end: 2},
		{traceText: "trace-123", id: 0xab, start: 2, end: 3}, {trace: 0x1f, id: 5, end: 3}, {traceText: "other trace", id: 5, end: 3},
	}
	for _, limit := range []int64{0, 1} { // 1 byte: everything is spilled and parted again
		for _, tr := range assemble(t, TraceConfig{Memory: limit}, 1, slices.Repeat(list, 30)) {
			switch tr.Name() {
			case "trace-123":
				if got := fmt.Sprint(tr.SpanName(0), tr.SpanName(1), tr.SpanName(2)); got != "span-1span-200000000000000ab" {
					t.Errorf("limit %d: span names %s", limit, got)
				}
			case "other trace", "0000000000000000000000000000001f":
				if got := tr.SpanName(0); got != "0000000000000005" {
					t.Errorf("limit %d: span name %s", limit, got)
				}
			default:
				t.Errorf("limit %d: trace %q", limit, tr.Name())
			}
		}
	}
}
