package attribution

import (
	"slices"

	"github.com/tailscope/tailscope/quantile"

	"github.com/tailscope/tailscope/spans"
)

// Basis says how the time of a trace was given to its hops.
type Basis string

// The bases. CriticalPath: spans with parents. Containment: attempts of a hop
// log, nested by their times. SerialSum: attempts without times, added up.
const (
	CriticalPath Basis = "critical_path"
	Containment  Basis = "containment"
	SerialSum    Basis = "serial_sum"
)

var bases = [...]Basis{CriticalPath, Containment, SerialSum}

// The places of the bases in bases.
const (
	criticalPath = iota
	containment
	serialSum
)

// Outcome is how a whole trace ended.
type Outcome string

// Success: the root answered, and so did the calls it made itself. Partial: the
// root answered although such a call failed to the last attempt. Failed and Cut:
// the root itself, or the last attempt of a hop log's outermost hop, did.
const (
	Success Outcome = "success"
	Partial Outcome = "partial"
	Failed  Outcome = "failed"
	Cut     Outcome = "cut"
)

// Outcomes lists them in the order of the reports.
var Outcomes = [...]Outcome{Success, Partial, Failed, Cut}

// success is the place of Success in Outcomes.
const success = 0

func (o Outcome) index() int { return slices.Index(Outcomes[:], o) }

// Accumulator collects what traces and chains tell. Not safe for concurrent use: each
// worker has its own.
type Accumulator struct {
	table    table
	trips    []stretch // the first one is being written
	total    quantile.Sample
	totals   []int64 // that are not in it yet
	counts   counts
	failures map[int32]uint64 // traces that fail, by the hop that is blamed
	anyCut   map[int32]uint64 // traces with a cut, by the deepest one
	best     []exemplars      // by hop
	kinds    map[hopKind]*period
	queues   map[int32]*queue
	unsure   map[hopPair]uint64 // attempts nested by chance

	// Room for one trace, used again for the next.
	path    path
	record  []byte
	depth   []int32
	under   []bool
	until   []int64 // by span: when the first call at or above it gave up
	rescues rescues
	times   hopTimes
	chain   chain
}

// counts is what was seen, in traces and chains.
type counts struct {
	measured  [len(bases)]uint64
	outcomes  [len(Outcomes)]uint64
	rootless  uint64 // no root that has a start and an end
	children  uint64 // spans that their parent waits for, both in time
	outside   uint64 // of these, those that lie outside their parent
	loneLines uint64 // lines of hop logs without a chain's id
	tooLong   uint64 // chains with more lines than can be nested
	lines     uint64
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator() *Accumulator {
	return &Accumulator{
		table: newTable(), trips: make([]stretch, 1),
		failures: map[int32]uint64{}, anyCut: map[int32]uint64{},
		rescues: rescues{latest: map[int32]int32{}}, kinds: map[hopKind]*period{}, queues: map[int32]*queue{}, unsure: map[hopPair]uint64{},
	}
}

// AddBatch counts the lines of a batch of a hop log with the columns Traces, and
// Instances where those are wanted; their chains come by AddChain. There is no error.
func (w *Accumulator) AddBatch(b *spans.Batch) error {
	w.table.use(nil, b.Instances)
	w.counts.lines += uint64(b.Len())
	w.counts.loneLines += uint64(b.WithoutTrace())
	return nil
}

// AddTrace looks at a whole trace whose retries and cuts from below are marked. It
// keeps nothing of it.
func (w *Accumulator) AddTrace(t *spans.Trace) {
	if len(t.Spans) > 0 && t.OfLog() {
		w.AddChain(t.Chain())
		return
	}
	w.table.use(t.Hosts, t.Instances)
	w.table.registerHops(t)
	w.observeTrace(t)
	root := rootOf(t)
	fails := w.judgeTrace(t, root)
	if root < 0 {
		w.counts.rootless++
		return
	}
	w.path.reset(len(w.table.parts))
	w.nodesOf(t)
	w.path.walk(root)
	w.count(t.ID.Group(), t.Name, fails, criticalPath)
}

// rootOf returns the root that lasted longest, of those the first: -1 if none
// lies in time.
func rootOf(t *spans.Trace) int32 {
	root := int32(-1)
	for _, r := range t.Roots {
		if inTime(&t.Spans[r]) && (root < 0 || t.Spans[r].Duration > t.Spans[root].Duration) {
			root = r
		}
	}
	return root
}

// inTime reports whether a span lies in time and does not end before it starts.
func inTime(s *spans.Span) bool { return s.Timed() && s.Duration >= 0 }

// nodesOf makes nodes of the spans. Those that no caller waits for, and those
// without times, are off the path.
func (w *Accumulator) nodesOf(t *spans.Trace) {
	p := &w.path
	p.trace, p.nodes = t, p.nodes[:0]
	for i := range t.Spans {
		s := &t.Spans[i]
		n := node{start: s.Start, end: s.End(), cut: s.Outcome == spans.Truncated}
		if !inTime(s) || t.Parents[i] >= 0 && !t.HoldsUp(int32(i)) {
			n.start = offPath
		} else {
			n.part = w.table.partAt(w.table.hopAt(t.Hops, s.Hop), w.table.placeOf(t, int32(i)))
			w.compareWithParent(t, int32(i))
		}
		p.nodes = append(p.nodes, n)
	}
}

// rounding is how far clocks and exporters may move the ends of a span, in ns.
const rounding = 1e6

// compareWithParent counts spans that lie outside the parent that waits for them.
// What runs on after one that gave up, or starts after it, may have done so.
func (w *Accumulator) compareWithParent(t *spans.Trace, i int32) {
	p := t.Parents[i]
	if p < 0 || !inTime(&t.Spans[p]) {
		return
	}
	s, parent := &t.Spans[i], &t.Spans[p]
	w.counts.children++
	if wellBefore(s.Start, parent.Start) || !parent.GaveUp() && wellBefore(parent.End(), s.End()) {
		w.counts.outside++
	}
}

// wellBefore reports whether a moment lies before another by more than rounding.
func wellBefore(a, b int64) bool { return a < b && uint64(b)-uint64(a) > rounding }

// count enters the path just walked.
func (w *Accumulator) count(group uint16, name func() string, fails bool, basis int) {
	total := w.keep(group, fails)
	if w.totals = append(w.totals, total); len(w.totals) == mostTotals {
		w.flush()
	}
	w.counts.measured[basis]++
	if hop := w.largest(); hop >= 0 {
		w.exemplarsOf(hop).consider(total, fails, name)
	}
}

// mostTotals are entered at a time: many at once cost less.
const mostTotals = 256

func (w *Accumulator) flush() {
	w.total.AddAll(w.totals)
	w.totals = w.totals[:0]
}

// largest returns the hop that has most of the path just walked, of equal ones
// the first by name; -1 for a trace that took no time.
func (w *Accumulator) largest() int32 {
	p := &w.path
	if len(p.touched) == 1 && p.spent[p.touched[0]] > 0 {
		return w.table.parts[p.touched[0]].hop
	}
	w.times.table = &w.table
	w.times.of(&trip{})
	for _, i := range p.touched {
		w.times.add(w.table.parts[i].hop, p.spent[i])
	}
	best := w.times.largest()
	w.times.clear()
	return best
}

// Merge moves what o collected into w.
func (w *Accumulator) Merge(o *Accumulator) {
	o.flush()
	hops, parts := w.table.merge(&o.table)
	for _, s := range o.trips {
		w.trips = append(w.trips, s.renamed(parts))
	}
	w.total.Merge(&o.total)
	w.counts.add(&o.counts)
	for hop, n := range o.failures {
		w.failures[hops[hop]] += n
	}
	for hop, n := range o.anyCut {
		w.anyCut[hops[hop]] += n
	}
	for hop := range o.best {
		w.exemplarsOf(hops[hop]).merge(&o.best[hop])
	}
	w.mergeObserved(o, hops)
	w.mergeUnsure(o, hops)
}

// renamed returns a stretch whose parts have other numbers; those of a merge
// before are renamed once more.
func (s stretch) renamed(parts []int32) stretch {
	if s.parts == nil {
		return stretch{s.blocks, parts}
	}
	list := make([]int32, len(s.parts))
	for i, p := range s.parts {
		list[i] = parts[p]
	}
	return stretch{s.blocks, list}
}

func (c *counts) add(o *counts) {
	for i := range c.measured {
		c.measured[i] += o.measured[i]
	}
	for i := range c.outcomes {
		c.outcomes[i] += o.outcomes[i]
	}
	c.rootless += o.rootless
	c.children += o.children
	c.outside += o.outside
	c.loneLines += o.loneLines
	c.tooLong += o.tooLong
	c.lines += o.lines
}
