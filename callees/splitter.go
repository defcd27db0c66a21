package callees

import "github.com/tailscope/tailscope/spans"

// Splitter makes a hop of each callee in traces. Not safe for concurrent use: each
// worker has its own.
type Splitter struct {
	apart  map[spans.Hop]bool
	base   *spans.Hop // the first of the hops that traces share
	table  []spans.Hop
	split  []bool             // by hop of the base: its calls are told apart
	hops   map[[2]int32]int32 // in the table, by a hop of the base and that of a server
	named  map[spans.Hop]int32
	finder finder
}

// NewSplitter returns a splitter of the hops that Survey.Apart found. They stay its
// own.
func NewSplitter(apart map[spans.Hop]bool) *Splitter {
	return &Splitter{apart: apart, hops: map[[2]int32]int32{}, named: map[spans.Hop]int32{}}
}

// Split gives the calls of a trace, whose retries are marked, the hops of their
// callees, and reports whether there were any. All traces must share their hops.
func (s *Splitter) Split(t *spans.Trace) bool {
	if len(s.apart) == 0 || len(t.Hops) == 0 {
		return false
	}
	s.use(t)
	changed := false
	s.finder.find(t, func(h int32) bool { return s.split[h] })
	for i, server := range s.finder.by {
		if server >= 0 && s.split[t.Spans[i].Hop] {
			t.Spans[i].Hop = s.hopOf(t.Spans[i].Hop, server)
			changed = true
		}
	}
	t.Hops = s.table
	return changed
}

// use makes the table of hops that the traces go on with.
func (s *Splitter) use(t *spans.Trace) {
	first := &t.Hops[0]
	if first == s.base || len(s.table) > 0 && first == &s.table[0] {
		t.Hops = s.table
		return
	}
	s.base, s.table, s.split = first, append([]spans.Hop(nil), t.Hops...), s.split[:0]
	clear(s.hops)
	clear(s.named)
	for _, h := range s.table {
		s.split = append(s.split, s.apart[h])
	}
}

// hopOf returns the hop of the calls of one hop to a server's.
func (s *Splitter) hopOf(call, server int32) int32 {
	key := [2]int32{call, server}
	at, known := s.hops[key]
	if !known {
		h := s.table[call]
		h.Name += spans.Callee + serviceOf(&s.table[server])
		if at, known = s.named[h]; !known {
			at = int32(len(s.table))
			s.table, s.split, s.named[h] = append(s.table, h), append(s.split, false), at
		}
		s.hops[key] = at
	}
	return at
}
