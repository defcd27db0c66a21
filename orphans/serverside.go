package orphans

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// ServerSide is one quantile of a call as its server saw it. A coverage below 95 %
// is a selected sample.
type ServerSide struct {
	P quantile.P
	buckets.ServerSide
}

// served is how long first attempts that were cut would have taken, of those whose
// server completed. From the start of a call to the end of its server a queue between
// them counts; where two clocks tell them and are not known to be near each other, the
// server's own time stands for it, with what a call usually adds.
type served struct {
	oneClock  quantile.Sample // from the call's start to the server's end
	twoClocks quantile.Sample // the same, on two clocks
	// Instead of those on two clocks: the server's own time where that is no less than
	// the call's, else the call's.
	alone, bound quantile.Sample
}

// add takes a call that was cut and its server. No call took less than it had lasted
// when it was cut.
func (s *served) add(t *spans.Trace, call, server int32) {
	c, by := &t.Spans[call], &t.Spans[server]
	whole := c.Duration
	if inTime(c) {
		whole = max(whole, after(by.End(), c.Start))
	}
	if sure, _ := oneClock(t, call, server); sure && inTime(c) {
		s.oneClock.Add(whole)
		return
	}
	if inTime(c) {
		s.twoClocks.Add(whole)
	}
	if by.Duration >= c.Duration {
		s.alone.Add(by.Duration)
	} else {
		s.bound.Add(c.Duration)
	}
}

func (s *served) merge(o *served) {
	s.oneClock.Merge(&o.oneClock)
	s.twoClocks.Merge(&o.twoClocks)
	s.alone.Merge(&o.alone)
	s.bound.Merge(&o.bound)
}

// n is how many calls there are.
func (s *served) n() uint64 { return s.oneClock.N() + s.alone.N() + s.bound.N() }

// smallSkew is the part of the shortest time on two clocks up to which the clocks may be
// apart and it counts all the same: a twentieth.
const smallSkew = 20

// clocksAgree reports whether times on two clocks say how long calls took: the clocks
// are known to be apart by little against the shortest of them.
func (s *served) clocksAgree(apart int64, known bool) bool {
	if !known || s.twoClocks.N() < s.alone.N()+s.bound.N() {
		return false
	}
	shortest := summary(&s.twoClocks, nil).Min
	return apart <= shortest/smallSkew
}

// times returns how long the calls would have taken, where a call adds overhead to what
// its server takes.
func (s *served) times(overhead int64, trusted bool) quantile.Union {
	if trusted {
		return quantile.Union{&s.oneClock, &s.twoClocks}
	}
	whole := new(quantile.Sample)
	for ns, count := range s.alone.All() {
		whole.AddN(durations.Sum(ns, overhead), count)
	}
	return quantile.Union{&s.oneClock, whole, &s.bound}
}

// ServerSide returns the quantiles of a hop's first attempts with the time to the end
// of the server in place of each that was cut, as far as one clock tells it or two that
// are known to agree; else with the server's duration, plus what the call itself usually
// adds (the p99 of client less server in completed calls), and never less than the call
// lasted. Those without a server span count as infinitely long. It returns nil for a hop
// of which nothing was cut or no cut call has a server span.
func (a *Accumulator) ServerSide(hop spans.Hop, completed quantile.Union, ps []quantile.P) []ServerSide {
	number, known := a.hops.Find(hop)
	c := a.calls[ref(number)]
	if !known || c == nil {
		return nil
	}
	times, n := a.servedTimes(ref(number), c)
	if n == 0 {
		return nil
	}
	never := new(quantile.Sample)
	never.AddN(math.MaxInt64, c.firstCut-n)
	one := buckets.ServerSide{Coverage: buckets.Coverage{N: n, Of: c.firstCut}, Selected: n*100 < c.firstCut*95}
	list := make([]ServerSide, len(ps))
	for i, value := range quantile.Summarize(append(append(slices.Clone(completed), times...), never), ps).Quantiles {
		one.Value = jsontype.If(value < math.MaxInt64, value)
		list[i] = ServerSide{ps[i], one}
	}
	return list
}

// servedTimes returns how long the cut calls of a hop would have taken, and of how many
// that is known.
func (a *Accumulator) servedTimes(hop ref, c *calls) (times quantile.Union, n uint64) {
	apart := a.mostApart()
	for key, s := range a.served {
		if key.parent != hop {
			continue
		}
		within, known := apart[services(a.hopOf(key.parent), a.hopOf(key.child))]
		times = append(times, s.times(c.overhead(), s.clocksAgree(within, known))...)
		n += s.n()
	}
	return times, n
}

// mostApart says by how much, in ns, the clocks of two services are apart at most, as far
// as children show it that would fit into their parents: see atMost. Two services that no
// such child tells of are not there.
func (a *Accumulator) mostApart() map[[2]string]int64 {
	list := map[[2]string]int64{}
	for key, w := range a.fitting() {
		list[key] = durations.Sum(max(0, w.reach), w.spare)
	}
	return list
}

// overhead is what a call usually adds to what its server takes.
func (c *calls) overhead() int64 {
	if s := summary(&c.overheads, []quantile.P{quantile.MustP("0.99")}); s.N > 0 {
		return s.Quantiles[0]
	}
	return 0
}
