package spans

import (
	"fmt"
	"slices"
	"testing"
)

// testSpan is a span in small numbers: id 1 0-100 <- parent.
type testSpan struct {
	trace          int // 0 is trace 1
	id, parent     int
	start, end     int
	hop            string // "" is "h"
	kind           Kind   // NoKind is Internal
	outcome        Outcome
	ties           Ties
	retry          bool
	digest         int // 0: made of id and start
	noStart, noEnd bool
	file, line     int
}

func (s testSpan) hopValue() Hop {
	h := Hop{Name: "h", Kind: Internal}
	if s.hop != "" {
		h.Name = s.hop
	}
	if s.kind != NoKind {
		h.Kind = s.kind
	}
	return h
}

func (s testSpan) traceID() TraceID { return TraceID{0, uint64(max(s.trace, 1))} }

func (s testSpan) digestValue() uint64 {
	if s.digest != 0 {
		return uint64(s.digest)
	}
	return uint64(s.id)<<20 + uint64(s.start) + 1
}

// traceOf links the spans of one trace.
func traceOf(t *testing.T, list ...testSpan) *Trace {
	t.Helper()
	var hops HopIndex
	var all []Span
	for _, s := range list {
		if s.trace != list[0].trace {
			t.Fatal("several traces")
		}
		all = append(all, s.span(hops.Number(s.hopValue())))
	}
	return NewTrace(list[0].traceID(), all, hops.Hops(), nil)
}

// span is the span with a hop's number.
func (s testSpan) span(hop int32) Span {
	one := Span{ID: SpanID(s.id), Parent: SpanID(s.parent), Digest: s.digestValue(), Hop: hop, File: int32(s.file), Line: int64(s.line), Outcome: s.outcome, Ties: s.ties}
	if !s.noStart {
		one.Start, one.Flags = int64(s.start), one.Flags|HasStart
	}
	if !s.noEnd {
		one.Duration, one.Flags = int64(s.end-s.start), one.Flags|HasDuration
	}
	if s.retry || s.ties.Has(MarkedRetry) {
		one.Flags |= RetryByMark
	}
	switch s.outcome {
	case Truncated:
		one.CutBy = Own
	case Failed:
		one.Failure = OtherFailure
	}
	return one
}

// shape writes a trace as "id<-parent" in the order of its spans; ! marks
// spans whose parent is missing.
func shape(t *Trace) (s []string) {
	for i := range t.Spans {
		text := fmt.Sprint(uint64(t.Spans[i].ID))
		if p := t.Parents[i]; p >= 0 {
			text += fmt.Sprint("<-", uint64(t.Spans[p].ID))
			if !slices.Contains(t.Children(p), int32(i)) {
				text += " unknown to its parent"
			}
		} else if slices.Contains(t.Missing, int32(i)) {
			text += "!"
		} else if !slices.Contains(t.Roots, int32(i)) {
			text += " nowhere"
		}
		s = append(s, text)
	}
	return s
}
