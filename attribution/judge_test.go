package attribution

import (
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestOutcomeAndBlame(t *testing.T) {
	root := testSpan{id: 1, end: 1000, hop: "root"}
	with := func(s testSpan, o spans.Outcome) testSpan { s.outcome = o; return s }
	a := testSpan{id: 2, parent: 1, start: 0, end: 300, hop: "a"}
	again := testSpan{id: 3, parent: 1, start: 320, end: 620, hop: "a"}
	b := testSpan{id: 4, parent: 2, start: 10, end: 290, hop: "b"}
	c := testSpan{id: 5, parent: 3, start: 330, end: 600, hop: "c"}
	for _, one := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		{"all well", []testSpan{root, a, b}, "1 success"},
		{"the root was cut", []testSpan{with(root, cut), a}, "1 cut, fails by root 1, cut root 1"},
		{"the root was cut over a cut call", []testSpan{with(root, cut), with(a, cut), with(b, cut)}, "1 cut, fails by b 1, cut b 1"},
		{"the root failed over a cut call", []testSpan{with(root, failed), with(a, cut)}, "1 failed, fails by a 1, cut a 1"},
		{"a retry rescued the call", []testSpan{root, with(a, cut), with(b, cut), again}, "1 success, cut b 1"},
		{"the last attempt was cut", []testSpan{root, with(a, cut), with(b, cut), with(again, cut)}, "1 partial, fails by a 1, cut b 1"},
		{"the last attempt failed below", []testSpan{root, with(a, cut), with(again, failed), with(c, failed)}, "1 partial, fails by c 1, cut a 1"},
		{"a failure below a call that answered", []testSpan{root, a, with(b, failed)}, "1 success"},
		{"nobody waited for what failed", []testSpan{root, {id: 2, parent: 1, end: 300, hop: "a", outcome: failed, ties: spans.Async}}, "1 success"},
		{"what a message led to did not make it fail", []testSpan{
			with(root, failed), with(a, failed), {id: 7, parent: 1, end: 2, hop: "send", kind: spans.Producer},
			{id: 8, parent: 7, start: 5000, end: 5010, hop: "take", kind: spans.Consumer}, {id: 9, parent: 8, start: 5001, end: 5006, hop: "smtp", outcome: failed},
		}, "1 failed, fails by a 1"},
		{"what was rescued did not make it fail", []testSpan{
			with(root, failed), a, with(b, failed), {id: 7, parent: 4, start: 20, end: 30, hop: "c", outcome: failed}, {id: 8, parent: 2, start: 291, end: 299, hop: "b"},
			{id: 9, parent: 1, start: 400, end: 900, hop: "d", outcome: failed},
		}, "1 failed, fails by d 1"},
		{"what was rescued too late did", []testSpan{
			root, with(a, cut), {id: 4, parent: 2, start: 10, end: 150, hop: "b", outcome: cut}, {id: 8, parent: 2, start: 160, end: 301, hop: "b"},
		}, "1 partial, fails by b 1, cut b 1"},
		{"what was rescued just in time", []testSpan{
			root, with(a, cut), {id: 4, parent: 2, start: 10, end: 150, hop: "b", outcome: cut}, {id: 8, parent: 2, start: 160, end: 300, hop: "b"},
		}, "1 partial, fails by a 1, cut b 1"},
		{"what was tried in vain did", []testSpan{
			with(root, failed), with(a, failed), with(b, failed), {id: 7, parent: 4, start: 20, end: 30, hop: "c", outcome: failed}, {id: 8, parent: 2, start: 291, end: 299, hop: "b", outcome: failed},
		}, "1 failed, fails by c 1"},
		{"the loser of a hedge", []testSpan{
			root, {id: 2, parent: 1, end: 300, hop: "a", outcome: cut, by: spans.Caller}, {id: 3, parent: 1, start: 100, end: 299, hop: "a"},
		}, "1 success, cut a 1"},
		{"cancelled before the other answered", []testSpan{
			root, {id: 2, parent: 1, end: 300, hop: "a", outcome: cut, by: spans.Caller}, {id: 3, parent: 1, start: 100, end: 301, hop: "a"},
		}, "1 partial, fails by a 1, cut a 1"},
		{"timed out beside one that answered", []testSpan{
			root, {id: 2, parent: 1, end: 300, hop: "a", outcome: cut}, {id: 3, parent: 1, start: 100, end: 299, hop: "a"},
		}, "1 partial, fails by a 1, cut a 1"},
		{"a marked retry that overlaps a little", []testSpan{
			root, {id: 2, parent: 1, end: 300, hop: "a", outcome: cut}, {id: 3, parent: 1, start: 299, end: 400, hop: "a", retry: true},
		}, "1 success, cut a 1"},
		{"a marked retry without length retries not itself", []testSpan{root, {id: 3, parent: 1, start: 300, end: 300, hop: "a", outcome: failed, retry: true}},
			"1 partial, fails by a 1"},
		{"a call of a consumer failed", []testSpan{{id: 1, end: 1000, hop: "take", kind: spans.Consumer}, {id: 2, parent: 1, end: 300, hop: "a", kind: spans.Client, outcome: failed}},
			"1 partial, fails by a 1"},
		{"a message could not be sent", []testSpan{root, {id: 2, parent: 1, end: 300, hop: "send", kind: spans.Producer, outcome: failed}}, "1 partial, fails by send 1"},
		{"a message was taken in vain", []testSpan{root, {id: 2, parent: 1, end: 300, hop: "send", kind: spans.Producer}, {id: 3, parent: 2, end: 300, hop: "take", kind: spans.Consumer, outcome: failed}},
			"1 success"},
		{"a root without an end: only cuts count", []testSpan{{id: 1, noEnd: true, hop: "root"}, with(a, cut)}, "cut a 1"},
		{"a root that is missing: only cuts count", []testSpan{{id: 2, parent: 9, end: 300, hop: "a", outcome: cut}}, "cut a 1"},
		{"of equally deep ones the last to end", []testSpan{with(root, cut), with(a, cut), with(again, cut)}, "1 cut, fails by a 1, cut a 1"},
		{"a marked retry of what did not give up in time", []testSpan{
			root, with(a, cut), {id: 3, parent: 1, start: 320, end: 400, hop: "a", retry: true}, {id: 6, parent: 1, start: 420, end: 500, hop: "a", retry: true},
		}, "1 success, cut a 1"},
	} {
		if got := fate(accumulatorOf(one.spans...)); got != one.want {
			t.Errorf("%s: %s, want %s", one.name, got, one.want)
		}
	}
}

func TestTracesWithoutARootAreSaid(t *testing.T) {
	w := accumulatorOf(testSpan{id: 2, parent: 9, end: 300, hop: "a"})
	if got := codes(w.Result(usual).Warnings); len(got) != 1 || got[0] != "traces_without_root" {
		t.Errorf("warnings %v", got)
	}
	if r := w.Result(usual); r.Basis != "" || r.EndToEnd.N != 0 || r.Owner != nil {
		t.Errorf("%+v", r)
	}
}

func TestWhereFailuresSit(t *testing.T) {
	for _, c := range []struct {
		n, most uint64
		want    Place
	}{
		// 20 of 20: the lower limit is .05^(1/20) = .861. 18 of 20: .717. 68 of 72:
		// .875. 60 of 72: .744.
		{0, 0, TooFew}, {19, 19, TooFew}, {20, 20, OneHop}, {20, 18, Spread}, {72, 68, OneHop}, {72, 60, Spread},
	} {
		list := []HopCount{{"a", c.most}, {"b", c.n - c.most}}
		if got := placeOf(c.n, list, usual.Confidence); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.most, c.n, got, c.want)
		}
	}
}

// A caller that polls for hours tries again as often as it likes: looking for the last
// attempt from each of them anew would take the square of their number.
func TestManyAttemptsOfOneCallAreJudgedOneByOne(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 20_000
	}
	list := []testSpan{{id: 1, end: 10 * n, hop: "loop", outcome: failed}}
	for i := range n {
		list = append(list, testSpan{id: i + 2, parent: 1, start: 10 * i, end: 10*i + 5, hop: "poll", outcome: cut})
	}
	if got, want := fate(accumulatorOf(list...)), "1 failed, fails by poll 1, cut poll 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Each attempt leads to the last one, whichever was asked for first.
func TestLastAttemptIsTheSameOnEveryWay(t *testing.T) {
	r := rescues{by: []int32{2, 3, 4, -1, 5, -1}}
	for _, i := range []int32{2, 0, 4, 1, 0, 3} {
		if got, want := r.last(i), []int32{5, 3, 5, 3, 5, 5}[i]; got != want {
			t.Errorf("from %d: %d, want %d", i, got, want)
		}
	}
	if r.by[3] >= 0 || r.by[5] >= 0 || r.by[0] < 0 {
		t.Errorf("%v", r.by)
	}
}
