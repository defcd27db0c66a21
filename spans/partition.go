package spans

import "slices"

const (
	// partitions is into how many parts traces fall, by bits of their ids.
	partitions = 64
	// levels is how often a part can be parted again before the bits run out.
	levels = 9
	// blockRows rows fill the blockBytes that Go allocates for them.
	blockRows  = 68
	blockBytes = 8192
)

// record is a span outside its trace.
type record struct {
	trace TraceID
	span  Span
}

type block [blockRows]record

// quota hands out blocks and counts the bytes it may not exceed: blocks in use
// or free, texts and tables.
type quota struct {
	limit, used int64
	tables      int64 // part of used that cannot be given back
	free        []*block
}

// take returns a block, nil where the limit does not allow another.
func (q *quota) take() *block {
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b
	}
	if q.over(blockBytes) {
		return nil
	}
	return q.force()
}

// force returns a new block whatever the limit.
func (q *quota) force() *block {
	q.used += blockBytes
	return new(block)
}

// over reports whether n more bytes exceed the limit. Tables take at most three
// quarters of it: rows keep the rest.
func (q *quota) over(n int64) bool {
	return q.used-q.tables+n > max(q.limit-q.tables, q.limit/4)
}

func (q *quota) give(blocks []*block) { q.free = append(q.free, blocks...) }

// trim lets go of free blocks while too much is used.
func (q *quota) trim() {
	for len(q.free) > 0 && q.over(0) {
		n := len(q.free) - 1
		q.free[n] = nil
		q.free, q.used = q.free[:n], q.used-blockBytes
	}
}

// drop lets go of all free blocks.
func (q *quota) drop() {
	q.used -= int64(len(q.free)) * blockBytes
	q.free = nil
}

// caption is the texts of a row's ids that are no numbers.
type caption struct {
	row           int
	traceAt       int // in pile.ink
	spanAt        int
	traceN, spanN int
}

// pile is the rows of one partition that are in memory.
type pile struct {
	blocks   []*block
	rows     int
	captions []caption // by row
	ink      []byte
}

// full reports whether the next row needs another block.
func (p *pile) full() bool { return p.rows == len(p.blocks)*blockRows }

func (p *pile) row(i int) *record { return &p.blocks[i/blockRows][i%blockRows] }

// add appends a row; the pile is not full. It returns by how much texts grew.
func (p *pile) add(r *record, traceText, spanText []byte) int64 {
	*p.row(p.rows) = *r
	p.rows++
	if len(traceText)+len(spanText) == 0 {
		return 0
	}
	before := p.textBytes()
	c := caption{row: p.rows - 1, traceN: len(traceText), spanN: len(spanText)}
	c.traceAt = p.write(traceText, p.lastTraceText())
	c.spanAt = p.write(spanText, nil)
	p.captions = append(p.captions, c)
	return p.textBytes() - before
}

// write returns where text stands in ink; rows of one trace often come
// together, and then share its text.
func (p *pile) write(text []byte, last []byte) (at int) {
	if n := len(p.captions); n > 0 && len(text) > 0 && string(text) == string(last) {
		return p.captions[n-1].traceAt
	}
	at = len(p.ink)
	p.ink = append(p.ink, text...)
	return at
}

func (p *pile) lastTraceText() []byte {
	if len(p.captions) == 0 {
		return nil
	}
	text, _ := p.texts(&p.captions[len(p.captions)-1])
	return text
}

func (p *pile) texts(c *caption) (traceText, spanText []byte) {
	return p.ink[c.traceAt : c.traceAt+c.traceN], p.ink[c.spanAt : c.spanAt+c.spanN]
}

// captionsOf returns the texts of row i, which are nearly always nil.
func (p *pile) captionsOf(i int) (traceText, spanText []byte) {
	if len(p.captions) == 0 {
		return nil, nil
	}
	at, found := slices.BinarySearchFunc(p.captions, i, func(c caption, row int) int { return c.row - row })
	if !found {
		return nil, nil
	}
	return p.texts(&p.captions[at])
}

const captionBytes = 40

func (p *pile) textBytes() int64 { return int64(cap(p.captions))*captionBytes + int64(cap(p.ink)) }

func (p *pile) bytes() int64 { return int64(len(p.blocks))*blockBytes + p.textBytes() }

// clear empties the pile; its blocks go back to q.
func (p *pile) clear(q *quota) {
	q.give(p.blocks)
	q.used -= p.textBytes()
	p.blocks = p.blocks[:0]
	p.rows, p.captions, p.ink = 0, nil, nil
}

// shelf is one partition of a store: rows in memory and rows spilled.
type shelf struct {
	pile
	segments    []segment
	spilledRows int
	spilledText int64
	first       TraceID
	mixed       bool // holds more than one trace
}

// note keeps whether all rows are of one trace: such a shelf cannot be parted.
func (s *shelf) note(id TraceID) {
	switch {
	case s.rows+s.spilledRows == 0:
		s.first = id
	case s.first != id:
		s.mixed = true
	}
}

// store keeps rows by partition, in memory as far as its quota goes.
type store struct {
	shelves [partitions]shelf
	level   int    // which bits of the id part the rows
	parts   uint64 // how many shelves are in use, a power of two
	quota   *quota
	create  func() (*spillFile, error)
	file    *spillFile // nil until something is spilled
}

// put copies a row and its texts.
func (s *store) put(r *record, traceText, spanText []byte) error {
	sh := &s.shelves[r.trace.partition(s.parts, s.level)]
	if s.quota.over(0) && len(traceText)+len(spanText) > 0 {
		if err := s.makeRoom(); err != nil {
			return err
		}
	}
	if sh.full() {
		if err := s.extend(sh); err != nil {
			return err
		}
	}
	sh.note(r.trace)
	s.quota.used += sh.add(r, traceText, spanText)
	return nil
}

// extend gives the shelf another block, spilling where the quota is used up.
func (s *store) extend(sh *shelf) error {
	b := s.quota.take()
	for b == nil {
		spilled, err := s.spillLargest()
		if err != nil {
			return err
		}
		if b = s.quota.take(); b == nil && !spilled {
			b = s.quota.force()
		}
	}
	sh.blocks = append(sh.blocks, b)
	return nil
}

// makeRoom spills until texts fit again.
func (s *store) makeRoom() error {
	for s.quota.over(0) {
		spilled, err := s.spillLargest()
		if err != nil || !spilled {
			return err
		}
		s.quota.trim()
	}
	return nil
}

// spillLargest spills the partition that holds the most memory and reports
// whether there was one.
func (s *store) spillLargest() (bool, error) {
	var largest *shelf
	for i := range s.shelves {
		if sh := &s.shelves[i]; sh.rows > 0 && (largest == nil || sh.bytes() > largest.bytes()) {
			largest = sh
		}
	}
	if largest == nil {
		return false, nil
	}
	return true, s.spill(largest)
}

func (s *store) spill(sh *shelf) error {
	if s.file == nil {
		f, err := s.create()
		if err != nil {
			return err
		}
		s.file = f
	}
	seg, err := s.file.write(&sh.pile)
	if err != nil {
		return err
	}
	grown := cap(sh.segments)
	if n := len(sh.segments); n > 0 && sh.segments[n-1].end == seg.start {
		sh.segments[n-1].end = seg.end
	} else {
		sh.segments = append(sh.segments, seg)
	}
	grown = cap(sh.segments) - grown
	s.quota.used, s.quota.tables = s.quota.used+int64(grown)*segmentBytes, s.quota.tables+int64(grown)*segmentBytes
	sh.spilledRows += sh.rows
	sh.spilledText += int64(len(sh.ink)) + int64(len(sh.captions))*captionBytes
	sh.clear(s.quota)
	return nil
}

// spillAll leaves nothing in memory.
func (s *store) spillAll() error {
	for i := range s.shelves {
		if s.shelves[i].rows == 0 {
			continue
		}
		if err := s.spill(&s.shelves[i]); err != nil {
			return err
		}
	}
	s.quota.drop()
	return nil
}
