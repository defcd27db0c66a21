package spans

import (
	"cmp"
	"math"
	"slices"
)

// OfLog reports whether the trace is a chain of a hop log: all its spans are
// lines, which name neither themselves nor their parents.
func (t *Trace) OfLog() bool {
	return !slices.ContainsFunc(t.Spans, func(s Span) bool { return !s.Ties.Has(LogLine) })
}

// MostNested is the most spans whose nesting is inferred: where all run at once
// and hops come again, it takes up to the square of their number.
const MostNested = 20_000

// nesting finds what ran inside what from times alone: an attempt lies under the
// attempt of another hop in which it starts, the innermost one. A hop is not taken
// to call itself through others: what starts while a callee of its own hop still
// runs is a retry of the caller, not a call of the callee. The zero value is ready
// for the attempts of a first chain.
type nesting struct {
	placed   []placed
	running  []int32
	firstEnd int64   // of those running
	seen     []int32 // by hop: the chain in which it was placed last
	chain    int32
}

// placed is an attempt that has its place. Looked is when its line was last
// looked at for a hop, twice the number of the attempt that asked, and one more
// where the hop was found.
type placed struct {
	end                 int64
	hop, parent, looked int32
}

// begin forgets the attempts of the chain before.
func (n *nesting) begin() {
	n.placed, n.running, n.firstEnd = n.placed[:0], n.running[:0], math.MaxInt64
	if n.chain++; n.chain == math.MaxInt32 {
		clear(n.seen)
		n.chain = 1
	}
}

// place returns the attempt under which the next one lies, by its number in the
// order of the calls, or -1. Attempts come by their starts, of those that start
// together the longer one first. Times are ns.
func (n *nesting) place(hop int32, start, end int64) int32 {
	if n.firstEnd <= start {
		n.forgetEnded(start)
	}
	for int(hop) >= len(n.seen) {
		n.seen = append(n.seen, 0)
	}
	parent := int32(-1)
	if n.seen[hop] != n.chain && len(n.running) > 0 {
		parent = n.running[len(n.running)-1]
	} else {
		parent = n.innermostWithout(hop)
	}
	n.seen[hop] = n.chain
	n.running = append(n.running, int32(len(n.placed)))
	n.placed = append(n.placed, placed{end: end, hop: hop, parent: parent})
	n.firstEnd = min(n.firstEnd, end)
	return parent
}

func (n *nesting) forgetEnded(now int64) {
	n.firstEnd = math.MaxInt64
	n.running = slices.DeleteFunc(n.running, func(r int32) bool {
		if n.placed[r].end <= now {
			return true
		}
		n.firstEnd = min(n.firstEnd, n.placed[r].end)
		return false
	})
}

// innermostWithout returns the last running attempt that neither is of the hop nor
// lies in one that is. It looks at no attempt twice.
func (n *nesting) innermostWithout(hop int32) int32 {
	asks := int32(len(n.placed))
	for k := len(n.running) - 1; k >= 0; k-- {
		if !n.within(n.running[k], hop, asks) {
			return n.running[k]
		}
	}
	return -1
}

// within reports whether attempt i or one above it is of the hop, and notes that
// for all on the way.
func (n *nesting) within(i, hop, asks int32) bool {
	at, found := i, int32(0)
	for ; at >= 0; at = n.placed[at].parent {
		if p := &n.placed[at]; p.hop == hop {
			found = 1
			break
		} else if p.looked>>1 == asks {
			found = p.looked & 1
			break
		}
	}
	for ; i != at; i = n.placed[i].parent {
		n.placed[i].looked = asks<<1 | found
	}
	return found == 1
}

// InferNesting gives a trace without parent ids its parents from times, as nesting
// finds them. What starts in no other attempt is a root, and so is a span without
// a time.
func (t *Trace) InferNesting() {
	byStart := make([]int32, 0, len(t.Spans))
	for i := range t.Spans {
		t.Parents[i] = noParent
		if t.Spans[i].Timed() {
			byStart = append(byStart, int32(i))
		}
	}
	// Of two that start together the longer one is outside.
	slices.SortStableFunc(byStart, func(a, b int32) int {
		x, y := &t.Spans[a], &t.Spans[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Duration, x.Duration))
	})
	n := &t.work.chain.nesting
	n.begin()
	for _, i := range byStart {
		s := &t.Spans[i]
		if p := n.place(s.Hop, s.Start, s.End()); p >= 0 {
			t.Parents[i] = byStart[p]
		}
	}
	t.Missing, t.order = t.Missing[:0], t.order[:0]
	t.listRoots()
	t.listChildren()
}
