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
