package attribution

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/records"
)

// blocks are records that number parts as a table did before it was merged into
// another.
type blocks struct {
	records.Blocks
	parts []int32 // nil: the numbers are those of the accumulator
}

// renumbered returns blocks whose parts have other numbers; those of a merge before
// are renumbered once more.
func (b blocks) renumbered(parts []int32) blocks {
	if b.parts == nil {
		return blocks{b.Blocks, parts}
	}
	list := make([]int32, len(b.parts))
	for i, p := range b.parts {
		list[i] = parts[p]
	}
	return blocks{b.Blocks, list}
}

// traceRecord is what is kept of one trace. Its end-to-end time is not written: the
// times of the parts add up to it.
type traceRecord struct {
	group   uint16 // by the hash of the trace's id, for resampling
	fails   bool
	total   int64 // ns, end to end
	entries []entry
}

// entry is the time that a part has on the path, in ns.
type entry struct {
	part int32
	ns   int64
	cut  bool
}

// The head of a record: whether the trace fails, and whether its times are whole
// microseconds and written as such.
const (
	headFails = 1 << iota
	headMicros
)

// keep writes the times of the path just walked as a record, and returns their
// sum.
func (a *Accumulator) keep(group uint16, fails bool) int64 {
	p := &a.path
	head := p.head()
	if fails {
		head |= headFails
	}
	total := int64(0)
	r := append(binary.LittleEndian.AppendUint16(a.encoded[:0], group), head)
	r = records.Append(r, uint64(len(p.used)))
	for _, i := range p.used {
		key, ns := uint64(i)<<1, p.ns[i]
		if p.cut[i] {
			key |= 1
		}
		total += ns
		if head&headMicros != 0 {
			ns /= 1000
		}
		r = records.Append(records.Append(r, key), uint64(ns))
	}
	a.encoded = r
	a.blocks[0].Append(r)
	return total
}

// head says in what unit the times are written.
func (p *path) head() byte {
	for _, i := range p.used {
		if p.ns[i]%1000 != 0 {
			return 0
		}
	}
	return headMicros
}

// each calls visit with every record; what it gets is good until it returns.
func (a *Accumulator) each(visit func(*traceRecord)) {
	a.sideBySide(1, func(int) func(*traceRecord) { return visit })
}

// sideBySide is each on n goroutines, which take one block after the other;
// visitor makes what each of them calls.
func (a *Accumulator) sideBySide(n int, visitor func(i int) func(*traceRecord)) {
	blocks := a.written()
	var next atomic.Int64
	var group sync.WaitGroup
	for i := range n {
		visit := visitor(i)
		group.Go(func() {
			var t traceRecord
			for k := next.Add(1); k <= int64(len(blocks)); k = next.Add(1) {
				t.visitAll(blocks[k-1], visit)
			}
		})
	}
	group.Wait()
}

// written is a block of records.
type written struct {
	block []byte
	parts []int32 // as in blocks
}

// written lists all blocks.
func (a *Accumulator) written() (list []written) {
	for _, b := range a.blocks {
		for _, block := range b.Blocks {
			list = append(list, written{block, b.parts})
		}
	}
	return list
}

// readers is how many goroutines are worth while, of at most jobs.
func (a *Accumulator) readers(jobs int) int { return max(1, min(jobs, len(a.written()))) }

func (t *traceRecord) visitAll(b written, visit func(*traceRecord)) {
	for rest := b.block; len(rest) > 0; {
		rest = t.read(rest, b.parts)
		visit(t)
	}
}

// read takes one record off a block and returns the rest.
func (t *traceRecord) read(b []byte, parts []int32) []byte {
	t.group, t.fails, t.total, t.entries = binary.LittleEndian.Uint16(b), b[2]&headFails != 0, 0, t.entries[:0]
	unit := int64(1)
	if b[2]&headMicros != 0 {
		unit = 1000
	}
	n, b := records.Take(b[3:])
	for range n {
		var key, ns uint64
		key, b = records.Take(b)
		ns, b = records.Take(b)
		e := entry{int32(key >> 1), int64(ns) * unit, key&1 != 0}
		if parts != nil {
			e.part = parts[e.part]
		}
		t.total += e.ns
		t.entries = append(t.entries, e)
	}
	return b
}
