package callgraph

import (
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// attempt is an attempt among those of its request, which stand by their starts.
type attempt struct {
	spans.Attempt       // Hop is a number of the accumulator
	call          bool  // somebody calls it; else a request begins here
	stray         bool  // its caller is not known, and it is not whoever began the request
	first         int32 // the first attempt of its call, itself for one; -1: not known
	until         int64 // of a first attempt: the end of its call
	served        int64 // what its server worked itself, -1 where not known
}

// room is memory for one request, used again for the next.
type room struct {
	attempts []attempt
	children lists
	owners   []int32 // of spans
	places   []int32 // of spans among the attempts
	tally    []tally // by hop
	called   []int32 // hops in tally
	running  []int32
	pairs    []pair
}

// tally counts the calls of one hop under one caller.
type tally struct {
	inRow uint32
	until int64 // earliest end of the last call in the row
}

// lists holds, for each attempt and for none (-1), what lies under it, in order: the
// first one, and after each one the next, -1 at the end.
type lists struct{ first, next []int32 }

// link lists what lies under what.
func (l *lists) link(as []attempt) {
	l.first, l.next = l.first[:0], append(l.next[:0], make([]int32, len(as))...)
	for range len(as) + 1 {
		l.first = append(l.first, -1)
	}
	for i := len(as) - 1; i >= 0; i-- {
		if as[i].stray {
			l.next[i] = -1
			continue
		}
		p := as[i].Parent + 1
		l.next[i], l.first[p] = l.first[p], int32(i)
	}
}

// AddChain looks at a chain of a hop log, all of whose attempts are there.
func (w *Accumulator) AddChain(c *spans.Chain) {
	if len(c.Attempts) == 0 || c.TooLong() {
		return
	}
	if w.placer != nil {
		w.placer.Place(c)
	}
	as := slices.Grow(w.room.attempts[:0], len(c.Attempts))[:len(c.Attempts)]
	for i := range c.Attempts {
		one, a := &c.Attempts[i], &as[i]
		a.Attempt, a.call, a.first, a.until, a.served = *one, true, int32(i), one.End(), -1
		a.Hop = w.hopAt(c.Hops, one.Hop)
		a.stray = w.placer != nil && one.Parent < 0 && !w.placer.Top(c, one.Hop)
	}
	w.room.attempts = as
	if !c.Timed {
		w.lookUntimed(as)
		return
	}
	w.room.children.link(as)
	w.findRetries(as)
	w.look(as)
}

// findRetries takes an attempt for a retry of the latest one of its hop and caller
// that gave up before it and has no retry yet.
func (a *Accumulator) findRetries(as []attempt) {
	for i := range as {
		if !as[i].GaveUp() {
			continue
		}
		if next := a.retryOf(as, int32(i)); next >= 0 {
			as[next].first = as[i].first
			if call := &as[as[i].first]; call.until < as[next].End() {
				call.until = as[next].End()
			}
		}
	}
}

// retryOf returns the first attempt of the same hop and caller that starts when
// attempt i has ended and retries no other, -1 if there is none.
func (a *Accumulator) retryOf(as []attempt, i int32) int32 {
	for k := a.room.children.next[i]; k >= 0; k = a.room.children.next[k] {
		if as[k].Hop == as[i].Hop && as[k].first == k && as[k].Start >= as[i].End()-spans.RetryOverlap {
			return k
		}
	}
	return -1
}

// look counts the calls of a request whose attempts have times.
func (w *Accumulator) look(as []attempt) {
	w.requests++
	l := &w.room.children
	for i := range as {
		a, from := &as[i], l.first[i+1]
		n := &w.nodes[a.Hop]
		if !a.call {
			n.entries++
		} else if a.first == int32(i) {
			w.calls++
		}
		if from >= 0 {
			w.countCalls(n, as, from)
		}
		if a.Outcome == spans.Completed {
			n.own.add(w.store, a.Duration-w.covered(as, from, a.Start, a.End()))
		} else if a.served >= 0 {
			n.own.add(w.store, a.served)
			n.served++
		}
	}
	w.lookAtTop(as)
}

// lookAtTop counts the calls that nobody is seen to make, as those of whoever
// began the request.
func (a *Accumulator) lookAtTop(as []attempt) {
	top := int32(-1)
	for i := a.room.children.first[0]; i >= 0; i = a.room.children.next[i] {
		if as[i].call {
			top = i
			break
		}
	}
	if top < 0 {
		return
	}
	n := &a.nodes[request]
	n.entries++
	from, to := as[top].Start, as[top].until
	for i := top; i >= 0; i = a.room.children.next[i] {
		if as[i].call {
			to = max(to, as[i].until)
		}
	}
	a.countCalls(n, as, top)
	if whole := spans.Distance(from, to); whole >= 0 {
		n.own.add(a.store, whole-a.covered(as, top, from, to))
		n.whole.add(a.store, whole)
	}
}

// covered is how much of a window calls cover, in ns; i is the first of them.
func (w *Accumulator) covered(as []attempt, i int32, from, to int64) int64 {
	sum, end := int64(0), from
	for ; i >= 0; i = w.room.children.next[i] {
		a := &as[i]
		lo, hi := max(a.Start, end), min(a.until, to)
		if a.call && hi > lo {
			sum += hi - lo
			end = hi
		}
	}
	return sum
}

// countCalls enters the calls in a list, which are of one caller.
func (w *Accumulator) countCalls(n *node, as []attempt, i int32) {
	r := &w.room
	if r.children.next[i] < 0 { // as most have it
		if a := &as[i]; a.call && a.first == i {
			n.makers++
			n.edge(a.Hop).call(1)
		}
		return
	}
	r.begin(w.hops.Len())
	for ; i >= 0; i = r.children.next[i] {
		if a := &as[i]; a.call && a.first == i {
			w.countOne(as, i)
		}
	}
	if len(r.called) > 0 {
		n.together(r.called)
	}
	for _, hop := range r.called {
		n.edge(hop).call(r.tally[hop].inRow)
		r.tally[hop] = tally{}
	}
	slices.SortFunc(r.pairs, func(a, b pair) int { return slices.Compare(a[:], b[:]) })
	for _, p := range slices.Compact(r.pairs) {
		n.sideBySide(p, 1)
	}
}

// begin makes room for the calls of one caller.
func (r *room) begin(hops int) {
	for len(r.tally) < hops {
		r.tally = append(r.tally, tally{})
	}
	r.called, r.running, r.pairs = r.called[:0], r.running[:0], r.pairs[:0]
}

// countOne enters a call after those that started before it. As many as fit into
// a row is found by taking, of two that overlap, the one that ends first.
func (w *Accumulator) countOne(as []attempt, i int32) {
	r, a := &w.room, &as[i]
	t := &r.tally[a.Hop]
	switch {
	case t.inRow == 0:
		r.called = append(r.called, a.Hop)
		*t = tally{1, a.until}
	case a.Start >= t.until:
		*t = tally{t.inRow + 1, a.until}
	default:
		t.until = min(t.until, a.until)
	}
	w.noteRunning(as, i)
}

// mostRunning calls at once are compared with each other.
const mostRunning = 64

// noteRunning notes which hops are called while this one is.
func (a *Accumulator) noteRunning(as []attempt, i int32) {
	r, kept := &a.room, a.room.running[:0]
	for _, k := range r.running {
		if as[k].until <= as[i].Start {
			continue
		}
		kept = append(kept, k)
		if as[k].Hop != as[i].Hop {
			if p := pairOf(as[k].Hop, as[i].Hop); !slices.Contains(r.pairs[max(0, len(r.pairs)-few):], p) {
				r.pairs = append(r.pairs, p)
			}
		}
	}
	if len(kept) < mostRunning {
		kept = append(kept, i)
	}
	r.running = kept
}

// lookUntimed counts a chain without times, as calls in a row: each that completed
// is one, as a retry comes after one that did not.
func (a *Accumulator) lookUntimed(as []attempt) {
	a.requests++
	a.untimed++
	a.nodes[request].entries++
	r := &a.room
	r.begin(a.hops.Len())
	for i := range as {
		t := &r.tally[as[i].Hop]
		if t.until == 0 {
			t.until = 1
			r.called = append(r.called, as[i].Hop)
		}
		if as[i].Outcome == spans.Completed {
			t.inRow++
		}
	}
	a.nodes[request].together(r.called)
	for _, hop := range r.called {
		calls := max(1, r.tally[hop].inRow)
		a.calls += uint64(calls)
		a.nodes[request].edge(hop).call(calls)
		r.tally[hop] = tally{}
	}
}
