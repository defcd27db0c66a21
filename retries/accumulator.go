package retries

import (
	"slices"

	"github.com/tailscope/tailscope/quantile"

	"github.com/tailscope/tailscope/spans"
)

// Config holds the settings of a run for its accumulators.
type Config struct {
	// WriteHops are names of hops or operations that write, whatever they look like.
	WriteHops []string
	// Timeouts are the configured ones, in ns by hop name.
	Timeouts map[string]int64
	Naming   *spans.Naming // of the run; nil: hops are called as they come
	Limit    int           // most calls to list that were executed twice
}

// Accumulator collects what attempts show. Not safe for concurrent use: each worker has
// its own.
type Accumulator struct {
	config  Config
	table   table
	minutes minutes
	moments quantile.Sample // at which retries began, once for a trace
	twice   quantile.Sample // of these, those of traces with a retry in the next moment too
	edges   map[[2]int32]struct{}
	most    uint64 // attempts under the calls of one root that are the same but for retries
	cases   []Case
	counts  counts

	// Room for one trace, used again for the next.
	tries  []try
	ended  []int32
	next   []int32
	call   []int32
	begun  []int64
	tree   tree
	trySet []int32 // by span: its try + 1
}

// counts is what was seen.
type counts struct {
	traces, lines uint64
	lone          uint64 // lines that gave up or are retries, without a chain's id
}

// NewAccumulator returns an empty accumulator.
func NewAccumulator(c Config) *Accumulator {
	return &Accumulator{config: c, table: table{config: &c}, edges: map[[2]int32]struct{}{}}
}

// Fold merges the hops whose names become the same as the run's Naming folds ids. It
// comes once that does, and before AddChain and AddTrace.
func (a *Accumulator) Fold() {
	fresh := NewAccumulator(a.config)
	fresh.table.index.Use(a.config.Naming)
	fresh.Merge(a)
	*a = *fresh
}

// AddBatch counts the attempts of a batch of a hop log with the columns Traces and
// Starts; the calls that they make come by AddChain. There is no error.
func (a *Accumulator) AddBatch(b *spans.Batch) error {
	for i := range b.Len() {
		a.counts.lines++
		if tries := b.Tries[i]; tries > 1 {
			a.table.hops[a.table.at(b.Hops, b.Hop[i])].countTries(tries)
		}
		if a.countCompleted(b, i) {
			continue
		}
		t, known := a.lineAt(b, i)
		if known && b.Trace(i) == nil {
			a.judgeLone(&t)
		}
		a.countTry(&t, known)
	}
	return nil
}

// countCompleted counts row i if it is a first attempt that completed and the source
// said so, as most are: nothing more can come of it.
func (a *Accumulator) countCompleted(b *spans.Batch, i int) bool {
	if spans.Outcome(b.Outcome[i]) != spans.Completed || b.Retry(i) || !b.Marked(i) {
		return false
	}
	h := a.table.hops[a.table.at(b.Hops, b.Hop[i])]
	if calls(h.Kind) {
		start, timed := b.Start(i)
		a.minutes.add(start, timed, false)
	}
	h.marked = true
	h.firsts++
	h.firstCompleted++
	return true
}

// lineAt reads row i; known says that it has a duration.
func (a *Accumulator) lineAt(b *spans.Batch, i int) (t try, known bool) {
	t = try{span: -1, Attempt: spans.Attempt{
		Hop: a.table.at(b.Hops, b.Hop[i]), Outcome: spans.Outcome(b.Outcome[i]), CutBy: spans.CutBy(b.CutBy[i]),
		Failure: spans.Failure(b.Failure[i]), Retry: b.Retry(i),
	}}
	t.Start, t.Timed = b.Start(i)
	if known = b.HasDuration(i) && b.Duration[i] >= 0; known {
		t.Duration = b.Duration[i]
	}
	h := a.table.hops[t.Hop]
	h.marked = h.marked || b.Marked(i)
	t.MayBeCut = known && t.Outcome == spans.Completed && !b.Marked(i) && spans.AtWall(h.wallOf(b.Timeout[i]), t.Duration)
	return t, known
}

// judgeLone judges a line without a chain by itself.
func (a *Accumulator) judgeLone(t *try) {
	if t.MayBeCut && !t.Retry {
		a.table.hops[t.Hop].loneSuspects++
	}
	if t.GaveUp() || t.Retry {
		a.counts.lone++
	}
}

// wallOf is the timeout of an attempt whose record carries one, or 0: what the user gave
// counts before it.
func (h *hop) wallOf(recorded int64) int64 {
	if h.timeout > 0 {
		return h.timeout
	}
	return recorded
}

// countTry counts an attempt by how it ended, and its minute.
func (a *Accumulator) countTry(t *try, known bool) {
	h := a.table.hops[t.Hop]
	if calls(h.Kind) {
		a.minutes.add(t.Start, t.Timed, t.Retry)
	}
	if known && t.GaveUp() && t.CutBy != spans.Below && t.CutBy != spans.Caller {
		sample(&h.gaveUp).Add(t.Duration)
	}
	if t.Retry {
		h.retries++
		return
	}
	h.firsts++
	switch t.Outcome {
	case spans.Completed:
		h.firstCompleted++
	case spans.Truncated:
		h.firstCut++
	case spans.Failed:
		h.failures()[t.Failure].first++
	}
}

// countTries takes in how many tries a row of one call counts.
func (h *hop) countTries(n uint8) {
	h.mostAttempts = max(h.mostAttempts, uint64(n))
	h.counted += uint64(n) - 1
}

// calls reports whether attempts of that kind are made by a caller: what serves
// them is not tried again by itself.
func calls(k spans.Kind) bool { return k != spans.Server && k != spans.Consumer }

// AddChain looks at the calls of a chain of a hop log that gave up or were retried,
// with all its lines or only those that gave up, may have been cut, or are retries.
// Cuts from below are marked. It comes after all batches of all accumulators.
func (w *Accumulator) AddChain(c *spans.Chain) {
	w.tries = w.tries[:0]
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.GaveUp() || a.Retry || a.MayBeCut {
			t := try{Attempt: *a, span: -1, of: -1}
			t.Hop = w.table.at(c.Hops, a.Hop)
			w.tries = append(w.tries, t)
		}
	}
	if len(w.tries) == 0 {
		return
	}
	slices.SortFunc(w.tries, compareTries)
	w.judge()
	w.linkByHop()
	w.addCalls()
}

// AddTrace looks at a whole trace whose retries and cuts from below are marked. It
// keeps nothing of it.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	a.counts.traces++
	a.most = max(a.most, 1)
	a.countSpans(t)
	a.climb(t)
	if len(a.tries) == 0 {
		return
	}
	slices.SortFunc(a.tries, compareTries)
	if t.OfLog() {
		a.linkByHop()
		a.addCalls()
	} else {
		a.linkSiblings(t)
		a.addCalls()
		a.addServed(t)
	}
	a.addTree(t)
	a.addLate(t)
}

// countSpans counts the spans of a trace, and takes those as tries that gave up or
// are retries.
func (a *Accumulator) countSpans(t *spans.Trace) {
	a.tries = a.tries[:0]
	for i := range t.Spans {
		one := a.tryOf(t, int32(i))
		known := t.Spans[i].Flags.Has(spans.HasDuration) && one.Duration >= 0
		a.countTry(&one, known)
		if tries := t.Spans[i].Tries; tries > 1 {
			a.table.hops[one.Hop].countTries(tries)
		}
		if known && (one.GaveUp() || one.Retry) {
			a.tries = append(a.tries, one)
		}
	}
}

func (a *Accumulator) tryOf(t *spans.Trace, i int32) try {
	s := &t.Spans[i]
	return try{span: i, of: -1, Attempt: spans.Attempt{
		Start: s.Start, Duration: s.Duration, Hop: a.table.at(t.Hops, s.Hop),
		Outcome: s.Outcome, CutBy: s.CutBy, Failure: s.Failure, Timed: s.Flags.Has(spans.HasStart), Retry: s.Retry(),
	}}
}

// linkSiblings takes over which spans retry which.
func (a *Accumulator) linkSiblings(t *spans.Trace) {
	a.trySet = append(a.trySet[:0], make([]int32, len(t.Spans))...)
	for i := range a.tries {
		a.trySet[a.tries[i].span] = int32(i) + 1
	}
	for i := range a.tries {
		a.tries[i].of = -1
		if of := t.RetryOf[a.tries[i].span]; of >= 0 {
			a.tries[i].of = a.trySet[of] - 1
		}
	}
}

// Merge moves what o collected into a.
func (a *Accumulator) Merge(o *Accumulator) {
	numbers := a.table.merge(&o.table)
	for i, h := range o.table.hops {
		a.table.hops[numbers[i]].merge(h, numbers)
	}
	for e := range o.edges {
		a.edges[[2]int32{numbers[e[0]], numbers[e[1]]}] = struct{}{}
	}
	a.minutes.merge(&o.minutes)
	a.moments.Merge(&o.moments)
	a.twice.Merge(&o.twice)
	a.most = max(a.most, o.most)
	for _, c := range o.cases {
		a.keepCase(c)
	}
	a.counts.traces += o.counts.traces
	a.counts.lines += o.counts.lines
	a.counts.lone += o.counts.lone
}
