package buckets

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// What follows computes the same as the package, as dumb as sorted slices can.

// percents are the quantiles of the oracle, in whole percent.
var percents = []int{0, 1, 50, 83, 95, 99, 100}

func askedPercents() Query {
	var ps []string
	for _, p := range percents {
		ps = append(ps, fmt.Sprintf("%d.%02d", p/100, p%100))
	}
	return asked(ps...)
}

func rank(percent, n int) int { return max(1, (percent*n+99)/100) }

func (r rows) where(keep func(row) bool) rows {
	var list rows
	for _, one := range r {
		if keep(one) {
			list = append(list, one)
		}
	}
	return list
}

func ending(o ...spans.Outcome) func(row) bool {
	return func(r row) bool { return slices.Contains(o, r.Outcome) }
}

func (r rows) durations() []int64 {
	var list []int64
	for _, one := range r {
		list = append(list, one.Duration)
	}
	slices.Sort(list)
	return list
}

func summarized(values []int64) quantile.Summary {
	n := len(values)
	if n == 0 {
		return quantile.Summary{}
	}
	s := quantile.Summary{Asked: askedPercents().Quantiles, N: uint64(n), Min: values[0], Max: values[n-1]}
	for _, v := range values {
		s.Sum.Lo += uint64(v)
	}
	s.Mean = (2*int64(s.Sum.Lo) + int64(n)) / (2 * int64(n))
	for _, p := range percents {
		s.Quantiles = append(s.Quantiles, values[rank(p, n)-1])
	}
	return s
}

func bucketed(r rows) Bucket {
	retries := func(one row) bool { return one.Retry }
	first := func(one row) bool { return !one.Retry }
	return Bucket{All: summarized(r.durations()), First: summarized(r.where(first).durations()), Retries: summarized(r.where(retries).durations())}
}

// censored is one first attempt of the tail.
type censored struct {
	at         int64 // completed, or ran at least so long
	cut, known bool
	stratum    string
}

func (r rows) censored(timeout int64) []censored {
	var list []censored
	for _, one := range r.where(ending(spans.Completed, spans.Truncated)) {
		c := censored{at: one.Duration, cut: one.Outcome == spans.Truncated, stratum: one.stratum}
		limit := one.Timeout
		if timeout > 0 {
			limit = timeout
		}
		if c.known = c.cut && limit > 0 && c.at >= limit-max(ms, limit/1000); c.known {
			c.at = limit
		}
		if !one.Retry {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b censored) int { return cmp.Compare(a.at, b.at) })
	return list
}

// tailOf is the status and the value of a quantile, in the words of tailText.
func tailOf(list []censored, percent int) string {
	n := len(list)
	var completed, values []int64
	known := false
	for _, c := range list {
		if !c.cut {
			completed = append(completed, c.at)
		}
		known = known || !c.cut || c.known
	}
	if !known {
		return "no_value"
	}
	for _, c := range list {
		if c.cut && !c.known {
			c.at = lowerEnd(completed, c.at)
		}
		values = append(values, c.at)
	}
	slices.Sort(values)
	k := rank(percent, n)
	if k <= len(completed) && completed[k-1] == values[k-1] {
		return "exact " + millis(values[k-1])
	}
	return "at_least " + millis(values[k-1])
}

// lowerEnd is what a cut of unknown timeout proves, logged at d.
func lowerEnd(completed []int64, d int64) int64 {
	below, slowest := int64(0), int64(-1)
	for _, v := range completed {
		if slowest = v; v < d {
			below = v
		}
	}
	if slowest >= d {
		return min(below, d*10/13)
	}
	return below
}

// survival is the Kaplan-Meier curve just after t.
func survival(list []censored, t int64) float64 {
	s := 1.0
	for i, c := range list {
		if c.cut || c.at > t || i > 0 && list[i-1].at == c.at && !list[i-1].cut {
			continue // each time with completions once; of equal times they come first
		}
		atRisk, done := 0, 0
		for _, o := range list {
			if o.at >= c.at {
				atRisk++
			}
			if o.at == c.at && !o.cut {
				done++
			}
		}
		s *= float64(atRisk-done) / float64(atRisk)
	}
	return s
}

// kmOf is the quantile of the curves of the strata, weighed by their sizes.
func kmOf(list []censored, percent int) (int64, bool) {
	slices.SortStableFunc(list, func(a, b censored) int {
		if a.at == b.at && a.cut != b.cut {
			if a.cut {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.at, b.at)
	})
	groups := map[string][]censored{}
	for _, c := range list {
		groups[c.stratum] = append(groups[c.stratum], c)
	}
	stop := int64(1) << 62
	for _, g := range groups {
		if last := g[len(g)-1]; last.cut {
			stop = min(stop, last.at)
		}
	}
	for i, c := range list {
		if c.cut || c.at > stop {
			continue
		}
		sum, cutBefore, done := 0.0, false, 0
		for _, g := range groups {
			sum += float64(len(g)) / float64(len(list)) * survival(g, c.at)
		}
		for _, o := range list {
			cutBefore = cutBefore || o.cut && o.at < c.at
			if !o.cut && o.at <= c.at {
				done++
			}
		}
		if !cutBefore && done >= rank(percent, len(list)) || cutBefore && sum <= (1-float64(percent)/100)*(1+1e-9) {
			return list[i].at, true
		}
	}
	return 0, false
}

// drawn makes rows of few distinct values, so that ties and edges abound.
func drawn(t *rapid.T, hops []string, chained bool) rows {
	flag := func(name string) bool { return rapid.IntRange(0, 3).Draw(t, name) == 0 }
	var list rows
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		var one row
		one.hop = rapid.SampledFrom(hops).Draw(t, "hop")
		one.stratum = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "stratum")
		one.Outcome = spans.Outcome(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3}).Draw(t, "outcome"))
		one.HasDuration = one.Outcome != spans.Unfinished
		if one.HasDuration {
			one.Duration = int64(rapid.IntRange(0, 12).Draw(t, "duration")) * ms
		}
		switch one.Outcome {
		case spans.Truncated:
			one.CutBy = rapid.SampledFrom(spans.CutBys[:]).Draw(t, "cut by")
		case spans.Failed:
			one.Failure = rapid.SampledFrom(spans.Failures[:]).Draw(t, "failure")
		}
		one.Retry, one.Marked = flag("retry"), !flag("unmarked")
		if flag("timeout") {
			one.Timeout, one.HasTimeout = int64(rapid.IntRange(1, 12).Draw(t, "timeout"))*ms, true
		}
		one.Resolution = uint8(rapid.IntRange(0, 6).Draw(t, "resolution"))
		if chained && !flag("no chain") {
			one.Trace = []byte(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "chain"))
			one.Start, one.HasStart = int64(rapid.IntRange(0, 8).Draw(t, "start"))*ms, !flag("no start")
		}
		list = append(list, one)
	}
	return list
}

func TestResultsAgreeWithSortedSlices(t *testing.T) {
	q := askedPercents()
	rapid.Check(t, func(rt *rapid.T) {
		log := drawn(rt, []string{"h"}, false)
		if len(log) == 0 {
			return
		}
		log[0].Marked = true // one mark tells that this hop's attempts are marked
		log = log.digits(6)  // a clock as coarse as that shows no pile-up
		limit := int64(rapid.IntRange(0, 12).Draw(rt, "configured"))
		r := hopOf(t, timeouts(map[string]int64{"h": limit}), q, log)
		for name, pair := range map[string][2]Bucket{
			"completed": {bucketed(log.where(ending(spans.Completed))), r.Completed},
			"truncated": {bucketed(log.where(ending(spans.Truncated))), r.Truncated.Bucket},
			"failed":    {bucketed(log.where(ending(spans.Failed))), r.Failed.Bucket},
			"recorded":  {bucketed(log.where(func(one row) bool { return one.HasDuration })), r.Recorded},
		} {
			if d := same(pair[0], pair[1]); d != "" {
				rt.Fatalf("%s: %s", name, d)
			}
		}
		if sum := r.Completed.All.N + r.Truncated.All.N + r.Failed.All.N + r.Unfinished; sum != uint64(len(log)) || r.Attempts != sum || r.FirstAttempts+r.Retries != r.Recorded.All.N {
			rt.Fatalf("%d attempts: %+v", len(log), r)
		}
		agreeOnTail(rt, r, log.censored(limit*ms))
	})
}

func agreeOnTail(rt *rapid.T, r Result, list []censored) {
	for i, p := range percents {
		got := r.Tail[i]
		km, ok := kmOf(list, p)
		if ok != (got.KM != nil) && km != got.Value || got.KM != nil && *got.KM != km {
			rt.Fatalf("p%d: Kaplan-Meier value %d %v, want it in %s", p, km, ok, tailText(got))
		}
		got.KM, got.Upper = nil, nil
		if want := tailOf(list, p); tailText(got) != want {
			rt.Fatalf("p%d: %s, want %s", p, tailText(got), want)
		}
	}
}

func TestResultsDoNotDependOnWorkersNorOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := drawn(rt, []string{"a", "b", "c", "d"}, true)
		c := timeouts(map[string]int64{"a": int64(rapid.IntRange(0, 12).Draw(rt, "configured")), "b": 7})
		c.MaxHeld = rapid.SampledFrom([]int{0, 3, 10}).Draw(rt, "max held")
		q := asked()
		q.Marked = rapid.Bool().Draw(rt, "marked")
		q.MaxHops = rapid.IntRange(0, 4).Draw(rt, "max hops")
		want := setOf(t, c, log).Results(q)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		got := shared(t, c, r, rapid.IntRange(1, 5).Draw(rt, "workers"), log)
		if n := got.Attempts(); n != uint64(len(log)) {
			rt.Fatalf("%d attempts of %d", n, len(log))
		}
		if d := same(want, got.Results(q)); d != "" {
			rt.Fatal(d)
		}
	})
}
