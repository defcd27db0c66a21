package attribution

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// votedOn looks at the lines of a hop log as the program does: they vote first.
func votedOn(t testing.TB, step int64, lines []testLine) *Accumulator {
	t.Helper()
	l := newLog(t, assembly.ChainConfig{}, NewAccumulator())
	l.add(0, lines...)
	votes := nesting.NewVotes(step)
	if _, err := l.store.Sample(t.Context(), 1, 0, func(_ int, c *spans.Chain) error { votes.AddChain(c); return nil }); err != nil {
		t.Fatal(err)
	}
	a := l.accumulators[0]
	a.SetNesting(votes.Find())
	err := l.store.Each(t.Context(), 1, func(_ int, c *spans.Chain) error { a.AddChain(c); return nil })
	if err != nil || l.store.Close() != nil {
		t.Fatal(err)
	}
	return a
}

// made makes 200 chains; of each, a tenth is slow.
func made(chain func(i, slow int) []string) (lines []testLine) {
	for i := range 200 {
		slow := 0
		if i%10 == 9 {
			slow = 5000
		}
		lines = append(lines, linesOf(fmt.Sprint("c-", i), chain(i, slow)...)...)
	}
	return lines
}

func TestAnOwnerIsTheSameInEveryReading(t *testing.T) {
	for _, c := range []struct {
		name  string
		chain func(i, slow int) []string
		owner string
		says  string
	}{
		{"side by side", func(i, slow int) []string {
			b := 300 + i*7%90 + slow
			return []string{fmt.Sprintf("front 0-%d", b+20), fmt.Sprintf("a 5-%d", 150+i*13%80), fmt.Sprintf("b 8-%d", b+10)}
		}, "b", "b: "},
		{"who waits for the audit", func(i, slow int) []string {
			b := 300 + i*7%90 + slow
			return []string{fmt.Sprintf("front 0-%d", b+20), fmt.Sprintf("b 8-%d", b+10), fmt.Sprintf("audit %d-%d", b+15, b+9000+2*slow+i*31%700)}
		}, "", "no owner: audit or b, as it is not known whether a request waits for audit"},
		{"a pair that is not known", func(i, slow int) []string {
			return []string{fmt.Sprintf("front 0-%d", 400+i*7%90+slow), fmt.Sprintf("a %d-%d", 100+i*3%50, 200+i*3%50)}
		}, "front", "front: "},
		{"clocks that disagree", func(i, slow int) []string {
			b := 300 + i*7%90 + slow
			return []string{fmt.Sprintf("front 0-%d", b+20), fmt.Sprintf("b 8-%d", b+45)}
		}, "", "no owner: the clocks of front and b disagree, their lines are stamped late, or another hop calls b too: the two end together, but only 0 of 200 attempts of b lie in one of front"},
	} {
		r := votedOn(t, 2, made(c.chain)).Result(usual)
		owner := ""
		if r.Owner != nil {
			owner = r.Owner.Name
		}
		if owner != c.owner || !strings.HasPrefix(r.Verdict, c.says) {
			t.Errorf("%s: owner %q, %s", c.name, owner, r.Verdict)
		}
		if r.Nesting == nil || len(r.Nesting.Pairs) == 0 || owner != "" && !r.Nesting.Agree {
			t.Errorf("%s: %+v", c.name, r.Nesting)
		}
	}
}

// Few requests tell of no pair what it is.
func TestFewVotesNameTheirPair(t *testing.T) {
	var lines []testLine
	for i := range 19 {
		slow := 0
		if i > 14 {
			slow = 9000
		}
		lines = append(lines, linesOf(fmt.Sprint("c-", i), fmt.Sprintf("front 0-%d", 320+i+slow), fmt.Sprintf("b 8-%d", 300+i+slow))...)
	}
	q := usual
	q.TailFrom = quantile.MustP("0.8")
	r := votedOn(t, 2, lines).Result(q)
	const want = "no owner: b or front, as it is not known whether front calls b: of 19 attempts of b that overlap one of front 19 lie in it, 0 outlast it (2.5 would by chance)"
	if r.Verdict != want || r.Owner != nil || r.Nesting.Agree {
		t.Errorf("%s", r.Verdict)
	}
}

func TestChainsWithoutAHopThatBeginsThemAreCounted(t *testing.T) {
	lines := made(func(i, slow int) []string {
		b := 300 + i*7%90 + slow
		return []string{fmt.Sprintf("front 0-%d", b+20), fmt.Sprintf("b 8-%d", b+10)}
	})
	lines = append(lines, linesOf("headless", "b 0-10", "b 20-30")...)
	r := votedOn(t, 2, lines).Result(usual)
	if !slices.Equal(codes(r.Warnings), []string{"chains_without_top", "few_tail_traces"}) || r.EndToEnd.N != 200 || r.Outcomes[success].N != 200 {
		t.Errorf("%v, %d chains, %v", r.Warnings, r.EndToEnd.N, r.Outcomes)
	}
}

func TestChainsThatCannotVoteLeaveNoOwner(t *testing.T) {
	hops := [2]spans.Hop{{Name: "front"}, {Name: "b"}}
	lines := made(func(i, slow int) []string {
		b := 300 + i*7%90 + slow
		return []string{fmt.Sprintf("front 0-%d", b+20), fmt.Sprintf("b 8-%d", b+10)}
	})
	for silent, want := range map[uint64]string{10: "b: ", 11: "no owner: 11 of 211 chains have more attempts at once, or more hops, than can be compared"} {
		l := newLog(t, assembly.ChainConfig{}, NewAccumulator())
		l.add(0, lines...)
		f := nesting.Known(0, hops)
		f.Heard, f.Silent = 200, silent
		l.accumulators[0].SetNesting(f)
		err := l.store.Each(t.Context(), 1, func(_ int, c *spans.Chain) error { l.accumulators[0].AddChain(c); return nil })
		if err != nil || l.store.Close() != nil {
			t.Fatal(err)
		}
		if r := l.accumulators[0].Result(usual); !strings.HasPrefix(r.Verdict, want) {
			t.Errorf("%d: %s", silent, r.Verdict)
		}
	}
}
