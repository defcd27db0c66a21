package spans

import (
	"cmp"
	"math"
	"slices"
)

// Span is one span of a whole trace: 104 bytes without pointers. Where Flags
// do not say that a time is there, it is 0.
type Span struct {
	ID, Parent               SpanID
	Start, Duration, Timeout int64 // as in Row
	Digest                   uint64
	Weight                   float64
	Line, Offset             int64
	Hop                      int32 // index into Trace.Hops
	Host                     int32 // index into Trace.Hosts
	Stratum                  int32 // index into Trace.Strata
	Instance                 int32 // index into Trace.Instances, 0 for none
	File                     int32
	Outcome                  Outcome
	CutBy                    CutBy
	Failure                  Failure
	Ties                     Ties
	Resolution               uint8
	Tries                    uint8 // as in Row
	Flags                    Flags
}

// Flags are what is known of a span besides its values.
type Flags uint8

const (
	// HasStart: the start is known.
	HasStart Flags = 1 << iota
	// HasDuration: the duration is known.
	HasDuration
	// HasTimeout: the timeout is known.
	HasTimeout
	// OutcomeMarked: the source said how the span ended.
	OutcomeMarked
	// RetryByMark: the source says that this is a retry.
	RetryByMark
	// RetryBySibling: a retry because a sibling ended cut or failed before it.
	RetryBySibling
	// SpeaksOfTimeout: a message that does not count speaks of a timeout or a cancellation.
	SpeaksOfTimeout
)

// Has reports whether all of want are set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// RetrySource says by what a span is known to be a retry.
type RetrySource uint8

const (
	// NoRetry: a first attempt, or nothing is known.
	NoRetry RetrySource = iota
	// ByMark: by the span's own mark.
	ByMark
	// BySibling: by an earlier sibling that ended cut or failed.
	BySibling
)

// String gives the word used in reports.
func (r RetrySource) String() string { return word(retryWords[:], uint8(r)) }

var retryWords = [...]string{"", "mark", "sibling"}

// End returns start plus duration, at most the largest int64.
func (s *Span) End() int64 {
	if s.Duration > 0 && s.Start > math.MaxInt64-s.Duration {
		return math.MaxInt64
	}
	if s.Duration < 0 && s.Start < math.MinInt64-s.Duration {
		return math.MinInt64
	}
	return s.Start + s.Duration
}

// Timed reports whether the span lies in time: start and end are known.
func (s *Span) Timed() bool { return s.Flags.Has(HasStart | HasDuration) }

// GaveUp reports whether the span ended cut or failed.
func (s *Span) GaveUp() bool { return s.Outcome == Truncated || s.Outcome == Failed }

// Retry reports whether the span is a retry.
func (s *Span) Retry() bool { return s.Flags&(RetryByMark|RetryBySibling) != 0 }

// RetrySource returns by what the span is known to be a retry.
func (s *Span) RetrySource() RetrySource {
	switch {
	case s.Flags.Has(RetryByMark):
		return ByMark
	case s.Flags.Has(RetryBySibling):
		return BySibling
	}
	return NoRetry
}

// compareSpans is a total order by start, id and digest, then by all the rest:
// spans that compare equal are the same in every field, so that no result can
// depend on the order in which they came.
func compareSpans(a, b *Span) int {
	switch {
	case a.Start != b.Start:
		return cmp.Compare(a.Start, b.Start)
	case a.ID != b.ID:
		return cmp.Compare(a.ID, b.ID)
	}
	return cmp.Or(
		cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Hop, b.Hop),
		cmp.Compare(a.Duration, b.Duration),
		cmp.Compare(a.Timeout, b.Timeout),
		cmp.Compare(math.Float64bits(a.Weight), math.Float64bits(b.Weight)),
		cmp.Compare(a.Host, b.Host),
		cmp.Compare(a.Stratum, b.Stratum),
		cmp.Compare(a.Instance, b.Instance),
		cmp.Compare(a.Outcome, b.Outcome),
		cmp.Compare(a.CutBy, b.CutBy),
		cmp.Compare(a.Failure, b.Failure),
		cmp.Compare(a.Ties, b.Ties),
		cmp.Compare(a.Resolution, b.Resolution),
		cmp.Compare(a.Tries, b.Tries),
		cmp.Compare(a.Flags, b.Flags),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Offset, b.Offset),
	)
}

// LargeTrace is how many spans a trace has, at least, for which much memory is needed: who
// looks at it lets go of that at once, as each of several needs as much.
const LargeTrace = 1 << 17

// Trace is one whole trace. In assembly.Traces.Each its slices are the visitor's:
// good until the callback returns.
type Trace struct {
	ID   TraceID
	Text string // of an id that is no number

	// Spans are sorted by start, then id, then digest; those without a start
	// stand at 0.
	Spans []Span
	// Parents holds the index of each span's parent, -1 for Roots and Missing.
	Parents []int32
	// Roots are the spans that name no parent, and those whose tie was cut.
	Roots []int32
	// Missing are the spans whose parent is not in the trace.
	Missing []int32
	// RetryOf holds, after MarkRetries, the index of the attempt that a span
	// retries, -1 where it is no retry or where that is not known.
	RetryOf []int32

	// Stop is asked while very many spans are worked on, nil for never. Once it says
	// so, what is known of the trace is good for nothing.
	Stop Stop

	Hops          []Hop
	Hosts, Strata []string
	Instances     []string

	// Duplicates is how many exact duplicates were dropped: same id, parent,
	// digest and hop.
	Duplicates int
	// Cycles is how many ties were cut because they closed a cycle or named the
	// span itself.
	Cycles int

	firstChild, children []int32 // children of i: children[firstChild[i]:firstChild[i+1]]
	order                []int32 // see TopDown
	captions             []named // by id
	work                 workspace
}

// named is a span id that is no number.
type named struct {
	id   SpanID
	text []byte
}

// workspace is memory that a trace's methods use over and over.
type workspace struct {
	byID       []located
	stamps     []int32
	siblings   []int32
	candidates []int32
	cut        []bool
	rescued    []bool // see findRescued
	chain      Chain
}

// located is where the span with an id stands.
type located struct {
	id SpanID
	at int32
}

// NewTrace links spans that are known to be a whole trace. It sorts spans in
// place and keeps it.
func NewTrace(id TraceID, spans []Span, hops []Hop, hosts []string) *Trace {
	t := &Trace{ID: id, Spans: spans, Hops: hops, Hosts: hosts}
	t.Link()
	return t
}

// Begin empties the trace for the spans of another with the same names.
func (t *Trace) Begin(id TraceID) {
	t.ID, t.Text, t.Spans, t.captions, t.RetryOf = id, "", t.Spans[:0], t.captions[:0], t.RetryOf[:0]
}

// Caption keeps the text of a span id that is no number, until the next Begin.
func (t *Trace) Caption(id SpanID, text []byte) {
	if n := len(t.captions); n > 0 && t.captions[n-1].id == id && string(t.captions[n-1].text) == string(text) {
		return
	}
	t.captions = append(t.captions, named{id, text})
}

// Clone returns a copy that stays good after the visitor's callback. It names only the
// hops and hosts that occur.
func (t *Trace) Clone() *Trace {
	c := &Trace{
		ID: t.ID, Text: t.Text, Spans: slices.Clone(t.Spans), Parents: slices.Clone(t.Parents), Roots: slices.Clone(t.Roots),
		Missing: slices.Clone(t.Missing), RetryOf: slices.Clone(t.RetryOf), Duplicates: t.Duplicates, Cycles: t.Cycles,
		firstChild: slices.Clone(t.firstChild), children: slices.Clone(t.children),
	}
	for _, n := range t.captions {
		c.captions = append(c.captions, named{n.id, slices.Clone(n.text)})
	}
	c.Hops = occurring(t.Hops, c.Spans, func(s *Span) *int32 { return &s.Hop })
	c.Hosts = occurring(t.Hosts, c.Spans, func(s *Span) *int32 { return &s.Host })
	c.Strata = occurring(t.Strata, c.Spans, func(s *Span) *int32 { return &s.Stratum })
	c.Instances = slices.Clone(t.Instances)
	return c
}

// occurring returns the names of a list that occur, and renumbers who refers to them.
// Without a list there is nothing to refer to.
func occurring[N, R any](list []N, rows []R, of func(*R) *int32) (kept []N) {
	if len(list) == 0 {
		return nil
	}
	numbers := map[int32]int32{}
	for i := range rows {
		at := of(&rows[i])
		n, known := numbers[*at]
		if !known {
			n = int32(len(kept))
			numbers[*at], kept = n, append(kept, list[*at])
		}
		*at = n
	}
	return kept
}

// sortFew sorts lists that mostly are short and nearly sorted, by moving each to its
// place.
func sortFew[T any](list []T, compare func(a, b *T) int) {
	if len(list) > 24 {
		slices.SortFunc(list, func(a, b T) int { return compare(&a, &b) })
		return
	}
	for i := 1; i < len(list); i++ {
		at := i
		for at > 0 && compare(&list[i], &list[at-1]) < 0 {
			at--
		}
		if at < i {
			moved := list[i]
			copy(list[at+1:i+1], list[at:i])
			list[at] = moved
		}
	}
}

// Name returns the trace id as it is printed.
func (t *Trace) Name() string {
	if t.Text != "" {
		return t.Text
	}
	return t.ID.String()
}

// SpanName returns the id of span i as it is printed.
func (t *Trace) SpanName(i int32) string { return t.NameOf(t.Spans[i].ID) }

// NameOf returns a span id as it is printed: the text of one that is no number
// and belongs to a span of this trace, else 16 digits.
func (t *Trace) NameOf(id SpanID) string {
	at, found := slices.BinarySearchFunc(t.captions, id, func(c named, id SpanID) int { return cmp.Compare(c.id, id) })
	if found {
		return string(t.captions[at].text)
	}
	return id.String()
}

// Children returns the spans whose parent is i, in the order of Spans.
func (t *Trace) Children(i int32) []int32 { return t.children[t.firstChild[i]:t.firstChild[i+1]] }

// HopOf returns the hop of span i.
func (t *Trace) HopOf(i int32) Hop { return t.Hops[t.Spans[i].Hop] }

// TopDown returns all spans, each after its parent: what walks the tree needs
// no recursion. Backwards, each comes after its children.
func (t *Trace) TopDown() []int32 {
	if len(t.order) == len(t.Spans) {
		return t.order
	}
	t.order = append(append(slices.Grow(t.order[:0], len(t.Spans)), t.Roots...), t.Missing...)
	for i := 0; i < len(t.order); i++ {
		t.order = append(t.order, t.Children(t.order[i])...)
	}
	return t.order
}

// Stop tells whoever works on very many spans that nobody waits for the result any
// more. A nil one never does.
type Stop func() bool

// Told reports whether to leave off.
func (s Stop) Told() bool { return s != nil && s() }

// askEvery is after how many comparisons a sort asks whether to leave off: some
// hundred microseconds.
const askEvery = 1 << 13

// sortUnless sorts a list, or leaves it in any order when it is told to stop.
func sortUnless[T any](stop Stop, list []T, compare func(a, b *T) int) {
	if stop == nil {
		sortFew(list, compare)
		return
	}
	compared, stopped := 0, false
	slices.SortFunc(list, func(a, b T) int {
		if compared++; compared%askEvery == 0 {
			stopped = stopped || stop()
		}
		if stopped { // all are equal: one pass ends it
			return 0
		}
		return compare(&a, &b)
	})
}
