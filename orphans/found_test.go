package orphans

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// TestTheOrphansOfEachTraceAreThoseOfAll plays a world: what single traces are told to
// hold adds up to the counts, and is what the list of the worst cases has.
func TestTheOrphansOfEachTraceAreThoseOfAll(t *testing.T) {
	w := &world{random: rand.New(rand.NewPCG(3, 4)), skew: []int{0, 40, 0, -7}, stops: 1}
	all := NewAccumulator(Config{Tolerance: ms, Limit: 1 << 20})
	var traces []*spans.Trace
	for i := range 400 {
		tr := traceOf(i+1, w.play()...)
		traces = append(traces, tr)
		all.AddTrace(tr)
	}
	r := all.Result(Query{Quantiles: median})
	var n, late, doubtful uint64
	var wasted int64
	var got, want []Case
	for _, tr := range traces {
		for _, o := range all.In(tr, Query{Quantiles: median}) {
			got = append(got, Case{Trace: tr.Name(), Kind: o.Kind, Parent: endOf(tr, o.Parent), Child: endOf(tr, o.Child), Overrun: o.Overrun, Wasted: o.Wasted, Sure: o.Sure, Evidence: o.Evidence})
			if o.Sure == Doubtful {
				doubtful++
				continue
			}
			n, late, wasted = n+1, late+map[Kind]uint64{LateStart: 1}[o.Kind], wasted+o.Wasted
		}
	}
	if n != r.Orphaned || late != r.LateStarts || doubtful != r.Doubtful || wasted != r.Wasted || n == 0 || doubtful == 0 {
		t.Errorf("%d orphans, %d late, %d doubtful, %d ns; want %d, %d, %d, %d", n, late, doubtful, wasted, r.Orphaned, r.LateStarts, r.Doubtful, r.Wasted)
	}
	for _, c := range r.Items {
		c.firm, c.Position, c.File = "", Position{}, 0
		want = append(want, c)
	}
	order := func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Child.Span, b.Child.Span))
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%d cases in traces, %d in the list", len(got), len(want))
	}
}
