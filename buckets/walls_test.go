package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// wallLine is a wall in one line: "inferred 5 in 90..100".
func wallLine(w Wall) string {
	if w.Timeout != nil && *w.Timeout == w.From && w.From == w.To {
		return fmt.Sprintf("%s %d at %s", w.Source, w.Count, millis(*w.Timeout))
	}
	return fmt.Sprintf("%s %d in %s..%s", w.Source, w.Count, millis(w.From), millis(w.To))
}

func wallTexts(r Result) string {
	var list []string
	for _, w := range r.Walls {
		list = append(list, wallLine(w))
	}
	return strings.Join(list, ", ")
}

func TestWalls(t *testing.T) {
	five := cut(100, 100, 101, 102, 103)
	for name, c := range map[string]struct {
		timeout int64
		log     rows
		want    string
	}{
		"nothing cut":                   {0, done(1, 2), ""},
		"inferred":                      {0, all(done(1, 90, 150), five), "inferred 5 in 90..100"},
		"inferred, nothing below":       {0, all(done(150), five), "inferred 5 in 0..100"},
		"too few":                       {0, all(done(1, 90), five[:4]), ""},
		"scattered":                     {0, cut(100, 120, 140, 160, 180, 200, 220, 240), ""},
		"retries count too":             {0, all(five[:3], five[3:].retried(), done(95).retried()), "inferred 5 in 95..100"},
		"from below is no wall":         {0, five.by(spans.Below), ""},
		"from the caller is no wall":    {0, five.by(spans.Caller), ""},
		"of unknown cause is no wall":   {0, five.by(spans.CutUnknown), ""},
		"two inferred":                  {0, all(done(90, 150), five, cut(200).times(5)), "inferred 5 in 90..100, inferred 5 in 150..200"},
		"configured":                    {99, all(done(1), five), "configured 5 at 99"},
		"configured, nothing cut":       {99, done(1), "configured 0 at 99"},
		"configured, cut by the caller": {99, five.by(spans.Caller), "configured 0 at 99"},
		"configured beats recorded":     {99, five.under(98), "configured 5 at 99"},
		"recorded":                      {0, all(cut(101).under(100), cut(51, 52).under(50)), "recorded 2 at 50, recorded 1 at 100"},
		"recorded, cut from below":      {0, cut(101).under(100).by(spans.Below), ""},
		"recorded and inferred":         {0, all(done(7), five, cut(51).under(50)), "recorded 1 at 50, inferred 5 in 7..100"},
	} {
		r := hopOf(t, timeouts(map[string]int64{"h": c.timeout}), asked(), c.log)
		if got := wallTexts(r); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOfManyRecordedWallsTheBusiestAreListed(t *testing.T) {
	log := done(to(10)...)
	for i := range int64(16) {
		log = append(log, cut(200+i).under(100+i).times(2)...)
	}
	r := hopOf(t, NewConfig(nil), asked(), log)
	if len(r.Walls) != 16 || warned(r, "walls_omitted") != "" {
		t.Errorf("of 16 walls: %d, %q", len(r.Walls), warned(r, "walls_omitted"))
	}
	log = append(log, all(cut(51).under(50).times(3), cut(151).under(150), cut(91).under(90))...)
	r = hopOf(t, NewConfig(nil), asked(), log)
	if len(r.Walls) != 16 || wallLine(r.Walls[0]) != "recorded 3 at 50" || wallLine(r.Walls[15]) != "recorded 2 at 114" {
		t.Errorf("of 19 walls: %s", wallTexts(r))
	}
	if got := warned(r, "walls_omitted"); got != "19 different timeouts are at work: the 16 that end most attempts are listed" {
		t.Errorf("warning %q", got)
	}
	if got := r.Tail[2].Reason; !strings.Contains(got, "at 19 timeouts, the first before p99; timeouts 50 ms, 100 ms, 101 ms, 102 ms and 15 more;") {
		t.Errorf("reason %q", got)
	}
}

func TestSuspectsAreCutOnlyWithoutAnyMark(t *testing.T) {
	near := all(done(to(90)...), done(999, 1000, 1001, 1200).each(func(one *row) { one.Duration -= 500 * us })).unmarked()
	// A timeout of 1 s less 0.1 % is 999 ms: 999.5, 1000.5 and 1199.5 ms reached it.
	for name, c := range map[string]struct {
		q     Query
		log   rows
		cut   uint64
		walls string
	}{
		"no mark in the input":     {without(asked()), near, 3, "configured 3 at 1000"},
		"marks of other hops":      {asked(), near, 3, "configured 3 at 1000"},
		"marks of this hop":        {asked(), all(near, done(5)), 0, "configured 0 at 1000"},
		"marked as successful":     {without(asked()), all(near[:90], near[90:].each(func(one *row) { one.Marked = true })), 0, "configured 0 at 1000"},
		"among retries":            {without(asked()), all(near[:90], near[90:].retried()), 3, "configured 3 at 1000"},
		"at the edge, 999 ms":      {without(asked()), done(998, 999).unmarked(), 1, "configured 1 at 1000"},
		"no timeout for this hop":  {without(asked()), near.on("other"), 0, ""},
		"failed ones are no cuts":  {without(asked()), failed(1000).unmarked(), 0, "configured 0 at 1000"},
		"nothing reached it":       {without(asked()), near[:90], 0, "configured 0 at 1000"},
		"a marked cut is one also": {without(asked()), all(near, cut(1003)), 4, "configured 4 at 1000"},
	} {
		set := setOf(t, timeouts(map[string]int64{"h": 1000}), c.log)
		if n := set.Attempts(); n != uint64(len(c.log)) {
			t.Errorf("%s: %d attempts before the results, want %d", name, n, len(c.log))
		}
		r := set.Results(c.q)[0]
		if r.Truncated.All.N != c.cut || r.Truncated.CutBy[0].N != c.cut || r.Attempts != uint64(len(c.log)) {
			t.Errorf("%s: %d cut of %d, %v", name, r.Truncated.All.N, r.Attempts, r.Truncated.CutBy)
		}
		if got := wallTexts(r); got != c.walls {
			t.Errorf("%s: walls %q, want %q", name, got, c.walls)
		}
	}
}

func TestSuspectsStandAtTheTimeoutInTheTail(t *testing.T) {
	log := all(done(to(90)...), done(1200).times(10)).unmarked()
	c := timeouts(map[string]int64{"h": 1000})
	r := hopOf(t, c, without(asked()), log)
	if d := same([]string{"exact 50 upper 60", "at_least 1000", "at_least 1000"}, tailTexts(r)); d != "" {
		t.Error(d)
	}
	if r.Truncated.First.Max != 1200*ms {
		t.Errorf("the bucket shows %d, not what was recorded", r.Truncated.First.Max)
	}
	if d := same([]string{"exact 50 upper 60", "at_least 90", "at_least 90"}, tailTexts(hopOf(t, c, asked(), all(log[:99], done(1200))))); d != "" {
		t.Error(d)
	}
}

func TestFloorsOfSlowLogs(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 99 * ms: 0, 100 * ms: 100 * ms, 101 * ms: 100 * ms, 101*ms + 1: 0, 150 * ms: 0, 200 * ms: 200 * ms,
		252 * ms: 250 * ms, 300 * ms: 300 * ms, 400 * ms: 0, 505 * ms: 500 * ms, 1000 * ms: 1000 * ms, 2501 * ms: 2500 * ms, math.MaxInt64: 0} {
		if got := floorBelow(ns); got != want {
			t.Errorf("%d: %d, want %d", ns, got, want)
		}
	}
}

// A log of what took 200 ms or longer says nothing certain of all calls, unless somebody
// says that there were no others.
func TestALogOfSlowAttemptsCertifiesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	draw := func(n int, least float64) (log rows) {
		for len(log) < n {
			if d := 60 * math.Exp(1.1*r.NormFloat64()); d >= least {
				one := done(1)[0]
				one.Duration = int64(d * float64(ms))
				log = append(log, one)
			}
		}
		return log
	}
	slow, all := draw(4000, 200), draw(4000, 0)
	q := asked("0.5", "0.99")
	if got := hopOf(t, NewConfig(nil), q, slow); got.Tail[0].Upper != nil || got.Tail[1].Upper != nil || !strings.Contains(warned(got, "suspected_slow_log"), "shorter than 200 ms") {
		t.Errorf("%+v %v", got.Tail, got.Warnings)
	}
	if got := hopOf(t, NewConfig(nil), q, all); got.Tail[1].Upper == nil || warned(got, "suspected_slow_log") != "" {
		t.Errorf("%+v %v", got.Tail, got.Warnings)
	}
	q.NoneLeftOut = true
	if got := hopOf(t, NewConfig(nil), q, slow); got.Tail[1].Upper == nil || warned(got, "suspected_slow_log") != "" {
		t.Errorf("said to be all: %+v %v", got.Tail, got.Warnings)
	}
}
