package spans

import (
	"fmt"
	"strings"
	"testing"
)

func TestPassUpCuts(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		{"up to the root", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1, outcome: Failed}, {id: 3, parent: 2, outcome: Truncated}},
			"1 truncated below, 2 truncated below, 3 truncated own"},
		{"through one that completed", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1}, {id: 3, parent: 2, outcome: Truncated}},
			"1 truncated below, 2 completed, 3 truncated own"},
		{"through one that is unfinished", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1, outcome: Unfinished}, {id: 3, parent: 2, outcome: Truncated}},
			"1 truncated below, 2 unfinished, 3 truncated own"},
		{"not to a sibling", []testSpan{{id: 1}, {id: 2, parent: 1, outcome: Failed}, {id: 3, parent: 1, outcome: Truncated}},
			"1 completed, 2 failed, 3 truncated own"},
		{"not down", []testSpan{{id: 1, outcome: Truncated}, {id: 2, parent: 1, outcome: Failed}}, "1 truncated own, 2 failed"},
		{"not across async", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1, outcome: Truncated, ties: Async}, {id: 3, parent: 1, outcome: Failed}, {id: 4, parent: 3, outcome: Truncated, kind: Consumer}},
			"1 failed, 2 truncated own, 3 failed, 4 truncated own"},
		{"beside async", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1, outcome: Failed, ties: Async}, {id: 3, parent: 2, outcome: Truncated}},
			"1 failed, 2 truncated below, 3 truncated own"},
		{"not across a missing parent", []testSpan{{id: 1, outcome: Failed}, {id: 3, parent: 2, outcome: Truncated}}, "1 failed, 3 truncated own"},
		{"to one whose parent is missing", []testSpan{{id: 3, parent: 2, outcome: Failed}, {id: 4, parent: 3, outcome: Truncated}}, "3 truncated below, 4 truncated own"},
		{"nothing cut", []testSpan{{id: 1, outcome: Failed}, {id: 2, parent: 1, outcome: Failed}}, "1 failed, 2 failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := traceOf(t, c.spans...)
			tr.PassUpCuts()
			var got []string
			for i := range tr.Spans {
				s := &tr.Spans[i]
				got = append(got, strings.TrimSpace(fmt.Sprint(uint64(s.ID), " ", s.Outcome, " ", s.CutBy)))
				if (s.Outcome == Failed) != (s.Failure != NotFailed) {
					t.Errorf("span %d: outcome %v with failure %v", s.ID, s.Outcome, s.Failure)
				}
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}
func TestWhoIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name          string
		parent, child Kind
		ties          Ties
		waits, holds  bool
	}{
		{"a call", Server, Client, 0, true, true},
		{"FOLLOWS_FROM", Server, Client, Async, false, false},
		{"a message that is sent", Server, Producer, 0, false, true},
		{"a message that is taken", Producer, Consumer, Async, false, false},
		{"a consumer of any parent", Internal, Consumer, 0, false, false},
		{"a call of a consumer", Consumer, Client, 0, false, true},
		{"work of a producer", Producer, Internal, 0, false, true},
	} {
		tr := NewTrace(TraceID{Lo: 1}, []Span{{ID: 1}, {ID: 2, Parent: 1, Hop: 1, Ties: c.ties}}, []Hop{{Name: "p", Kind: c.parent}, {Name: "c", Kind: c.child}}, nil)
		if w, h := tr.Waits(1), tr.HoldsUp(1); w != c.waits || h != c.holds {
			t.Errorf("%s: waits %v, holds up %v", c.name, w, h)
		}
	}
}
