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

// Request is what one trace or chain came to: its end-to-end time in ns, how it ended,
// and what the time is that of. Without a basis it was not measured.
type Request struct {
	Total   int64
	Fails   bool
	Outcome Outcome
	Basis   Basis
}

// Last returns what the trace or chain came to that was added last.
func (a *Accumulator) Last() Request { return a.last }

// EndToEnd summarizes the end-to-end times of all requests.
func (a *Accumulator) EndToEnd(ps []quantile.P) quantile.Summary {
	a.flush()
	return quantile.Summarize(quantile.Union{&a.total}, ps)
}

// success is the place of Success in Outcomes.
const success = 0

func (o Outcome) index() int { return slices.Index(Outcomes[:], o) }

// Accumulator collects what traces and chains show. Not safe for concurrent use: each
// worker has its own.
type Accumulator struct {
	table  *table   // the same for all readings
	blocks []blocks // the first one is being written
	total  quantile.Sample
	totals []int64 // that are not in it yet
	counts counts
	hops   []hop
	kinds  map[hopKind]period
	nested nested
	last   Request

	// Room for one trace, used again for the next.
	path    path
	encoded []byte
	verdict verdict
	rescues rescues
	times   times // by hop
	chain   chain
}

// hop is what is counted of one hop.
type hop struct {
	failures  uint64 // traces that fail, and that it is to blame for
	anyCut    uint64 // traces with a cut, of which it has the deepest
	exemplars exemplars
	queue     queue
}

// hop returns what is counted of a hop, by its number. Where only the owner is asked,
// all hops are counted as one, at which nobody looks.
func (a *Accumulator) hop(i int32) *hop {
	if a.nested.compared {
		i = 0
	}
	for int(i) >= len(a.hops) {
		a.hops = append(a.hops, hop{})
	}
	return &a.hops[i]
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
	topless   uint64 // chains without an attempt of a hop that requests begin with
	lines     uint64
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator() *Accumulator { return newAccumulator(newTable()) }

func newAccumulator(t *table) *Accumulator {
	return &Accumulator{
		table: t, blocks: make([]blocks, 1),
		rescues: rescues{latest: map[int32]int32{}}, kinds: map[hopKind]period{},
	}
}

// AddBatch counts the lines of a batch of a hop log with the columns Traces, and
// Instances where those are wanted; their chains come by AddChain. There is no error.
func (a *Accumulator) AddBatch(b *spans.Batch) error {
	a.table.use(nil, b.Instances)
	a.counts.lines += uint64(b.Len())
	a.counts.loneLines += uint64(b.WithoutTrace())
	return nil
}

// AddTrace looks at a whole trace whose retries and cuts from below are marked. It
// keeps nothing of it.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	if len(t.Spans) > 0 && t.OfLog() {
		a.AddChain(t.Chain())
		return
	}
	a.addTrace(t)
	if len(t.Spans) >= spans.LargeTrace {
		a.path.nodes, a.path.first, a.path.next, a.verdict = nil, nil, nil, verdict{}
	}
}

func (a *Accumulator) addTrace(t *spans.Trace) {
	a.last = Request{}
	a.table.use(t.Hosts, t.Instances)
	a.takeSpans(t)
	a.observeTrace(t)
	root := rootOf(t)
	fails := a.judgeTrace(t, root)
	if root < 0 {
		a.counts.rootless++
		return
	}
	a.compareWithParents(t)
	a.path.reset()
	a.path.walk(root)
	a.count(t.ID.Group(), t.Name, fails, criticalPath)
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

// takeSpans makes nodes of the spans. Those that no caller waits for, and those
// without times, are off the path.
func (a *Accumulator) takeSpans(t *spans.Trace) {
	p := &a.path
	p.trace, p.nodes = t, slices.Grow(p.nodes[:0], len(t.Spans))
	for i := range t.Spans {
		s, parent := &t.Spans[i], t.Parents[i]
		n := node{start: s.Start, end: s.End(), hop: a.table.hopAt(t.Hops, s.Hop), parent: parent, outcome: s.Outcome, inTime: inTime(s)}
		n.detached = parent >= 0 && !t.HoldsUp(int32(i))
		if !n.inTime || n.detached {
			n.start = offPath
		} else {
			n.part = a.table.partAt(n.hop, a.table.placeOf(t, int32(i)))
		}
		p.nodes = append(p.nodes, n)
	}
}

// rounding is how far clocks and exporters may move the ends of a span, in ns.
const rounding = 1e6

// compareWithParents counts spans that lie outside the parent that waits for them.
// What runs on after one that gave up, or starts after it, may have done so.
func (a *Accumulator) compareWithParents(t *spans.Trace) {
	for i := range a.path.nodes {
		n, up := &a.path.nodes[i], t.Parents[i]
		if n.start == offPath || up < 0 || !inTime(&t.Spans[up]) {
			continue
		}
		parent := &t.Spans[up]
		a.counts.children++
		if wellBefore(n.start, parent.Start) || !parent.GaveUp() && wellBefore(parent.End(), n.end) {
			a.counts.outside++
		}
	}
}

// wellBefore reports whether a moment lies before another by more than rounding.
func wellBefore(a, b int64) bool { return a < b && uint64(b)-uint64(a) > rounding }

// count enters the path just walked.
func (a *Accumulator) count(group uint16, name func() string, fails bool, basis int) {
	total := a.keep(group, fails)
	if a.totals = append(a.totals, total); len(a.totals) == mostTotals {
		a.flush()
	}
	a.counts.measured[basis]++
	a.last.Total, a.last.Fails, a.last.Basis = total, fails, bases[basis]
	if a.nested.compared {
		return
	}
	if hop := a.largest(); hop >= 0 {
		a.hop(hop).exemplars.consider(total, fails, name)
	}
}

// mostTotals are entered at a time: many at once cost less.
const mostTotals = 256

func (a *Accumulator) flush() {
	a.total.AddAll(a.totals)
	a.totals = a.totals[:0]
}

// largest returns the hop that has most of the path just walked, of equal ones
// the first by name; -1 for a trace that took no time.
func (a *Accumulator) largest() int32 {
	p := &a.path
	if len(p.used) == 1 && p.ns[p.used[0]] > 0 {
		return a.table.parts[p.used[0]].hop
	}
	a.times.clear()
	for _, i := range p.used {
		a.times.add(a.table.parts[i].hop, p.ns[i])
	}
	return a.times.largest(a.table.compareHops)
}

// Merge moves what o collected into a.
func (a *Accumulator) Merge(o *Accumulator) {
	hops, parts := a.table.merge(o.table)
	a.merge(o, hops, parts)
}

// merge is Merge where the numbers are known that the hops and parts of o have here.
func (a *Accumulator) merge(o *Accumulator, hops, parts []int32) {
	o.flush()
	for _, b := range o.blocks {
		a.blocks = append(a.blocks, b.renumbered(parts))
	}
	a.total.Merge(&o.total)
	a.counts.add(&o.counts)
	for i := range o.hops {
		a.hop(hops[i]).merge(&o.hops[i])
	}
	for key, p := range o.kinds {
		a.addPeriod(hopKind{hops[key.hop], key.kind}, p)
	}
	a.nested.merge(&o.nested, hops, parts)
}

func (h *hop) merge(o *hop) {
	h.failures += o.failures
	h.anyCut += o.anyCut
	h.exemplars.merge(&o.exemplars)
	h.queue.together += o.queue.together
	h.queue.overlapped += o.queue.overlapped
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
	c.topless += o.topless
	c.lines += o.lines
}
