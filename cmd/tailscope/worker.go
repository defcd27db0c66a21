package main

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/tailscope/tailscope/callees"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// worker collects for all analyses of a run what it is given; the workers are merged
// in the end.
type worker struct {
	plan *plan
	stop spans.Stop // the run has been ended from outside
	collectors
	// Chains of hop logs whose nesting was inferred, and those too long for it.
	nested, unnested int64
	folded           bool // the ids in the names of hops
	leftOut          selection.LeftOut
	callers          ingest.Callers

	placer *nesting.Placer // of traces that are chains of hop logs
	walls  *spans.Walls
	// splitter is nil where calls go to one service each.
	splitter *callees.Splitter
	marked   bool // the input says of some attempt how it ended

	waiting      *assembly.TraceCollector // spans, until their traces are whole
	waitingLines *assembly.ChainCollector
}

// collectors are those of a worker.
type collectors struct {
	collected []any // by the run's analyses
	// What they have asked for by their methods.
	batches []interface{ AddBatch(*spans.Batch) error }
	chains  []interface{ AddChain(*spans.Chain) }
	traces  []interface{ AddTrace(*spans.Trace) }
	nesters []interface{ SetNesting(*nesting.Finding) }
	names   []interface{ Fold() }
	readers []interface{ EndBatches() }
	files   []file
}

// file is what may write to a file what memory does not hold.
type file interface {
	Err() error
	Close() error
}

func (p *plan) newWorker(traces *assembly.TraceCollector, chains *assembly.ChainCollector) *worker {
	w := &worker{plan: p, waiting: traces, waitingLines: chains, walls: spans.NewWalls(p.timeouts, p.naming, p.ingest.Fields.On(outcome.RuleWall))}
	w.collect()
	return w
}

// collect begins to collect, with nothing yet.
func (w *worker) collect() {
	w.collectors = collectors{}
	for _, a := range w.plan.analyses {
		c := a.collect(w.plan)
		w.collected = append(w.collected, c)
		w.batches = appendIf(w.batches, c)
		w.chains = appendIf(w.chains, c)
		w.traces = appendIf(w.traces, c)
		w.nesters = appendIf(w.nesters, c)
		w.names = appendIf(w.names, c)
		w.readers = appendIf(w.readers, c)
		w.files = appendIf(w.files, c)
	}
}

func appendIf[T any](list []T, c any) []T {
	if t, ok := c.(T); ok {
		return append(list, t)
	}
	return list
}

// hops is what counts attempts by hop.
func (w *worker) hops() *hopCollector { return w.collected[0].(*hopCollector) }

// addBatch looks at lines of a hop log, and keeps what chains need of them. Spans
// wait for their traces. What a timeout cut is so for all.
func (w *worker) addBatch(b *spans.Batch) error {
	if err := w.followNaming(); err != nil {
		return err
	}
	w.walls.CutFailed(b)
	if b.Linked() {
		return w.waiting.Add(b)
	}
	for _, c := range w.batches {
		if err := c.AddBatch(b); err != nil {
			return err
		}
	}
	return w.waitingLines.AddBatch(b)
}

// endBatches says that all lines were added.
func (w *worker) endBatches() {
	for _, c := range w.readers {
		c.EndBatches()
	}
}

// setNesting tells all who look at chains of hop logs what calls what.
func (w *worker) setNesting(f *nesting.Finding) {
	w.placer = f.Sure().NewPlacer()
	for _, c := range w.nesters {
		c.SetNesting(f)
	}
}

// longChain is from how many attempts on a chain is left off with the run.
const longChain = 1 << 15

// followNaming makes those who collect merge their hops once the ids in names are
// folded. An error says that there are too many hops.
func (w *worker) followNaming() error {
	if w.plan.naming.Folds() && !w.folded {
		w.folded = true
		for _, c := range w.names {
			c.Fold()
		}
	}
	return w.plan.naming.Err()
}

// addChain looks at a whole chain of a hop log.
func (w *worker) addChain(chain *spans.Chain) {
	for _, c := range w.chains {
		if len(chain.Attempts) >= longChain && w.stop.Told() {
			return
		}
		c.AddChain(chain)
	}
}

// addTrace looks at a whole trace: cuts, retries and cuts from below are marked first,
// then everything that asks for traces sees it. One that is stopped is left off
// between two of these.
func (w *worker) addTrace(t *spans.Trace) {
	rules := w.plan.ingest.Fields
	if !w.leftOut.Keeps(rules.Selection, t) {
		return
	}
	w.markRetries(t)
	if w.plan.infer && t.OfLog() {
		w.nest(t)
	}
	w.split(t)
	if rules.On(outcome.RuleBelow) {
		t.PassUpCuts()
	}
	for _, c := range w.traces {
		if t.Stop.Told() {
			return
		}
		c.AddTrace(t)
	}
}

// markRetries marks cuts and retries of a trace.
func (w *worker) markRetries(t *spans.Trace) {
	w.cut(t)
	rules := w.plan.ingest.Fields
	t.MarkRetries(spans.RetryOptions{NoMarks: !rules.On(outcome.RuleRetryMark), NoSiblings: !rules.On(outcome.RuleSibling)})
}

// split gives calls of one name to several services hops of their own, which may have
// timeouts of their own.
func (w *worker) split(t *spans.Trace) {
	if w.splitter != nil && w.splitter.Split(t) {
		w.walls.CutFailedSpans(t)
		w.cut(t)
	}
}

// cut finds what a timeout cut where the input marks nothing.
func (w *worker) cut(t *spans.Trace) {
	if !w.marked {
		w.walls.CutUnmarked(t)
	}
}

// nest infers what called what in a chain of a hop log.
func (w *worker) nest(t *spans.Trace) {
	if len(t.Spans) > spans.MostNested {
		w.unnested++
		return
	}
	w.nested++
	if w.placer != nil {
		w.placer.PlaceTrace(t)
	}
}

// err returns the first error of the files that hold what memory does not.
func (w *worker) err() error {
	for _, f := range w.files {
		if err := f.Err(); err != nil {
			return err
		}
	}
	return nil
}

// close deletes these files. One that cannot be removed is in the temporary folder,
// and the report stands.
func (w *worker) close() {
	for _, f := range w.files {
		_ = f.Close()
	}
}

func (w *worker) merge(o *worker) {
	w.mergeCollected(o)
	w.nested += o.nested
	w.unnested += o.unnested
	w.leftOut.Merge(&o.leftOut)
}

// mergeCollected moves what another worker collected into this one. What was moved is let
// go of at once: where there are many hops, each analysis has much of them.
func (w *worker) mergeCollected(o *worker) {
	o.end()
	for i, a := range w.plan.analyses {
		if w.stop.Told() {
			return
		}
		a.merge(w.collected[i], o.collected[i])
		o.letGo(i)
	}
}

// end says that there is nothing more to collect.
func (w *worker) end() {
	w.collectors = collectors{collected: w.collected, files: w.files}
	w.placer, w.splitter = nil, nil
}

// letGo lets go of what an analysis collected, and of the files of it.
func (c *collectors) letGo(i int) {
	c.files = slices.DeleteFunc(c.files, func(f file) bool { return f == c.collected[i] })
	c.collected[i] = nil
}

const (
	// largeChunk is from how many bytes on a chunk may have to wait: its records are
	// larger than what is usually read at once.
	largeChunk = 1 << 20
	// mostUnderWay is how many bytes large chunks that are under way may have together.
	// What holds them, and what is made of them, takes several times as much.
	mostUnderWay = 16 << 20
)

// underWay bounds the bytes of large chunks that were read and are not yet decoded,
// whatever the number of workers. One reader asks for room, workers give it back.
type underWay struct {
	bytes atomic.Int64
	given chan struct{} // some room was given back
}

func newUnderWay() *underWay { return &underWay{given: make(chan struct{}, 1)} }

// take waits until there is room for a chunk of n bytes. One that is alone has room.
// It reports false where ctx ended first.
func (u *underWay) take(ctx context.Context, n int) bool {
	if n < largeChunk {
		return true
	}
	for held := u.bytes.Load(); held > 0 && held+int64(n) > mostUnderWay; held = u.bytes.Load() {
		select {
		case <-u.given:
		case <-ctx.Done():
			return false
		}
	}
	u.bytes.Add(int64(n))
	return true
}

// give ends the way of a chunk of n bytes.
func (u *underWay) give(n int) {
	if n < largeChunk {
		return
	}
	u.bytes.Add(int64(-n))
	select {
	case u.given <- struct{}{}:
	default:
	}
}
