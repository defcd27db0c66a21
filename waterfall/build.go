package waterfall

import (
	"math"
	"slices"
	"strconv"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/spans"
)

// result makes the result of one request.
func (q *request) result(of Query) *Result {
	r := &Result{Trace: q.name(), Basis: q.came.Basis, Outcome: q.came.Outcome}
	if q.came.Basis != "" {
		r.EndToEnd = &q.came.Total
	}
	if q.trace != nil {
		r.takeTrace(q.trace, of)
	} else {
		r.takeChain(q.chain, of)
	}
	return r
}

// extent is from the first start to the last end.
type extent struct {
	from, to int64
	all      bool // every start is known
}

func newExtent() extent { return extent{math.MaxInt64, math.MinInt64, true} }

func (e *extent) see(start, end int64, known bool) {
	if !known {
		e.all = false
		return
	}
	e.from, e.to = min(e.from, start), max(e.to, start, end)
}

// use says when the request was. Without one start there is none.
func (r *Result) use(e extent) {
	r.Timed = e.from <= e.to
	if r.Timed {
		r.From, r.To = e.from, e.to
		if e.from < 0 && e.to > math.MaxInt64+e.from {
			r.To = math.MaxInt64 + e.from // no int64 holds more
		}
	}
}

// takeTrace lists the spans of a trace, each after the one above it and before what
// comes after that one, in the order of their starts.
func (r *Result) takeTrace(t *spans.Trace, of Query) {
	e := newExtent()
	for i := range t.Spans {
		s := &t.Spans[i]
		e.see(s.Start, s.End(), s.Flags.Has(spans.HasStart))
	}
	r.use(e)
	places := make([]int32, len(t.Spans)) // of spans in the list
	stack := slices.Concat(t.Roots, t.Missing)
	slices.Sort(stack)
	slices.Reverse(stack)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		places[i] = int32(len(r.Spans))
		r.Spans = append(r.Spans, r.spanOf(t, i, places, of))
		for _, c := range slices.Backward(t.Children(i)) {
			stack = append(stack, c)
		}
	}
	for _, i := range t.Missing {
		r.Spans[places[i]].Stray = true
	}
	r.serve()
	if of.Orphans == nil {
		return
	}
	for _, o := range of.Orphans(t) {
		r.Spans[places[o.Child]].Orphan = &Orphan{o.Kind, o.Overrun, o.Wasted, o.Sure, o.Evidence}
	}
}

// spanOf makes a span, whose parent has its place.
func (r *Result) spanOf(t *spans.Trace, i int32, places []int32, of Query) Span {
	s := &t.Spans[i]
	one := Span{
		ID: t.SpanName(i), Hop: t.HopOf(i), parent: -1, server: -1,
		Start: jsontype.If(s.Flags.Has(spans.HasStart), s.Start-r.From), Duration: jsontype.If(s.Flags.Has(spans.HasDuration), max(0, s.Duration)),
		Outcome: s.Outcome, CutBy: s.CutBy, Failure: failureOf(s.Failure), Retry: jsontype.Text(s.RetrySource().String()), Async: t.Parents[i] >= 0 && !t.HoldsUp(i),
	}
	if p := t.Parents[i]; p >= 0 {
		one.Parent, one.parent = jsontype.Text(t.SpanName(p)), places[p]
	} else if s.Parent != 0 {
		one.Parent = jsontype.Text(t.NameOf(s.Parent))
	}
	if int(i) < len(t.RetryOf) && t.RetryOf[i] >= 0 {
		one.RetryOf = jsontype.Text(t.SpanName(t.RetryOf[i]))
	}
	if of.Path != nil && s.Line > 0 {
		one.Where = &Place{of.Path(s.File), s.Line, s.Offset}
	}
	return one
}

func failureOf(f spans.Failure) jsontype.Text {
	if f == spans.NotFailed {
		return ""
	}
	return jsontype.Text(f.String())
}

// serve finds the spans that serve calls: the one server that its caller waits for.
func (r *Result) serve() {
	servers := make([]int32, len(r.Spans))
	for i := range r.Spans {
		s := &r.Spans[i]
		if s.parent < 0 || s.Kind != spans.Server || s.Async || r.Spans[s.parent].Kind != spans.Client || !s.timed() {
			continue
		}
		up := &r.Spans[s.parent]
		if servers[s.parent]++; servers[s.parent] > 1 || !up.timed() {
			up.server, up.Wait = -1, nil
			continue
		}
		wait := max(0, *s.Start-*up.Start)
		up.server, up.Wait = int32(i), &wait
	}
}

// timed reports whether a span lies in time.
func (s *Span) timed() bool { return s.Start != nil && s.Duration != nil }

// end is the offset of a span's end.
func (s *Span) end() int64 {
	if *s.Start > math.MaxInt64-*s.Duration {
		return math.MaxInt64
	}
	return *s.Start + *s.Duration
}

// takeChain lists the attempts of a chain: where their starts are known, each in the one
// that surely called it, else in a row.
func (r *Result) takeChain(c *spans.Chain, of Query) {
	if of.Nesting != nil {
		c.PlacedBy = nil
		of.Nesting.Sure().NewPlacer().Place(c)
	}
	e := newExtent()
	for i := range c.Attempts {
		a := &c.Attempts[i]
		e.see(a.Start, a.End(), a.Timed)
	}
	if r.use(e); !c.Timed {
		r.Timed = false
	}
	children, places := below(c.Attempts), make([]int32, len(c.Attempts))
	stack := slices.Clone(children[0])
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		places[i] = int32(len(r.Spans))
		r.Spans = append(r.Spans, r.attemptOf(c, i, places))
		stack = append(stack, children[i+1]...)
	}
}

// below lists what lies in no attempt, and then what lies in each, the last one first.
func below(as []spans.Attempt) [][]int32 {
	lists := make([][]int32, len(as)+1)
	for i := len(as) - 1; i >= 0; i-- {
		lists[as[i].Parent+1] = append(lists[as[i].Parent+1], int32(i))
	}
	return lists
}

// attemptOf makes a span of an attempt, which has no id of its own: it is numbered by its
// start.
func (r *Result) attemptOf(c *spans.Chain, i int32, places []int32) Span {
	a := &c.Attempts[i]
	one := Span{
		ID: strconv.Itoa(int(i) + 1), Hop: c.Hops[a.Hop], parent: -1, server: -1,
		Start: jsontype.If(a.Timed && r.Timed, a.Start-r.From), Duration: &a.Duration,
		Outcome: a.Outcome, CutBy: a.CutBy, Failure: failureOf(a.Failure),
	}
	if a.Retry {
		one.Retry = jsontype.Text(spans.ByMark.String())
	}
	if a.Parent >= 0 {
		one.Parent, one.parent = jsontype.Text(strconv.Itoa(int(a.Parent)+1)), places[a.Parent]
	}
	return one
}
