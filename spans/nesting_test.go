package spans

import (
	"slices"
	"testing"
)

func TestATraceIsGivenItsParents(t *testing.T) {
	list := []Span{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}
	tr := NewTrace(TraceID{Lo: 1}, list, []Hop{{Name: "a"}}, []string{""})
	tr.TopDown()
	tr.SetParents([]int32{2, 0, -1, 2})
	if !slices.Equal(tr.Parents, []int32{2, 0, -1, 2}) || !slices.Equal(tr.Roots, []int32{2}) || len(tr.Missing) != 0 {
		t.Errorf("parents %v, roots %v, missing %v", tr.Parents, tr.Roots, tr.Missing)
	}
	if got := tr.Children(2); !slices.Equal(got, []int32{0, 3}) {
		t.Errorf("children %v", got)
	}
	if order := tr.TopDown(); len(order) != 4 || order[0] != 2 || slices.Index(order, 1) < slices.Index(order, 0) {
		t.Errorf("top down %v", order)
	}
}

func TestOnlyLinesOfALogAreOfALog(t *testing.T) {
	line, span := Span{ID: 1, Ties: LogLine | Async}, Span{ID: 2}
	for _, c := range []struct {
		name  string
		spans []Span
		want  bool
	}{{"lines", []Span{line, line}, true}, {"a span among them", []Span{line, span}, false}, {"a span", []Span{span}, false}} {
		if got := NewTrace(TraceID{Lo: 1}, c.spans, []Hop{{Name: "a"}}, nil).OfLog(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheResolutionDividesAllTimes(t *testing.T) {
	for _, c := range []struct {
		times []int64
		want  Resolution
	}{
		{nil, 0}, {[]int64{0}, 1e9}, {[]int64{5e9, -3e9}, 1e9}, {[]int64{1e9, 1_500_000_000}, 1e8}, {[]int64{2_000_000, 4_003_000}, 1000},
		{[]int64{4_003_000, 2_000_000, 5_000}, 1000}, {[]int64{1, 1e9}, 1}, {[]int64{1000, 1010}, 10}, {[]int64{1 << 62}, 1},
	} {
		var r, one, other Resolved
		for i, ns := range c.times {
			r.Starts.See(ns)
			if i%2 == 0 {
				one.Starts.See(ns)
			} else {
				other.Starts.See(ns)
			}
		}
		if one.Merge(other); r.Starts != c.want || one.Starts != c.want || one.Durations != 0 {
			t.Errorf("%v: %d, in two parts %d, want %d", c.times, r.Starts, one.Starts, c.want)
		}
	}
}
