package callgraph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// testSpan is a span, times in µs. A hop that begins with "call " is a client's,
// another one a server's unless it says otherwise.
type testSpan struct {
	id, parent int
	start, end int
	hop        string
	kind       spans.Kind
	outcome    spans.Outcome
	ties       spans.Ties
	untimed    bool
}

func (s testSpan) hopValue() spans.Hop {
	kind := s.kind
	if kind == spans.NoKind {
		kind = spans.Server
		if strings.HasPrefix(s.hop, "call ") {
			kind = spans.Client
		}
	}
	return spans.Hop{Name: s.hop, Kind: kind}
}

// traceOf links the spans of trace n and marks retries.
func traceOf(n int, list ...testSpan) *spans.Trace {
	var hops []spans.Hop
	var values []spans.Span
	for _, s := range list {
		at := slices.Index(hops, s.hopValue())
		if at < 0 {
			at = len(hops)
			hops = append(hops, s.hopValue())
		}
		one := spans.Span{
			ID: spans.SpanID(s.id), Parent: spans.SpanID(s.parent), Hop: int32(at), Outcome: s.outcome, Ties: s.ties,
			Start: int64(s.start) * 1e3, Duration: int64(s.end-s.start) * 1e3, Flags: spans.HasStart | spans.HasDuration,
		}
		if s.untimed {
			one.Start, one.Duration, one.Flags = 0, 0, 0
		}
		values = append(values, one)
	}
	t := spans.NewTrace(spans.TraceID{Lo: uint64(n)}, values, hops, []string{""})
	t.MarkRetries(spans.RetryOptions{})
	return t
}

// testLine is an attempt of a chain, times in µs; in is the place of the one in
// which it ran, one more than the index.
type testLine struct {
	hop        string
	start, end int
	in         int
	outcome    spans.Outcome
	untimed    bool
}

var logHops []spans.Hop

// chainOf makes a chain of a hop log; its hops come from one list that grows.
func chainOf(list ...testLine) *spans.Chain {
	chain := &spans.Chain{Timed: true}
	for _, l := range list {
		h := spans.Hop{Name: l.hop}
		at := slices.Index(logHops, h)
		if at < 0 {
			at = len(logHops)
			logHops = append(logHops, h)
		}
		chain.Timed = chain.Timed && !l.untimed
		chain.Attempts = append(chain.Attempts, spans.Attempt{
			Hop: int32(at), Parent: int32(l.in - 1), Start: int64(l.start) * 1e3, Duration: int64(l.end-l.start) * 1e3, Outcome: l.outcome, Timed: !l.untimed,
		})
	}
	chain.Hops = logHops
	return chain
}

// describe writes a graph in one line a node: who, how often requests begin there,
// what it calls in which groups, and its own times in µs.
func describe(g *Graph) string {
	var lines []string
	for i := range g.Nodes {
		n := &g.Nodes[i]
		var groups []string
		for _, group := range n.Groups {
			var calls strings.Builder
			for at, k := range group {
				c := &n.Calls[k]
				switch {
				case at > 0 && c.Instead(group[0]):
					calls.WriteString(" or ")
				case at > 0:
					calls.WriteString(" | ")
				}
				fmt.Fprintf(&calls, "%s %d×%d", c.Name, c.Callers, c.InRow(quantile.MustP("1")))
			}
			groups = append(groups, calls.String())
		}
		lines = append(lines, fmt.Sprintf("%s (%d) -> %s; own %s", orRequest(n.Name), n.Entries, strings.Join(groups, ", "), micros(n.Own)))
	}
	return strings.Join(lines, "\n")
}

func orRequest(name string) string {
	if name == "" {
		return "request"
	}
	return name
}

func micros(s *quantile.Sample) string {
	var list []string
	for ns, n := range (quantile.Union{s}).All() {
		for range n {
			list = append(list, fmt.Sprint(ns/1e3))
		}
	}
	return strings.Join(list, " ")
}
