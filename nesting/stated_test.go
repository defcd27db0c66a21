package nesting

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// stating lets chains vote on what a column says: "a>b a>c", of which b and c name their
// callers in all lines.
func stating(t testing.TB, calls string, named bool, n int, chain func(i int) []string) *Finding {
	t.Helper()
	s := &Stated{Column: "caller", Named: named}
	for call := range strings.FieldsSeq(calls) {
		s.Calls = append(s.Calls, [2]spans.Hop{{Name: call[:1]}, {Name: call[2:]}})
		s.Whole = append(s.Whole, spans.Hop{Name: call[2:]})
	}
	v, parts := NewVotes(ms), []*Votes{NewVotes(ms), NewVotes(ms)}
	v.State(s)
	for i, p := range parts {
		p.State(s)
		for k := i; k < n; k += len(parts) {
			p.AddChain(chainOf(t, uint64(k+1), chain(k)...))
		}
		v.Merge(p)
	}
	return v.Find()
}

// verdicts writes what is not none: "a>b call".
func verdicts(f *Finding) string {
	var list []string
	for i := range f.Pairs {
		if p := &f.Pairs[i]; p.Verdict != None {
			list = append(list, fmt.Sprintf("%s>%s %s", p.Caller, p.Callee, p.Verdict))
		}
	}
	return strings.Join(list, ", ")
}

func TestAStatedCallNeedsNoVotes(t *testing.T) {
	long := func(i int) int { return 100 + i*i*7%90 }
	for _, c := range []struct {
		name, calls string
		n           int
		chain       func(i int) []string
		want        string
		late        string
	}{
		{"one chain", "a>b", 1, func(int) []string { return []string{"a 0-100", "b 10-90"} }, "a>b call", "[]"},
		{"no chain has both", "a>b", 2, func(i int) []string { return []string{"a 0-100", "c 10-20"}[i : i+1] }, "a>b call", "[]"},
		{"side by side, and said to be calls", "a>b b>c", 60, func(i int) []string {
			return []string{fmt.Sprintf("a 0-%d", 300), "b 5-200", fmt.Sprintf("c 8-%d", 80+i)}
		}, "a>b call, b>c call", "[]"},
		{"nested, and said to be side by side", "a>b a>c", 60, func(i int) []string {
			return []string{"a 0-400", fmt.Sprintf("b 5-%d", 20+long(i)), fmt.Sprintf("c 10-%d", 15+long(i))}
		}, "a>b call, a>c call", "[]"},
		{"two callers", "a>c b>c", 60, func(i int) []string {
			return []string{"a 0-100", "c 10-90", "b 110-200", "c 120-190"}
		}, "a>c call, b>c call", "[]"},
		{"in a cut one", "a>b", 30, func(i int) []string { return []string{"a 0-100 cut", fmt.Sprintf("b 10-%d", 150+i)} }, "a>b call", "[]"},
		{"begins before its caller", "a>b", 30, func(i int) []string {
			return []string{fmt.Sprintf("a 50-%d", 80+long(i)), fmt.Sprintf("b 10-%d", 20+long(i))}
		}, "a>b clocks", "[a]"},
		{"before it by more than it lasts", "a>b", 30, func(i int) []string { return []string{"a 500-600", "b 10-90"} }, "a>b clocks", "[]"},
		{"one of twenty may", "a>b", 40, func(i int) []string {
			if i < 2 {
				return []string{"a 50-100", "b 10-90"}
			}
			return []string{"a 0-100", "b 10-90"}
		}, "a>b call", "[]"},
		{"ends with it, but after it", "a>b", 60, func(i int) []string {
			return []string{fmt.Sprintf("a 0-%d", 20+long(i)), fmt.Sprintf("b 40-%d", 50+long(i))}
		}, "a>b clocks", "[b]"},
		{"outlasts it as it likes", "a>b", 60, func(i int) []string {
			return []string{fmt.Sprintf("a 0-%d", long(i)), fmt.Sprintf("b 40-%d", 200+i*31%170)}
		}, "a>b siblings", "[b]"},
		{"begins after it", "a>b", 60, func(i int) []string { return []string{"a 0-100", "b 150-160"} }, "a>b siblings", "[b]"},
	} {
		f := stating(t, c.calls, false, c.n, c.chain)
		if got := verdicts(f); got != c.want || f.Callers != "caller" || f.Refuted || fmt.Sprint(f.Late) != c.late {
			t.Errorf("%s: %s, late %v, want %s, %s", c.name, got, f.Late, c.want, c.late)
		}
		if c.late == "[]" && len(f.Readings) != 1 && !strings.Contains(c.want, "clocks") {
			t.Errorf("%s: %d readings", c.name, len(f.Readings))
		}
	}
}

// Hops that do not say who calls them are found by their times.
func TestHopsThatStateNothingAreInferred(t *testing.T) {
	f := stating(t, "a>b", false, 60, func(i int) []string {
		c := 50 + i*37%90
		return []string{fmt.Sprintf("a 0-%d", c+30), fmt.Sprintf("b 5-%d", c+25), fmt.Sprintf("c 8-%d", c+22)}
	})
	if got := verdicts(f); got != "a>b call, a>c call, b>c call" {
		t.Error(got)
	}
	for i := range f.Pairs {
		if p := &f.Pairs[i]; p.Stated != (p.Callee.Name == "b" || p.Caller.Name == "b" && p.Callee.Name == "a") {
			t.Errorf("%s>%s: stated %v", p.Caller, p.Callee, p.Stated)
		}
	}
}

// Nobody calls the hop that called it, be it through others.
func TestNoStatedCalleeCallsUpwards(t *testing.T) {
	f := stating(t, "a>b b>c", false, 60, func(i int) []string {
		c := 50 + i*37%90 // c seems to hold a
		return []string{fmt.Sprintf("c 0-%d", c+30), fmt.Sprintf("a 5-%d", c+25)}
	})
	if got := verdicts(f); got != "a>b call, b>c call" {
		t.Error(got)
	}
}

func TestAColumnThatNamesCalleesIsRefuted(t *testing.T) {
	chain := func(i int) []string {
		c := 50 + i*37%90
		return []string{fmt.Sprintf("a 0-%d", c+30), fmt.Sprintf("b 5-%d", c+25)}
	}
	for _, c := range []struct {
		n     int
		named bool
		want  string
	}{{20, false, "a>b call"}, {20, true, "b>a clocks"}, {19, false, "b>a clocks"}} {
		f := stating(t, "b>a", c.named, c.n, chain)
		if got := verdicts(f); got != c.want || f.Refuted != (c.want == "a>b call") || f.Refuted != (f.Callers == "") {
			t.Errorf("%d chains, named %v: %s, refuted %v", c.n, c.named, got, f.Refuted)
		}
	}
}

// A clock that is far off makes one hop seem to hold its caller, and refutes no column.
func TestOneClockDoesNotRefuteAColumn(t *testing.T) {
	f := stating(t, "a>b a>c", false, 40, func(i int) []string {
		b := 50 + i*37%90
		return []string{fmt.Sprintf("a 40-%d", b+70), fmt.Sprintf("b 45-%d", b+65), "c 0-400"}
	})
	if got := verdicts(f); got != "a>b call, a>c clocks" || f.Refuted {
		t.Errorf("%s, refuted %v", got, f.Refuted)
	}
}
