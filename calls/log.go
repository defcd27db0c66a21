package calls

import (
	"slices"

	"github.com/tailscope/tailscope/internal/spill"
)

// blockMoments is how many moments are written and read at once: 48 KB.
const blockMoments = 1 << 10

// log is the moments of one callee that one worker saw: some in memory, the rest in
// sorted runs of a file.
type log struct {
	held []moment
	runs []run
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
func (l *log) writeOut(f *spill.File, compare func(a, b moment) int) error {
	slices.SortFunc(l.held, compare)
	r := run{file: f}
	var block []byte
	for rest := l.held; len(rest) > 0; {
		n := min(blockMoments, len(rest))
		block = block[:0]
		for i := range n {
			block = rest[i].append(block)
		}
		p, err := f.Write(block)
		if err != nil {
			return err
		}
		r.pieces, rest = append(r.pieces, p), rest[n:]
	}
	l.held, l.runs = nil, append(l.runs, r)
	return nil
}

// each goes through all moments in an order in which those in memory and each run are
// sorted; of equal ones in any.
func (l *log) each(compare func(a, b moment) int, visit func(*moment)) error {
	if len(l.runs) == 0 {
		for i := range l.held {
			visit(&l.held[i])
		}
		return nil
	}
	m := merging{compare: compare}
	if err := m.begin(l); err != nil {
		return err
	}
	for len(m.sources) > 0 {
		first := m.sources[0]
		next := first.next
		if err := m.advance(); err != nil {
			return err
		}
		visit(&next)
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
	held   []moment
	run    run
	block  []byte
	unread []byte
}

func (m *merging) begin(l *log) error {
	list := []*source{{held: l.held}}
	for _, r := range l.runs {
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
		s.next, s.held = s.held[0], s.held[1:]
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
