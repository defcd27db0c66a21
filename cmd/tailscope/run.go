package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// run reads all sources and writes the report.
func (p *plan) run(ctx context.Context) error {
	out, err := p.outputs().Create(p.output)
	if err != nil {
		return err
	}
	defer out.Cleanup()
	read, err := p.read(ctx)
	if err != nil {
		return err
	}
	defer read.close()
	defer read.rejects.discard()
	read.ledger.LeaveOut(read.leftOut.ByFile)
	if err := read.ledgerAgrees(); err != nil {
		return err
	}
	r := p.results(read)
	if err := errors.Join(read.err(), context.Cause(ctx)); err != nil {
		return err
	}
	if r.again != nil {
		return r.again
	}
	p.sayInput(r.input, read)
	if r.input.Accepted == 0 {
		return errors.Join(nothingAccepted(r.input, read.notes), read.rejects.syncAndCommit())
	}
	if r.err != nil {
		return r.err
	}
	page := r.report()
	if err := errors.Join(read.rejects.sync(), context.Cause(ctx)); err != nil {
		return err
	}
	if err := p.write(out, page, p.textOptions()); err != nil {
		return err
	}
	p.sayLeftOut(page)
	if err := errors.Join(out.Sync(), context.Cause(ctx)); err != nil {
		return err
	}
	if err := out.Replace(); err != nil {
		return err
	}
	if err := read.rejects.commit(); err != nil {
		return err
	}
	if err := p.pass(r); err != nil {
		return err
	}
	return p.incomplete(r.input)
}

// merged is what all workers collected, and the account of the input.
type merged struct {
	*worker
	ledger  *ingest.Ledger
	paths   []string // of the files, by their index
	traces  assembly.Counts
	notes   []note.Warning // inputs that were skipped
	damages []error        // inputs that broke off
	rejects *rejectWriter  // committed after the report
}

// pipeline is one run under way: a reader cuts the sources into chunks, workers
// decode and count them, and the caller collects what they tell.
type pipeline struct {
	plan    *plan
	ctx     context.Context
	chunks  chan []*ingest.Chunk
	events  chan event
	bytes   *atomic.Int64
	large   *underWay // chunks
	running sync.WaitGroup
	workers []*worker
	kept    bool // what they collected was merged and handed on
	traces  *assembly.Traces
	chains  *assembly.Chains
	opened  int32 // files so far
	saving  bool  // memory, as there are many hops

	// What the reader hands on next: small files together, as they cost no more to read
	// than to hand over one by one.
	group   []*ingest.Chunk
	grouped int // bytes
	done    []*ingest.File
}

// event is what the collector must know: chunks were decoded, files were read, an input
// was skipped, or the run must end.
type event struct {
	done    []*ingest.File
	tallies []*ingest.Tally
	skipped *note.Warning
	err     error
}

// read runs the pipeline to its end.
func (p *plan) read(ctx context.Context) (*merged, error) {
	outside := ctx
	ctx, cancel := context.WithCancel(ctx)
	l := &pipeline{
		plan: p, ctx: ctx, bytes: new(atomic.Int64), large: newUnderWay(),
		chunks: make(chan []*ingest.Chunk, p.jobs),
		events: make(chan event, 4*p.jobs),
	}
	l.traces = assembly.NewTraces(assembly.TraceConfig{Naming: p.naming, Memory: p.memory - p.sampleMemory(), TempDir: p.tempDir, Workers: p.jobs, Large: lessGarbage})
	l.chains = assembly.NewChains(p.chainConfig())
	defer l.stop(cancel)
	for i := range p.jobs {
		w := p.newWorker(l.traces.Worker(i), l.chains.Worker(i))
		w.stop = func() bool { return outside.Err() != nil }
		l.workers = append(l.workers, w)
		l.running.Go(func() { l.work(w) })
	}
	go func() {
		l.readAll()
		close(l.chunks)
		l.running.Wait()
		close(l.events)
	}()
	f, err := l.collect()
	l.kept = err == nil
	return f, err
}

// chainConfig is what the chains of hop logs are kept with: with half of --memory
// where all lines are, a quarter where few are.
func (p *plan) chainConfig() assembly.ChainConfig {
	c := assembly.ChainConfig{Naming: p.naming, Keep: p.keep(), PassUpCuts: p.ingest.Fields.On(outcome.RuleBelow), Timeouts: p.timeouts, Memory: p.memory / 4, TempDir: p.tempDir, Workers: p.jobs}
	if c.Keep == assembly.KeepAll {
		c.Memory = p.memory / 2
	}
	return c
}

// readAll cuts the sources into chunks, one after the other.
func (l *pipeline) readAll() {
	for _, src := range l.plan.sources {
		if err := l.readOne(src); err != nil {
			l.send(event{err: err})
			return
		}
	}
	l.handOn()
}

const (
	// groupBytes is from where on chunks are handed on, without waiting for more.
	groupBytes = 128 << 10
	// mostGrouped is how many chunks, or files without one, wait for others at most.
	mostGrouped = 64
)

// handOn gives the chunks that wait to a worker, and the files that were read to the
// collector; false once the run has ended.
func (l *pipeline) handOn() bool {
	group, done := l.group, l.done
	l.group, l.grouped, l.done = nil, 0, nil
	if len(group) > 0 {
		select {
		case l.chunks <- group:
		case <-l.ctx.Done():
			return false
		}
	}
	if len(done) > 0 {
		l.send(event{done: done})
	}
	return true
}

func (l *pipeline) readOne(src ingest.Source) error {
	f, err := ingest.Open(src, l.plan.ingest, l.bytes)
	var unknown *ingest.UnknownFormatError
	var refused *ingest.RefusedError
	var unit *ingest.UnitError
	var named *ingest.FieldError
	switch {
	case errors.As(err, &refused) && !src.Named:
		l.send(event{skipped: &note.Warning{Code: "skipped_file", Text: refused.Error() + "; it was left out"}})
		return nil
	case errors.As(err, &unknown) && !src.Named:
		l.send(event{skipped: &note.Warning{Code: "skipped_file", Text: src.Path + " is of no known format and was left out"}})
		return nil
	case errors.As(err, &unit), errors.As(err, &named):
		return usageError{err}
	case err != nil:
		return err
	}
	defer f.Close()
	f.Index = l.opened
	l.opened++
	for {
		c, err := f.Next()
		if err == io.EOF {
			break
		}
		if !l.large.take(l.ctx, len(c.Data)) {
			return nil
		}
		l.group, l.grouped = append(l.group, c), l.grouped+len(c.Data)
		if (l.grouped >= groupBytes || len(l.group) == mostGrouped) && !l.handOn() {
			return nil
		}
	}
	var own *spill.Error
	if errors.As(f.Damage(), &own) {
		return own // the input is whole, but there is no room to read it
	}
	_ = f.Close() // before the collector looks at it
	if l.done = append(l.done, f); len(l.done) == mostGrouped {
		l.handOn()
	}
	return nil
}

// send hands an event to the collector, unless the run has ended.
func (l *pipeline) send(e event) {
	select {
	case l.events <- e:
	case <-l.ctx.Done():
	}
}

// work decodes chunks: attempts go straight into the worker's set, and spans, and
// lines of chains, wait until their trace or chain is whole.
func (l *pipeline) work(w *worker) {
	decoder := ingest.NewDecoder(l.plan.ingest, l.plan.streams.memory, l.plan.columns(), l.plan.rejects != "")
	defer decoder.Release()
	take := func(b *spans.Batch) {
		defer b.Release()
		if err := w.addBatch(b); err != nil {
			l.send(event{err: err})
		}
	}
	for group := range l.untilStopped() {
		tallies := make([]*ingest.Tally, len(group))
		for i, c := range group {
			size := len(c.Data)
			tallies[i] = decoder.Decode(c, take)
			c.Release()
			l.large.give(size)
		}
		l.send(event{tallies: tallies})
	}
	decoder.Flush(take)
	decoder.AddCallers(&w.callers)
}

// untilStopped yields the chunks until there are no more or the run has ended:
// the reader may be stuck in a read then.
func (l *pipeline) untilStopped() iter.Seq[[]*ingest.Chunk] {
	return func(yield func([]*ingest.Chunk) bool) {
		for {
			select {
			case c, more := <-l.chunks:
				if !more || !yield(c) {
					return
				}
			case <-l.ctx.Done():
				return
			}
		}
	}
}

// stop ends a run on every path: no worker goes on, and no file is left.
func (l *pipeline) stop(cancel func()) {
	cancel()
	l.running.Wait()
	// What cannot be removed is in the temporary folder, and the report stands.
	_ = l.traces.Close()
	for _, one := range l.workers {
		if !l.kept {
			one.close()
		}
	}
	_ = l.chains.Close()
}

// nest finds what calls what in hop logs, for those who look at whole chains of them,
// before any of them sees one. Without times there is nothing to find.
func (l *pipeline) nest(basis string, notes *[]note.Warning) error {
	if !l.plan.nests(&l.plan.ingest.Fields.Config) {
		return nil
	}
	r, err := l.resolution()
	if err != nil || r.Starts == 0 {
		return err
	}
	step := int64(r.Starts + r.Durations)
	if basis == "end" || basis == "mixed" { // lines are stamped a little after the end
		step = max(step, int64(time.Millisecond))
	}
	callers := l.statedCallers(notes)
	f, err := nesting.Survey(len(l.workers), step, callers, l.sampleChains, l.sampleTraces)
	if err != nil {
		return err
	}
	if f.Refuted {
		*notes = append(*notes, refutedCallers(callers))
	}
	f.MostGroup = l.chains.SampledGroup()
	for _, w := range l.workers {
		w.setNesting(f)
	}
	return nil
}

// resolution is that of the times of all lines of hop logs.
func (l *pipeline) resolution() (spans.Resolved, error) {
	all := l.chains.Resolution()
	each := make([]spans.Resolved, len(l.workers))
	err := l.surveyTraces(func(worker int, t *spans.Trace) error {
		for i := range t.Spans {
			if s := &t.Spans[i]; s.Timed() {
				each[worker].Starts.See(s.Start)
				each[worker].Durations.See(s.Duration)
			}
		}
		return nil
	})
	for _, r := range each {
		all.Merge(r)
	}
	return all, err
}

func (l *pipeline) sampleChains(round int, visit func(int, *spans.Chain) error) (more bool, err error) {
	return l.chains.Sample(l.ctx, len(l.workers), round, visit)
}

// sampleTraces visits chains of hop logs that are read as traces, all in one round.
func (l *pipeline) sampleTraces(round int, visit func(int, *spans.Chain) error) (more bool, err error) {
	if round > 0 {
		return false, nil
	}
	return false, l.surveyTraces(func(worker int, t *spans.Trace) error { return visit(worker, t.Chain()) })
}

// surveyTraces visits the traces that are chains of hop logs, where there may be some.
func (l *pipeline) surveyTraces(visit func(int, *spans.Trace) error) error {
	if !l.plan.ingest.Fields.Linked() {
		return nil
	}
	return l.traces.Survey(l.ctx, len(l.workers), func(worker int, t *spans.Trace) error {
		if !t.OfLog() {
			return nil
		}
		l.workers[worker].cut(t)
		return visit(worker, t)
	})
}

// settleNames gives hops their last names, now that all of them were met.
func (l *pipeline) settleNames() error {
	l.plan.naming.End()
	for _, w := range l.workers {
		if err := w.followNaming(); err != nil {
			return err
		}
	}
	return nil
}

// setMarked tells all who look at traces whether the input says how attempts ended.
func (l *pipeline) setMarked(marked bool) {
	for _, w := range l.workers {
		w.marked = marked
	}
}

// visit looks at every trace and at every chain of hop logs, once all of them is
// there.
func (l *pipeline) visit() error {
	err := l.traces.Each(l.ctx, len(l.workers), func(worker int, t *spans.Trace) error {
		l.workers[worker].addTrace(t)
		return l.workers[worker].err()
	})
	if err != nil {
		return err
	}
	return l.chains.Each(l.ctx, len(l.workers), func(worker int, c *spans.Chain) error {
		l.workers[worker].addChain(c)
		return nil
	})
}

// collect enters events until the pipeline has run dry, and merges what the workers
// have.
func (l *pipeline) collect() (f *merged, err error) {
	f = &merged{ledger: ingest.NewLedger()}
	if f.rejects, err = l.plan.newRejectWriter(); err != nil {
		return nil, err
	}
	bar := newBar(l.plan, l.bytes)
	defer bar.stop()
	if err = l.drain(f); err == nil {
		err = l.settleNames()
	}
	if err == nil {
		l.setMarked(f.ledger.Marked())
		l.gather()
		err = l.tellCallees(f)
	}
	if err == nil {
		err = l.nest(f.ledger.Summary(false).TimeBasis, &f.notes)
	}
	if err == nil {
		err = l.visit()
	}
	if err == nil {
		l.mergeInto(f)
		err = context.Cause(l.ctx)
	}
	if err != nil {
		f.rejects.discard()
		return nil, err
	}
	return f, nil
}

func (l *pipeline) mergeInto(f *merged) {
	f.traces = l.traces.Counts()
	f.worker = l.workers[0]
	for _, one := range l.workers[1:] {
		f.merge(one)
	}
}

func (l *pipeline) drain(f *merged) error {
	for {
		l.saveMemory()
		select {
		case <-l.ctx.Done():
			return context.Cause(l.ctx)
		case e, more := <-l.events:
			if !more {
				return context.Cause(l.ctx)
			}
			if err := f.enter(e); err != nil {
				return err
			}
		}
	}
}

func (f *merged) enter(e event) error {
	switch {
	case e.err != nil:
		return e.err
	case e.skipped != nil:
		f.notes = append(f.notes, *e.skipped)
	}
	for _, done := range e.done {
		f.ledger.Done(done)
		f.paths = append(f.paths, done.Path)
		if err := done.Damage(); err != nil {
			f.damages = append(f.damages, err)
		}
		if err := f.rejects.done(done); err != nil {
			return err
		}
	}
	for _, tally := range e.tallies {
		if err := errors.Join(f.ledger.Add(tally), f.rejects.add(tally)); err != nil {
			return err
		}
	}
	return nil
}
