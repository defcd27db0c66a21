package spans

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const ms = int64(1_000_000)

func TestWhichFailedAttemptsWereCutFromBelow(t *testing.T) {
	const web, api = int32(1), int32(2)
	failure := Attempt{Hop: web, Start: 1, Duration: 100 * ms, Outcome: Failed, Failure: Reset, Timed: true}
	inside := Attempt{Hop: api, Start: 5 * ms, Duration: 90 * ms, Outcome: Truncated, CutBy: Own, Timed: true}
	answer := Attempt{Hop: api, Start: 96 * ms, Duration: 2 * ms, Timed: true, Retry: true}
	with := func(a Attempt, change func(*Attempt)) Attempt { change(&a); return a }
	for _, c := range []struct {
		name string
		cuts []Attempt
		want bool
	}{
		{"around a cut", []Attempt{inside}, true},
		{"beside a cut", []Attempt{with(inside, func(a *Attempt) { a.Start = 500*ms + 1 })}, false},
		{"around a cut of its own hop", []Attempt{with(inside, func(a *Attempt) { a.Hop = web })}, false},
		{"around what completed", []Attempt{with(inside, func(a *Attempt) { a.Outcome = Completed })}, false},
		{"longer than a cut without a time", []Attempt{with(inside, func(a *Attempt) { a.Timed = false })}, true},
		{"shorter than it", []Attempt{with(inside, func(a *Attempt) { a.Timed, a.Duration = false, 101*ms })}, false},
		{"around a cut that a retry completed", []Attempt{inside, answer}, false},
		{"around one that a retry completed too late", []Attempt{inside, with(answer, func(a *Attempt) { a.Duration = 20 * ms })}, true},
		{"around one before which another completed", []Attempt{inside, with(answer, func(a *Attempt) { a.Start = 5 * ms })}, true},
		{"around one beside which another was answered", []Attempt{inside, inside, answer}, true},
		{"around one that two tries answered", []Attempt{inside, with(inside, func(a *Attempt) { a.Retry = true }), answer}, false},
		{"around one that the retry of another hop followed", []Attempt{inside, with(answer, func(a *Attempt) { a.Hop = 3 })}, true},
		{"without times, one that a retry completed", []Attempt{with(inside, func(a *Attempt) { a.Timed = false }), with(answer, func(a *Attempt) { a.Timed = false })}, false},
		{"as many cuts as a request may have", slices.Repeat([]Attempt{inside}, MostCuts), true},
		{"more", slices.Repeat([]Attempt{inside}, MostCuts+1), false},
	} {
		chain := Chain{Attempts: append(slices.Clone(c.cuts), failure)}
		chain.PassUpCuts()
		want := failure
		if c.want {
			want.Outcome, want.CutBy = Truncated, Below
		}
		if got := chain.Attempts[len(chain.Attempts)-1]; got != want || got.PassedUp() != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestManyAttemptsAreSortedAsFewAre(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for n := range 60 {
		var c Chain
		for range n {
			c.Attempts = append(c.Attempts, Attempt{Start: r.Int64N(9), Duration: r.Int64N(3), Hop: r.Int32N(3), Outcome: Outcome(r.IntN(3)), Retry: r.IntN(2) == 0})
		}
		want := slices.SortedFunc(slices.Values(c.Attempts), func(a, b Attempt) int { return compareAttempts(&a, &b) })
		if c.Link(); !slices.Equal(c.Attempts, want) {
			t.Fatalf("%d attempts", n)
		}
	}
}

func TestAnIdOfTooManyAttemptsIsNoneOfARequest(t *testing.T) {
	c := Chain{Attempts: make([]Attempt, MostNested+1)}
	if !c.TooLong() {
		t.Error("not too long")
	}
	if c.Attempts = c.Attempts[1:]; c.TooLong() {
		t.Error("too long")
	}
}
