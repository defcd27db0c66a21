package retries

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"

	"github.com/tailscope/tailscope/spans"
)

func TestCallsThatRunIntoTheWallEachTimeAreAtIt(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		wall  int
		lasts func(k int) []int // of the attempts of a call, ms
		want  WallVerdict
		at    uint64
	}{
		{"three tries", 19, 3000, func(int) []int { return []int{3000, 3000, 3000} }, AtTheWall, 19},
		{"one try", 5, 300, func(k int) []int { return []int{300 + k%4} }, AtTheWall, 5},
		{"too few", 4, 300, func(int) []int { return []int{300} }, WallTooFew, 4},
		{"cut a little early", 10, 1000, func(int) []int { return []int{999, 999} }, AtTheWall, 10},
		{"with clean-up", 10, 5000, func(k int) []int { return []int{5700 + k} }, AtTheWall, 10},
		{"well above", 10, 5000, func(int) []int { return []int{7000} }, Scattered, 0},
		{"failed at once", 10, 300, func(int) []int { return []int{2, 2, 2} }, Scattered, 0},
		{"half and half", 10, 300, func(k int) []int { return []int{300 * (k % 2)} }, WallTooFew, 5},
		{"no wall is known", 10, 0, func(int) []int { return []int{300} }, WallTooFew, 0},
	} {
		var lines []testLine
		for k := range c.n {
			at := 0
			for i, ran := range c.lasts(k) {
				lines = append(lines, testLine{chain: fmt.Sprint(k), hop: "a", start: at, end: at + ran, outcome: cut, retry: i > 0})
				at += ran + 100<<i
			}
		}
		walls := map[string]int{"a": c.wall}
		if c.wall == 0 {
			walls = nil
		}
		r := logOf(t, lines...).Result(usual(walls))
		for _, h := range []Hop{r.Hops[0], r.All} {
			if h.Wall.Verdict != c.want || h.Wall.N != c.at || binned(h.Wall) != uint64(c.n) {
				t.Errorf("%s: %+v, want %s with %d", c.name, h.Wall, c.want, c.at)
			}
		}
	}
}

func TestDurationsAtRandomAreScattered(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	scattered := 0
	for range 20 {
		var lines []testLine
		for k := range 19 {
			lines = append(lines, testLine{chain: fmt.Sprint(k), hop: "a", end: 200 + r.IntN(12_000), outcome: cut})
		}
		if logOf(t, lines...).Result(usual(map[string]int{"a": 3000})).All.Wall.Verdict == Scattered {
			scattered++
		}
	}
	if scattered < 19 {
		t.Errorf("%d of 20 draws are scattered", scattered)
	}
}

// CPU quotas make spikes at whole multiples of 100 ms. Without a mark they are no
// wall.
func TestCompletedSpikesAreNoWall(t *testing.T) {
	var lines []testLine
	for k := range 300 {
		lines = append(lines, testLine{chain: fmt.Sprint(k), hop: "a", end: 100 * (1 + k%5)})
	}
	r := logOf(t, lines...).Result(usual(map[string]int{"a": 100}))
	if w := r.All.Wall; w.Verdict != WallTooFew || w.Of != 0 || len(w.Histogram) != 0 || len(r.Warnings) != 0 {
		t.Errorf("%+v %v", w, codes(r))
	}
}

func TestTheHistogramOfFailingCalls(t *testing.T) {
	for _, c := range []struct {
		wall  int64
		lasts []int64
		want  string
	}{
		{3000, []int64{9300, 9301, 3000}, "1000: 3000 1, 9000 2"},
		{300, []int64{599, 600, 0}, "100: 0 1, 500 1, 600 1"},
		{400, []int64{820}, "100: 800 1"},
		{0, []int64{2000, 100}, "100: 100 1, 2000 1"}, // a twentieth of the longest
		{1, []int64{5_000}, "100: 5000 1"},            // no more than a hundred bins
		{0, nil, "0:"},
	} {
		var s quantile.Sample
		for _, v := range c.lasts {
			s.Add(v)
		}
		width, bins := histogram(quantile.Union{&s}, c.wall)
		got := fmt.Sprint(width, ":")
		for i, b := range bins {
			if i > 0 {
				got += ","
			}
			got += fmt.Sprint(" ", b.From, " ", b.N)
		}
		if got != c.want {
			t.Errorf("wall %d, %v: %s, want %s", c.wall, c.lasts, got, c.want)
		}
	}
}

// The bins of all hops together do not depend on the hops' names.
func TestTheHistogramOfAllTakesTheShortestWall(t *testing.T) {
	widths := map[int64]bool{}
	for _, names := range [][2]string{{"a", "z"}, {"z", "a"}} {
		lines := append(repeated(5, 1, testLine{chain: "1", hop: names[0], end: 3000, outcome: cut}), repeated(5, 1, testLine{chain: "2", hop: names[1], end: 10, outcome: cut})...)
		widths[logOf(t, lines...).Result(usual(map[string]int{names[0]: 3000, names[1]: 10})).All.Wall.Width] = true
	}
	if len(widths) != 1 {
		t.Errorf("widths %v", widths)
	}
}

func TestCompletedAttemptsNearTheirWall(t *testing.T) {
	var s quantile.Sample
	for i := range 100 {
		s.Add(int64(i+1) * ms)
	}
	q := usual(map[string]int{"a": 100})
	q.Completed = func(spans.Hop) quantile.Union { return quantile.Union{&s} }
	r := logOf(t, testLine{chain: "1", hop: "a", end: 10}).Result(q)
	if n := r.Hops[0].NearTimeout; n != (Near{Count{20, 100}}) || !says(r, "near_timeout") {
		t.Errorf("%+v, want 20 of 100: %v", n, codes(r))
	}
	lines := append(repeated(9, 1, testLine{chain: "w", hop: "a", end: 10}), testLine{chain: "c", hop: "a", end: 100, outcome: cut}, testLine{chain: "c", hop: "a", start: 120, end: 130, retry: true})
	q.Biased = true
	if h := logOf(t, lines...).Result(q).Hops[0]; !h.Rescue.Biased || h.Rescue.Count != (Count{1, 1}) || h.Rescue.Upper != 0 || h.Wall.Share() != nil {
		t.Errorf("biased: %+v, %+v", h.Rescue, h.Wall)
	}
	if r := logOf(t, testLine{chain: "1", hop: "a", end: 10}).Result(q); r.Hops[0].NearTimeout.Share() != nil || r.Ratio.All.Share() != nil || !says(r, "biased_sample") {
		t.Errorf("biased: %+v", r.Hops[0])
	}
}
