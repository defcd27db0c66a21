package spans

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// spanBytes is what a span needs while its partition is visited, should all be
// one trace: its row, its entry in the sorted index, its place in the trace
// and in the lists that link it.
const spanBytes = 300

// Each calls visit with every trace exactly once, from as many goroutines as
// there are workers; the order of traces is not specified. It comes after all
// Add, and once. A trace is the visitor's until visit returns. An error of
// visit, or the end of ctx, ends it.
func (a *Assembler) Each(ctx context.Context, workers int, visit func(worker int, t *Trace) error) error {
	if a.visited || a.collectors == nil {
		return errors.New("spans: Each after Each or Close")
	}
	a.visited = true
	merged, err := a.seal()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers = max(workers, 1)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		v := &visitor{owner: a, ctx: ctx, quota: quota{limit: a.config.Memory / 2 / int64(workers)}}
		v.trace.Hops, v.trace.Hosts, v.trace.Strata = merged.hops.list, merged.hosts.list, merged.strata.list
		v.visit = func(t *Trace) error { return visit(w, t) }
		wg.Go(func() {
			if err := v.run(&next); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// seal ends collecting: files become readable, and names get their places in
// one table for all.
func (a *Assembler) seal() (tables, error) {
	all := make([]*tables, len(a.collectors))
	for i, c := range a.collectors {
		c.sealed = true
		c.store.quota.drop()
		all[i] = c.tables
		if c.store.file == nil {
			continue
		}
		if err := c.store.file.finish(); err != nil {
			return tables{}, err
		}
	}
	merged, renamings := mergeTables(all)
	for i, c := range a.collectors {
		c.names = &renamings[i]
	}
	return merged, nil
}

// piece is what one store has of a partition.
type piece struct {
	*shelf
	file  *spillFile
	names *renaming // nil: the merged tables' own
}

// visitor goes through partitions one after the other.
type visitor struct {
	owner   *Assembler
	ctx     context.Context
	visit   func(*Trace) error
	quota   quota
	piles   []*pile // of the partition being visited
	entries []entry
	ends    []int32 // of the buckets while entries are sorted
	trace   Trace
	counts  Counts
}

// entry is where a row of the partition stands.
type entry struct {
	trace     TraceID
	start     int64
	pile, row int32
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
			pieces = append(pieces, piece{&c.store.shelves[p], c.store.file, c.names})
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
	rows, text := size(pieces)
	if rows == 0 {
		return nil
	}
	if level+1 < levels && int64(rows)*spanBytes+text > v.quota.limit && mixed(pieces) {
		return v.part(pieces, level+1, partsFor(int64(rows)*spanBytes+text, v.quota.limit))
	}
	return v.whole(pieces, rows)
}

// partsFor returns into how many parts a partition goes so that a part takes a
// quarter of the limit: the fewer parts, the longer their records in the file.
func partsFor(bytes, limit int64) uint64 {
	return 4 << min(4, bits.Len64(uint64(bytes/max(limit, 1)))) // 64 at most
}

func size(pieces []piece) (rows int, text int64) {
	for _, p := range pieces {
		rows += p.rows + p.spilledRows
		text += p.spilledText + p.textBytes()
	}
	return rows, text
}

// mixed reports whether there is more than one trace.
func mixed(pieces []piece) bool {
	var first *shelf
	for _, p := range pieces {
		if p.rows+p.spilledRows == 0 {
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
	s := &store{level: level, parts: parts, quota: &v.quota, create: v.owner.createFile}
	segments := v.quota.tables
	defer func() {
		v.quota.used, v.quota.tables = v.quota.used-(v.quota.tables-segments), segments
		if s.file != nil {
			err = errors.Join(err, v.owner.removeFile(s.file))
		}
	}()
	v.release()
	for _, p := range pieces {
		if err := v.rows(p, s.put); err != nil {
			return err
		}
	}
	if err := s.spillAll(); err != nil {
		return err
	}
	if err := s.file.finish(); err != nil {
		return err
	}
	for i := range s.shelves {
		if err := v.partition([]piece{{&s.shelves[i], s.file, nil}}, level); err != nil {
			return err
		}
	}
	return nil
}

// rows calls put with each row of a piece, under its new names, and empties
// what the piece had in memory.
func (v *visitor) rows(p piece, put func(r *record, traceText, spanText []byte) error) error {
	err := p.file.read(v.ctx, p.shelf, func(r *record, traceText, spanText []byte) error {
		p.rename(&r.span)
		return put(r, traceText, spanText)
	})
	if err != nil {
		return err
	}
	for i := range p.pile.rows {
		if i%blockRows == 0 && i > 0 {
			p.blocks[i/blockRows-1] = nil // as it is copied elsewhere
		}
		r := p.row(i)
		p.rename(&r.span)
		traceText, spanText := p.captionsOf(i)
		if err := put(r, traceText, spanText); err != nil {
			return err
		}
	}
	p.pile = pile{}
	return nil
}

func (p *piece) rename(s *Span) {
	if p.names != nil {
		p.names.apply(s)
	}
}

// whole visits the traces of a partition that fits: it loads what was spilled,
// sorts an index of all rows, and copies out one trace after the other.
func (v *visitor) whole(pieces []piece, rows int) error {
	v.keepRoom(rows)
	loaded := &pile{}
	v.piles = append(v.piles[:0], loaded)
	for _, p := range pieces {
		if err := v.load(p, loaded); err != nil {
			return err
		}
	}
	v.index(rows)
	err := v.traces()
	loaded.clear(&v.quota)
	for _, p := range pieces {
		p.pile = pile{}
	}
	clear(v.piles)
	return err
}

// keepRoom lets go of buffers that a much larger partition has left.
func (v *visitor) keepRoom(rows int) {
	const small = 1 << 12
	if cap(v.entries) > max(small, 2*rows) {
		v.entries, v.ends = nil, nil
	}
	if cap(v.trace.Spans) > max(small, 2*rows) {
		v.forgetTrace()
	}
	v.quota.trim()
}

func (v *visitor) forgetTrace() {
	t := &v.trace
	v.trace = Trace{Hops: t.Hops, Hosts: t.Hosts, Strata: t.Strata}
}

// release lets go of all buffers.
func (v *visitor) release() {
	v.entries, v.ends = nil, nil
	v.forgetTrace()
	v.quota.drop()
}

// load adds a piece's rows to the piles of the partition.
func (v *visitor) load(p piece, loaded *pile) error {
	err := p.file.read(v.ctx, p.shelf, func(r *record, traceText, spanText []byte) error {
		p.rename(&r.span)
		if loaded.full() {
			b := v.quota.take()
			if b == nil {
				b = v.quota.force()
			}
			loaded.blocks = append(loaded.blocks, b)
		}
		v.quota.used += loaded.add(r, traceText, spanText)
		return nil
	})
	if err != nil || p.pile.rows == 0 {
		return err
	}
	for i := range p.pile.rows {
		p.rename(&p.row(i).span)
	}
	v.piles = append(v.piles, &p.pile)
	return nil
}

// index sorts where the rows are: a trace's rows stand together, in the order
// of Trace.Spans. Rows are first dealt into small buckets by their trace, since
// sorting all of them at once takes twice as long.
func (v *visitor) index(rows int) {
	buckets := uint64(1) << bits.Len(uint(rows/16))
	v.ends = refill(v.ends, int(buckets)+1, 0)
	v.eachRow(func(r *record, _, _ int32) { v.ends[r.trace.partition(buckets, bucketLevel)+1]++ })
	for i := range buckets {
		v.ends[i+1] += v.ends[i] // where bucket i+1 begins
	}
	v.entries = slices.Grow(v.entries[:0], rows)[:rows]
	v.eachRow(func(r *record, pile, row int32) {
		next := &v.ends[r.trace.partition(buckets, bucketLevel)]
		v.entries[*next] = entry{r.trace, r.span.Start, pile, row}
		*next++ // in the end: where the bucket ends
	})
	from := int32(0)
	for _, to := range v.ends[:buckets] {
		slices.SortFunc(v.entries[from:to], v.compare)
		from = to
	}
}

// bucketLevel selects other bits of the id than the parting that came before,
// unless that went deep.
const bucketLevel = 4

func (v *visitor) eachRow(visit func(r *record, pile, row int32)) {
	for k, p := range v.piles {
		for i := range p.rows {
			visit(p.row(i), int32(k), int32(i))
		}
	}
}

func (v *visitor) compare(a, b entry) int {
	switch {
	case a.trace.Lo != b.trace.Lo:
		return order(a.trace.Lo < b.trace.Lo)
	case a.trace.Hi != b.trace.Hi:
		return order(a.trace.Hi < b.trace.Hi)
	case a.start != b.start:
		return order(a.start < b.start)
	}
	return compareSpans(v.at(a), v.at(b))
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// at returns the span of an entry.
func (v *visitor) at(e entry) *Span { return &v.piles[e.pile].row(int(e.row)).span }

// traces visits the traces of the index.
func (v *visitor) traces() error {
	for lo, hi := 0, 0; lo < len(v.entries); lo = hi {
		for hi = lo + 1; hi < len(v.entries) && v.entries[hi].trace == v.entries[lo].trace; hi++ {
		}
		if err := v.ctx.Err(); err != nil {
			return context.Cause(v.ctx)
		}
		v.assemble(v.entries[lo:hi])
		if err := v.visit(&v.trace); err != nil {
			return err
		}
	}
	return nil
}

// assemble copies the rows of one trace and links them.
func (v *visitor) assemble(entries []entry) {
	t := &v.trace
	t.ID, t.Text, t.captions, t.RetryOf = entries[0].trace, "", t.captions[:0], t.RetryOf[:0]
	t.Spans = slices.Grow(t.Spans[:0], len(entries))
	for _, e := range entries {
		t.Spans = append(t.Spans, *v.at(e))
		if p := v.piles[e.pile]; len(p.captions) > 0 {
			t.caption(v.at(e).ID, p, int(e.row))
		}
	}
	slices.SortFunc(t.captions, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.id, b.id), bytes.Compare(a.text, b.text))
	})
	t.link()
	v.counts.Spans += int64(len(t.Spans))
	v.counts.Traces++
	v.counts.Duplicates += int64(t.Duplicates)
	v.counts.Cycles += int64(t.Cycles)
}

// caption keeps the texts of a row. Of several texts that share a hash the
// smallest counts, so that it does not matter which came first.
func (t *Trace) caption(id SpanID, p *pile, row int) {
	traceText, spanText := p.captionsOf(row)
	if len(traceText) > 0 && (t.Text == "" || string(traceText) < t.Text) {
		t.Text = string(traceText)
	}
	if len(spanText) > 0 {
		t.captions = append(t.captions, named{id, spanText})
	}
}
