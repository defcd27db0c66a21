package waterfall

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// request of one span.
func single(id uint64, took int, outcome spans.Outcome) *spans.Trace {
	s := testSpan{id: 1, end: took, hop: "web/GET", kind: server, outcome: outcome}
	if outcome == cut {
		s.by = spans.Own
	}
	return traceOf(id, s)
}

func TestTheWorstIsTheSlowestUnlessATimeoutMayHideASlower(t *testing.T) {
	for _, c := range []struct {
		name   string
		traces []*spans.Trace
		want   string
		rule   Rule
		say    string
	}{
		{"all completed", []*spans.Trace{single(1, 10, spans.Completed), single(2, 30, spans.Completed), single(3, 20, spans.Completed)}, "2", Longest, "the slowest of 3 requests"},
		{"of equal ones the first by id", []*spans.Trace{single(3, 30, spans.Completed), single(2, 30, spans.Completed)}, "2", Longest, "the slowest of 2 requests"},
		{"timed out", []*spans.Trace{single(1, 30, spans.Completed), single(2, 25, cut)}, "2", LongestGaveUp, "the slowest of the 1 request that timed out or failed, of 2 requests; these come first, as they hide how long they would have taken, unless another took twice as long"},
		{"timed out at once", []*spans.Trace{single(1, 30, spans.Completed), single(2, 14, cut)}, "1", Longest, "the slowest of 2 requests"},
		{"failed", []*spans.Trace{single(1, 30, spans.Completed), single(2, 15, spans.Failed)}, "2", LongestGaveUp, ""},
		{"one", []*spans.Trace{single(1, 30, spans.Completed)}, "1", Longest, "the only request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resultOf(t, Config{}, c.traces...)
			if strings.TrimLeft(r.Trace, "0") != c.want || r.Rule != c.rule || c.say != "" && r.Why != c.say {
				t.Errorf("got %s by %s: %s", r.Trace, r.Rule, r.Why)
			}
		})
	}
}

func TestTheWorstOfAHopHasItsSlowestCall(t *testing.T) {
	call := func(id uint64, whole, stock int) *spans.Trace {
		return traceOf(id, testSpan{id: 1, end: whole, hop: "web/GET", kind: server},
			testSpan{id: 2, parent: 1, end: stock, hop: "web/call stock", kind: client},
			testSpan{id: 3, parent: 2, start: 1, end: stock - 1, hop: "stock/load", kind: server})
	}
	for _, of := range []string{"stock", "web → stock", "web -> stock", "web call stock", "call", "web call stock (client)"} {
		if r := resultOf(t, Config{Of: of}, call(1, 100, 20), call(2, 50, 30), call(3, 80, 10)); strings.TrimLeft(r.Trace, "0") != "2" || r.Of != "web call stock" || r.Seen != 3 {
			t.Errorf("%s: trace %s of %s, %d seen", of, r.Trace, r.Of, r.Seen)
		}
	}
	var unknown *neighbors.UnknownError
	if _, err := newSeen(Config{Of: "stok"}, call(1, 100, 20)).result(); !errors.As(err, &unknown) {
		t.Errorf("stok: %v", err)
	}
	var several *neighbors.AmbiguousError
	if _, err := newSeen(Config{Of: "e"}, call(1, 100, 20)).result(); !errors.As(err, &several) || len(several.Hops) != 2 {
		t.Errorf("e: %v", err)
	}
}

// TestThePickDoesNotDependOnOrderOrSplit compares with a sorted list.
func TestThePickDoesNotDependOnOrderOrSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type one struct {
			id   uint64
			took int
			up   bool
		}
		var all []one
		parts := make([]*seen, rapid.IntRange(1, 3).Draw(t, "parts"))
		for i := range parts {
			parts[i] = newSeen(Config{})
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			o := one{uint64(i + 1), rapid.IntRange(1, 8).Draw(t, "took"), rapid.Bool().Draw(t, "gave up")}
			tr := single(o.id, o.took, map[bool]spans.Outcome{true: cut}[o.up])
			p := parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")]
			p.owner.AddTrace(tr)
			p.AddTrace(tr, p.owner.Last())
			all = append(all, o)
		}
		for _, p := range parts[1:] {
			parts[0].merge(p)
		}
		slices.SortStableFunc(all, func(a, b one) int { return b.took - a.took })
		want := all[0]
		if i := slices.IndexFunc(all, func(o one) bool { return o.up }); i >= 0 && int64(all[i].took)*ms >= int64(want.took)*ms/2 {
			want = all[i]
		}
		r, err := parts[0].result()
		if err != nil || r.Trace != (spans.TraceID{Lo: want.id}).String() || int(r.Seen) != len(all) {
			t.Fatalf("got %v %v, want %v", r, err, want)
		}
	})
}

func TestAnIDIsFoundWholeOrByItsBeginning(t *testing.T) {
	traces := []*spans.Trace{single(0xabcd01, 1, spans.Completed), single(0xabcd02, 1, spans.Completed), single(0xabc, 1, spans.Completed), single(0xef, 1, spans.Completed)}
	for id, want := range map[string]string{
		"abcd01": "abcd01", "ABCD01": "abcd01", "0000000000abcd02": "abcd02", "abc": "abc", "e": "ef", "000000000000000000000000000000e": "ef",
	} {
		if r := resultOf(t, Config{ID: id}, traces...); strings.TrimLeft(r.Trace, "0") != want || r.Rule != ByID {
			t.Errorf("%s: got %s by %s", id, r.Trace, r.Rule)
		}
	}
	_, err := newSeen(Config{ID: "abcd"}, traces...).result()
	var several *AmbiguousError
	if !errors.As(err, &several) || several.N != 2 || len(several.Names) != 2 {
		t.Errorf("abcd: %v", err)
	}
	_, err = newSeen(Config{ID: "000000000000000000000000000abcd9"}, traces...).result()
	var none *NotFoundError
	if !errors.As(err, &none) || none.Seen != 4 || len(none.Nearest) == 0 || !strings.HasPrefix(strings.TrimLeft(none.Nearest[0], "0"), "abcd") {
		t.Errorf("abcd9: %v", err)
	}
	if _, err := newSeen(Config{}).result(); !errors.As(err, &none) {
		t.Errorf("nothing: %v", err)
	}
}

func TestAChainWithoutStartsIsDrawnByItsLengths(t *testing.T) {
	c := &spans.Chain{Hops: []spans.Hop{{Name: "orders"}, {Name: "stock"}}, Attempts: []spans.Attempt{
		{Duration: 20 * ms, Hop: 0, Parent: -1}, {Duration: 10 * ms, Hop: 1, Parent: -1, Outcome: cut, CutBy: spans.Own},
	}, Named: named("c-1")}
	c.Link()
	s := newSeen(Config{ID: "c-1"})
	s.owner.AddChain(c)
	s.Picker.AddChain(c, s.owner.Last())
	r, err := s.result()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(r.lines(report.Options{Width: 60}, 0), "\n")
	want := `
  call    0 ms           10                  took  ended
  orders  ███████████████████████████████      20
  stock   ████████████████                     10  timed out
  █ working`
	if got != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, want[1:])
	}
	if err := r.WriteJaeger(new(strings.Builder)); !errors.Is(err, ErrNoTimes) {
		t.Errorf("jaeger: %v", err)
	}
}

type named string

func (n named) Name() string { return string(n) }

func TestHalvesOfACallHaveIDsOfTheirOwnInAJaegerFile(t *testing.T) {
	tr := traceOf(7, testSpan{id: 5, end: 10, hop: "a/call", kind: client}, testSpan{id: 5, start: 1, end: 9, hop: "b/serve", kind: server})
	var text strings.Builder
	if err := resultOf(t, Config{}, tr).WriteJaeger(&text); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, part := range strings.Split(text.String(), `"spanID":"`)[1:] {
		ids[part[:16]] = true
	}
	if len(ids) != 2 {
		t.Errorf("ids %v in %s", ids, text.String())
	}
}
