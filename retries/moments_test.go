package retries

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

func TestThousandClientsInStepAreFlagged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name    string
		clients int
		wait    func() int
		want    bool
	}{
		{"in step", 1000, func() int { return 100 }, true},
		{"in step to a few milliseconds", 1000, func() int { return 98 + r.IntN(5) }, true},
		{"full jitter", 1000, func() int { return r.IntN(41) }, false},
		{"few", 19, func() int { return 100 }, false},
		{"just enough", 20, func() int { return 100 }, true},
	} {
		var lines []testLine
		for k := range c.clients {
			chain, start := fmt.Sprint(k), 5000+300+c.wait()
			lines = append(lines, testLine{chain: chain, hop: "a", start: 5000, end: 5300, outcome: cut},
				testLine{chain: chain, hop: "a", start: start, end: start + 50, retry: true})
		}
		got := logOf(t, lines...).Result(usual(nil))
		if says(got, "retries_in_step") != c.want || (len(got.InStep) == 1) != c.want {
			t.Errorf("%s: %+v %v", c.name, got.InStep, codes(got))
		}
	}
}

// One trace that retries often in one moment is not many.
func TestRetriesOfOneTraceAreNotInStep(t *testing.T) {
	var lines []testLine
	for k := range 50 {
		hop := fmt.Sprint("h", k)
		lines = append(lines, testLine{chain: "1", hop: hop, end: 10, outcome: cut}, testLine{chain: "1", hop: hop, start: 20, end: 30, retry: true})
	}
	if got := logOf(t, lines...).Result(usual(nil)).InStep; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Even load has no moment of its own, however much there is of it.
func TestManyRetriesAllTheTimeAreNotInStep(t *testing.T) {
	lines := repeated(5000, 2, testLine{hop: "a", end: 100, outcome: cut}, testLine{hop: "a", start: 120, end: 130, retry: true})
	if got := logOf(t, lines...).Result(usual(nil)).InStep; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPulsesHaveAPeriod(t *testing.T) {
	for _, c := range []struct {
		at     []int // ms
		period time.Duration
	}{
		{[]int{0, 120_000, 240_000, 361_000}, 120 * time.Second},
		{[]int{0, 120_000}, 0},
		{[]int{0, 10_000, 100_000}, 0},
	} {
		var lines []testLine
		for _, at := range c.at {
			for k := range 30 {
				chain := fmt.Sprint(at, k)
				lines = append(lines, testLine{chain: chain, hop: "a", start: at, end: at + 100, outcome: cut}, testLine{chain: chain, hop: "a", start: at + 200, end: at + 210, retry: true})
			}
		}
		r := logOf(t, lines...).Result(usual(nil))
		if len(r.InStep) != len(c.at) || (r.Period != nil) != (c.period > 0) || says(r, "retry_pulses") != (c.period > 0) {
			t.Errorf("%v: %+v %v", c.at, r.InStep, r.Period)
		} else if r.Period != nil && *r.Period != int64(c.period) {
			t.Errorf("%v: %d, want %d", c.at, *r.Period, c.period)
		}
	}
}

// A storm of five minutes at 40 % drowns in a night's mean.
func TestAStormInAQuietNightIsFound(t *testing.T) {
	night, from := 8*60, 200
	var lines []testLine
	for m := range night {
		for k := range 100 {
			at, chain := m*60_000+k*500, fmt.Sprint(m, "-", k)
			first := testLine{chain: chain, hop: "a", start: at, end: at + 50}
			if m >= from && m < from+5 && k < 40+m-from {
				first.outcome = cut
				lines = append(lines, testLine{chain: chain, hop: "a", start: at + 70, end: at + 80, retry: true})
			}
			lines = append(lines, first)
		}
	}
	r := logOf(t, lines...).Result(usual(nil))
	if got, want := r.Ratio.Worst, (Count{44, 100}); got != want || r.Ratio.At != int64(from+4)*60e9 {
		t.Errorf("worst minute %+v at %d", got, r.Ratio.At)
	}
	if mean := *r.Ratio.All.Share(); mean > .01 || says(r, "retry_ratio") || !says(r, "retry_storm") {
		t.Errorf("mean %v: %v", mean, codes(r))
	}
}

func TestMinutesWithAttemptsAreCounted(t *testing.T) {
	at := func(minute int, retry bool) testLine {
		return testLine{chain: fmt.Sprint(minute), hop: "a", start: minute * 60_000, end: minute*60_000 + 5, retry: retry}
	}
	lines := []testLine{at(1, false), at(1, false), at(15, false), at(15, true), at(16, true)}
	if got := logOf(t, lines...).Result(usual(nil)).Ratio.Minutes; got != 3 {
		t.Errorf("%d minutes", got)
	}
	lines = append(lines, testLine{chain: "x", hop: "a", untimed: true})
	if got := logOf(t, lines...).Result(usual(nil)).Ratio.Minutes; got != 0 {
		t.Errorf("%d minutes, though one attempt has no start", got)
	}
}

// The retries of a storm may all fall in the minute after it.
func TestAMinuteOfRetriesAloneIsTheWorst(t *testing.T) {
	var lines []testLine
	for k := range 1000 {
		chain := fmt.Sprint("c", k)
		lines = append(lines, testLine{chain: chain, hop: "a", start: 40_000 + k, end: 41_000 + k, outcome: cut},
			testLine{chain: chain, hop: "a", start: 70_000 + k, end: 71_000 + k, retry: true})
	}
	for k := range 20_000 {
		lines = append(lines, testLine{chain: fmt.Sprint("quiet", k), hop: "a", start: 120_000 + 1000*k, end: 120_010 + 1000*k})
	}
	r := logOf(t, lines...).Result(usual(nil))
	if got, want := r.Ratio.Worst, (Count{1000, 1000}); got != want || r.Ratio.At != 60e9 || !says(r, "retry_storm") {
		t.Errorf("worst minute %+v at %d: %v", got, r.Ratio.At, codes(r))
	}
}

// Where some retries have no time, the minutes do not hold them all.
func TestThereIsNoWorstMinuteWithoutAllTimes(t *testing.T) {
	lines := repeated(30, 1, testLine{chain: "c", hop: "a", start: 1, end: 2})
	lines = append(lines, testLine{chain: "d", hop: "a", start: 1, end: 2, retry: true, untimed: true})
	if got := logOf(t, lines...).Result(usual(nil)).Ratio; got.Worst != (Count{}) || got.All != (Count{1, 30}) {
		t.Errorf("%+v", got)
	}
}

// A trace whose retries begin in two moments that follow each other is one trace.
func TestATraceIsInStepOnce(t *testing.T) {
	var lines []testLine
	for k := range 12 {
		chain := fmt.Sprint("c", k)
		for i, hop := range []string{"a", "b"} {
			lines = append(lines, testLine{chain: chain, hop: hop, start: 0, end: 300, outcome: cut}, testLine{chain: chain, hop: hop, start: 301 + 5*i, end: 310, retry: true})
		}
	}
	if got := logOf(t, lines...).Result(usual(nil)).InStep; len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// A minute with few attempts says nothing, and a log without times has no minute.
func TestAMinuteNeedsTwentyAttempts(t *testing.T) {
	for _, c := range []struct {
		requests int
		untimed  bool
		want     Count
	}{{19, false, Count{1, 19}}, {18, false, Count{}}, {20, true, Count{}}} {
		lines := []testLine{{chain: "c", hop: "a", start: 1, end: 2, retry: true, untimed: c.untimed}}
		for k := range c.requests {
			lines = append(lines, testLine{chain: "c", hop: "a", start: k, end: k + 1, untimed: c.untimed})
		}
		if got := logOf(t, lines...).Result(usual(nil)).Ratio; got.Worst != c.want || got.All != (Count{1, uint64(c.requests)}) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestRetriesAboveTheBudgetAreSaid(t *testing.T) {
	for _, c := range []struct {
		requests int
		want     bool
	}{{9, true}, {10, false}} {
		lines := []testLine{{chain: "c", hop: "a", start: 1, end: 2, retry: true}}
		lines = append(lines, repeated(c.requests, 1, testLine{hop: "a", end: 10})...)
		if r := logOf(t, lines...).Result(usual(nil)); says(r, "retry_ratio") != c.want {
			t.Errorf("1 of %d: %v", c.requests, codes(r))
		}
	}
}
