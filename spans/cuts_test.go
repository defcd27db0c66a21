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

// root failed over a call that was cut from 10 to 110 and was tried again.
func TestACallThatItsRetryCompletedPassesNoCutUp(t *testing.T) {
	root := testSpan{id: 1, end: 300, outcome: Failed, kind: Server}
	first := testSpan{id: 2, parent: 1, start: 10, end: 110, outcome: Truncated, kind: Client}
	again := func(id, start, end int, outcome Outcome) testSpan {
		return testSpan{id: id, parent: 1, start: start, end: end, outcome: outcome, kind: Client}
	}
	marked := func(s testSpan) testSpan { s.retry = true; return s }
	other := testSpan{id: 9, parent: 1, start: 152, end: 153, hop: "other", outcome: Failed, kind: Client}
	for _, c := range []struct {
		name  string
		spans []testSpan
		below bool
	}{
		{"not tried again", []testSpan{root, first, other}, true},
		{"its retry completed", []testSpan{root, first, again(3, 120, 150, Completed), other}, false},
		{"its second retry did", []testSpan{root, first, again(3, 120, 130, Truncated), again(4, 140, 150, Completed)}, false},
		{"its retry failed", []testSpan{root, first, again(3, 120, 150, Failed)}, true},
		{"its retry was cut", []testSpan{root, first, again(3, 120, 150, Truncated)}, true},
		{"its retry came too late", []testSpan{root, first, again(3, 120, 2_000_000, Completed)}, true},
		{"a call beside it completed", []testSpan{root, first, again(3, 50, 150, Completed)}, true},
		{"one of two was not tried again", []testSpan{root, first, again(3, 11, 112, Truncated), again(4, 120, 150, Completed)}, true},
		{"a marked retry", []testSpan{root, first, marked(again(3, 120, 150, Completed))}, false},
	} {
		tr := traceOf(t, c.spans...)
		tr.MarkRetries(RetryOptions{})
		tr.PassUpCuts()
		if got := tr.Spans[0].CutBy == Below; got != c.below || got != (tr.Spans[0].Outcome == Truncated) {
			t.Errorf("%s: %v %v", c.name, tr.Spans[0].Outcome, tr.Spans[0].CutBy)
		}
	}
}

// In a log whose nesting was inferred the marks alone say what is a retry.
func TestAMarkedRetryRescuesWhatItMayRetry(t *testing.T) {
	tr := traceOf(t,
		testSpan{id: 1, end: 300, outcome: Failed}, testSpan{id: 2, parent: 1, start: 10, end: 110, hop: "a", outcome: Truncated},
		testSpan{id: 3, parent: 1, start: 120, end: 130, hop: "a", outcome: Truncated, retry: true}, testSpan{id: 4, parent: 1, start: 140, end: 150, hop: "a", retry: true})
	tr.RetryOf = []int32{-1, -1, -1, -1}
	if tr.PassUpCuts(); tr.Spans[0].Outcome != Failed {
		t.Errorf("%v %v", tr.Spans[0].Outcome, tr.Spans[0].CutBy)
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
