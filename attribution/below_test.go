package attribution

import (
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestCutsArePassedUpInAChain(t *testing.T) {
	lines := linesOf("c", "web 0-100 failed", "api 5-95 cut")
	for off, want := range map[bool]string{false: "1 cut, fails by api 1, cut api 1", true: "1 failed, fails by api 1, cut api 1"} {
		w := NewWatch(Config{PassUpCuts: !off})
		addLines(t, w, lines...)
		chains(t, w)
		if got := fate(w); got != want {
			t.Errorf("off %v: %s, want %s", off, got, want)
		}
	}
}

func TestWhichFailedLinesWereCutFromBelow(t *testing.T) {
	const ms, web, api = 1_000_000, int32(1), int32(2)
	failure := line{hop: web, start: 1, duration: 100 * ms, outcome: failed, failure: spans.Reset, timed: true}
	inside := line{hop: api, start: 5 * ms, duration: 90 * ms, outcome: cut, cutBy: spans.Own, timed: true}
	with := func(l line, change func(*line)) line { change(&l); return l }
	for _, c := range []struct {
		name string
		cuts []line
		want bool
	}{
		{"around a cut", []line{inside}, true},
		{"beside a cut", []line{with(inside, func(l *line) { l.start = 500*ms + 1 })}, false},
		{"around a cut of its own hop", []line{with(inside, func(l *line) { l.hop = web })}, false},
		{"around what completed", []line{with(inside, func(l *line) { l.outcome = spans.Completed })}, false},
		{"longer than a cut without a time", []line{with(inside, func(l *line) { l.timed = false })}, true},
		{"shorter than it", []line{with(inside, func(l *line) { l.timed, l.duration = false, 101*ms })}, false},
		{"as many cuts as a request may have", slices.Repeat([]line{inside}, spans.MostCuts), true},
		{"more", slices.Repeat([]line{inside}, spans.MostCuts+1), false},
	} {
		chain := append(slices.Clone(c.cuts), failure)
		NewWatch(Config{}).passUpCuts(chain)
		want := failure
		if c.want {
			want.outcome, want.cutBy, want.failure = cut, spans.Below, spans.NotFailed
		}
		if got := chain[len(chain)-1]; got != want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
