package retries

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// row writes what a hop's calls add up to.
func row(h Hop) string {
	return fmt.Sprintf("%d calls %d attempts, cut %d, rescued %d of %d, unmatched %d, failing %d, most %d",
		h.Calls, h.Attempts, h.FirstCut, h.Rescue.N, h.Rescue.Of, h.Unmatched, binned(h.Wall), h.MostAttempts)
}

func binned(w Wall) (n uint64) {
	for _, b := range w.Histogram {
		n += b.N
	}
	return n
}

func TestARetryBelongsToTheLatestThatGaveUpBeforeIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []testLine
		want  string
	}{
		{"rescued", []testLine{{start: 0, end: 100, outcome: cut}, {start: 120, end: 130, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 1 of 1, unmatched 0, failing 0, most 2"},
		{"cut again, then rescued", []testLine{{start: 0, end: 100, outcome: cut}, {start: 120, end: 220, outcome: cut, retry: true}, {start: 260, end: 270, retry: true}},
			"1 calls 3 attempts, cut 1, rescued 1 of 1, unmatched 0, failing 0, most 3"},
		{"to no avail", []testLine{{start: 0, end: 100, outcome: cut}, {start: 120, end: 220, outcome: cut, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 0 of 1, unmatched 0, failing 1, most 2"},
		{"not retried", []testLine{{start: 0, end: 100, outcome: cut}},
			"1 calls 1 attempts, cut 1, rescued 0 of 0, unmatched 0, failing 1, most 1"},
		{"begun before the first ended", []testLine{{start: 0, end: 100, outcome: cut}, {start: 98, end: 130, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 0 of 0, unmatched 1, failing 1, most 1"},
		{"begun as it ended, to the millisecond", []testLine{{start: 0, end: 100, outcome: cut}, {start: 99, end: 130, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 1 of 1, unmatched 0, failing 0, most 2"},
		{"begun as it ended, to the second", []testLine{{start: 1000, end: 4900, outcome: cut}, {start: 4000, end: 4130, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 1 of 1, unmatched 0, failing 0, most 2"},
		{"not to the second", []testLine{{start: 1000, end: 4900, outcome: cut}, {start: 4001, end: 4130, retry: true}},
			"1 calls 2 attempts, cut 1, rescued 0 of 0, unmatched 1, failing 1, most 1"},
		{"two calls side by side", []testLine{{start: 0, end: 100, outcome: cut}, {start: 1, end: 105, outcome: cut}, {start: 120, end: 220, outcome: cut, retry: true}, {start: 121, end: 130, retry: true}},
			"2 calls 4 attempts, cut 2, rescued 1 of 2, unmatched 0, failing 1, most 2"},
		{"after one that completed", []testLine{{start: 0, end: 100}, {start: 120, end: 130, retry: true}},
			"1 calls 2 attempts, cut 0, rescued 0 of 0, unmatched 1, failing 0, most 1"},
		{"without times", []testLine{{end: 10, retry: true, untimed: true}, {end: 100, outcome: cut, untimed: true}, {end: 100, outcome: cut, retry: true, untimed: true}},
			"1 calls 3 attempts, cut 1, rescued 1 of 1, unmatched 0, failing 0, most 3"},
		{"two calls without times", []testLine{{end: 100, outcome: cut, untimed: true}, {end: 101, outcome: cut, untimed: true}, {end: 10, retry: true, untimed: true}},
			"2 calls 3 attempts, cut 2, rescued 0 of 0, unmatched 1, failing 2, most 1"},
		{"only a retry, without times", []testLine{{end: 10, retry: true, untimed: true}},
			"0 calls 1 attempts, cut 0, rescued 0 of 0, unmatched 1, failing 0, most 1"},
	} {
		for i := range c.lines {
			c.lines[i].chain, c.lines[i].hop = "c", "a"
		}
		if got := row(logOf(t, c.lines...).Result(usual(nil)).Hops[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestChainsAndHopsAreToldApart(t *testing.T) {
	r := logOf(t,
		testLine{chain: "1", hop: "a", start: 0, end: 100, outcome: cut},
		testLine{chain: "2", hop: "a", start: 120, end: 130, retry: true},
		testLine{chain: "1", hop: "b", start: 120, end: 130, retry: true},
		testLine{hop: "a", start: 140, end: 150, retry: true},
	).Result(usual(nil))
	if r.All.Rescue.Of != 0 || r.All.Unmatched != 2 || !says(r, "retries_without_chain") || !says(r, "unmatched_retries") {
		t.Errorf("%s: %v", row(r.All), codes(r))
	}
}

func TestFailuresHaveARescueOfTheirOwnByKind(t *testing.T) {
	lines := []testLine{
		{chain: "1", hop: "a", start: 0, end: 5, outcome: failed, failure: spans.Throttled}, {chain: "1", hop: "a", start: 10, end: 20, retry: true},
		{chain: "2", hop: "a", start: 0, end: 5, outcome: failed, failure: spans.ClientError}, {chain: "2", hop: "a", start: 10, end: 15, outcome: failed, failure: spans.ClientError, retry: true},
		{chain: "3", hop: "a", start: 0, end: 5, outcome: failed, failure: spans.ClientError},
	}
	r := logOf(t, lines...).Result(usual(nil))
	h := hopOf(t, r, "a")
	got := ""
	for _, f := range h.AfterFailure {
		got += fmt.Sprintf("%s %d first, %d of %d; ", f.Kind, f.First, f.N, f.Of)
	}
	if want := "throttled 1 first, 1 of 1; client_error 2 first, 0 of 1; "; got != want || h.Rescue.Of != 0 {
		t.Errorf("%s, want %s", got, want)
	}
	if h.Permanent != 1 || !says(r, "permanent_errors_retried") {
		t.Errorf("%d retries of a permanent error, want 1: %v", h.Permanent, codes(r))
	}
}

// How often a retry completes is held against half of what first attempts do: 8
// calls are the least that says anything.
func TestTheVerdictOnRetries(t *testing.T) {
	for _, c := range []struct {
		rescued, cut, well int
		want               Verdict
	}{
		{7, 7, 100, TooFew},
		{8, 8, 100, FreshDraw},
		{0, 7, 100, TooFew},
		{0, 8, 100, SameSlowness},
		{0, 19, 181, SameSlowness},
		{3, 8, 10, TooFew}, // none is shown
		{4, 8, 100, Partly},
		{76, 100, 1900, Partly},
		{94, 100, 1900, FreshDraw},
		{65, 72, 1428, FreshDraw},
		{3, 8, 0, TooFew}, // no first attempt completes: there is nothing to hold it against
		{1, 100, 0, TooFew},
		{0, 8, 0, TooFew},
	} {
		var lines []testLine
		for k := range c.cut {
			again := testLine{hop: "a", start: 120, end: 130, retry: true}
			if k >= c.rescued {
				again.outcome = cut
			}
			chain := fmt.Sprint("cut ", k)
			again.chain = chain
			lines = append(lines, testLine{chain: chain, hop: "a", start: 0, end: 100, outcome: cut}, again)
		}
		lines = append(lines, repeated(c.well, 1, testLine{hop: "a", end: 10})...)
		if got := logOf(t, lines...).Result(usual(nil)).Hops[0].Rescue; got.Verdict != c.want {
			t.Errorf("%d of %d, %d well: %s (%v), want %s", c.rescued, c.cut, c.well, got.Verdict, got, c.want)
		}
	}
}

// Calls of a hop with a timeout at its p95, each with one retry whose logarithm of the
// duration has some correlation with that of the first attempt.
func TestVerdictsByHowMuchARetryHasInCommon(t *testing.T) {
	for _, c := range []struct {
		correlation float64
		want        Verdict
		atLeast     int // of 50
	}{{0, FreshDraw, 46}, {.5, Partly, 48}, {.7, Partly, 48}, {.97, SameSlowness, 48}} {
		got := map[Verdict]int{}
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, uint64(100*c.correlation)))
			first, again := Count{Of: 2000}, Count{}
			for range first.Of {
				z := r.NormFloat64()
				if z < 1.6448536 {
					first.N++
					continue
				}
				again.Of++
				if c.correlation*z+math.Sqrt(1-c.correlation*c.correlation)*r.NormFloat64() < 1.6448536 {
					again.N++
				}
			}
			d := describer{q: Query{Confidence: quantile.MustP("0.95")}}
			got[d.rescue(again, first).Verdict]++
		}
		if got[c.want] < c.atLeast {
			t.Errorf("correlation %v: %v, want %s in %d", c.correlation, got, c.want, c.atLeast)
		}
	}
}

func TestGapsTellTheBackoffAndItsJitter(t *testing.T) {
	for _, c := range []struct {
		name string
		gap  func(k int) int
		n    int
		want Jitter
	}{
		{"always the same", func(int) int { return 20 }, 8, NoJitter},
		{"too few", func(int) int { return 20 }, 7, JitterUnknown},
		{"narrow", func(k int) int { return 100 + k%20 }, 100, NoJitter},
		{"uniform", func(k int) int { return k % 41 }, 410, SomeJitter},
		{"half of it uniform", func(k int) int { return 50 + k%51 }, 510, SomeJitter},
		{"none at all", func(int) int { return 0 }, 50, NoJitter},
	} {
		var lines []testLine
		for k := range c.n {
			at := k * 1000
			chain := fmt.Sprint(k)
			lines = append(lines, testLine{chain: chain, hop: "a", start: at, end: at + 100, outcome: cut},
				testLine{chain: chain, hop: "a", start: at + 100 + c.gap(k), end: at + 300, retry: true})
		}
		r := logOf(t, lines...).Result(usual(nil))
		if b := hopOf(t, r, "a").Backoff; b.Jitter != c.want || b.N != uint64(c.n) || says(r, "no_jitter") != (c.want == NoJitter) || r.All.Backoff.Jitter != c.want {
			t.Errorf("%s: %+v, want %s: %v", c.name, b, c.want, codes(r))
		}
	}
}

// Gaps that grow from retry to retry are no jitter.
func TestABackoffThatGrowsHasABaseAndAGrowth(t *testing.T) {
	lines := repeated(8, 10_000,
		testLine{hop: "a", start: 0, end: 3000, outcome: cut},
		testLine{hop: "a", start: 3100, end: 6100, outcome: cut, retry: true},
		testLine{hop: "a", start: 6300, end: 9300, outcome: cut, retry: true})
	b := logOf(t, lines...).Result(usual(nil)).Hops[0].Backoff
	if b.Jitter != NoJitter || *b.Base != 100*ms || b.Growth == nil || *b.Growth != 2 || *b.Min != 100*ms || *b.Max != 200*ms || b.N != 16 {
		t.Errorf("%+v", b)
	}
}
