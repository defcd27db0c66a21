package attribution

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// rescues is room for what was tried again in one trace.
type rescues struct {
	by      []int32         // the attempt that retries each, -1 for none
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

// begin forgets the last trace.
func (r *rescues) begin(t *spans.Trace) {
	r.by, r.lost = r.by[:0], append(r.lost[:0], make([]bool, len(t.Spans))...)
	for range t.Spans {
		r.by = append(r.by, -1)
	}
}

// among looks at the calls of a span.
func (r *rescues) among(t *spans.Trace, parent int32) {
	if children := t.Children(parent); len(children) > 1 {
		r.findRetried(t, children)
		r.findLosers(t, children)
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

// rescued reports whether the call of an attempt that gave up was answered after
// all, up to a moment.
func (r *rescues) rescued(t *spans.Trace, i int32, until int64) bool {
	for r.by[i] >= 0 {
		i = r.by[i]
	}
	s := &t.Spans[i]
	return (r.lost[i] || !s.GaveUp()) && inTime(s) && s.End() <= until
}
