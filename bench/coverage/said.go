package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/timeouts"
)

// saying is something that is to be said of a log, or that is not to be said.
type saying struct {
	name string
	world
	laws  []law
	sizes []int
	// is reports whether it is said; it must be in at least and at most these shares.
	is              func(answer) bool
	atLeast, atMost float64

	said []float64 // by law and size, in their order
}

func certified(a answer) bool { return a.advice.Evidence == timeouts.Certified }

// whole reports whether limits are those of as many independent attempts as there are.
func whole(a answer) bool {
	for _, t := range a.Tail {
		if t.Size() != t.N {
			return false
		}
	}
	return true
}

// limitedToP99 reports whether all quantiles up to p99 have both limits.
func limitedToP99(a answer) bool {
	for _, t := range a.Tail[:len(a.Tail)-1] {
		if t.Upper == nil || t.Lower == nil {
			return false
		}
	}
	return true
}

func promises(a answer) bool {
	return a.advice.Evidence == timeouts.TooFew && a.advice.Allows != nil && a.advice.Timeout == nil
}

func suspects(a answer) bool { return hasWarning(a.Result, "suspected_unmarked_wall") }

func hasWarning(r buckets.Result, code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// sayings are those of the table.
func sayings() []*saying {
	clean := world{see: completed}
	over := func(hours int) world { return world{hours: hours, see: completed} }
	given := func(unmarked bool) world {
		return world{hours: 24, shares: []float64{1e-7}, given: 1e6, see: func(_ *scene, a *attempt) { a.unmarked = unmarked }}
	}
	must := func(name string, w world, n int, share float64, is func(answer) bool) *saying {
		return &saying{name: name, world: w, laws: laws(), sizes: []int{n}, is: is, atLeast: share, atMost: 1}
	}
	list := []*saying{
		must("nothing timed out, starts not known: certified", clean, 3000, 1, certified),
		must("nothing timed out in a day: certified", over(24), 3000, .98, certified),
		must("nothing timed out in a day under a given timeout: certified", given(false), 3000, .98, certified),
		must("the same, and no line says how it ended", given(true), 3000, .98, certified),
		must("500 lines: too few, with what they allow", clean, 500, 1, promises),
	}
	for _, hours := range []int{1, 8, 24} {
		one := must(fmt.Sprintf("independent, in %d h: n_eff is n", hours), over(hours), 0, .95, whole)
		one.sizes = logSizes[1:]
		list = append(list, one)
	}
	closed := must("0.05 % pages closed: limits up to p99", world{see: some(.0005, closedPage)}, 0, 1, limitedToP99)
	closed.sizes = logSizes[1:]
	return append(list, closed, &saying{name: "a timeout is suspected where none is", world: clean, laws: cleanLaws(), sizes: []int{300, 3000, 20_000}, is: suspects, atMost: .02})
}

// count draws the logs of one law and size.
func (y *saying) count(l law, n, runs int, seed uint64) float64 {
	k := 0
	c := newCell(&y.world, law{l.name, l.of, func(float64) float64 { return 1 }}, n, runs)
	for run := range runs {
		s := &scene{Rand: source(seed, n, uint64(run))}
		k += one(y.is(c.read(c.attempts(l, s, n), int64(y.given*ms))))
	}
	return float64(k) / float64(runs)
}

// measureSayings counts all; the number of workers changes nothing.
func measureSayings(runs int, seed uint64, jobs int) []*saying {
	list := sayings()
	type job struct {
		*saying
		at int
	}
	var all []job
	for _, y := range list {
		y.said = make([]float64, len(y.laws)*len(y.sizes))
		for at := range y.said {
			all = append(all, job{y, at})
		}
	}
	each(len(all), jobs, func(i int) {
		y, at := all[i].saying, all[i].at
		y.said[at] = y.count(y.laws[at/len(y.sizes)], y.sizes[at%len(y.sizes)], runs, (seed+2)<<32+uint64(i))
	})
	return list
}

// worst is the share of the law that is farthest from what is asked for, for the size at i.
func (y *saying) worst(i int) (share float64, of string) {
	share = y.said[i]
	of = y.laws[0].name
	for k := i; k < len(y.said); k += len(y.sizes) {
		if one := y.said[k]; y.atLeast > 0 && one < share || y.atLeast == 0 && one > share {
			share, of = one, y.laws[k/len(y.sizes)].name
		}
	}
	return share, of
}

func writeSayings(out io.Writer, list []*saying) {
	fmt.Fprint(out, "| what is said | n | share of the worst law | asked for |\n|---|---:|---:|---:|\n")
	for _, y := range list {
		asked := "at least " + percentOf(y.atLeast)
		if y.atLeast == 0 {
			asked = "at most " + percentOf(y.atMost)
		}
		for i, n := range y.sizes {
			share, of := y.worst(i)
			fmt.Fprintf(out, "| %s | %d | %.3f (%s) | %s |\n", y.name, n, share, of, asked)
		}
	}
}

// holds reports whether a share is as asked for, give or take two standard errors.
func (y *saying) holds(share float64, runs int) bool {
	scatter := func(p float64) float64 { return allowed * math.Sqrt(p*(1-p)/float64(runs)) }
	return share >= y.atLeast-scatter(y.atLeast) && share <= y.atMost+scatter(y.atMost)
}

// unsaid names what is said too seldom or too often.
func unsaid(list []*saying, runs int) (failed error) {
	for _, y := range list {
		for i, n := range y.sizes {
			if share, of := y.worst(i); !y.holds(share, runs) {
				failed = errors.Join(failed, fmt.Errorf("%s, n=%d: %.3f (%s)", y.name, n, share, of))
			}
		}
	}
	return failed
}

func (s *settings) sayings() (string, error) {
	list := measureSayings(s.runs, s.seed, s.jobs)
	var text strings.Builder
	fmt.Fprintf(&text, "%d logs of each law and size, seed %d.\n\n", s.runs, s.seed)
	writeSayings(&text, list)
	return text.String(), unsaid(list, s.runs)
}
