package spans

import (
	"reflect"
	"slices"
	"testing"
)

func TestACloneStaysWhenItsTraceBecomesAnother(t *testing.T) {
	list := []testSpan{{id: 1, end: 100, hop: "a"}, {id: 2, parent: 1, start: 10, end: 20, hop: "c", outcome: Failed}, {id: 3, parent: 1, start: 30, end: 40, hop: "c"}, {id: 4, parent: 9, end: 5, hop: "a"}}
	one := traceOf(t, list...)
	one.Hops = append(slices.Clone(one.Hops), Hop{Name: "of others"})
	one.Caption(7, []byte("seven"))
	one.MarkRetries(RetryOptions{})
	c := one.Clone()
	want := shape(one)
	one.Begin(TraceID{0, 5})
	one.Spans = append(one.Spans, Span{ID: 77})
	one.Link()
	if got := shape(c); !slices.Equal(got, want) || c.ID != (TraceID{0, 1}) || c.NameOf(7) != "seven" || c.RetryOf[3] != 2 && c.RetryOf[2] != 1 {
		t.Errorf("got %v %v %q, want %v", got, c.ID, c.NameOf(7), want)
	}
	if len(c.Hops) != 2 || c.HopOf(0).Name != "a" || len(c.TopDown()) != 4 {
		t.Errorf("hops %v", c.Hops)
	}
}

func TestACloneOfAChainIsWhole(t *testing.T) {
	a := &Chain{Hops: []Hop{{Name: "x"}, {Name: "y"}, {Name: "z"}}, Attempts: []Attempt{{Start: 1, Duration: 5, Hop: 2, Parent: -1, Timed: true}, {Start: 2, Duration: 1, Hop: 0, Parent: 0, Timed: true}}, Named: fixedName("c"), Timed: true}
	b := a.Clone()
	a.Attempts[0].Hop = 1
	if b.Name() != "c" || !reflect.DeepEqual(b.Hops, []Hop{{Name: "z"}, {Name: "x"}}) || b.Attempts[0].Hop != 0 || b.Attempts[1].Hop != 1 || !b.Timed {
		t.Errorf("got %+v", b)
	}
}
