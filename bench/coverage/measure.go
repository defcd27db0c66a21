package main

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/fit"
)

var (
	sizes      = []int{200, 2000, 20_000}
	asked      = []quantile.P{quantile.MustP("0.95"), quantile.MustP("0.99")}
	confidence = quantile.MustP("0.95")
)

// second is the unit of a distribution, in ns.
const second = 1e9

// row is what was counted of one system and size.
type row struct {
	system
	n                 int
	limits            []limits // of each wall and quantile
	hidden            int      // quantiles that a wall hides
	estimates, covers int      // estimates of those, bounds not below the truth
	excess            []float64
}

// limits counts certified ones of a quantile, and those below the truth.
type limits struct{ hops, given, wrong int }

// measure counts all systems and sizes. Each hop has a seed of its own, so the
// number of workers changes nothing.
func measure(list []system, reps int, seed uint64, jobs int) []row {
	var rows []row
	for _, s := range list {
		for _, n := range sizes {
			rows = append(rows, row{system: s, n: n})
		}
	}
	var begun atomic.Int64
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := begun.Add(1) - 1; i < int64(len(rows)); i = begun.Add(1) - 1 {
				rows[i].count(reps, seed<<32+uint64(i))
			}
		})
	}
	workers.Wait()
	return rows
}

// count draws hops. Of the largest size a tenth is enough: they take longest.
func (r *row) count(reps int, seed uint64) {
	if r.n == sizes[len(sizes)-1] {
		reps = max(1, reps/10)
	}
	for i, cut := range r.cut {
		first := len(r.limits)
		r.limits = append(r.limits, make([]limits, len(asked))...)
		for rep := range reps {
			values := r.attempts(source(seed, i, uint64(rep)), r.n)
			r.hop(observe(values, r.wall(cut), r.twoWalls), r.tracesOf(values, r.wall(cut)), r.limits[first:])
		}
	}
}

// source is a generator whose numbers have nothing to do with those of any other.
func source(seed uint64, wall int, rep uint64) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(wall))
	binary.LittleEndian.PutUint64(key[16:], rep)
	return rand.New(rand.NewChaCha8(key))
}

// observe cuts durations at the wall, every second one at two walls if there are
// two.
func observe(durations []float64, wall float64, twoWalls bool) quantile.Observed {
	done, cut := new(quantile.Sample), new(quantile.Sample)
	for i, v := range durations {
		limit := wall
		if twoWalls && i%2 == 1 {
			limit *= 2
		}
		if v < limit {
			done.Add(int64(v * second))
		} else {
			cut.Add(int64(limit * second))
		}
	}
	return quantile.Observed{Completed: quantile.Union{done}, CutAt: quantile.Union{cut}}
}

// tracesOf sums up the attempts of each trace, nil where they are taken for
// independent.
func (s system) tracesOf(durations []float64, wall float64) *depend.Clusters {
	if !s.effect {
		return nil
	}
	traces := new(depend.Clusters)
	for one := range slices.Chunk(durations, s.perTrace) {
		var buckets []depend.LogBucket
		for _, v := range one {
			if v < wall {
				buckets = append(buckets, depend.LogBucketOf(int64(v*second)))
			} else {
				buckets = append(buckets, depend.CutBucket)
			}
		}
		traces.Add(buckets)
	}
	return traces
}

func (r *row) hop(o quantile.Observed, traces *depend.Clusters, certified []limits) {
	all := o.Tails(asked, confidence)
	if traces != nil {
		effects, _ := o.Effects(all, depend.Dependence{Traces: traces, Blocks: new(depend.Blocks), CutFrom: depend.CutBucket})
		o.Widen(&all, effects, confidence)
	}
	tails := all.Tails
	estimates := fit.Estimates(o, tails)
	for i, q := range tails {
		truth := int64(r.quantile(q.P.Float()) * second)
		certified[i].count(q.Upper, truth)
		if q.Status == quantile.AtLeast {
			r.hidden++
		}
		if e := estimates[i]; e != nil && e.Bound != nil {
			r.estimate(*e.Bound, truth)
		}
	}
}

func (l *limits) count(upper *int64, truth int64) {
	l.hops++
	if upper == nil {
		return
	}
	l.given++
	if *upper < truth {
		l.wrong++
	}
}

func (r *row) estimate(bound, truth int64) {
	r.estimates++
	r.excess = append(r.excess, float64(bound)/float64(truth))
	if bound >= truth {
		r.covers++
	}
}

// certified sums up over walls and quantiles; worst is the smallest share of hops
// of which the limit is right or not given.
func (r row) certified() (given, hops int, worst float64) {
	worst = 1
	for _, l := range r.limits {
		given, hops = given+l.given, hops+l.hops
		worst = min(worst, 1-float64(l.wrong)/float64(l.hops))
	}
	return given, hops, worst
}

// holds is the share of estimates whose bound holds, 0 where there are none.
func (r row) holds() float64 { return float64(r.covers) / float64(max(1, r.estimates)) }
