package assembly

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

const (
	// spanBytes is what a span needs while its trace is visited: its place there
	// and in the lists that link it.
	spanBytes = 200
	// indexBytes is what a fragment needs besides: its entry and what groups it.
	indexBytes = 48 + 40
	// longTrace is from how many spans on a trace is left off with the run.
	longTrace = 1 << 15
)

// Each calls visit with every trace exactly once, from as many goroutines as
// there are workers; the order of traces is not specified. It comes after all
// Add, and once. A trace is the visitor's until visit returns. An error of
// visit, or the end of ctx, ends it.
func (a *Traces) Each(ctx context.Context, workers int, visit func(worker int, t *spans.Trace) error) error {
	if a.visited || a.collectors == nil {
		return errors.New("assembly: Each after Each or Close")
	}
	a.visited = true
	return a.visit(ctx, workers, tracePartitions, visit)
}

// sampleSpans is about how many spans a sample of traces has.
const sampleSpans = 1 << 13

// Sample is Survey for a part of the traces: those whose ids hash so, so that it does
// not matter who collected them. Few spans are visited whole.
func (a *Traces) Sample(ctx context.Context, workers int, visit func(worker int, t *spans.Trace) error) error {
	if a.visited || a.collectors == nil {
		return errors.New("assembly: Sample after Each or Close")
	}
	rows := int64(0)
	for _, c := range a.collectors {
		rows += c.collected
	}
	to := tracePartitions
	if rows > sampleSpans {
		to = int((sampleSpans*tracePartitions + rows - 1) / rows)
	}
	return a.visit(ctx, workers, to, visit)
}

// Hops are those of all traces. It comes after all Add.
func (a *Traces) Hops() []spans.Hop {
	a.join()
	return a.tables.hops.Values()
}

// join makes one table of the names of all collectors, once.
func (a *Traces) join() {
	if a.names == nil {
		a.tables, a.names = a.seal()
	}
}

// Survey is Each, but leaves the traces there to be visited again. What the visitor
// changes in a trace is not kept, and Counts does not count them.
func (a *Traces) Survey(ctx context.Context, workers int, visit func(worker int, t *spans.Trace) error) error {
	if a.visited || a.collectors == nil {
		return errors.New("assembly: Survey after Each or Close")
	}
	return a.visit(ctx, workers, tracePartitions, visit)
}

// visit visits the traces of the first partitions.
func (a *Traces) visit(ctx context.Context, workers, partitions int, visit func(worker int, t *spans.Trace) error) error {
	a.join()
	return eachPartition(ctx, workers, partitions, func(ctx context.Context, worker int) func(int) error {
		v := &visitor{owner: a, ctx: ctx, names: a.names, again: !a.visited, quota: quota{limit: a.config.Memory / 2 / int64(max(workers, 1))}}
		v.trace = spans.Trace{Hops: a.tables.hops.Values(), Hosts: a.tables.hosts.Values(), Strata: a.tables.strata.Values(), Instances: a.tables.instances.Values()}
		v.visit = func(t *spans.Trace) error { return visit(worker, t) }
		return v.whole
	})
}

// seal ends collecting: names get their places in one table for all, which
// renamings say for each collector.
func (a *Traces) seal() (merged tables, renamings []renaming) {
	all := make([]*tables, len(a.collectors))
	for i, c := range a.collectors {
		c.sealed = true
		c.store.quota.drop()
		c.tables.renamings, c.rows = nil, grouping{}
		all[i] = c.tables
	}
	return mergeTables(all, a.config.Naming)
}

// visitor goes through partitions one after the other.
type visitor struct {
	owner   *Traces
	ctx     context.Context
	visit   func(*spans.Trace) error
	names   []renaming // by who collected a fragment
	again   bool       // the fragments of the collectors are wanted once more
	quota   quota
	loaded  []byte // fragments that were spilled
	entries []entry
	groups  grouping // of entries
	trace   spans.Trace
	counts  Counts
}

// entry is a fragment of the partition.
type entry struct {
	trace    spans.TraceID
	rows     int
	fragment fragment
}

// whole visits a partition as all collectors have it.
func (v *visitor) whole(number int) error {
	var parts []*partition
	for _, c := range v.owner.collectors {
		parts = append(parts, &c.store.partitions[number])
	}
	err := v.partition(parts, 0)
	if !v.again {
		v.owner.count(v.counts)
	}
	v.counts = Counts{}
	return err
}

// partition visits the traces of a partition, or of its parts where it is too
// large for the quota.
func (v *visitor) partition(parts []*partition, level int) error {
	spilled, fragments := size(parts)
	if fragments == 0 {
		return nil
	}
	canSplit := level+1 < levels && mixed(parts)
	bytes := spilled + int64(fragments)*indexBytes
	if !canSplit || bytes <= v.quota.limit {
		if err := v.load(parts, spilled, fragments); err != nil {
			return err
		}
		bytes += v.largest() * spanBytes
	}
	if canSplit && bytes > v.quota.limit {
		return v.split(parts, level+1, splitInto(bytes, v.quota.limit))
	}
	err := v.traces()
	for _, p := range parts {
		v.forget(p, level)
	}
	return err
}

// forget lets go of the records of a partition, unless they are those that a collector
// has and are wanted once more.
func (v *visitor) forget(p *partition, level int) {
	if level > 0 || !v.again {
		p.forget()
	}
}

// splitInto returns into how many a partition is split so that one takes a quarter of
// the limit: the fewer there are, the longer their pieces of the file.
func splitInto(bytes, limit int64) int {
	return 4 << min(4, bits.Len64(uint64(bytes/max(limit, 1)))) // 64 at most
}

func size(parts []*partition) (spilled int64, fragments int) {
	for _, p := range parts {
		spilled, fragments = spilled+p.spilled(), fragments+p.records
	}
	return spilled, fragments
}

// mixed reports whether there is more than one trace.
func mixed(parts []*partition) bool {
	var first *partition
	for _, p := range parts {
		if p.records == 0 {
			continue
		}
		if p.mixed || first != nil && p.first != first.first {
			return true
		}
		first = p
	}
	return false
}

// split splits a partition by other bits of the ids, through a file, and visits
// the new ones one by one. None of them stays in memory meanwhile.
func (v *visitor) split(parts []*partition, level, into int) (err error) {
	s := newStore(into, level, &v.quota, v.owner.newFile())
	tables := v.quota.tables
	defer func() {
		v.quota.charge(tables - v.quota.tables)
		err = errors.Join(err, s.file.Close())
	}()
	v.release()
	for _, p := range parts {
		if err := v.copy(p, s); err != nil {
			return err
		}
		v.forget(p, level-1)
	}
	if err := s.spillAll(); err != nil {
		return err
	}
	for i := range s.partitions {
		if err := v.partition([]*partition{&s.partitions[i]}, level); err != nil {
			return err
		}
	}
	return nil
}

// copy puts all fragments of a partition into a store.
func (v *visitor) copy(p *partition, to *store) (err error) {
	var read []byte
	for i := range p.onDisk {
		if read, err = p.read(v.ctx, p.onDisk[i:i+1], read[:0]); err != nil {
			return err
		}
		if err = to.putAll(read); err != nil {
			return err
		}
	}
	for _, block := range p.blocks {
		if err = to.putAll(block); err != nil {
			return err
		}
	}
	return nil
}

// putAll copies the fragments of a block.
func (s *store) putAll(block []byte) error {
	for f := range fragments(block) {
		if err := s.put(f.trace(), f); err != nil {
			return err
		}
	}
	return nil
}

// release lets go of all buffers.
func (v *visitor) release() {
	t := &v.trace
	v.trace = spans.Trace{Hops: t.Hops, Hosts: t.Hosts, Strata: t.Strata, Instances: t.Instances}
	v.entries, v.groups, v.loaded = nil, grouping{}, nil
	v.quota.drop()
}

// load reads what was spilled and finds the fragments of each trace. It lets go of
// buffers that a much larger partition has left.
func (v *visitor) load(parts []*partition, spilled int64, fragments int) (err error) {
	const small = 1 << 12
	if cap(v.entries) > max(small, 2*fragments) || cap(v.loaded) > max(1<<20, 2*int(spilled)) {
		v.release()
	}
	v.loaded = slices.Grow(v.loaded[:0], int(spilled))
	v.entries = slices.Grow(v.entries[:0], fragments)
	for _, p := range parts {
		if v.loaded, err = p.read(v.ctx, p.onDisk, v.loaded); err != nil {
			return err
		}
	}
	v.index(v.loaded)
	for _, p := range parts {
		for _, block := range p.blocks {
			v.index(block)
		}
	}
	v.groups.group(len(v.entries), func(i int32) spans.TraceID { return v.entries[i].trace })
	return nil
}

func (v *visitor) index(block []byte) {
	for f := range fragments(block) {
		v.entries = append(v.entries, entry{f.trace(), f.rows(), f})
	}
}

// fragmentsOf yields the fragments of the trace of which one is the first.
func (v *visitor) fragmentsOf(first int32) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for i := first; i >= 0 && yield(&v.entries[i]); i = v.groups.next[i] {
		}
	}
}

// rowsOf is how many spans, with duplicates, a trace has.
func (v *visitor) rowsOf(first int32) (n int) {
	for e := range v.fragmentsOf(first) {
		n += e.rows
	}
	return n
}

// largest returns how many spans the largest trace has.
func (v *visitor) largest() (n int64) {
	for _, first := range v.groups.firsts {
		n = max(n, int64(v.rowsOf(first)))
	}
	return n
}

// traces visits the traces of the partition.
func (v *visitor) traces() error {
	for _, first := range v.groups.firsts {
		if v.ctx.Err() != nil {
			return context.Cause(v.ctx)
		}
		v.assemble(first)
		if v.trace.Stop.Told() {
			continue // which ends it
		}
		if err := v.visit(&v.trace); err != nil {
			return err
		}
	}
	return nil
}

// assemble unpacks the spans of one trace and links them.
func (v *visitor) assemble(first int32) {
	t := &v.trace
	t.Begin(v.entries[first].trace)
	rows, repeats := v.rowsOf(first), 0
	if t.Stop = nil; rows >= longTrace {
		t.Stop = func() bool { return v.ctx.Err() != nil }
	}
	if large := v.owner.config.Large; large != nil && rows >= spans.LargeTrace {
		large()
	}
	if rows > atOnce {
		repeats = v.unpackLarge(first, rows)
	} else {
		v.unpackAll(first, rows)
	}
	if t.Stop.Told() {
		return
	}
	t.Link()
	t.Duplicates += repeats
	v.counts.Spans += int64(len(t.Spans))
	v.counts.Traces++
	v.counts.Duplicates += int64(t.Duplicates)
	v.counts.Cycles += int64(t.Cycles)
}

// unpackAll unpacks the spans of a trace of that many rows.
func (v *visitor) unpackAll(first int32, rows int) {
	t := &v.trace
	t.Spans = slices.Grow(t.Spans, rows)
	for e := range v.fragmentsOf(first) {
		if t.Stop.Told() {
			return
		}
		v.unpack(e.fragment, e.rows)
	}
}

// unpack adds the spans of a fragment to the trace. Of several texts that share
// a hash the smallest counts, so that it does not matter which came first.
func (v *visitor) unpack(f fragment, rows int) {
	t := &v.trace
	u := f.open()
	if len(u.text) > 0 && (t.Text == "" || string(u.text) < t.Text) {
		t.Text = string(u.text)
	}
	names := &v.names[u.source]
	n := len(t.Spans)
	t.Spans = t.Spans[:n+rows]
	for i := n; i < len(t.Spans); i++ {
		s := &t.Spans[i]
		text := u.next(s)
		names.apply(s)
		if len(text) > 0 {
			t.Caption(s.ID, text)
		}
	}
}
