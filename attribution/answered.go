package attribution

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// rescues is room for what was tried again in one trace.
type rescues struct {
	by      []int32         // an attempt that retries each, -1 for none
	lost    []bool          // its caller cancelled it, as another attempt had answered
	latest  map[int32]int32 // of one parent's children: the last retry, by the hop's index
	answers []answer
}

// answer is when an attempt of a hop completed, in ns.
type answer struct {
	hop int32
	end int64
}

func compareAnswers(a, b answer) int {
	return cmp.Or(cmp.Compare(a.hop, b.hop), cmp.Compare(a.end, b.end))
}

// find looks at the calls of all spans of a trace.
func (r *rescues) find(t *spans.Trace) {
	r.by, r.lost = r.by[:0], append(r.lost[:0], make([]bool, len(t.Spans))...)
	for range t.Spans {
		r.by = append(r.by, -1)
	}
	for i := range t.Spans {
		if children := t.Children(int32(i)); len(children) > 1 {
			r.findRetried(t, children)
			r.findLosers(t, children)
		}
	}
}

// findRetried notes the calls that another one retries. A retry that does not tell
// what it retries stands for all of its hop that ended before it.
func (r *rescues) findRetried(t *spans.Trace, children []int32) {
	clear(r.latest)
	for _, c := range children {
		switch s := &t.Spans[c]; {
		case t.RetryOf[c] >= 0:
			r.by[t.RetryOf[c]] = c
		case s.Retry() && s.Flags.Has(spans.HasStart):
			r.latest[s.Hop] = c // children are sorted by start
		}
	}
	if len(r.latest) == 0 {
		return
	}
	for _, c := range children {
		s := &t.Spans[c]
		if last, again := r.latest[s.Hop]; again && c < last && r.by[c] < 0 && inTime(s) && s.MayBeRetriedBy(&t.Spans[last]) {
			r.by[c] = last
		}
	}
}

// findLosers notes the calls that their caller cancelled when another call of the
// same hop had completed: of a hedge the one that came too late.
func (r *rescues) findLosers(t *spans.Trace, children []int32) {
	if !slices.ContainsFunc(children, func(c int32) bool { return cancelled(&t.Spans[c]) }) {
		return
	}
	r.answers = r.answers[:0]
	for _, c := range children {
		if s := &t.Spans[c]; inTime(s) && s.Outcome == spans.Completed {
			r.answers = append(r.answers, answer{s.Hop, s.End()})
		}
	}
	slices.SortFunc(r.answers, compareAnswers)
	for _, c := range children {
		s := &t.Spans[c]
		r.lost[c] = cancelled(s) && r.answeredDuring(s)
	}
}

func cancelled(s *spans.Span) bool {
	return inTime(s) && s.Outcome == spans.Truncated && s.CutBy == spans.Caller
}

// answeredDuring reports whether an attempt of the span's hop completed while it
// ran.
func (r *rescues) answeredDuring(s *spans.Span) bool {
	at, _ := slices.BinarySearchFunc(r.answers, answer{s.Hop, s.Start}, compareAnswers)
	return at < len(r.answers) && r.answers[at].hop == s.Hop && r.answers[at].end <= s.End()
}

// again reports whether an attempt is not the one that decides its call.
func (r *rescues) again(i int32) bool { return r.by[i] >= 0 || r.lost[i] }

// last returns the last attempt of a call, of which i is one. Those on the way then
// lead to it at once: a caller may poll for hours.
func (r *rescues) last(i int32) int32 {
	last := i
	for r.by[last] >= 0 {
		last = r.by[last]
	}
	for i != last {
		i, r.by[i] = r.by[i], last
	}
	return last
}

// answer returns when the call of an attempt was answered after all.
func (r *rescues) answer(nodes []node, i int32) (end int64, known bool) {
	i = r.last(i)
	n := &nodes[i]
	return n.end, n.inTime && (r.lost[i] || !n.gaveUp())
}

// siblings links the attempts of one hop under one caller in a chain of a hop log, in
// the order of their starts.
type siblings struct {
	next   []int32 // -1 for the last
	by     []int32 // the attempt that completed the call of each later on, -1 for none
	latest map[sibling]int32
}

type sibling struct{ parent, hop int32 }

// link looks at the attempts of a chain, which are sorted.
func (x *siblings) link(nodes []node) {
	if x.latest == nil {
		x.latest = map[sibling]int32{}
	}
	clear(x.latest)
	x.next = x.next[:0]
	for i := range nodes {
		x.next = append(x.next, -1)
		of := sibling{nodes[i].parent, nodes[i].hop}
		if before, again := x.latest[of]; again {
			x.next[before] = int32(i)
		}
		x.latest[of] = int32(i)
	}
	x.by = append(x.by[:0], x.next...)
	for i := len(nodes) - 1; i >= 0; i-- {
		x.by[i] = x.answeredBy(nodes, int32(i))
	}
}

// answeredBy returns the attempt that completed the call of i: the one that came next,
// or the one after that. Those of later attempts are known.
func (x *siblings) answeredBy(nodes []node, i int32) int32 {
	for k := x.next[i]; k >= 0; k = x.next[k] {
		if !before(&nodes[i], &nodes[k]) {
			continue
		}
		if nodes[k].outcome == spans.Completed {
			return k
		}
		return x.by[k]
	}
	return -1
}

// answer returns when the call of an attempt that gave up was answered after all.
func (x *siblings) answer(nodes []node, i int32) (end int64, known bool) {
	if by := x.by[i]; by >= 0 && nodes[i].gaveUp() {
		return nodes[by].end, true
	}
	return 0, false
}

// before reports whether an attempt may be retried by another one: that starts when
// this one had ended, as far as clocks tell, and not beside it.
func before(a, next *node) bool {
	return !wellBefore(next.start, a.end) && uint64(next.start)-uint64(a.start) > (uint64(a.end)-uint64(a.start))/2
}
