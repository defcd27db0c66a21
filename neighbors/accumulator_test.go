package neighbors

import (
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func trace(list ...spans.Span) *spans.Trace {
	for i := range list {
		list[i].ID, list[i].Digest = spans.SpanID(i+1), uint64(i+1)
	}
	return spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{entry, stock, stocked}, nil)
}

func TestPairsAreCountedByWhoLiesRightAboveWhom(t *testing.T) {
	one := trace(spans.Span{Hop: 0}, spans.Span{Hop: 1, Parent: 1}, spans.Span{Hop: 2, Parent: 2}, spans.Span{Hop: 1, Parent: 1, Ties: spans.Async})
	want := []Pair{{entry, stock, 4, 2}, {stock, stocked, 2, 2}}
	var a, b Accumulator
	a.AddTrace(one)
	b.AddTrace(trace(spans.Span{Hop: 0}, spans.Span{Hop: 1, Parent: 1}, spans.Span{Hop: 2, Parent: 2}, spans.Span{Hop: 1, Parent: 1, Ties: spans.Async}))
	a.Merge(&b)
	if got := a.Pairs(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPairsOfAChainAreThoseOfItsPlaces(t *testing.T) {
	var a Accumulator
	x, y := spans.Hop{Name: "x"}, spans.Hop{Name: "y"}
	a.AddChain(&spans.Chain{Hops: []spans.Hop{x, y}, Attempts: []spans.Attempt{{Hop: 0, Parent: -1}, {Hop: 1, Parent: 0}, {Hop: 1, Parent: -1}}})
	if got, want := a.Pairs(), []Pair{{x, y, 1, 1}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
