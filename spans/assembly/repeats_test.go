package assembly

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// A large trace with repeats keeps of each span the first by its place, whatever order
// they came in, and makes room for what it keeps only.
func TestRepeatsOfALargeTraceAreLeftOutAsTheyCome(t *testing.T) {
	t.Parallel()
	n := 3 * atOnce
	if raceEnabled() {
		n = atOnce + atOnce/2 // the checked allocator is slow then
	}
	for _, distinct := range []int{1, 40, 3000, 2 * atOnce} {
		r := rand.New(rand.NewPCG(7, uint64(distinct)))
		first := map[spans.SpanID]int64{}
		var list []testSpan
		for _, line := range r.Perm(n) {
			id := 1 + r.IntN(distinct)
			list = append(list, testSpan{id: id, parent: id / 2, start: id, end: 2 * id, line: line + 1, textual: fmt.Sprint("s-", id)})
			if at, known := first[list[len(list)-1].spanID()]; !known || int64(line+1) < at {
				first[list[len(list)-1].spanID()] = int64(line + 1)
			}
		}
		a := newTestAssembler(t, TraceConfig{Workers: 2})
		addAll(t, a, list)
		err := a.Each(context.Background(), 1, func(_ int, tr *spans.Trace) error {
			if len(tr.Spans) != len(first) || tr.Duplicates != n-len(first) {
				t.Errorf("%d distinct: %d spans, %d duplicates of %d", len(first), len(tr.Spans), tr.Duplicates, n)
			}
			for _, s := range tr.Spans {
				if s.Line != first[s.ID] {
					t.Fatalf("%d distinct: span %x of line %d, want %d", len(first), s.ID, s.Line, first[s.ID])
				}
			}
			if most := max(2*atOnce, 3*len(first)); cap(tr.Spans) > most {
				t.Errorf("%d distinct: room for %d spans, want at most %d", len(first), cap(tr.Spans), most)
			}
			return nil
		})
		if got := a.Counts(); err != nil || got.Duplicates != int64(n-len(first)) {
			t.Errorf("%d distinct: %+v, %v", len(first), got, err)
		}
	}
}
