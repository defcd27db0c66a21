package nesting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailscope/tailscope/nesting/worlds"
	"github.com/tailscope/tailscope/spans"
)

const ms = int64(1e6)

// hops is the table of all chains that are written by hand.
var hops = []spans.Hop{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}

// chainOf reads attempts "a 10-60", in ms, with "cut" or "failed" behind them.
func chainOf(t testing.TB, id uint64, lines ...string) *spans.Chain {
	t.Helper()
	c := &spans.Chain{Hops: hops, ID: spans.TraceID{Lo: id}}
	for _, line := range lines {
		var hop, how string
		var from, to float64
		if n, err := fmt.Sscanf(strings.Replace(line, "-", " ", 1)+" done", "%s %f %f %s", &hop, &from, &to, &how); n < 4 {
			t.Fatal(line, err)
		}
		a := spans.Attempt{Hop: int32(hop[0] - 'a'), Parent: -1, Timed: true, Start: int64(from * 1e6), Duration: int64((to - from) * 1e6)}
		a.Outcome = map[string]spans.Outcome{"cut": spans.Truncated, "failed": spans.Failed}[how]
		c.Attempts = append(c.Attempts, a)
	}
	c.Link()
	return c
}

func TestAnAttemptVotesOnceOnEveryHopThatItOverlaps(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"held", []string{"a 0-100", "b 10-90"}, "a b in, b a around"},
		{"outlasting", []string{"a 0-100", "b 10-110"}, "a b out, b a early"},
		{"one after the other", []string{"a 0-100", "b 100-110"}, ""},
		{"by less than a step", []string{"a 0-100", "b 99-110"}, ""},
		{"out by a step at most", []string{"a 0-100", "b 10-101"}, "a b in, b a around"},
		{"alike, one a little longer", []string{"a 0-100", "b 0.5-99.5"}, "a b in, b a around"},
		{"alike", []string{"a 0-100", "b 0-100"}, ""},
		{"alike, each sticks out", []string{"a 0-100", "b 0.5-100.6"}, ""},
		{"in one of two", []string{"a 0-100", "a 20-40", "b 30-60"}, "a b in, b a around, b a early"},
		{"on a cut one it does not", []string{"a 0-100 cut", "b 10-200"}, "b a early"},
		{"but it may be held", []string{"a 0-100", "b 10-90 cut"}, "a b in"},
		{"what a failed one may have left", []string{"a 0-100 failed", "a 50-150", "b 60-300"}, "b a early, b a early"},
		{"or one of another hop", []string{"c 0-100 failed", "a 50-150", "b 60-300"}, "a c early, b a early, b c early"},
		{"held all the same", []string{"a 0-100 failed", "a 50-250", "b 60-200"}, "a b in, b a around, b a early"},
		{"no other hop", []string{"a 0-100", "a 20-40"}, ""},
	} {
		v := NewVotes(ms)
		v.AddChain(chainOf(t, 1, c.lines...))
		var got []string
		for _, one := range v.lists[0] {
			got = append(got, fmt.Sprint(v.hops.Hop(one.caller), " ", v.hops.Hop(one.callee), " ", [...]string{"in", "out", "early", "around"}[one.kind]))
		}
		slices.Sort(got)
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestGapsAreMeasuredWhereNothingElseRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"to the end of the caller", []string{"a 0-100", "b 10-90"}, "10 10"},
		{"to what comes next", []string{"a 0-100", "b 10-50", "c 55-90"}, "10 5"},
		{"what b calls itself", []string{"a 0-100", "b 10-50", "c 20-49"}, "10 50"},
		{"something runs on", []string{"a 0-100", "b 10-50", "c 20-60"}, ""},
		{"by less than a step", []string{"a 0-100", "b 10-50", "c 20-51"}, "10 50"},
		{"outside the caller", []string{"a 0-100", "b 10-50", "c 20-160"}, "10 50"},
	} {
		v := NewVotes(ms)
		v.AddChain(chainOf(t, 1, c.lines...))
		got := ""
		for _, one := range v.lists[0] {
			if one.gaps && v.hops.Hop(one.caller).Name == "a" && v.hops.Hop(one.callee).Name == "b" {
				got = fmt.Sprint(one.before/ms, " ", one.after/ms)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestChainsThatCannotVoteDoNot(t *testing.T) {
	far := chainOf(t, 1, "a 0-100", "b 10-90")
	far.Attempts[1].Start = math.MaxInt64
	untimed := chainOf(t, 1, "a 0-100", "b 10-90")
	untimed.Timed = false
	crowd := chainOf(t, 1, "a 0-100")
	for i := range 3000 {
		crowd.Attempts = append(crowd.Attempts, spans.Attempt{Hop: int32(i % 4), Start: int64(i), Duration: 100 * ms, Timed: true})
	}
	for name, c := range map[string]*spans.Chain{"too far apart": far, "no times": untimed, "one attempt": chainOf(t, 1, "a 0-100"), "too many at once": crowd} {
		v := NewVotes(ms)
		if v.AddChain(c); len(v.lists[0]) > 0 || len(v.ballots) > 0 {
			t.Errorf("%s: %d votes", name, len(v.lists[0]))
		}
	}
}

func TestChainsThatCannotVoteAreCounted(t *testing.T) {
	table := make([]spans.Hop, 1001)
	for i := range table {
		table[i].Name = fmt.Sprint("hop ", i)
	}
	of := func(hops []spans.Hop, n int) *spans.Chain {
		c := &spans.Chain{Hops: hops, Timed: true}
		for i := range n {
			c.Attempts = append(c.Attempts, spans.Attempt{Hop: int32(i), Start: int64(i) * ms, Duration: 10 * ms, Timed: true})
		}
		return c
	}
	for _, c := range []struct {
		hops, n int
		heard   uint64
	}{{1000, 512, 1}, {1000, 513, 0}, {1001, 32, 1}, {1001, 33, 0}} {
		if f := findIn(ms, []*spans.Chain{of(table[:c.hops], c.n)}); f.Heard != c.heard || f.Silent != 1-c.heard {
			t.Errorf("%d of %d hops: %d heard, %d silent", c.n, c.hops, f.Heard, f.Silent)
		}
	}
}

func TestVeryManyVotesEndTheSurvey(t *testing.T) {
	rounds := 0
	_, err := Survey(1, ms, nil, func(round int, visit func(int, *spans.Chain) error) (bool, error) {
		rounds++
		for i := range uint64(mostVotes / 4) {
			if err := visit(0, chainOf(t, i, "a 0-100", "b 10-90")); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	if err != nil || rounds != 2 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

// anyWorld is a world and the chains of one of its logs.
func anyWorld(t *rapid.T) (string, int64, []*spans.Chain) {
	w := rapid.SampledFrom(worlds.Kinds()).Draw(t, "world")
	f := rapid.SampledFrom(worlds.Forms).Draw(t, "form")
	requests, seed := rapid.SampledFrom([]int{1, 12, 60, 200}).Draw(t, "requests"), rapid.Uint64().Draw(t, "seed")
	step := 2 * f.Step
	if f.AtEnd {
		step = max(step, ms)
	}
	return w.Name + ", " + f.Name, step, worlds.Chains(w.Log(requests, f, seed))
}

func findIn(step int64, chains []*spans.Chain) *Finding {
	v := NewVotes(step)
	for _, c := range chains {
		v.AddChain(c)
	}
	return v.Find()
}

func TestPairsAreDecidedAsTheRuleReadAloudDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, step, chains := anyWorld(t)
		o, f := newOracle(step, chains), findIn(step, chains)
		for i := range f.Pairs {
			p := &f.Pairs[i]
			key := [2]string{p.Caller.Name, p.Callee.Name}
			want := o.pairs[key]
			if want == nil {
				t.Fatalf("%s: %v is nothing to the rule", name, key)
			}
			if got := [4]uint64{p.In, p.Out, p.Early, p.Around}; got != want.n || p.Outlasting != want.out || p.ByChance != want.chance || p.Verdict != want.verdict && p.Verdict != Clocks {
				t.Fatalf("%s: %v %s %v, %d of %d/4 outlast it, want %s %v, %d of %d/4", name, key, p.Verdict, got, p.Outlasting, p.ByChance, want.verdict, want.n, want.out, want.chance)
			}
			delete(o.pairs, key)
		}
		for key, p := range o.pairs {
			t.Fatalf("%s: %v is %s to the rule", name, key, p.verdict)
		}
	})
}

func TestAttemptsArePlacedAsTheRuleReadAloudDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, step, chains := anyWorld(t)
		f := findIn(step, chains)
		calls := map[[2]string]bool{}
		for _, p := range f.Pairs {
			calls[[2]string{p.Caller.Name, p.Callee.Name}] = p.Verdict == Call
		}
		placer, o := f.Sure().NewPlacer(), &oracle{step: step}
		for _, c := range chains {
			placer.Place(c)
			want := o.parents(c, func(a, b string) bool { return calls[[2]string{a, b}] })
			for i := range c.Attempts {
				if got := c.Attempts[i].Parent; got != want[i] && !placer.circular && len(c.Attempts) > 1 {
					t.Fatalf("%s: attempt %d lies in %d, want %d", name, i, got, want[i])
				}
			}
		}
	})
}

// In every reading all attempts end up under one that lies in nothing.
func TestNoAttemptLiesInItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, step, chains := anyWorld(t)
		for n, r := range findIn(step, chains).Readings {
			p := r.NewPlacer()
			for _, c := range chains {
				p.Place(c)
				for i := range c.Attempts {
					at, steps := int32(i), 0
					for ; at >= 0 && steps <= len(c.Attempts); at = c.Attempts[at].Parent {
						steps++
					}
					if at >= 0 {
						t.Fatalf("%s: reading %d puts attempt %d into itself", name, n, i)
					}
				}
			}
		}
	})
}

func TestTheFindingIsTheSameForAnySplitAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, step, chains := anyWorld(t)
		want := findIn(step, chains)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "split"), 1))
		parts := []*Votes{NewVotes(step), NewVotes(step), NewVotes(step)}
		for _, i := range r.Perm(len(chains)) {
			parts[r.IntN(3)].AddChain(chains[i])
		}
		parts[0].Merge(parts[1])
		parts[0].Merge(parts[2])
		got := parts[0].Find()
		if !slices.Equal(got.Pairs, want.Pairs) || !slices.Equal(got.Late, want.Late) || len(got.Readings) != len(want.Readings) {
			t.Fatalf("%s: %+v, want %+v", name, got, want)
		}
	})
}

func TestFurtherRoundsAskOnlyWhatIsOpen(t *testing.T) {
	usual := func(id uint64) *spans.Chain {
		return chainOf(t, id, "a 0-100", fmt.Sprintf("b 10-%d", 20+id*7%70))
	}
	rare := func(id uint64) *spans.Chain { return chainOf(t, id, "a 0-100", "c 10-90") }
	var asked []int
	f, err := Survey(2, ms, nil, func(round int, visit func(int, *spans.Chain) error) (bool, error) {
		asked = append(asked, round)
		for i := range uint64(30) {
			if err := visit(int(i)%2, usual(uint64(round)*100+i)); err != nil {
				return false, err
			}
			if i < 4 {
				if err := visit(0, rare(uint64(round)*100+50+i)); err != nil {
					return false, err
				}
			}
		}
		return round < 9, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, p := range f.Pairs {
		counts[p.Caller.Name+p.Callee.Name] = p.Votes()
	}
	if want := map[string]uint64{"ab": 30 * commonRounds, "ba": 30 * commonRounds, "ac": 20, "ca": 20}; !cmp.Equal(counts, want) || !slices.Equal(asked, []int{0, 1, 2, 3, 4}) {
		t.Errorf("rounds %v, votes %v, want %v", asked, counts, want)
	}
}

func TestASourceThatFailsEndsTheSurvey(t *testing.T) {
	_, err := Survey(1, ms, nil, func(int, func(int, *spans.Chain) error) (bool, error) { return true, fmt.Errorf("no disk") })
	if err == nil || err.Error() != "no disk" {
		t.Error(err)
	}
}

func TestPlaces(t *testing.T) {
	call := func(names string) [2]spans.Hop { return [2]spans.Hop{{Name: names[:1]}, {Name: names[1:]}} }
	for _, c := range []struct {
		name  string
		calls string
		lines []string
		want  string
	}{
		{"in its caller", "ab", []string{"a 0-100", "b 10-90"}, "-1 0"},
		{"in the innermost", "ab ac bc", []string{"a 0-100", "b 10-90", "c 20-30"}, "-1 0 1"},
		{"in the last of two that hold it", "ab", []string{"a 0-100", "a 10-90", "b 20-30"}, "-1 -1 1"},
		{"a hop that nobody calls", "ab", []string{"a 0-100", "c 10-90", "b 20-30"}, "-1 -1 0"},
		{"in a cut one that it outlasts", "ab", []string{"a 0-100 cut", "b 10-900"}, "-1 0"},
		{"rather in one that holds it", "ab", []string{"a 0-200", "a 90-100 cut", "b 95-150"}, "-1 -1 0"},
		{"in a completed one that it outlasts it does not lie", "ab", []string{"a 0-100", "b 10-900"}, "-1 -1"},
		{"but by a step it may", "ab", []string{"a 0-100", "b 10-101"}, "-1 0"},
		{"and begin a step before it", "ab", []string{"b 0-50", "a 1-100"}, "1 -1"},
		{"after its end", "ab", []string{"a 0-100 cut", "b 100-900"}, "-1 -1"},
		{"hops that call each other", "ab ba", []string{"a 0-100", "b 0-100"}, "-1 0"},
	} {
		var calls [][2]spans.Hop
		for _, names := range strings.Fields(c.calls) {
			calls = append(calls, call(names))
		}
		chain := chainOf(t, 1, c.lines...)
		Known(ms, calls...).Sure().NewPlacer().Place(chain)
		var got []string
		for i := range chain.Attempts {
			got = append(got, fmt.Sprint(chain.Attempts[i].Parent))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestATraceOfALogIsPlacedAsItsChain(t *testing.T) {
	at := func(id, hop int32, start, took int64) spans.Span {
		return spans.Span{ID: spans.SpanID(id), Hop: hop, Start: start * ms, Duration: took * ms, Flags: spans.HasStart | spans.HasDuration, Ties: spans.LogLine}
	}
	list := []spans.Span{at(1, 1, 10, 50), {ID: 2, Hop: 1, Ties: spans.LogLine}, at(3, 0, 0, 100), at(4, 1, 70, 20)}
	tr := spans.NewTrace(spans.TraceID{Lo: 1}, list, hops, nil)
	Known(ms, [2]spans.Hop{hops[0], hops[1]}).Sure().NewPlacer().PlaceTrace(tr)
	for i := range tr.Spans {
		want := spans.SpanID(0)
		if tr.Spans[i].Hop == 1 && tr.Spans[i].Timed() {
			want = 3
		}
		if up := tr.Parents[i]; up < 0 && want != 0 || up >= 0 && tr.Spans[up].ID != want {
			t.Errorf("span %d lies in %d", tr.Spans[i].ID, up)
		}
	}
}

func TestWhereAllIsKnownThereIsOneReading(t *testing.T) {
	v := NewVotes(ms)
	for i := range uint64(30) {
		v.AddChain(chainOf(t, i, fmt.Sprintf("a 0-%d", 100+i*7%60), fmt.Sprintf("b 10-%d", 95+i*7%60)))
	}
	if f := v.Find(); len(f.Readings) != 1 || f.Readings[0] != f.Sure() || f.Pairs[0].Verdict != Call {
		t.Errorf("%d readings, %+v", len(f.Readings), f.Pairs)
	}
}

func TestWhatIsNotKnownIsReadBothWays(t *testing.T) {
	f := func(open, late int) *Finding {
		v := NewVotes(ms)
		for i := range uint64(5) {
			lines := []string{fmt.Sprintf("a 0-%d", 100+i)}
			for k := range open {
				lines = append(lines, fmt.Sprintf("%c %d-%d", 'b'+k, 10+20*k, 25+20*k))
			}
			v.AddChain(chainOf(t, i, lines...))
		}
		for i := range uint64(20 * late) {
			v.AddChain(chainOf(t, 100+i, "a 0-100", "d 90-300"))
		}
		return v.Find()
	}
	for _, c := range []struct{ open, late, readings int }{{1, 0, 2}, {2, 0, 4}, {1, 1, 4}} {
		if got := f(c.open, c.late); len(got.Readings) != c.readings || len(got.Late) != c.late {
			t.Errorf("%d open, %d late: %d readings, late %v, want %d", c.open, c.late, len(got.Readings), got.Late, c.readings)
		}
	}
}
