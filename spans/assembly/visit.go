package assembly

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/spans"
)

const (
	// spanBytes is what a span needs while its trace is visited: its place there
	// and in the lists that link it.
	spanBytes = 200
	// indexBytes is the size of an entry of the index.
	indexBytes = 48
)

// Each calls visit with every trace exactly once, from as many goroutines as
// there are workers; the order of traces is not specified. It comes after all
// Add, and once. A trace is the visitor's until visit returns. An error of
// visit, or the end of ctx, ends it.
func (a *Traces) Each(ctx context.Context, workers int, visit func(worker int, t *spans.Trace) error) error {
	if a.visited || a.collectors == nil {
		return errors.New("spans: Each after Each or Close")
	}
	a.visited = true
	merged, names := a.seal()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = max(workers, 1)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		v := &visitor{owner: a, ctx: ctx, names: names, quota: quota{limit: a.config.Memory / 2 / int64(workers)}}
		v.trace = spans.Trace{Hops: merged.hops.list, Hosts: merged.hosts.list, Strata: merged.strata.list, Instances: merged.instances.list}
		v.visit = func(t *spans.Trace) error { return visit(w, t) }
		wg.Go(func() {
			if err := v.run(&next); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// seal ends collecting: names get their places in one table for all, which
// renamings say for each collector.
func (a *Traces) seal() (merged tables, renamings []renaming) {
	all := make([]*tables, len(a.collectors))
	for i, c := range a.collectors {
		c.sealed = true
		c.store.quota.drop()
		c.renamings, c.rows, c.store.file.joined = nil, grouping{}, nil
		all[i] = c.tables
	}
	return mergeTables(all)
}

// piece is what one store has of a partition.
type piece struct {
	*shelf
	file *spillFile
}

// visitor goes through partitions one after the other.
type visitor struct {
	owner   *Traces
	ctx     context.Context
	visit   func(*spans.Trace) error
	names   []renaming // by who collected a fragment
	quota   quota
	loaded  []byte // fragments that were spilled
	entries []entry
	ends    []int32 // of the buckets while entries are sorted
	trace   spans.Trace
	counts  Counts
}

// entry is a fragment of the partition.
type entry struct {
	trace    spans.TraceID
	rows     int
	fragment fragment
}

// run takes partitions until none is left.
func (v *visitor) run(next *atomic.Int64) error {
	defer func() { v.owner.count(v.counts) }()
	for {
		p := int(next.Add(1)) - 1
		if p >= partitions {
			return nil
		}
		var pieces []piece
		for _, c := range v.owner.collectors {
			pieces = append(pieces, piece{&c.store.shelves[p], &c.store.file})
		}
		if err := v.partition(pieces, 0); err != nil {
			return err
		}
	}
}

// partition visits the traces of a partition, or of its parts where it is too
// large for the quota.
func (v *visitor) partition(pieces []piece, level int) error {
	if err := context.Cause(v.ctx); err != nil {
		return err
	}
	spilled, fragments := size(pieces)
	if fragments == 0 {
		return nil
	}
	canPart := level+1 < levels && mixed(pieces)
	bytes := spilled + int64(fragments)*indexBytes
	if !canPart || bytes <= v.quota.limit {
		if err := v.load(pieces, spilled, fragments); err != nil {
			return err
		}
		bytes += v.largest() * spanBytes
	}
	if canPart && bytes > v.quota.limit {
		return v.part(pieces, level+1, partsFor(bytes, v.quota.limit))
	}
	err := v.traces()
	for _, p := range pieces {
		p.pile = pile{}
	}
	return err
}

// partsFor returns into how many parts a partition goes so that a part takes a
// quarter of the limit: the fewer parts, the longer their segments in the file.
func partsFor(bytes, limit int64) uint64 {
	return 4 << min(4, bits.Len64(uint64(bytes/max(limit, 1)))) // 64 at most
}

func size(pieces []piece) (spilled int64, fragments int) {
	for _, p := range pieces {
		spilled, fragments = spilled+p.spilled(), fragments+p.fragments
	}
	return spilled, fragments
}

// mixed reports whether there is more than one trace.
func mixed(pieces []piece) bool {
	var first *shelf
	for _, p := range pieces {
		if p.fragments == 0 {
			continue
		}
		if p.mixed || first != nil && p.first != first.first {
			return true
		}
		first = p.shelf
	}
	return false
}

// part parts a partition by other bits of the ids, through a file, and visits
// the parts one by one. None of them stays in memory meanwhile.
func (v *visitor) part(pieces []piece, level int, parts uint64) (err error) {
	s := &store{level: level, parts: parts, quota: &v.quota, file: v.owner.newFile()}
	tables := v.quota.tables
	defer func() {
		v.quota.charge(tables - v.quota.tables)
		err = errors.Join(err, s.file.Close())
	}()
	v.release()
	for _, p := range pieces {
		if err := v.fragments(p, s.put); err != nil {
			return err
		}
		p.pile = pile{} // as it was copied
	}
	if err := s.spillAll(); err != nil {
		return err
	}
	s.file.joined = nil
	for i := range s.shelves {
		if err := v.partition([]piece{{&s.shelves[i], &s.file}}, level); err != nil {
			return err
		}
	}
	return nil
}

// fragments calls visit with each fragment of a piece.
func (v *visitor) fragments(p piece, visit func(fragment) error) (err error) {
	var read []byte
	for i := range p.onDisk {
		if read, err = p.file.read(v.ctx, p.onDisk[i:i+1], read[:0]); err != nil {
			return err
		}
		if err := eachFragment(read, visit); err != nil {
			return err
		}
	}
	for _, b := range p.blocks {
		if err := eachFragment(b, visit); err != nil {
			return err
		}
	}
	return nil
}

// release lets go of all buffers.
func (v *visitor) release() {
	t := &v.trace
	v.trace = spans.Trace{Hops: t.Hops, Hosts: t.Hosts, Strata: t.Strata, Instances: t.Instances}
	v.entries, v.ends, v.loaded = nil, nil, nil
	v.quota.drop()
}

// keepRoom lets go of buffers that a much larger partition has left, and makes
// room for this one.
func (v *visitor) keepRoom(spilled int64, fragments int) {
	const small = 1 << 12
	if cap(v.entries) > max(small, 2*fragments) || cap(v.loaded) > max(1<<20, 2*int(spilled)) {
		v.release()
	}
	v.loaded = slices.Grow(v.loaded[:0], int(spilled))
	v.entries = slices.Grow(v.entries[:0], fragments)
}

// load reads what was spilled and sorts an index of all fragments: those of a
// trace stand together.
func (v *visitor) load(pieces []piece, spilled int64, fragments int) (err error) {
	v.keepRoom(spilled, fragments)
	for _, p := range pieces {
		if v.loaded, err = p.file.read(v.ctx, p.onDisk, v.loaded); err != nil {
			return err
		}
	}
	v.index(pieces, fragments)
	return nil
}

// index deals the fragments into small buckets by their trace before it sorts
// them, since sorting all of them at once takes twice as long.
func (v *visitor) index(pieces []piece, fragments int) {
	buckets := uint64(1) << bits.Len(uint(fragments/16))
	v.ends = append(v.ends[:0], make([]int32, buckets+1)...)
	v.eachLoaded(pieces, func(f fragment) { v.ends[partitionOf(f.trace(), buckets, bucketLevel)+1]++ })
	for i := range buckets {
		v.ends[i+1] += v.ends[i] // where bucket i+1 begins
	}
	v.entries = v.entries[:fragments]
	v.eachLoaded(pieces, func(f fragment) {
		next := &v.ends[partitionOf(f.trace(), buckets, bucketLevel)]
		v.entries[*next] = entry{f.trace(), f.rows(), f}
		*next++ // in the end: where the bucket ends
	})
	from := int32(0)
	for _, to := range v.ends[:buckets] {
		slices.SortFunc(v.entries[from:to], compareEntries)
		from = to
	}
}

// bucketLevel selects other bits of the id than the parting that came before,
// unless that went deep.
const bucketLevel = 4

// eachLoaded visits all fragments of a partition, which are in memory.
func (v *visitor) eachLoaded(pieces []piece, visit func(fragment)) {
	each := func(f fragment) error { visit(f); return nil }
	_ = eachFragment(v.loaded, each)
	for _, p := range pieces {
		for _, b := range p.blocks {
			_ = eachFragment(b, each)
		}
	}
}

func compareEntries(a, b entry) int {
	if a.trace.Lo != b.trace.Lo {
		return cmp.Compare(a.trace.Lo, b.trace.Lo)
	}
	return cmp.Compare(a.trace.Hi, b.trace.Hi)
}

// eachTrace yields the entries of each trace.
func (v *visitor) eachTrace(yield func([]entry) bool) {
	for lo, hi := 0, 0; lo < len(v.entries); lo = hi {
		for hi = lo + 1; hi < len(v.entries) && v.entries[hi].trace == v.entries[lo].trace; hi++ {
		}
		if !yield(v.entries[lo:hi]) {
			return
		}
	}
}

// rowsOf is how many spans, with duplicates, are in fragments.
func rowsOf(entries []entry) (n int) {
	for i := range entries {
		n += entries[i].rows
	}
	return n
}

// largest returns how many spans the largest trace of the index has.
func (v *visitor) largest() (n int64) {
	for entries := range v.eachTrace {
		n = max(n, int64(rowsOf(entries)))
	}
	return n
}

// traces visits the traces of the index.
func (v *visitor) traces() error {
	for entries := range v.eachTrace {
		if v.ctx.Err() != nil {
			return context.Cause(v.ctx)
		}
		v.assemble(entries)
		if err := v.visit(&v.trace); err != nil {
			return err
		}
	}
	return nil
}

// assemble unpacks the spans of one trace and links them.
func (v *visitor) assemble(entries []entry) {
	t := &v.trace
	t.Begin(entries[0].trace)
	t.Spans = slices.Grow(t.Spans, rowsOf(entries))
	for i := range entries {
		v.unpack(entries[i].fragment, entries[i].rows)
	}
	t.Link()
	v.counts.Spans += int64(len(t.Spans))
	v.counts.Traces++
	v.counts.Duplicates += int64(t.Duplicates)
	v.counts.Cycles += int64(t.Cycles)
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
