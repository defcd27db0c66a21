package main

import (
	"math"
	"math/rand/v2"

	"github.com/tailscope/tailscope/spans"
)

// attempt is how one attempt of a world would have gone, and how its log shows it. All
// times are ns.
type attempt struct {
	latent   int64 // how long it would have taken, had nothing ended it
	logged   int64
	outcome  spans.Outcome
	cutBy    spans.CutBy
	failure  spans.Failure
	timeout  int64 // that its record carries, 0 for none
	speaks   bool  // its message speaks of a timeout
	unmarked bool  // nothing says how it ended
	start    int64
	chain    int32 // from 1; 0 for none
}

// scene is one run of a world under way: what its attempts have in common.
type scene struct {
	*rand.Rand
	wall int64 // the timeout that cuts, 0 for none; ns
	way  int   // in which a clock rounds
}

// world is a kind of log whose truth is known.
type world struct {
	name string
	// shares are those of the attempts that outlast the timeout; runs take turns.
	shares []float64
	hours  int // over which attempts are spread; 0: their starts are not known
	*weather
	*hung
	twice bool  // each line stands twice in the log
	ended bool  // attempts are spans, each in a trace with the one of its server
	step  int64 // of the clock, ns; 0 for a fine one
	// given is the timeout that the user gives, over the one that cuts; 0 for none.
	given float64
	// floor is from how many ms on the log has lines.
	floor float64
	see   func(s *scene, a *attempt)
	asks  asks
}

// hung is what makes attempts go the same way: so many of a trace, with this correlation
// of the normal numbers that they are drawn by.
type hung struct {
	perTrace    int
	correlation float64
}

// asks is what a world is held to.
type asks struct {
	values, limits, certificates, canaries bool
	// chosen says that the log holds what was chosen by how long it took: any certificate is false.
	chosen bool
	// missed is the share of limits that may miss, .05 where it is 0.
	missed float64
}

// all is asked of most worlds.
var all = asks{values: true, limits: true, certificates: true, canaries: true}

const (
	ms     = 1e6
	minute = int64(60e9)
	midday = 1_700_000_000 / 3600 * 3600 * int64(1e9) // a whole hour, in ns since 1970
)

// truth is the law of all attempts of the world, whatever their minute.
func (w *world) truth(l law) law {
	if w.weather == nil {
		return l
	}
	return l.mixed(w.factors, w.weights)
}

// attempts draws those whose log has n lines.
func (w *world) attempts(l law, s *scene, n int) []attempt {
	var list []attempt
	day := w.weather.ofDay(s.Rand, w.hours*60)
	for shared := 0.0; len(list) < n; {
		a := attempt{}
		z := s.NormFloat64()
		if h := w.hung; h != nil {
			if len(list)%h.perTrace == 0 {
				shared = s.NormFloat64()
			}
			z = math.Sqrt(h.correlation)*shared + math.Sqrt(1-h.correlation)*z
			a.chain = int32(len(list)/h.perTrace + 1)
		}
		ns := l.of(z) * w.when(s, &a, day) * ms
		if ns < w.floor*ms {
			continue
		}
		a.latent = int64(max(1, min(ns, 1e17)))
		a.logged = a.latent
		w.see(s, &a)
		a.logged = onClock(a.logged, w.step, s.way)
		if list = append(list, a); w.twice {
			list[len(list)-1].chain = int32(len(list))
			list = append(list, list[len(list)-1])
		}
	}
	return list
}

// when draws the start of an attempt, and tells by which factor it is slower then.
func (w *world) when(s *scene, a *attempt, day []float64) float64 {
	if w.hours == 0 {
		return 1
	}
	at := s.Int64N(int64(w.hours) * 60 * minute)
	a.start = midday + at
	if day == nil {
		return 1
	}
	return day[at/minute]
}

// onClock reads a duration from a clock of whole steps, which rounds down, to the nearest
// or up.
func onClock(ns, step int64, way int) int64 {
	if step <= 1 {
		return ns
	}
	return (ns + int64(way)*(step-1)/2) / step * step
}
