package calls

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/internal/spill"
)

// blockMoments is how many moments are held, written and read together at most: 48 KB.
const blockMoments = 1 << 10

// log is the moments of one callee that one worker saw: some in memory, the rest in
// sorted runs of a file.
type log struct {
	blocks [][]moment // full but for the last, which are small at first
	held   int        // moments in them
	runs   []run
}

// add keeps a moment, and returns for how many more there is room now.
func (l *log) add(m moment) (grown int) {
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last]) == cap(l.blocks[last]) {
		grown = min(blockMoments, max(4, l.held))
		l.blocks = append(l.blocks, make([]moment, 0, grown))
		last++
	}
	l.blocks[last] = append(l.blocks[last], m)
	l.held++
	return grown
}

// empty reports whether there are no moments.
func (l *log) empty() bool { return l.held == 0 && len(l.runs) == 0 }

// translate gives the moments in memory other numbers, and those in files when they are
// read.
func (l *log) translate(n *numbers) {
	for _, b := range l.blocks {
		for i := range b {
			n.translate(&b[i])
		}
	}
	for i := range l.runs {
		l.runs[i].to = l.runs[i].to.then(n)
	}
}

// ordering is by what moments are sorted: a time of theirs, and all the rest.
type ordering struct {
	time    func(*moment) int64
	compare func(a, b moment) int
}

var (
	byBegin = ordering{func(m *moment) int64 { return m.begin }, inTime}
	byStart = ordering{func(m *moment) int64 { return m.start }, asCalled}
)

// keyed is where a moment in memory stands, and its time.
type keyed struct {
	time int64
	m    *moment
}

// sorted returns the moments in memory in their order.
func (l *log) sorted(o ordering) []keyed {
	list := make([]keyed, 0, l.held)
	for _, b := range l.blocks {
		for i := range b {
			list = append(list, keyed{o.time(&b[i]), &b[i]})
		}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return o.compare(*a.m, *b.m)
	})
	return list
}

// run is moments in a file, sorted.
type run struct {
	file   *spill.File
	pieces []spill.Piece
	to     *numbers // nil where the numbers are those of the accumulator
}

// numbers say what the numbers of a worker are in the accumulator it was merged into.
type numbers struct{ calls, names []int32 }

func (n *numbers) translate(m *moment) {
	if n == nil {
		return
	}
	if m.call != noCall {
		m.call = n.calls[m.call]
	}
	m.caller, m.instance = n.names[m.caller], n.names[m.instance]
}

// then is the translation by n, and by next after it.
func (n *numbers) then(next *numbers) *numbers {
	if n == nil {
		return next
	}
	both := &numbers{make([]int32, len(n.calls)), make([]int32, len(n.names))}
	for i, at := range n.calls {
		both.calls[i] = next.calls[at]
	}
	for i, at := range n.names {
		both.names[i] = next.names[at]
	}
	return both
}

// writeOut moves the moments in memory to a file, as a run.
func (l *log) writeOut(f *spill.File, o ordering) error {
	r := run{file: f}
	var block []byte
	for part := range slices.Chunk(l.sorted(o), blockMoments) {
		block = block[:0]
		for _, k := range part {
			block = k.m.append(block)
		}
		p, err := f.Write(block)
		if err != nil {
			return err
		}
		r.pieces = append(r.pieces, p)
	}
	l.blocks, l.held, l.runs = nil, 0, append(l.runs, r)
	return nil
}

// each goes through all moments in an order by which each run is sorted; of equal ones of
// several runs in any.
func (l *log) each(o ordering, visit func(*moment)) error {
	held := l.sorted(o)
	if len(l.runs) == 0 {
		for _, k := range held {
			visit(k.m)
		}
		return nil
	}
	m := merging{compare: o.compare}
	if err := m.begin(held, l.runs); err != nil {
		return err
	}
	for len(m.sources) > 0 {
		next := m.sources[0].next
		if err := m.advance(); err != nil {
			return err
		}
		visit(&next)
	}
	return nil
}

// any goes through all moments in no order: a file is read from its begin to its end.
func (l *log) any(visit func(*moment)) error {
	for _, b := range l.blocks {
		for i := range b {
			visit(&b[i])
		}
	}
	for _, r := range l.runs {
		s := source{run: r}
		for more, err := s.advance(); more || err != nil; more, err = s.advance() {
			if err != nil {
				return err
			}
			visit(&s.next)
		}
	}
	return nil
}

// merging is a heap of sorted sources.
type merging struct {
	compare func(a, b moment) int
	sources []*source
}

// source is a run that is read, or the moments in memory.
type source struct {
	next   moment
	held   []keyed
	run    run
	block  []byte
	unread []byte
}

func (m *merging) begin(held []keyed, runs []run) error {
	list := []*source{{held: held}}
	for _, r := range runs {
		list = append(list, &source{run: r})
	}
	for _, s := range list {
		more, err := s.advance()
		if err != nil {
			return err
		}
		if more {
			m.sources = append(m.sources, s)
		}
	}
	for i := len(m.sources)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return nil
}

// advance goes on to what comes after the first.
func (m *merging) advance() error {
	more, err := m.sources[0].advance()
	if err != nil {
		return err
	}
	if !more {
		last := len(m.sources) - 1
		m.sources[0] = m.sources[last]
		m.sources = m.sources[:last]
	}
	m.sink(0)
	return nil
}

func (m *merging) sink(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.sources); c++ {
			if m.compare(m.sources[c].next, m.sources[least].next) < 0 {
				least = c
			}
		}
		if least == i {
			return
		}
		m.sources[i], m.sources[least] = m.sources[least], m.sources[i]
		i = least
	}
}

// advance reads the next moment, and reports whether there is one.
func (s *source) advance() (more bool, err error) {
	if len(s.held) > 0 {
		s.next, s.held = *s.held[0].m, s.held[1:]
		return true, nil
	}
	if len(s.unread) == 0 {
		if len(s.run.pieces) == 0 {
			return false, nil
		}
		p := s.run.pieces[0]
		s.run.pieces = s.run.pieces[1:]
		s.block = slices.Grow(s.block[:0], p.Size())[:p.Size()]
		if err := s.run.file.Read(p, s.block); err != nil {
			return false, err
		}
		s.unread = s.block
	}
	s.next.read(s.unread)
	s.run.to.translate(&s.next)
	s.unread = s.unread[momentSize:]
	return true, nil
}
