package spans

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// attempts writes "id" or "id:source" or "id:source of id", in order of spans.
func attempts(t *Trace) string {
	var s []string
	for i := range t.Spans {
		text := fmt.Sprint(uint64(t.Spans[i].ID))
		if r := t.Spans[i].RetrySource(); r != NoRetry {
			text += ":" + r.String()
		}
		if of := t.RetryOf[i]; of >= 0 {
			text += fmt.Sprint(" of ", uint64(t.Spans[of].ID))
		}
		s = append(s, text)
	}
	return strings.Join(s, ", ")
}

func TestMarkRetries(t *testing.T) {
	root := testSpan{id: 1, end: 1000}
	call := func(id, start, end int, o Outcome) testSpan {
		return testSpan{id: id, parent: 1, start: start, end: end, hop: "stock", kind: Client, outcome: o}
	}
	with := func(s testSpan, change func(*testSpan)) testSpan { change(&s); return s }
	marked := func(s *testSpan) { s.retry = true }
	for _, c := range []struct {
		name    string
		options RetryOptions
		spans   []testSpan
		want    string
	}{
		{"three attempts", RetryOptions{}, []testSpan{root, call(2, 0, 100, Truncated), call(3, 100, 200, Failed), call(4, 210, 250, Completed)},
			"1, 2, 3:sibling of 2, 4:sibling of 3"},
		{"after success it is another call", RetryOptions{}, []testSpan{root, call(2, 0, 100, Completed), call(3, 100, 200, Completed)}, "1, 2, 3"},
		{"parallel siblings", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), call(3, 0, 100, Failed), call(4, 99, 150, Completed)}, "1, 2, 3, 4"},
		{"one failed, two later", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), call(3, 110, 150, Completed), call(4, 160, 170, Completed)},
			"1, 2, 3:sibling of 2, 4"},
		{"two parallel calls, both tried again", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), call(3, 0, 120, Failed), call(4, 120, 150, Completed), call(5, 130, 150, Completed)},
			"1, 2, 3, 4:sibling of 3, 5:sibling of 2"},
		{"the latest that ended", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), call(3, 10, 50, Failed), call(4, 60, 70, Failed), call(5, 200, 210, Completed)},
			"1, 2, 3, 4:sibling of 3, 5:sibling of 2"},
		{"other kind", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), with(call(3, 110, 150, Completed), func(s *testSpan) { s.kind = Internal })}, "1, 2, 3"},
		{"other hop", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), with(call(3, 110, 150, Completed), func(s *testSpan) { s.hop = "x" })}, "1, 2, 3"},
		{"other parent", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), with(call(3, 110, 150, Completed), func(s *testSpan) { s.parent = 2 })}, "1, 2, 3"},
		{"roots are no siblings", RetryOptions{}, []testSpan{{id: 1, end: 5, outcome: Failed}, {id: 2, start: 6, end: 7}}, "1, 2"},
		{"a missing parent is a parent", RetryOptions{}, []testSpan{{id: 2, parent: 9, end: 5, outcome: Failed}, {id: 3, parent: 8, start: 6, end: 7}, {id: 4, parent: 9, start: 7, end: 8}}, "2, 3, 4:sibling of 2"},
		{"server spans only by their own mark", RetryOptions{}, []testSpan{root,
			with(call(2, 0, 100, Failed), func(s *testSpan) { s.kind = Server }), with(call(3, 110, 150, Completed), func(s *testSpan) { s.kind = Server }),
			with(call(4, 160, 170, Completed), func(s *testSpan) { s.kind = Server; s.retry = true })}, "1, 2, 3, 4:mark of 2"},
		{"a mark is kept", RetryOptions{}, []testSpan{root, with(call(2, 0, 100, Completed), marked), with(call(3, 10, 20, Completed), func(s *testSpan) { s.ties = MarkedRetry })}, "1, 2:mark, 3:mark"},
		{"a marked one takes its attempt", RetryOptions{}, []testSpan{root, call(2, 0, 100, Failed), with(call(3, 110, 120, Completed), marked), call(4, 130, 140, Completed)}, "1, 2, 3:mark of 2, 4"},
		{"a marked one without failure before", RetryOptions{}, []testSpan{root, call(2, 0, 100, Completed), with(call(3, 110, 120, Failed), marked)}, "1, 2, 3:mark"},
		{"a marked one overlaps a little", RetryOptions{}, []testSpan{root, call(2, 0, 2_000_000, Truncated), with(call(3, 1_000_000, 2_500_000, Completed), marked)}, "1, 2, 3:mark of 2"},
		{"a marked one overlaps more", RetryOptions{}, []testSpan{root, call(2, 0, 2_000_001, Truncated), with(call(3, 1_000_000, 2_500_000, Completed), marked)}, "1, 2, 3:mark"},
		{"of two that it overlaps the last", RetryOptions{}, []testSpan{root, call(2, 0, 100, Truncated), call(3, 0, 99, Failed), call(4, 0, 98, Failed), with(call(5, 99, 150, Failed), marked), call(6, 150, 160, Completed)},
			"1, 2, 3, 4, 5:mark of 2, 6:sibling of 5"},
		{"not one that starts after it", RetryOptions{}, []testSpan{root, with(call(2, 0, 100, Failed), marked), with(call(3, 99, 100, Truncated), marked)}, "1, 2:mark, 3:mark of 2"},
		{"unmarked ones overlap", RetryOptions{}, []testSpan{root, call(2, 0, 100, Truncated), call(3, 99, 150, Completed)}, "1, 2, 3"},
		{"without times", RetryOptions{}, []testSpan{root, with(call(2, 0, 100, Failed), func(s *testSpan) { s.noEnd = true }), call(3, 110, 120, Failed), with(call(4, 130, 140, Completed), func(s *testSpan) { s.noEnd = true })}, "1, 2, 3, 4"},
		{"end before start", RetryOptions{}, []testSpan{root, call(2, 50, 40, Failed), call(3, 60, 70, Completed)}, "1, 2, 3"},
		{"no time at all", RetryOptions{}, []testSpan{root, call(2, 50, 50, Failed), call(3, 50, 50, Failed), call(4, 50, 50, Completed)}, "1, 2, 3:sibling of 2, 4:sibling of 3"},
		{"no marks", RetryOptions{NoMarks: true}, []testSpan{root, with(call(2, 0, 100, Failed), marked), with(call(3, 110, 120, Completed), marked)}, "1, 2, 3:sibling of 2"},
		{"no siblings", RetryOptions{NoSiblings: true}, []testSpan{root, call(2, 0, 100, Failed), call(3, 110, 120, Failed), with(call(4, 130, 140, Completed), marked)}, "1, 2, 3, 4:mark of 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				tr := traceOf(t, c.spans...)
				tr.MarkRetries(c.options)
				if got := attempts(tr); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				slices.Reverse(c.spans)
			}
		})
	}
}

func TestRetryIsEither(t *testing.T) {
	for f, want := range map[Flags]bool{0: false, RetryByMark: true, RetryBySibling | HasStart: true, HasStart: false} {
		if got := (&Span{Flags: f}).Retry(); got != want {
			t.Errorf("flags %b: %v", f, got)
		}
	}
}
