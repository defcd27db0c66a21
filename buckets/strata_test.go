package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// world draws true durations of two callers that wait 1 s and 3 s, and the log
// that is left of them: cuts are recorded late by so many milliseconds.
func world(r *rand.Rand, late int64) (truth []int64, log rows) {
	slow := r.Float64() * 3
	for range 50 + r.IntN(150) {
		caller, wall := "patient", int64(3000)
		duration := int64(200 * math.Exp(r.NormFloat64()))
		if r.IntN(2) == 0 {
			caller, wall = "hasty", 1000
			duration = int64(float64(duration) * (1 + slow))
		}
		truth = append(truth, duration*ms)
		if duration > wall {
			log = append(log, cut(wall+late).from(caller)...)
		} else {
			log = append(log, done(duration).from(caller)...)
		}
	}
	slices.Sort(truth)
	return truth, log
}

// A bound that needs no assumption must hold in every world, and not only on
// average.
func TestAtLeastNeverExceedsTheTruth(t *testing.T) {
	bounds := 0
	for seed := range uint64(1000) {
		truth, log := world(rand.New(rand.NewPCG(seed, 1)), 0)
		r := hopOf(t, NewConfig(nil), asked("0.5", "0.8", "0.9", "0.95", "0.99"), log)
		for _, one := range r.Tail {
			actual := truth[one.Rank-1]
			if one.Status == quantile.Exact && one.Value != actual || one.Value > actual {
				t.Errorf("world %d: %s is %s, the truth is %s", seed, one.P.Label(), tailText(one), millis(actual))
			}
			if one.Status == quantile.AtLeast {
				bounds++
			}
		}
	}
	if bounds < 1000 {
		t.Errorf("only %d bounds were put to the test", bounds)
	}
}

// Logged late and without their timeouts, cuts can make both statuses too high.
// Wherever that happens the hop must carry the warning, unless nothing lasted
// longer than the first cut: then the log is that of one wall. With the timeouts
// known nothing is too high.
func TestLateCutsAreWarnedWhereTheyMislead(t *testing.T) {
	misled, warnedWorlds := 0, 0
	for seed := range uint64(300) {
		truth, log := world(rand.New(rand.NewPCG(seed, 2)), 700)
		q := asked("0.5", "0.8", "0.9", "0.95")
		late := hopOf(t, NewConfig(nil), q, log)
		known := hopOf(t, NewConfig(nil), q, log.each(func(one *row) {
			one.Timeout, one.HasTimeout = map[string]int64{"hasty": 1 * s, "patient": 3 * s}[one.stratum], true
		}))
		if warned(late, "late_cuts_may_mislead") != "" {
			warnedWorlds++
		}
		tells := longest(log) > 1700*ms*102/100
		for i := range q.Quantiles {
			actual := truth[late.Tail[i].Rank-1]
			if known.Tail[i].Value > actual {
				t.Errorf("world %d: with its timeouts %s is %s, the truth is %s", seed, q.Quantiles[i].Label(), tailText(known.Tail[i]), millis(actual))
			}
			if late.Tail[i].Value > actual {
				misled++
				if tells && warned(late, "late_cuts_may_mislead") == "" {
					t.Errorf("world %d: %s is %s, the truth is %s, and nothing is said", seed, q.Quantiles[i].Label(), tailText(late.Tail[i]), millis(actual))
				}
			}
		}
	}
	if misled == 0 || warnedWorlds == 0 {
		t.Errorf("%d quantiles misled, %d worlds warned: the test says nothing", misled, warnedWorlds)
	}
}

func longest(log rows) int64 {
	sorted := log.durations()
	return sorted[len(sorted)-1]
}

// By caller a completed attempt shows which wall applied to it; pooled it does
// not, and the slower caller looks too slow.
func TestStrataGiveTheKaplanMeierValue(t *testing.T) {
	// Each caller weighs a half. hasty: 3 cut at 1 of 5, so S is 1 up to 10, then
	// 1/2 and 0; patient: 4/5, 3/5 ... and 0 at 6. Together 1/2 at 6, 1/4 at 10.
	// Pooled: of 7 at risk after the cuts 2 are left at 6, 2/7 < 0.3.
	log := all(all(cut(1).times(3), done(10, 11)).from("hasty"), done(2, 3, 4, 5, 6).from("patient"))
	for want, r := range map[string]rows{"at_least 5 km 10": log, "at_least 5 km 6": log.from("")} {
		if got := tailText(hopOf(t, NewConfig(nil), asked("0.7"), r).Tail[0]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestStrataStopWhereTheFirstOfThemStops(t *testing.T) {
	var log rows
	for i := range int64(10) {
		log = append(log, all(done(100*i+50).from("hasty"), done(300*i).from("patient"))...)
	}
	log = append(log, cut(1000, 1000).from("hasty")...)
	r := hopOf(t, NewConfig(nil), asked("0.5", "0.9"), log)
	if r.Tail[0].Status != quantile.Exact || r.Tail[1].KM != nil {
		t.Errorf("strata: %v", tailTexts(r))
	}
	if r = hopOf(t, NewConfig(nil), asked("0.9"), log.from("")); r.Tail[0].KM == nil {
		t.Errorf("pooled: %v", tailTexts(r))
	}
}

// In strata too a suspect and a cut from below stand at their censoring time.
func TestStrataTakeSuspectsAndCutsFromBelow(t *testing.T) {
	c := timeouts(map[string]int64{"h": 10})
	log := all(done(1, 2, 3, 12).from("x"), done(20).from("y")).unmarked()
	r := hopOf(t, c, without(asked("0.9")), all(log, done(11).from("z").retried()))
	if got := tailText(r.Tail[0]); got != "at_least 10" {
		t.Errorf("without marks: %s", got)
	}
	// x: 1 of 2 done, then cut at 10, not at 12 as logged: unknown from there on.
	r = hopOf(t, c, without(asked("0.6")), all(done(1, 12).from("x").unmarked(), done(11).from("y")))
	if got := tailText(r.Tail[0]); got != "at_least 10" {
		t.Errorf("cut at its timeout: %s", got)
	}
	r = hopOf(t, c, asked("0.9"), all(log, done(21).from("y")))
	if got := tailText(r.Tail[0]); got != "exact 21" {
		t.Errorf("with marks: %s", got)
	}
	// x: done 1, cut from below at 4; y: done 5, 6. S: 1: 3/4, 4 on: not identified.
	chained := all(done(1).from("x"), failed(4).from("x").in("c"), done(5, 6).from("y"), cut(3).on("leaf").in("c"))
	for p, want := range map[string]string{"0.25": "exact 1", "0.5": "at_least 1"} {
		if got := tailText(results(t, NewConfig(nil), asked(p), chained)["h"].Tail[0]); got != want {
			t.Errorf("p %s: %s, want %s", p, got, want)
		}
	}
}

// grouped is n attempts, each in a stratum of its own, and a cut.
func grouped(n int) rows {
	log := all(cut(2).from("0"), done(9).from("0"))
	for i := range n {
		log = append(log, done(int64(i)).from(fmt.Sprint(i))...)
	}
	return log
}

func TestTooManyStrata(t *testing.T) {
	const text = "--by gives more than 1000 strata: no Kaplan-Meier value"
	for n, want := range map[int]string{1000: "", 1001: text, 4000: text} {
		whole := setOf(t, NewConfig(nil), grouped(n))
		r := whole.Results(asked())[0]
		if got := warned(r, "too_many_strata"); got != want {
			t.Errorf("%d strata: %q, want %q", n, got, want)
		}
		for seed := range uint64(5) {
			split := shared(t, NewConfig(nil), rand.New(rand.NewPCG(seed, 3)), 3, grouped(n)).Results(asked())
			if d := same([]Result{r}, split); d != "" {
				t.Fatalf("%d strata, split: %s", n, d)
			}
		}
	}
	few, many := setOf(t, NewConfig(nil), grouped(10)), setOf(t, NewConfig(nil), grouped(1001))
	few.Merge(many)
	if got := warned(few.Results(asked())[0], "too_many_strata"); got != text {
		t.Errorf("too many in one of two workers: %q", got)
	}
	set := setOf(t, NewConfig(nil), all(grouped(5000), failed(9).from("one more").in("c")))
	if h := set.hop(spans.Hop{Name: "h"}); len(h.strata.byName) > 0 {
		t.Errorf("%d strata are kept although they are too many", len(h.strata.byName))
	}
	for _, one := range set.Results(asked())[0].Tail {
		if one.KM != nil {
			t.Errorf("%s has a Kaplan-Meier value of part of the strata", one.P.Label())
		}
	}
}

func TestRetriesAreInNoStratum(t *testing.T) {
	log := all(done(to(20)...), done(90).from("x").retried(), cut(91).from("y").retried())
	if set := setOf(t, NewConfig(nil), log); len(set.hop(spans.Hop{Name: "h"}).strata.byName) != 1 {
		t.Errorf("strata %v", set.hop(spans.Hop{Name: "h"}).strata.byName)
	}
}
