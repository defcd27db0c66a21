package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// counts is how many attempts of a hop ended in each way.
func counts(r Result) string {
	return fmt.Sprintf("completed %d, truncated %d (below %d), failed %d, unfinished %d",
		r.Completed.All.N, r.Truncated.All.N, r.Truncated.CutBy[1].N, r.Failed.All.N, r.Unfinished)
}

func TestALeafThatIsCutUnderCallersThatFail(t *testing.T) {
	// leaf:   |------400------| cut
	// middle: |-------405--------| failed
	// edge:   |---------410---------| failed
	var log rows
	for i := range int64(100) {
		chain, start := fmt.Sprint(i), 1000*i
		if i%10 == 0 {
			log = append(log, cut(400).on("leaf").in(chain).at(start+6)...)
			log = append(log, failed(405).on("middle").in(chain).at(start+3)...)
			log = append(log, failed(410).on("edge").in(chain).at(start)...)
			continue
		}
		log = append(log, all(done(20+i).on("leaf"), done(25+i).on("middle"), done(30+i).on("edge")).in(chain).at(start)...)
	}
	byHop := results(t, NewConfig(nil), asked(), log)
	for hop, bound := range map[string]int64{"middle": 124, "edge": 129} {
		r := byHop[hop]
		if got, want := counts(r), "completed 90, truncated 10 (below 10), failed 0, unfinished 0"; got != want {
			t.Errorf("%s: %s, want %s", hop, got, want)
		}
		if p99 := tailText(r.Tail[2]); p99 != fmt.Sprint("at_least ", bound) {
			t.Errorf("%s: p99 %s", hop, p99)
		}
		if len(r.Walls) > 0 || len(r.Failed.Kinds) > 0 {
			t.Errorf("%s: cuts from below made walls %v or failures %v", hop, r.Walls, r.Failed.Kinds)
		}
		if got := warned(r, "cut_below_by_duration"); got != "" {
			t.Errorf("%s: %s", hop, got)
		}
	}
}

func TestTheRuleForCutsFromBelowCanBeOff(t *testing.T) {
	log := all(cut(400).on("leaf").in("c").at(6), failed(405).on("edge").in("c").at(3))
	for off, want := range map[bool]string{
		false: "completed 0, truncated 1 (below 1), failed 0, unfinished 0",
		true:  "completed 0, truncated 0 (below 0), failed 1, unfinished 0",
	} {
		c := NewConfig(nil)
		c.KeepFailures = off
		if got := counts(results(t, c, asked(), log)["edge"]); got != want {
			t.Errorf("off %v: %s, want %s", off, got, want)
		}
	}
}

func TestWhichFailuresHoldACut(t *testing.T) {
	const below, not = true, false
	theCut := cut(400).on("leaf").in("c")
	caller := func(duration int64) rows { return failed(duration).in("c") }
	for name, c := range map[string]struct {
		log        rows
		below      bool
		byDuration bool
	}{
		"by times":                     {all(theCut.at(10), caller(405).at(8)), below, false},
		"by times, the same interval":  {all(theCut.at(10), caller(400).at(10)), below, false},
		"1 ms before and after":        {all(theCut.at(10).later(500), caller(398).at(11).later(500)), below, false},
		"2 ms before":                  {all(theCut.at(10).later(500), caller(900).at(12).later(500)), not, false},
		"2 ms after":                   {all(theCut.at(10).later(500), caller(398).at(10).later(500)), not, false},
		"whole ms, 3 ms before":        {all(theCut.at(10), caller(900).at(13)), below, false},
		"whole ms, 4 ms before":        {all(theCut.at(10), caller(900).at(14)), not, false},
		"whole seconds, 3 s after":     {all(theCut.at(5000), caller(600).at(2000)), not, false},
		"whole seconds, 2 s after":     {all(theCut.at(4000), caller(600).at(2000)), below, false},
		"long before":                  {all(theCut.at(0), caller(500).at(100000)), not, false},
		"long after":                   {all(theCut.at(100000), caller(500).at(0)), not, false},
		"by durations":                 {all(theCut, caller(400)), below, true},
		"by durations, shorter":        {all(theCut, caller(399)), not, false},
		"one without a start":          {all(theCut.at(10), caller(400)), below, true},
		"times beat durations":         {all(theCut, theCut.at(10), caller(405).at(8)), below, false},
		"outside, another by duration": {all(theCut.at(9999), theCut, caller(405).at(8)), below, true},
		"one that a retry completed":   {all(theCut.at(10), done(50).on("leaf").in("c").at(420).retried(), caller(500).at(8)), not, false},
		"one that it did too late":     {all(theCut.at(10), done(150).on("leaf").in("c").at(420).retried(), caller(500).at(8)), below, false},
		"one of another chain":         {all(theCut.at(10), done(50).on("leaf").in("d").at(420).retried(), caller(500).at(8)), below, false},
		"another chain":                {all(theCut.at(10).in("d"), caller(405).at(8)), not, false},
		"no chain":                     {all(cut(400).on("leaf").at(10), failed(405).at(8)), not, false},
		"its own hop":                  {all(theCut.on("h").at(10), caller(405).at(8)), not, false},
		"nothing cut":                  {all(failed(400).on("leaf").in("c").at(10), caller(405).at(8)), not, false},
		"a retry":                      {all(theCut.at(10), caller(405).at(8).retried()), below, false},
		"a cut by its caller":          {all(theCut.at(10).by(spans.Caller), caller(405).at(8)), below, false},
		"ages apart":                   {all(theCut.at(-math.MaxInt64/ms), caller(500).at(math.MaxInt64/ms)), not, false},
		"ages long":                    {all(theCut.at(math.MaxInt64/ms), caller(math.MaxInt64/ms-500).at(0).later(500)), not, false},
	} {
		r := results(t, NewConfig(nil), asked(), c.log)["h"]
		want := "completed 0, truncated 0 (below 0), failed 1, unfinished 0"
		switch {
		case c.below:
			want = "completed 0, truncated 1 (below 1), failed 0, unfinished 0"
		case name == "its own hop":
			want = "completed 0, truncated 1 (below 0), failed 1, unfinished 0"
		}
		if got := counts(r); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := warned(r, "cut_below_by_duration") != ""; got != c.byDuration {
			t.Errorf("%s: by duration %v, want %v", name, got, c.byDuration)
		}
	}
}

// Without a mark of its cause a failure that turns into a cut keeps its timeout, which did
// not cut it if it ended earlier.
func TestACutFromBelowStandsAtItsTimeoutOrBelowIt(t *testing.T) {
	log := all(done(1, 2, 3), cut(400).on("leaf").in("c"), failed(405).in("c"))
	for limit, want := range map[int64]string{0: "at_least 3", 300: "at_least 300", 900: "at_least 3"} {
		byHop := results(t, timeouts(map[string]int64{"h": limit}), asked("0.99"), log)
		if got := tailText(byHop["h"].Tail[0]); got != want {
			t.Errorf("timeout %d ms: %s, want %s", limit, got, want)
		}
	}
}

// What was not seen to end would have taken as long as its trace shows, or longer.
func TestUnfinishedSpansLastAtLeastAsLongAsTheirTrace(t *testing.T) {
	var list []weighed
	for i := range 1000 {
		one := span(0, int64(10+i%5), spans.Completed)
		one.Flags |= spans.HasStart
		w := weighed{spans: []spans.Span{one}, weight: 1}
		if i%50 == 0 {
			open := span(0, 0, spans.Unfinished)
			open.ID, open.Start, open.Flags = 2, 100*ms, spans.HasStart
			last := span(1, 500, spans.Completed)
			last.ID, last.Start, last.Flags = 3, 100*ms, last.Flags|spans.HasStart
			w.spans = append(w.spans, open, last)
		}
		list = append(list, w)
	}
	r := classesOf(NewConfig(nil), 2, list).Results(asked("0.5", "0.99"))[0]
	if got := counts(r); got != "completed 1000, truncated 0 (below 0), failed 0, unfinished 20" {
		t.Error(got)
	}
	half, tail := r.Tail[0], r.Tail[1]
	if half.Status != quantile.Exact || half.Upper == nil || half.N != 1020 {
		t.Errorf("p50: %+v", half)
	}
	if tail.Status != quantile.AtLeast || tail.Value != 500*ms || tail.Upper != nil || tail.Reason != "20 were not seen to end: what they would have taken is not known either; highest certifiable quantile p97; a canary with a raised timeout needs first attempts: 299 for p99" {
		t.Errorf("p99: %+v", tail)
	}
}

func TestUnfinishedAttemptsAreInNoBucket(t *testing.T) {
	open := done(7).each(func(one *row) { one.Outcome, one.Duration, one.HasDuration = spans.Unfinished, 0, false }).in("c")
	r := hopOf(t, NewConfig(nil), asked(), all(done(1, 2), open, open.retried()))
	if got, want := counts(r), "completed 2, truncated 0 (below 0), failed 0, unfinished 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r.Attempts != 4 || r.FirstAttempts != 2 || r.Recorded.All.N != 2 {
		t.Errorf("%d attempts, %d of them first, %d recorded", r.Attempts, r.FirstAttempts, r.Recorded.All.N)
	}
}

// chains is a log with n chains whose leaf is cut under a failing caller, and n
// whose caller fails alone.
func chains(n int) rows {
	var log rows
	for i := range n {
		held, alone := fmt.Sprint("held ", i), fmt.Sprint("alone ", i)
		log = append(log, all(cut(400).on("leaf"), failed(405)).in(held).at(0)...)
		log = append(log, failed(400).in(alone).at(0)...)
	}
	return log
}

func TestTooManyHeldAttemptsAreNotChecked(t *testing.T) {
	open := done(0).each(func(one *row) { one.Outcome = spans.Unfinished }).in("held 0")
	log := all(chains(10), failed(3).on("no chain"), done(1, 2, 3), open) // 30 are held
	for limit, checked := range map[int]bool{30: true, 29: false, 1: false, -1: false} {
		c := NewConfig(nil)
		c.MaxHeld = limit
		byHop := results(t, c, asked(), log)
		want := "completed 3, truncated 0 (below 0), failed 20, unfinished 1"
		if checked {
			want = "completed 3, truncated 10 (below 10), failed 10, unfinished 1"
		}
		if got := counts(byHop["h"]); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
		text := ""
		if !checked {
			text = fmt.Sprintf("more than %d attempts timed out or failed, too many to look for failures that hold a timeout of their chain: 20 of this hop count as failed", limit)
		}
		if got := warned(byHop["h"], "below_unchecked"); got != text {
			t.Errorf("limit %d: warning %q, want %q", limit, got, text)
		}
		for _, quiet := range []string{"leaf", "no chain"} {
			if got := warned(byHop[quiet], "below_unchecked"); got != "" {
				t.Errorf("limit %d: %s, of which nothing was held, is warned: %s", limit, quiet, got)
			}
		}
	}
}

// Whoever gives up, and when, the failures all count and the results agree.
func TestGivingUpDoesNotDependOnTheSplit(t *testing.T) {
	log := all(chains(10), done(1, 2, 3), failed(9, 9, 9).on("fails only").in("f"))
	for _, limit := range []int{1, 5, 20, 32, 33} {
		c := NewConfig(nil)
		c.MaxHeld = limit
		want := setOf(t, c, log).Results(asked())
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 7))
			set := shared(t, c, r, 1+r.IntN(5), log)
			if n := set.Attempts(); n != uint64(len(log)) {
				t.Fatalf("limit %d: %d attempts of %d", limit, n, len(log))
			}
			if d := same(want, set.Results(asked())); d != "" {
				t.Fatalf("limit %d, seed %d: %s", limit, seed, d)
			}
		}
	}
}

func TestASetThatGaveUpStillTakesRows(t *testing.T) {
	c := NewConfig(nil)
	c.MaxHeld = 2
	a, b := setOf(t, c, chains(1)), setOf(t, c, failed(5).in("x")) // a gave up, b holds a failure
	a.Merge(b)
	if got := counts(a.Results(asked())[0]); got != "completed 0, truncated 0 (below 0), failed 3, unfinished 0" {
		t.Error(got)
	}
}

// A caller whose call was cut from below went on as long as that call had not ended: from the
// call's start on, for its timeout or for what its cuts show.
func TestACutFromBelowLastsAsLongAsTheCallThatWasCut(t *testing.T) {
	for _, timeout := range []int64{0, 200} {
		var list []weighed
		for i := range 400 {
			outer := span(0, int64(60+i%40), spans.Completed)
			inner := span(1, outer.Duration/ms-30, spans.Completed)
			if i%10 == 0 {
				outer, inner = span(0, 260, spans.Truncated), span(1, 203, spans.Truncated)
				outer.CutBy = spans.Below
			}
			outer.ID, outer.Flags = 1, outer.Flags|spans.HasStart
			inner.ID, inner.Parent, inner.Start, inner.Timeout, inner.Flags = 2, 1, 40*ms, timeout*ms, inner.Flags|spans.HasStart
			list = append(list, weighed{spans: []spans.Span{outer, inner}, weight: 1})
		}
		r := classesOf(NewConfig(nil), 2, list).Results(asked("0.5", "0.95"))[0]
		// The slowest inner call that completed took 69 ms; outer ones took up to 99.
		want := int64(40 + 69)
		if timeout > 0 {
			want = 40 + timeout
		}
		if q := r.Tail[1]; q.Status != quantile.AtLeast || q.Value != want*ms {
			t.Errorf("timeout %d: %s %d", timeout, q.Status, q.Value)
		}
		if got := counts(r); got != "completed 360, truncated 40 (below 40), failed 0, unfinished 0" || r.TruncatedShare.Count != 40 || r.Tail[0].N != 400 {
			t.Errorf("timeout %d: %s, %+v", timeout, got, r.TruncatedShare)
		}
	}
}
