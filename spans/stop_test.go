package spans

import (
	"math/rand/v2"
	"testing"
)

// A trace of very many spans is left off at whatever moment that is asked for: after
// the answer yes nobody compares, links or asks on for long.
func TestLinkLeavesOffWhenItIsTold(t *testing.T) {
	t.Parallel()
	const n = 1 << 17
	asked := linkAsking(n, 1<<30)
	if least := n / askEvery; asked < least {
		t.Fatalf("asked %d times in a trace of %d spans, less than %d", asked, n, least)
	}
	for _, yes := range []int{1, 2, 3, asked / 2, asked - 1, asked} {
		const after = 4 // each sort and each step asks once more
		if total := linkAsking(n, yes); total > yes+after {
			t.Errorf("told at question %d of %d, and asked %d times in all", yes, asked, total)
		}
	}
}

// linkAsking links a trace of n spans in random order and returns how often it asked
// whether to leave off; the answer is yes from one question on.
func linkAsking(n, yes int) (asked int) {
	random := rand.New(rand.NewPCG(1, 2))
	t := &Trace{Hops: []Hop{{Name: "a"}}, Stop: func() bool { asked++; return asked >= yes }}
	for i := range n {
		t.Spans = append(t.Spans, Span{ID: SpanID(random.Uint64()), Parent: SpanID(i % 7), Start: random.Int64()})
	}
	t.Link()
	return asked
}

// What is not stopped is sorted as what cannot be.
func TestAStopThatIsNeverToldChangesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	list := make([]int32, 100_000)
	for i := range list {
		list[i] = random.Int32N(5000)
	}
	other := append([]int32(nil), list...)
	compare := func(a, b *int32) int { return int(*a) - int(*b) }
	sortUnless(nil, list, compare)
	sortUnless(func() bool { return false }, other, compare)
	for i := range list {
		if list[i] != other[i] {
			t.Fatalf("at %d: %d and %d", i, list[i], other[i])
		}
	}
}
