package callgraph

import (
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// AddTrace looks at a whole trace whose retries and cuts are marked.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	for i := range t.Spans {
		if t.Spans[i].Flags.Has(spans.HasStart) {
			a.window.see(t.Spans[i].Start)
		} else {
			a.window.Untimed++
		}
	}
	if len(t.Spans) == 0 || t.OfLog() {
		a.AddChain(t.Chain())
		return
	}
	a.findOwners(t)
	a.reduce(t)
	a.room.children.link(a.room.attempts)
	a.serve(t)
	a.look(a.room.attempts)
	if len(t.Spans) >= spans.LargeTrace {
		a.room = room{}
	}
}

// notAnOwner says that nothing at or above a span is an attempt.
const notAnOwner = -1

// isCall reports whether a span is a call that its caller waits for.
func isCall(t *spans.Trace, i int32) bool {
	return t.HopOf(i).Kind == spans.Client && t.HoldsUp(i)
}

// begins reports whether a request begins with a span.
func begins(t *spans.Trace, i int32) bool { return t.Parents[i] < 0 || !t.HoldsUp(i) }

// findOwners notes for each span the nearest one at or above it that is a call or
// begins a request. What does not lie in time is passed over.
func (a *Accumulator) findOwners(t *spans.Trace) {
	a.room.owners = append(a.room.owners[:0], make([]int32, len(t.Spans))...)
	for _, i := range t.TopDown() {
		s := &t.Spans[i]
		switch {
		case s.Timed() && s.Duration >= 0 && (isCall(t, i) || begins(t, i)):
			a.room.owners[i] = i
		case t.Parents[i] < 0:
			a.room.owners[i] = notAnOwner
		default:
			a.room.owners[i] = a.room.owners[t.Parents[i]]
		}
	}
}

// reduce makes attempts of the spans that are owners. The owners of all spans are
// attempts from then on.
func (a *Accumulator) reduce(t *spans.Trace) {
	r := &a.room
	owners := 0
	for i, owner := range r.owners {
		if owner == int32(i) {
			owners++
		}
	}
	r.attempts, r.places = slices.Grow(r.attempts[:0], owners), slices.Grow(r.places[:0], len(t.Spans))
	for i := range t.Spans {
		r.places = append(r.places, int32(len(r.attempts)))
		if r.owners[i] == int32(i) {
			r.attempts = append(r.attempts, a.attemptOf(t, int32(i)))
		}
	}
	for i, owner := range r.owners {
		if owner >= 0 {
			r.owners[i] = r.places[owner]
		}
	}
	a.place()
}

// attemptOf makes an attempt of a span; its parent and its call are spans yet.
func (w *Accumulator) attemptOf(t *spans.Trace, i int32) attempt {
	s := &t.Spans[i]
	a := attempt{
		Attempt: spans.Attempt{Start: s.Start, Duration: s.Duration, Hop: w.hopAt(t.Hops, s.Hop), Parent: -1, Outcome: s.Outcome, Timed: true},
		call:    isCall(t, i), first: w.firstOf(t, i), until: s.End(), served: -1,
	}
	if p := t.Parents[i]; p >= 0 && t.HoldsUp(i) {
		a.Parent = p
	}
	return a
}

// firstOf returns the first attempt of the call that an owner tries, -1 where that is
// not known. Those before it in the list know theirs.
func (a *Accumulator) firstOf(t *spans.Trace, i int32) int32 {
	k, as := i, a.room.attempts
	for t.Spans[k].Retry() {
		switch before := t.RetryOf[k]; {
		case before < 0 || a.room.owners[before] != before:
			return -1
		case before < i:
			return as[a.room.places[before]].first
		default:
			k = before
		}
	}
	return k
}

// place turns the spans in parents and calls into attempts. Calls end with their
// last attempt.
func (w *Accumulator) place() {
	as := w.room.attempts
	for i := range as {
		a := &as[i]
		if a.Parent >= 0 {
			a.Parent = w.room.owners[a.Parent]
		}
		if a.first >= 0 {
			a.first = w.room.owners[a.first]
		}
	}
	for i := range as {
		if f := as[i].first; f >= 0 && as[f].until < as[i].End() {
			as[f].until = as[i].End()
		}
	}
}

// serve notes what the server of a cut call worked itself, where it came to a good
// end. A call with several servers is left out.
func (w *Accumulator) serve(t *spans.Trace) {
	as := w.room.attempts
	if !slices.ContainsFunc(as, func(a attempt) bool { return a.Outcome == spans.Truncated }) {
		return
	}
	for i := range t.Spans {
		s, p := &t.Spans[i], t.Parents[i]
		if p < 0 || t.HopOf(int32(i)).Kind != spans.Server || !s.Timed() || s.Duration < 0 || s.Outcome != spans.Completed {
			continue
		}
		owner := w.room.owners[p]
		if owner < 0 || as[owner].Outcome != spans.Truncated || w.room.owners[i] != owner {
			continue
		}
		as[owner].served = s.Duration - w.covered(as, w.room.children.first[owner+1], s.Start, s.End())
	}
}
