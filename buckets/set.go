package buckets

import (
	"hash/maphash"
	"iter"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its buckets; NewConfig makes one.
type Config struct {
	// Timeouts are the configured ones, in nanoseconds by hop name.
	Timeouts map[string]int64
	// Naming is that of the run; nil: hops are called as they come.
	Naming *spans.Naming
	// KeepFailures leaves a failed attempt that holds a cut a failure.
	KeepFailures bool
	// MaxHeld bounds the cut and failed attempts that are kept to find failures
	// that hold a cut; 0 means DefaultMaxHeld.
	MaxHeld int
	// MaxWeights bounds the weights that Accumulator tells apart; with more, none
	// counts.
	MaxWeights int
	// Memory is how many bytes the samples of one worker hold before the rest goes
	// to a file in TempDir; 0 sets no limit.
	Memory  int64
	TempDir string

	seeds    [2]maphash.Seed
	clusters *hopClusters    // of the worker
	store    *quantile.Store // of the worker; nil where there is no limit
}

// NewConfig returns a Config; all sets that are to be merged share one.
func NewConfig(timeouts map[string]int64) Config {
	return Config{Timeouts: timeouts, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// hopSet groups attempts by hop. Not safe for concurrent use: each worker has its
// own, and they are merged at the end.
type hopSet struct {
	config Config
	hops   []*hop                    // by the number that config.clusters has for theirs, nil where none
	bound  map[*spans.Builder][]*hop // the hops of a builder's batches, by index
	// table is the first hop of the table that the last trace shared with
	// others, and byTable its hops by index.
	table   *spans.Hop
	byTable []*hop
	open    []*clusters // of hops of the trace being added
	waiting []*part     // that have attempts waiting; none between two calls of Add
	timed   bool        // the batch being added has a start
	starts  []int64     // of that batch, where it has all
	// together: these lie in one minute, so that it is enough to know one of them.
	together bool
	ended    []held
	// eligible counts the attempts that hold was to keep; gaveUp says that they
	// were too many, so that none is kept.
	eligible int
	gaveUp   bool
}

// newHopSet returns an empty set.
func newHopSet(c Config) *hopSet {
	if c.MaxHeld == 0 {
		c.MaxHeld = DefaultMaxHeld
	}
	if c.clusters == nil {
		c.clusters = newHopClusters(c.Naming)
	}
	return &hopSet{config: c, bound: map[*spans.Builder][]*hop{}}
}

// Add counts the attempts of a batch. It keeps nothing of the batch, which
// stays the caller's.
func (s *hopSet) Add(b *spans.Batch) {
	hops := s.hopsOf(b)
	s.timed, s.starts = b.AnyStart(), b.AllStarts()
	s.together = s.starts != nil && depend.SameMinute(s.starts)
	for row, index := range b.Hop {
		h := s.hopAt(hops, b.Hops, index)
		if b.Resolution != nil {
			h.resolution = min(h.resolution, b.Resolution[row])
		}
		if b.Stratum != nil || !s.addCompletedFast(h, b, row) {
			s.addRow(h, b, row)
		}
	}
	for _, p := range s.waiting {
		p.count(s)
	}
	s.waiting, s.starts = s.waiting[:0], nil
}

// addCompletedFast lets a completed attempt wait for others of its hop. It is false for
// one that has more to tell.
func (s *hopSet) addCompletedFast(h *hop, b *spans.Batch, row int) bool {
	marked := b.Marked(row)
	if spans.Outcome(b.Outcome[row]) != spans.Completed || (h.timeout > 0 || b.Timeout[row] > 0) && !marked || b.Speaks(row) || b.Tries[row] > 1 || b.Retry(row) && b.Trace(row) != nil {
		return false
	}
	h.marked = h.marked || marked
	p := h.part(b.Retry(row))
	if len(p.waiting) == 0 {
		s.waiting = append(s.waiting, p)
	}
	p.waiting = append(p.waiting, b.Duration[row])
	switch {
	case p.blocks == nil || !s.timed || s.together:
	case s.starts != nil:
		p.starts = append(p.starts, s.starts[row])
	default:
		p.starts = append(p.starts, startOf(b, row))
	}
	return true
}

func (s *hopSet) addRow(h *hop, b *spans.Batch, row int) {
	a := attempt{
		duration: b.Duration[row],
		timeout:  b.Timeout[row],
		outcome:  spans.Outcome(b.Outcome[row]),
		cutBy:    spans.CutBy(b.CutBy[row]),
		failure:  spans.Failure(b.Failure[row]),
		retry:    b.Retry(row),
		marked:   b.Marked(row),
		speaks:   b.Speaks(row),
		tries:    b.Tries[row],
	}
	if b.Stratum != nil && !a.retry {
		a.stratum = h.keep().strata.of(b.Strata[b.Stratum[row]])
	}
	if s.timed {
		a.start, a.timed = b.Start(row)
	}
	if !s.hold(h, a, b, row) {
		h.add(a)
	}
}

// hopsOf returns the hops of the batch by their index, nil where no row of the
// hop was seen yet.
func (s *hopSet) hopsOf(b *spans.Batch) []*hop {
	hops := s.bound[b.Lineage]
	if missing := len(b.Hops) - len(hops); missing > 0 {
		hops = append(hops, make([]*hop, missing)...)
		s.bound[b.Lineage] = hops
	}
	return hops
}

// hopAt returns one of the hops of a source by its index in the source's list.
func (s *hopSet) hopAt(hops []*hop, list []spans.Hop, index int32) *hop {
	if hops[index] == nil {
		hops[index] = s.hop(list[index])
	}
	return hops[index]
}

// hop returns a hop, which comes into being.
func (s *hopSet) hop(id spans.Hop) *hop {
	i := int(s.config.clusters.number(id))
	for len(s.hops) <= i {
		s.hops = append(s.hops, nil)
	}
	if s.hops[i] == nil {
		s.hops[i] = s.newHop(i)
	}
	return s.hops[i]
}

func (s *hopSet) newHop(number int) *hop {
	h := newHop(s.config.clusters.hops.Values()[number])
	h.timeout = s.config.Naming.TimeoutOf(s.config.Timeouts, h.Hop)
	h.first.store = s.config.store
	h.clusters = s.config.clusters.list[number]
	h.first.blocks = h.clusters.blocks
	return h
}

// each yields the hops of the set.
func (s *hopSet) each() iter.Seq[*hop] {
	return func(yield func(*hop) bool) {
		for _, h := range s.hops {
			if h != nil && !yield(h) {
				return
			}
		}
	}
}

// Merge moves the attempts of o into s; o must not be used any more.
func (s *hopSet) Merge(o *hopSet) {
	s.config.clusters.merge(o.config.clusters)
	for h := range o.each() {
		s.hop(h.Hop).merge(h)
	}
	if s.config.Naming.Folds() {
		for i := range o.ended {
			o.ended[i].hop = s.hop(o.ended[i].hop.Hop)
		}
	}
	s.ended = append(s.ended, o.ended...)
	if s.eligible += o.eligible; s.tooMany() {
		s.giveUp()
	}
}

func (h *hop) attempts() uint64 {
	n := h.unfinished + uint64(len(h.held))
	for _, p := range [...]*part{&h.first, h.again()} {
		n += p.all().N() + p.held(suspects).N() + p.held(nearWall).N()
	}
	return n
}
