package attribution

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

const (
	us     = int64(1000)
	cut    = spans.Truncated
	failed = spans.Failed
)

// testSpan is a span in small numbers, times in µs: id 1 0-100 <- parent.
type testSpan struct {
	id, parent     int
	start, end     int
	hop            string
	kind           spans.Kind // NoKind is Internal
	outcome        spans.Outcome
	by             spans.CutBy   // of one that was cut: NotCut is Own
	failure        spans.Failure // of one that failed: NotFailed is Reset
	ties           spans.Ties
	retry          bool
	noStart, noEnd bool
	host           string
	peer           string
}

func (s testSpan) hopValue() spans.Hop {
	if s.kind == spans.NoKind {
		return spans.Hop{Name: s.hop, Kind: spans.Internal}
	}
	return spans.Hop{Name: s.hop, Kind: s.kind}
}

func (s testSpan) value() spans.Span {
	one := spans.Span{
		ID: spans.SpanID(s.id), Parent: spans.SpanID(s.parent), Digest: uint64(s.id),
		Outcome: s.outcome, CutBy: s.by, Failure: s.failure, Ties: s.ties,
	}
	if s.outcome == cut && s.by == spans.NotCut {
		one.CutBy = spans.Own
	}
	if s.outcome == failed && s.failure == spans.NotFailed {
		one.Failure = spans.Reset
	}
	if !s.noStart {
		one.Start, one.Flags = int64(s.start)*us, spans.HasStart
	}
	if !s.noEnd {
		one.Duration = int64(s.end-s.start) * us
		one.Flags |= spans.HasDuration
	}
	if s.retry {
		one.Flags |= spans.RetryByMark
	}
	return one
}

// placed returns where a name stands in a table, and puts it there.
func placed[T comparable](table *[]T, v T) int32 {
	i := slices.Index(*table, v)
	if i < 0 {
		i = len(*table)
		*table = append(*table, v)
	}
	return int32(i)
}

// traceOf links the spans of trace n and marks retries.
func traceOf(n int, list ...testSpan) *spans.Trace {
	var hops []spans.Hop
	var hosts, peers []string
	placed(&peers, "")
	var values []spans.Span
	for _, s := range list {
		one := s.value()
		one.Hop, one.Host, one.Instance = placed(&hops, s.hopValue()), placed(&hosts, s.host), placed(&peers, s.peer)
		values = append(values, one)
	}
	t := spans.NewTrace(spans.TraceID{Lo: uint64(n)}, values, hops, hosts)
	t.Instances = peers
	t.MarkRetries(spans.RetryOptions{})
	return t
}

// accumulatorOf looks at the spans of one trace.
func accumulatorOf(list ...testSpan) *Accumulator {
	w := NewAccumulator()
	w.SetNesting(callsIn(linesOfSpans(list), spans.Internal))
	w.AddTrace(traceOf(1, list...))
	return w
}

// linesOfSpans are spans of one chain as lines.
func linesOfSpans(list []testSpan) (lines []testLine) {
	for _, s := range list {
		lines = append(lines, testLine{hop: s.hop, start: s.start, end: s.end})
	}
	return lines
}

// testLine is an attempt of a hop log, times in µs.
type testLine struct {
	chain      string // "" for none
	hop        string
	start, end int
	outcome    spans.Outcome
	by         spans.CutBy
	untimed    bool
	pod        string
}

// heap is an allocator of Arrow memory that leaves all to Go: only spans imports
// Arrow.
type heap struct{}

func (heap) Allocate(size int) []byte             { return make([]byte, size) }
func (heap) Reallocate(size int, b []byte) []byte { return append(make([]byte, 0, size), b...)[:size] }
func (heap) Free([]byte)                          {}

// batchOf makes a batch of lines.
func batchOf(list ...testLine) *spans.Batch {
	b := spans.NewBuilder(heap{}, spans.Traces|spans.Starts|spans.Instances)
	defer b.Release()
	for _, l := range list {
		r := spans.Row{
			Hop: b.Hop([]byte(l.hop)), Outcome: l.outcome, CutBy: l.by, HasDuration: true, Duration: int64(l.end-l.start) * us,
			HasStart: !l.untimed, Start: int64(l.start) * us, Instance: b.Instance([]byte(l.pod)),
		}
		if l.outcome == cut && l.by == spans.NotCut {
			r.CutBy = spans.Own
		}
		if l.outcome == failed {
			r.Failure = spans.Reset
		}
		if l.chain != "" {
			r.Trace = []byte(l.chain)
		}
		b.Append(&r)
	}
	return b.Batch()
}

// testLog is a hop log whose lines some workers read, and what they saw.
type testLog struct {
	testing.TB
	store        *assembly.Chains
	accumulators []*Accumulator
	lines        []testLine
}

// callsIn takes a hop for a caller of another one of which an attempt begins in one of
// its attempts in some chain.
func callsIn(lines []testLine, kind spans.Kind) *nesting.Finding {
	byChain := map[string][]testLine{}
	for _, l := range lines[:min(len(lines), 20_000)] {
		byChain[l.chain] = append(byChain[l.chain], l)
	}
	var calls [][2]spans.Hop
	for _, id := range slices.Sorted(maps.Keys(byChain)) {
		chain := byChain[id][:min(len(byChain[id]), 300)]
		slices.SortStableFunc(chain, func(a, b testLine) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.hop, b.hop))
		})
		for k, y := range chain {
			for _, x := range chain[:k] {
				one := [2]spans.Hop{{Name: x.hop, Kind: kind}, {Name: y.hop, Kind: kind}}
				if x.hop != y.hop && y.start < x.end && !slices.Contains(calls, one) && !slices.Contains(calls, [2]spans.Hop{one[1], one[0]}) {
					calls = append(calls, one)
				}
			}
		}
	}
	return nesting.Known(0, calls...)
}

func newLog(t testing.TB, c assembly.ChainConfig, accumulators ...*Accumulator) *testLog {
	c.Keep, c.Workers = max(c.Keep, assembly.KeepAll), len(accumulators)
	return &testLog{t, assembly.NewChains(c), accumulators, nil}
}

// add lets worker i read lines.
func (l *testLog) add(i int, list ...testLine) {
	l.Helper()
	l.lines = append(l.lines, list...)
	for part := range slices.Chunk(list, 10_000) {
		b := batchOf(part...)
		if err := errors.Join(l.accumulators[i].AddBatch(b), l.store.Worker(i).AddBatch(b)); err != nil {
			l.Fatal(err)
		}
		b.Release()
	}
}

// chains looks at all chains.
func (l *testLog) chains() {
	l.Helper()
	found := callsIn(l.lines, spans.NoKind)
	for _, a := range l.accumulators {
		a.SetNesting(found)
	}
	err := l.store.Each(l.Context(), len(l.accumulators), func(i int, c *spans.Chain) error {
		l.accumulators[i].AddChain(c)
		return nil
	})
	if err := errors.Join(err, l.store.Close()); err != nil {
		l.Fatal(err)
	}
}

// merged looks at all chains and returns what all workers saw.
func (l *testLog) merged() *Accumulator {
	l.Helper()
	l.chains()
	for _, w := range l.accumulators[1:] {
		l.accumulators[0].Merge(w)
	}
	return l.accumulators[0]
}

// logOf looks at the lines of a hop log.
func logOf(t testing.TB, list ...testLine) *Accumulator {
	t.Helper()
	l := newLog(t, assembly.ChainConfig{}, NewAccumulator())
	l.add(0, list...)
	return l.merged()
}

// usual is what the program asks for unless told otherwise.
var usual = Query{
	Quantiles: []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.99")}, TailFrom: quantile.MustP("0.95"), Confidence: quantile.MustP("0.95"),
}

// timesOnPath writes what the hops have on the paths of all traces together, in µs,
// sorted by name; * where a cut ended some of it.
func timesOnPath(w *Accumulator) string {
	sums, cuts := map[string]int64{}, map[string]bool{}
	w.each(func(t *traceRecord) {
		for _, e := range t.entries {
			name := w.table.hops()[w.table.parts[e.part].hop].Name
			sums[name] += e.ns
			cuts[name] = cuts[name] || e.cut
		}
	})
	var s []string
	for name, ns := range sums {
		mark := ""
		if cuts[name] {
			mark = "*"
		}
		if ns > 0 {
			s = append(s, fmt.Sprint(name, mark, " ", float64(ns)/float64(us)))
		}
	}
	slices.Sort(s)
	return strings.Join(s, ", ")
}

// fate writes how traces ended and who is blamed for it.
func fate(w *Accumulator) string {
	r := w.Result(usual)
	var s []string
	for _, o := range r.Outcomes {
		if o.N > 0 {
			s = append(s, fmt.Sprint(o.N, " ", o.Outcome))
		}
	}
	for _, c := range r.Failures.ByHop {
		s = append(s, fmt.Sprint("fails by ", c.Hop, " ", c.N))
	}
	for _, c := range r.Failures.AnyCut.ByHop {
		s = append(s, fmt.Sprint("cut ", c.Hop, " ", c.N))
	}
	return strings.Join(s, ", ")
}

// codes are those of warnings or observations.
func codes[W ~struct {
	Code string `json:"code"`
	Text string `json:"text"`
}](list []W) (s []string) {
	for _, w := range list {
		s = append(s, struct {
			Code string `json:"code"`
			Text string `json:"text"`
		}(w).Code)
	}
	return s
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
