package main

import (
	"strconv"

	"github.com/tailscope/tailscope/spans"
)

// cut is an attempt that was ended by a timeout.
func (a *attempt) cut(logged float64) {
	a.outcome, a.cutBy, a.logged = spans.Truncated, spans.Own, int64(logged)
}

func (a *attempt) fail(f spans.Failure, logged float64) {
	a.outcome, a.failure, a.logged = spans.Failed, f, int64(logged)
}

func completed(*scene, *attempt) {}

// cutAt ends what outlasts the timeout; as says what the log then has as a multiple of it.
func cutAt(as func(s *scene) float64) func(*scene, *attempt) {
	return func(s *scene, a *attempt) {
		if a.latent >= s.wall {
			a.cut(float64(s.wall) * as(s))
		}
	}
}

// late is a cut that is logged up to this share after its timeout.
func late(share float64) func(*scene) float64 {
	return func(s *scene) float64 { return 1 + share*s.Float64() }
}

// told puts a timeout into every record: the true one times a factor.
func told(factor float64, see func(*scene, *attempt)) func(*scene, *attempt) {
	return func(s *scene, a *attempt) {
		see(s, a)
		a.timeout = int64(float64(s.wall) * factor)
	}
}

// some lets this happen to a share of the attempts.
func some(share float64, see func(*scene, *attempt)) func(*scene, *attempt) {
	return func(s *scene, a *attempt) {
		if s.Float64() < share {
			see(s, a)
		}
	}
}

// jittered cuts each attempt at a timeout of its own.
func jittered(s *scene, a *attempt) {
	if own := float64(s.wall) * (.9 + .2*s.Float64()); float64(a.latent) >= own {
		a.cut(own * (1 + .02*s.Float64()))
	}
}

// closedPage ends an attempt at some moment.
func closedPage(s *scene, a *attempt) {
	a.cut(float64(a.latent) * s.Float64())
	a.cutBy = spans.Caller
}

func wrongMark(s *scene, a *attempt) { a.cut((.5 + s.Float64()) * ms) }

// failing logs what a timeout cut as a failure.
func failing(kind spans.Failure, speaks bool) func(*scene, *attempt) {
	return func(s *scene, a *attempt) {
		if a.latent >= s.wall {
			a.fail(kind, float64(s.wall)*(1+.01*s.Float64()))
			a.speaks = speaks
		}
	}
}

// piled logs what a timeout cut as completed.
func piled(s *scene, a *attempt) {
	if a.latent >= s.wall {
		a.logged = int64(float64(s.wall) * (1 + .005*s.Float64()))
	}
}

// neverEnds leaves what outlasts some time without an end: its process went away.
func neverEnds(s *scene, a *attempt) {
	if a.latent >= s.wall {
		a.outcome, a.logged = spans.Unfinished, int64(float64(s.wall)*s.Float64())
	}
}

var usual = []float64{.004, .02, .1}

// worlds are those of the table.
func worlds() []world {
	list := []world{{name: "nothing timed out", see: completed, asks: all}}
	list = append(list, oneTimeout()...)
	list = append(list, severalTimeouts()...)
	list = append(list, clocks()...)
	list = append(list, unmarkedTimeouts()...)
	list = append(list, otherEnds()...)
	return append(list, together()...)
}

func oneTimeout() []world {
	one := func(name string, see func(*scene, *attempt)) world {
		return world{name: "one timeout, " + name, shares: usual, see: see, asks: all}
	}
	early := func(s *scene) float64 { return 1 - .05*s.Float64() }
	exactly := func(*scene) float64 { return 1 }
	return []world{
		one("recorded", told(1, cutAt(late(.02)))), one("not known", cutAt(late(.02))),
		one("14 % late", cutAt(late(.14))), one("30 % late", cutAt(late(.3))), one("45 % late", cutAt(late(.45))),
		one("5 % early", cutAt(early)), one("recorded, 5 % early", told(1, cutAt(early))),
		one("logged as capped", cutAt(exactly)), one("jittered by 10 %", jittered),
	}
}

func severalTimeouts() []world {
	two := func(share float64) world {
		return world{name: "two callers, one without a timeout, " + percentOf(share) + " late", shares: usual, see: some(.5, cutAt(late(share))), asks: all}
	}
	column := func(name string, factor float64) world {
		return world{name: "a timeout column " + name + " times too large", shares: usual, see: told(factor, cutAt(late(.02))), asks: all}
	}
	return []world{two(.02), two(.14), two(.3), column("10", 10), column("1.3", 1.3)}
}

// clocks round down, to the nearest or up, in turns.
func clocks() (list []world) {
	for _, c := range []struct {
		name string
		step int64
	}{{"1 ms", 1e6}, {"10 ms", 1e7}, {"1 s", 1e9}} {
		list = append(list,
			world{name: "a clock of " + c.name, step: c.step, see: completed, asks: all},
			world{name: "a clock of " + c.name + ", one timeout", step: c.step, shares: usual, see: cutAt(late(.02)), asks: all})
	}
	return list
}

// unmarkedTimeouts hide from values, but not from limits and certificates. A pile of few
// is not always seen, and so are limits beyond it; certificates take a pile's absence.
func unmarkedTimeouts() (list []world) {
	asked := asks{limits: true, certificates: true, canaries: true}
	for _, share := range []float64{.004, .01, .05} {
		add := func(name string, see func(*scene, *attempt)) {
			list = append(list, world{name: name + " of " + percentOf(share), shares: []float64{share}, see: see, asks: asked})
		}
		add("timeouts logged as 500", failing(spans.ServerError, false))
		add("timeouts logged as 503", failing(spans.Unavailable, false))
		add("timeouts in messages only", failing(spans.OtherFailure, true))
		add("unmarked pile-ups", piled)
	}
	return list
}

func otherEnds() []world {
	return []world{
		{name: "wrong marks on 2 % fast errors", see: some(.02, wrongMark), asks: all},
		{name: "0.05 % pages closed", see: some(.0005, closedPage), asks: all},
		{name: "2 % pages closed", see: some(.02, closedPage), asks: all},
		{name: "spans that never end", shares: []float64{.001, .005, .02}, ended: true, see: neverEnds, asks: all},
		{name: "every line twice", twice: true, see: completed, asks: all},
		{name: "a slow-query log, from 100 ms on", floor: 100, see: completed, asks: asks{certificates: true, chosen: true}},
	}
}

// together are those whose attempts go the same way.
func together() []world {
	return []world{
		{name: "traces of 10, correlation 0.3", hung: &hung{10, .3}, see: completed, asks: all},
		{name: "traces of 50, correlation 0.3", hung: &hung{50, .3}, see: completed, asks: all},
		{name: "a factor for each minute", hours: 24, weather: spread(1, .4), see: completed, asks: all},
		{name: "a factor for each half hour", hours: 24, weather: spread(30, .4), see: completed, asks: atMost(.12)},
		{name: "a factor for each hour", hours: 24, weather: spread(60, .4), see: completed, asks: atMost(.12)},
		{name: "slow for 5 minutes", hours: 24, weather: spells(5, .08, 5), see: completed, asks: atMost(.2)},
		{name: "slow for 30 minutes", hours: 24, weather: spells(30, .05, 5), see: completed, asks: atMost(.25)},
	}
}

// atMost lets this share of the limits miss.
func atMost(missed float64) asks {
	some := all
	some.missed = missed
	return some
}

func percentOf(share float64) string { return strconv.FormatFloat(100*share, 'g', 4, 64) + " %" }
