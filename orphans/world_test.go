package orphans

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

const (
	ms     = int64(1e6)
	cut    = spans.Truncated
	failed = spans.Failed
	client = spans.Client
	server = spans.Server
)

// testSpan is a span in small numbers, times in ms: id 1 0-100 <- parent.
type testSpan struct {
	id, parent     int
	start, end     int
	hop            string // "service/operation", "" is "h"
	kind           spans.Kind
	line           bool // of a hop log: no kind at all; else NoKind is Internal
	outcome        spans.Outcome
	by             spans.CutBy // of one that was cut: NotCut is Own
	ties           spans.Ties
	retry          bool
	noStart, noEnd bool
	dropped        bool // never happened
	host           string
	ns             int64 // added to the end
}

func (s testSpan) hopValue() spans.Hop {
	h := spans.Hop{Name: s.hop, Kind: s.kind}
	if s.hop == "" {
		h.Name = "h"
	}
	if s.kind == spans.NoKind && !s.line {
		h.Kind = spans.Internal
	}
	h.Service, h.Operation, _ = strings.Cut(h.Name, "/")
	return h
}

func (s testSpan) cutBy() spans.CutBy {
	if s.outcome == cut && s.by == spans.NotCut {
		return spans.Own
	}
	return s.by
}

func (s testSpan) value() spans.Span {
	one := spans.Span{
		ID: spans.SpanID(s.id), Parent: spans.SpanID(s.parent), Digest: uint64(s.id)<<32 + uint64(s.start) + 1,
		Outcome: s.outcome, CutBy: s.cutBy(), Ties: s.ties, Line: int64(s.id), Offset: int64(100 * s.id),
	}
	if !s.noStart {
		one.Start, one.Flags = int64(s.start)*ms, spans.HasStart
	}
	if !s.noEnd {
		one.Duration = int64(s.end-s.start)*ms + s.ns
		one.Flags |= spans.HasDuration
	}
	if s.retry {
		one.Flags |= spans.RetryByMark
	}
	return one
}

// place returns where a name stands in a table, and puts it there.
func place[T comparable](table *[]T, v T) int32 {
	i := slices.Index(*table, v)
	if i < 0 {
		i = len(*table)
		*table = append(*table, v)
	}
	return int32(i)
}

// traceOf links the spans of trace n and marks retries.
func traceOf(n int, list ...testSpan) *spans.Trace {
	var hops []spans.Hop
	var hosts []string
	var values []spans.Span
	for _, s := range list {
		one := s.value()
		one.Hop, one.Host = place(&hops, s.hopValue()), place(&hosts, s.host)
		values = append(values, one)
	}
	t := spans.NewTrace(spans.TraceID{Lo: uint64(n)}, values, hops, hosts)
	t.MarkRetries(spans.RetryOptions{})
	return t
}

// watchOf looks at the spans of one trace.
func watchOf(c Config, list ...testSpan) *Accumulator {
	w := NewAccumulator(c)
	w.AddTrace(traceOf(1, list...))
	return w
}

// usual is what the program does unless told otherwise.
var usual = Config{Tolerance: ms, Limit: 1000}

var median = []quantile.P{quantile.MustP("0.5")}

// resultOf returns what one trace tells.
func resultOf(list ...testSpan) Result {
	return watchOf(usual, list...).Result(Query{Quantiles: median})
}

// told writes the counts that are not 0, times in ms.
func told(c Counts) string {
	var s []string
	note := func(what string, n uint64) {
		if n > 0 {
			s = append(s, fmt.Sprint(what, " ", n))
		}
	}
	note("missing", c.MissingParents)
	note("unfinished", c.Unfinished)
	note("async", c.OutlivedAsync)
	note("completed", c.OutlivedCompleted)
	note("failed", c.OutlivedFailed)
	note("tolerated", c.WithinTolerance)
	note("after root", c.StartedAfterRootEnd)
	note("overruns", c.Overruns)
	note("late", c.LateStarts)
	if c.Orphaned > 0 {
		s = append(s, fmt.Sprintf("wasted %s of %s", inMS(c.WastedUnion), inMS(c.Wasted)))
	}
	return strings.Join(s, ", ")
}

func inMS(ns int64) string { return fmt.Sprint(float64(ns) / 1e6) }

// shares writes the union by hop.
func shares(r Result) string {
	var s []string
	for _, h := range r.WastedBy {
		s = append(s, h.Hop.Name+" "+inMS(h.NS))
	}
	return strings.Join(s, ", ")
}

// pairOf returns the pair of two hops by name.
func pairOf(t *testing.T, r Result, parent, child string) Pair {
	t.Helper()
	for _, p := range r.Pairs {
		if p.Parent.Name == parent && p.Child.Name == child {
			return p
		}
	}
	t.Fatalf("no pair %s -> %s in %v", parent, child, r.Pairs)
	return Pair{}
}
