package main

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// logSizes are the lines of a log. So few as in the first are asked for limits alone.
var logSizes = []int{299, 3000, 20_000}

// cell is what was counted of one world, law and size.
type cell struct {
	*world
	law
	n, runs          int
	truths           []float64 // of the quantiles, ns
	walls            []int64   // of the shares that outlast one, ns
	uppers, lowers   []int     // limits that miss the truth, by quantile
	values           []int     // values that are not what the attempts counted took, by quantile
	certified, wrong int       // certificates, and those below the truth
	canaries         int
	lowCanaries      int // below the slowest attempt that completed, or cutting more than today
}

func newCell(w *world, l law, n, runs int) *cell {
	none := func() []int { return make([]int, len(quantiles)) }
	c := &cell{world: w, law: l, n: n, runs: runs, uppers: none(), lowers: none(), values: none()}
	all := w.truth(l)
	for _, p := range quantiles {
		c.truths = append(c.truths, all.inverse(p.Float())*ms)
	}
	for _, share := range w.shares {
		c.walls = append(c.walls, int64(all.inverse(1-share)*ms))
	}
	return c
}

// seed is that of a cell, whatever other cells there are.
func (c *cell) seed(of uint64) uint64 {
	h := fnv.New32a()
	fmt.Fprint(h, c.world.name, c.law.name)
	return of<<32 + uint64(h.Sum32())
}

// count draws the runs. Each has numbers of its own, whoever draws it.
func (c *cell) count(seed uint64) {
	for run := range c.runs {
		s := &scene{Rand: source(seed, c.n, uint64(run)), way: run % 3}
		if len(c.walls) > 0 {
			s.wall = c.walls[run%len(c.walls)]
		}
		log := c.attempts(c.law, s, c.n)
		c.score(log, c.read(log, int64(c.world.given*float64(s.wall))))
	}
}

func (c *cell) score(log []attempt, a answer) {
	c.scoreLimits(a)
	if c.n < logSizes[1] {
		return
	}
	c.scoreValues(log, a)
	c.scoreAdvice(log, a)
}

func (c *cell) scoreLimits(a answer) {
	for i, t := range a.Tail {
		if t.Upper != nil {
			c.uppers[i] += one(c.asks.limits && float64(*t.Upper) < c.truths[i])
		}
		c.lowers[i] += one(c.asks.limits && t.Lower != nil && float64(*t.Lower) > c.truths[i])
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// scoreValues holds values against what the attempts that count would have taken.
func (c *cell) scoreValues(log []attempt, a answer) {
	for i, t := range a.Tail {
		if !c.asks.values || t.Status == quantile.NoValue || float64(t.N)*(1-t.P.Float()) < 1 {
			continue
		}
		if counted := latents(log, int(t.N)); counted != nil {
			c.values[i] += one(outside(t.Tail, counted[t.P.Rank(t.N)-1], max(1, c.step)))
		}
	}
}

// outside reports whether a duration is not where a value says that it is, give or take a
// step of the clock.
func outside(t quantile.Tail, ns, step int64) bool {
	most := t.AtMost
	if t.Status == quantile.Exact {
		most = &t.Value
	}
	return ns < t.Value-step || most != nil && ns > *most+step
}

// latents are those of the n attempts that count, sorted: all, or all but those that
// failed or never ended; nil where it is neither.
func latents(log []attempt, n int) (list []int64) {
	for i := range log {
		if o := log[i].outcome; len(log) == n || o != spans.Failed && o != spans.Unfinished {
			list = append(list, log[i].latent)
		}
	}
	if len(list) != n {
		return nil
	}
	slices.Sort(list)
	return list
}

func (c *cell) scoreAdvice(log []attempt, a answer) {
	if a.advice.Evidence == timeouts.Certified {
		c.certified++
		c.wrong += one(c.asks.chosen || c.asks.certificates && float64(*a.advice.Bound) < c.truths[len(c.truths)-1])
	}
	if a.advice.Canary != nil {
		c.canaries++
		c.lowCanaries += one(c.asks.canaries && c.tooLow(log, a.advice.Canary.RaiseTo))
	}
}

// tooLow reports whether a canary lies below an attempt that completed, or would cut more
// than was cut already.
func (c *cell) tooLow(log []attempt, raise int64) bool {
	lost, beyond, slowest := 0, 0, int64(0)
	for i := range log {
		a := &log[i]
		if a.outcome == spans.Completed {
			slowest = max(slowest, a.logged)
		}
		beyond += one(a.latent >= raise)
		lost += one(a.outcome != spans.Completed || a.logged+2*c.step < a.latent)
	}
	return raise < slowest || beyond > lost
}

// most is how large a share of the runs may be false: what is allowed, and so many
// standard errors.
func (c *cell) most(share, errors float64) float64 {
	return share + errors*math.Sqrt(share*(1-share)/float64(c.runs))
}

// mayMiss is the share of limits that may miss.
func (c *cell) mayMiss() float64 {
	if c.asks.missed > 0 {
		return c.asks.missed
	}
	return .05
}

// missed is the share of runs in which the worst limit misses.
func (c *cell) missed() float64 {
	return c.of(max(slices.Max(c.uppers), slices.Max(c.lowers)))
}

func (c *cell) of(k int) float64 { return float64(k) / float64(c.runs) }

// holds reports whether no kind of statement is false too often, give or take so many
// standard errors.
func (c *cell) holds(errors float64) bool {
	most := c.most(.05, errors)
	return c.missed() <= c.most(c.mayMiss(), errors) && c.of(slices.Max(c.values)) <= most && c.of(c.wrong) <= most && c.lowCanaries == 0
}

const (
	allowed = 2 // standard errors
	// Beyond so many it is no chance. Between, a cell is drawn anew, with again times as
	// many runs.
	noChance, again = 6, 4
)

// measureWorlds counts all cells; those that fall short are drawn anew, with more runs, to
// tell chance from fault. The number of workers changes nothing.
func measureWorlds(list []world, sizes []int, runs int, seed uint64, jobs int) []*cell {
	var cells []*cell
	for i := range list {
		for _, l := range laws() {
			for _, n := range sizes {
				cells = append(cells, newCell(&list[i], l, n, runs))
			}
		}
	}
	each(len(cells), jobs, func(i int) {
		c := cells[i]
		c.count(c.seed(seed))
		if !c.holds(allowed) && c.holds(noChance) {
			cells[i] = newCell(c.world, c.law, c.n, again*runs)
			cells[i].count(c.seed(seed + 1))
		}
	})
	return cells
}

// each works on n things side by side.
func each(n, jobs int, work func(i int)) {
	var begun atomic.Int64
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := begun.Add(1) - 1; i < int64(n); i = begun.Add(1) - 1 {
				work(int(i))
			}
		})
	}
	workers.Wait()
}
