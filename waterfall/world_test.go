package waterfall

import (
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
)

const ms = int64(1e6)

// testSpan is a span in small numbers, times in ms: id 1 0-100 <- parent.
type testSpan struct {
	id, parent int
	start, end int
	hop        string // "service/operation"
	kind       spans.Kind
	outcome    spans.Outcome
	by         spans.CutBy
	ties       spans.Ties
	retry      bool
	noEnd      bool
}

func (s testSpan) span(hops *spans.HopIndex) spans.Span {
	service, operation, _ := strings.Cut(s.hop, "/")
	h := spans.Hop{Name: service + " " + operation, Service: service, Operation: operation, Kind: s.kind}
	one := spans.Span{
		ID: spans.SpanID(s.id), Parent: spans.SpanID(s.parent), Digest: uint64(s.id), Hop: hops.Number(h), Start: int64(s.start) * ms,
		Outcome: s.outcome, CutBy: s.by, Ties: s.ties, Flags: spans.HasStart,
	}
	if !s.noEnd {
		one.Duration, one.Flags = int64(s.end-s.start)*ms, one.Flags|spans.HasDuration
	}
	if s.retry {
		one.Flags |= spans.RetryByMark
	}
	if s.outcome == spans.Failed {
		one.Failure = spans.Refused
	}
	return one
}

func traceOf(id uint64, list ...testSpan) *spans.Trace {
	var hops spans.HopIndex
	var all []spans.Span
	for _, s := range list {
		all = append(all, s.span(&hops))
	}
	t := spans.NewTrace(spans.TraceID{Lo: id}, all, hops.Hops(), nil)
	t.MarkRetries(spans.RetryOptions{})
	t.PassUpCuts()
	return t
}

// seen is a picker that has seen some traces, and what judges their orphans.
type seen struct {
	*Picker
	owner   *attribution.Accumulator
	orphans *orphans.Accumulator
}

func newSeen(c Config, traces ...*spans.Trace) *seen {
	s := &seen{NewPicker(c), attribution.NewAccumulator(), orphans.NewAccumulator(orphans.Config{Tolerance: ms})}
	for _, t := range traces {
		s.orphans.AddTrace(t)
		s.owner.AddTrace(t)
		s.AddTrace(t, s.owner.Last())
	}
	return s
}

func (s *seen) merge(o *seen) {
	s.Merge(o.Picker)
	s.owner.Merge(o.owner)
	s.orphans.Merge(o.orphans)
}

func (s *seen) result() (*Result, error) {
	return s.Result(Query{Orphans: func(t *spans.Trace) []orphans.Found { return s.orphans.In(t, orphans.Query{}) }})
}

const (
	client = spans.Client
	server = spans.Server
	cut    = spans.Truncated
)

// shop is a request whose second call waits for its callee, times out, and is worked on
// for nobody; one that failed comes before, and a retry after it.
func shop() *spans.Trace {
	return traceOf(0xabc,
		testSpan{id: 1, end: 200, hop: "web/GET", kind: server},
		testSpan{id: 2, parent: 1, start: 10, end: 30, hop: "web/call price", kind: client, outcome: spans.Failed},
		testSpan{id: 3, parent: 1, start: 40, end: 140, hop: "web/call stock", kind: client, outcome: cut, by: spans.Own},
		testSpan{id: 4, parent: 3, start: 100, end: 190, hop: "stock/load", kind: server},
		testSpan{id: 5, parent: 4, start: 150, end: 170, hop: "stock/query", kind: client},
		testSpan{id: 6, parent: 1, start: 150, end: 180, hop: "web/call stock", kind: client},
		testSpan{id: 7, parent: 6, start: 155, end: 175, hop: "stock/load", kind: server},
		testSpan{id: 8, parent: 1, start: 20, end: 60, hop: "audit/write", kind: spans.Consumer, ties: spans.Async},
	)
}
