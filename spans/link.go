package spans

import (
	"bytes"
	"cmp"
	"slices"
)

const (
	noParent  = -1
	undecided = -2
)

// Link makes the spans, in any order, a sorted forest. Nothing here calls itself, so
// that a chain may be as deep as memory allows.
func (t *Trace) Link() {
	t.Duplicates, t.Cycles, t.order = 0, 0, t.order[:0]
	sortUnless(t.Stop, t.Spans, compareSpans)
	sortUnless(t.Stop, t.captions, func(a, b *named) int {
		return cmp.Or(cmp.Compare(a.id, b.id), bytes.Compare(a.text, b.text))
	})
	if t.Stop.Told() {
		return
	}
	t.locate()
	if t.dropDuplicates() {
		t.locate()
	}
	if t.Stop.Told() {
		return
	}
	t.Parents = refill(t.Parents, len(t.Spans), undecided)
	t.joinHalves()
	t.findParents()
	t.cutCycles()
	t.listRoots()
	t.listChildren()
}

// locate lists the spans by id, those of one id in the order of Spans.
func (t *Trace) locate() {
	t.work.byID = slices.Grow(t.work.byID[:0], len(t.Spans))
	for i := range t.Spans {
		t.work.byID = append(t.work.byID, located{t.Spans[i].ID, int32(i)})
	}
	slices.SortFunc(t.work.byID, func(a, b located) int {
		if a.id != b.id {
			return cmp.Compare(a.id, b.id)
		}
		return int(a.at) - int(b.at)
	})
}

// sameID yields the runs of spans that share an id.
func (t *Trace) sameID(yield func(run []located) bool) {
	byID := t.work.byID
	for lo, hi := 0, 0; lo < len(byID); lo = hi {
		for hi = lo + 1; hi < len(byID) && byID[hi].id == byID[lo].id; hi++ {
		}
		if !yield(byID[lo:hi]) {
			return
		}
	}
}

// dropDuplicates keeps the first of exact duplicates and reports whether there
// were any.
func (t *Trace) dropDuplicates() bool {
	for run := range t.sameID {
		if len(run) > 1 {
			t.stampDuplicates(run)
		}
	}
	if t.Duplicates == 0 {
		return false
	}
	kept := t.Spans[:0]
	for i := range t.Spans {
		if t.work.stamps[i] == 0 {
			kept = append(kept, t.Spans[i])
		}
	}
	t.Spans = kept
	return true
}

// stampDuplicates sorts the run, so that many spans of one id cost no more
// than as many of different ones.
func (t *Trace) stampDuplicates(run []located) {
	slices.SortFunc(run, func(a, b located) int {
		return cmp.Or(compareIdentity(&t.Spans[a.at], &t.Spans[b.at]), cmp.Compare(a.at, b.at))
	})
	for k := 1; k < len(run); k++ {
		if compareIdentity(&t.Spans[run[k-1].at], &t.Spans[run[k].at]) == 0 {
			t.stampDuplicate(run[k].at)
		}
	}
	t.stampTranslated(run)
	slices.SortFunc(run, func(a, b located) int { return cmp.Compare(a.at, b.at) })
}

func (t *Trace) stampDuplicate(at int32) {
	if t.Duplicates == 0 {
		t.work.stamps = refill(t.work.stamps, len(t.Spans), 0)
	}
	t.work.stamps[at] = 1
	t.Duplicates++
}

// stampTranslated finds the spans of one id that came in two encodings, of which one
// may write whole microseconds: the contents differ, and yet it is the same span. The
// one with the finer times stays. A made-up id says nothing.
func (t *Trace) stampTranslated(run []located) {
	if s := &t.Spans[run[0].at]; s.ID == 0 || s.Ties.Has(LogLine) {
		return
	}
	slices.SortFunc(run, func(a, b located) int { return t.comparePlaces(a.at, b.at) })
	kept := int32(noParent)
	for _, one := range run {
		switch {
		case t.Duplicates > 0 && t.work.stamps[one.at] != 0:
		case kept == noParent || !t.translated(kept, one.at):
			kept = one.at
		case t.Spans[kept].inMicros() && !t.Spans[one.at].inMicros():
			t.stampDuplicate(kept)
			kept = one.at
		default:
			t.stampDuplicate(one.at)
		}
	}
}

// comparePlaces brings together spans of one parent and hop at one time.
func (t *Trace) comparePlaces(a, b int32) int {
	x, y := &t.Spans[a], &t.Spans[b]
	if c := cmp.Or(cmp.Compare(x.Parent, y.Parent), cmp.Compare(x.Hop, y.Hop)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Duration, y.Duration), cmp.Compare(a, b))
}

// translated reports whether two spans of one id have the same parent, the same hop and
// the same times, as far as both write them.
func (t *Trace) translated(a, b int32) bool {
	x, y := &t.Spans[a], &t.Spans[b]
	if x.Parent != y.Parent || x.Hop != y.Hop || !x.Timed() || !y.Timed() {
		return false
	}
	apart := uint64(0)
	if x.inMicros() != y.inMicros() {
		apart = 1000
	}
	return differ(x.Start, y.Start) <= apart && differ(x.Duration, y.Duration) <= apart
}

// inMicros reports whether the times of a span are whole microseconds.
func (s *Span) inMicros() bool { return s.Start%1000 == 0 && s.Duration%1000 == 0 }

// differ returns how far two numbers are apart.
func differ(a, b int64) uint64 { return uint64(max(a, b)) - uint64(min(a, b)) }

// SameSpan reports whether two spans of a trace are duplicates in all that they say.
func SameSpan(a, b *Span) bool { return compareIdentity(a, b) == 0 && a.ID == b.ID }

// Before reports whether a stands before b in a trace; of duplicates the first is kept.
func Before(a, b *Span) bool { return compareSpans(a, b) < 0 }

func compareIdentity(a, b *Span) int {
	return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Hop, b.Hop))
}

// joinHalves hangs the server half of a shared id under its client half, and
// leaves in byID, for each id, the one span under which children hang.
func (t *Trace) joinHalves() {
	byID := t.work.byID[:0]
	for run := range t.sameID {
		anchor := run[0]
		if client, server, shared := t.halves(run); shared {
			for _, s := range run {
				if t.kind(s.at) == Server {
					t.Parents[s.at] = client.at
					t.Spans[s.at].Ties |= SharedHalf
				}
			}
			anchor = server
		}
		byID = append(byID, anchor)
	}
	t.work.byID = byID
}

func (t *Trace) halves(run []located) (client, server located, shared bool) {
	if len(run) == 1 || run[0].id == 0 {
		return client, server, false
	}
	c := slices.IndexFunc(run, func(s located) bool { return t.kind(s.at) == Client })
	s := slices.IndexFunc(run, func(s located) bool { return t.kind(s.at) == Server })
	if c < 0 || s < 0 {
		return client, server, false
	}
	return run[c], run[s], true
}

func (t *Trace) kind(i int32) Kind { return t.Hops[t.Spans[i].Hop].Kind }

func (t *Trace) findParents() {
	t.Missing = t.Missing[:0]
	for i := range t.Spans {
		s := &t.Spans[i]
		switch {
		case t.Parents[i] != undecided:
		case s.Parent == 0:
			t.Parents[i] = noParent
		case s.Parent == s.ID:
			t.Parents[i] = noParent
			t.Cycles++
		default:
			t.Parents[i] = t.find(s.Parent)
			if t.Parents[i] == noParent {
				t.Missing = append(t.Missing, int32(i))
			}
		}
	}
}

// find returns the span under which children that name id hang.
func (t *Trace) find(id SpanID) int32 {
	at, found := slices.BinarySearchFunc(t.work.byID, id, func(l located, id SpanID) int { return cmp.Compare(l.id, id) })
	if !found {
		return noParent
	}
	return t.work.byID[at].at
}

// cutCycles walks up from every span, stamping what it passes. A walk that
// comes to its own stamp has gone round a cycle; the tie of the cycle's first span
// in the order of Spans is cut, wherever the walk came in.
func (t *Trace) cutCycles() {
	t.work.stamps = refill(t.work.stamps, len(t.Spans), -1)
	stamps := t.work.stamps
	for i := range t.Spans {
		at := int32(i)
		for at != noParent && stamps[at] < 0 {
			stamps[at] = int32(i)
			at = t.Parents[at]
		}
		if at != noParent && stamps[at] == int32(i) {
			t.Parents[t.firstOfCycle(at)] = noParent
			t.Cycles++
		}
	}
}

func (t *Trace) firstOfCycle(member int32) int32 {
	first := member
	for at := t.Parents[member]; at != member; at = t.Parents[at] {
		first = min(first, at)
	}
	return first
}

// listRoots lists the spans without a parent that are not in Missing, which is
// sorted.
func (t *Trace) listRoots() {
	t.Roots = t.Roots[:0]
	missing := t.Missing
	for i, p := range t.Parents {
		if p != noParent {
			continue
		}
		if len(missing) > 0 && missing[0] == int32(i) {
			missing = missing[1:]
			continue
		}
		t.Roots = append(t.Roots, int32(i))
	}
}

// listChildren counts each span's children, turns the counts into where the
// next one begins, and fills from the back.
func (t *Trace) listChildren() {
	n := len(t.Spans)
	t.firstChild = refill(t.firstChild, n+1, 0)
	tied := 0
	for _, p := range t.Parents {
		if p != noParent {
			t.firstChild[p]++
			tied++
		}
	}
	for i := 1; i <= n; i++ {
		t.firstChild[i] += t.firstChild[i-1]
	}
	t.children = refill(t.children, tied, 0)
	for i := n - 1; i >= 0; i-- {
		if p := t.Parents[i]; p != noParent {
			t.firstChild[p]--
			t.children[t.firstChild[p]] = int32(i)
		}
	}
}

// refill returns n values v in the memory of s where it has room.
func refill[T any](s []T, n int, v T) []T {
	if cap(s) < n {
		s = make([]T, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = v
	}
	return s
}
