package calls

import (
	"math/rand/v2"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

func repeated(value int64, n uint64) *quantile.Sample {
	s := new(quantile.Sample)
	s.AddN(value, n)
	return s
}

// enough is a pair of which a verdict may be given: its slow calls take longer by work.
func enough() *pair {
	return &pair{
		n: 100, slow: group{n: 10}, usual: group{n: 20}, excess: excess{work: 90 * ms, gap: 1 * ms},
		times: repeated(10*ms, 100), gaps: repeated(1*ms, 100), behind: new(quantile.Sample), p50: 10 * ms, floor: 1 * ms,
	}
}

func TestWhatIsNotEnoughForAVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *pair, q *Query, seen *float64)
		want   string
	}{
		{"enough", func(*pair, *Query, *float64) {}, ""},
		{"99 calls", func(p *pair, _ *Query, _ *float64) { p.n = 99 }, ReasonFewCalls},
		{"nine slow calls", func(p *pair, _ *Query, _ *float64) { p.slow.n = 9 }, ReasonFewSlow},
		{"19 usual calls", func(p *pair, _ *Query, _ *float64) { p.usual.n = 19 }, ReasonFewSlow},
		{"servers of 69.9 % of the calls", func(_ *pair, _ *Query, seen *float64) { *seen = .699 }, ReasonNoServer},
		{"slow calls that take no longer", func(p *pair, _ *Query, _ *float64) { p.excess = excess{} }, ReasonNoExcess},
		{"traces that were chosen by how they went", func(_ *pair, q *Query, _ *float64) { q.Biased = true }, ReasonSampled},
	} {
		p, q, seen := enough(), new(Query), leastSeen
		c.change(p, q, &seen)
		f, err := (&study{query: q, log: new(log)}).decide(p, nil, seen)
		verdict := Unknown
		if c.want == "" {
			verdict = SlowWork
		}
		if err != nil || f.reason != c.want || f.verdict != verdict {
			t.Errorf("%s: %s, %q, %v; want %q", c.name, f.verdict, f.reason, err, c.want)
		}
	}
}

func TestAnInstanceIsSlowFromTwiceTheOthersAndMostSlowCallsOn(t *testing.T) {
	for _, c := range []struct {
		work    int64
		n, slow uint64
		want    Verdict
	}{
		{20 * ms, 20, 6, SlowInstance},
		{20*ms - 1, 20, 6, SlowWork},
		{20 * ms, 20, 5, SlowWork},
		{20 * ms, 19, 6, SlowWork},
	} {
		p := enough()
		places := []*place{
			{placeKey: placeKey{instance: 1}, pair: p, served: served{20, 4, repeated(10*ms, 20)}},
			{placeKey: placeKey{instance: 2}, pair: p, served: served{c.n, c.slow, repeated(c.work, c.n)}},
		}
		f, err := (&study{query: new(Query), log: new(log)}).decide(p, places, 1)
		if err != nil || f.verdict != c.want {
			t.Errorf("%+v: %s, %v", c, f.verdict, err)
		}
	}
}

// waited are calls of a pair that waited, and how many of them began as another ended.
func waitedOf(p *pair, n, hits uint64, chance float64) []*place {
	at := &place{pair: p, waited: n}
	for width := range widths {
		at.hits[ofCallee][width], at.chance[ofCallee][width] = hits, chance
		p.after[ofCallee][width].add(3)
	}
	return []*place{at}
}

func TestAPoolIsFullFromHalfOfTheHandOversOn(t *testing.T) {
	for _, c := range []struct {
		waited, hits uint64
		chance       float64
		want         Verdict
	}{
		{100, 50, 0, PoolFull},
		{100, 49, 0, SlowWork},
		{20, 10, 0, PoolFull},
		{19, 19, 0, SlowWork}, // too few waited
		{100, 75, .5, PoolFull},
		{100, 100, .51, SlowWork}, // by chance alone, every other one would
	} {
		p := enough()
		p.aboveFloor.Add(250*ms, 1) // a quarter of the mean time
		f, err := (&study{query: new(Query), log: new(log)}).decide(p, waitedOf(p, c.waited, c.hits, c.chance), 1)
		if err != nil || f.verdict != c.want || c.want == PoolFull && f.size != 3 {
			t.Errorf("%+v: %s of %d, %v", c, f.verdict, f.size, err)
		}
	}
}

func TestWhoseThePoolIs(t *testing.T) {
	for _, c := range []struct {
		behind int64
		chance float64
		want   Side
	}{{ms / 2, 0, CalleeSide}, {ms/2 + 1, 0, EitherSide}, {ms * 8 / 10, 0, CallersOwn}, {0, .3, CalleeSide}, {0, .31, EitherSide}} {
		p := enough()
		p.behind = repeated(c.behind, 1)
		f := &finding{}
		f.strength[ofCallee].chance = c.chance
		if got := (&study{}).sideOf(p, f); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestTimeBetweenIsTheNetworkOnlyWhereNothingQueues(t *testing.T) {
	between := func() *pair {
		p := enough()
		p.excess = excess{gap: 90 * ms, work: 1 * ms}
		return p
	}
	for _, c := range []struct {
		hits    uint64
		chance  float64
		sampled bool
		want    Verdict
		reason  string
	}{
		{19, 0, false, NetworkOrClock, ""},
		{20, 0, false, Unknown, ReasonUndecided}, // some hand-overs
		{0, .51, false, Unknown, ReasonUndecided},
		{0, 0, true, Unknown, ReasonSampled},
	} {
		p := between()
		f, err := (&study{query: &Query{Sampled: c.sampled}, log: new(log)}).decide(p, waitedOf(p, 100, c.hits, c.chance), 1)
		if err != nil || f.verdict != c.want || f.reason != c.reason {
			t.Errorf("%+v: %s, %q, %v", c, f.verdict, f.reason, err)
		}
	}
}

func TestWorkersForSeventyPercent(t *testing.T) {
	for load, want := range map[float64]int{.1: 1, 2.1: 3, 2.98: 5, 3.5: 5, 3.51: 6, 7: 10} {
		if got := workersFor(load); got != want {
			t.Errorf("workersFor(%v) = %d, want %d", load, got, want)
		}
	}
}

func TestWorkGrowsFromACorrelationOfHalfOn(t *testing.T) {
	for correlation, want := range map[float64]bool{.5: true, .499: false} {
		p := &Pair{Verdict: SlowWork}
		p.Figures.Grows = &correlation
		if p.WorkGrows() != want {
			t.Errorf("%v: %t", correlation, p.WorkGrows())
		}
	}
}

// Long gaps that follow each other are those of a queue whose other calls are not in the
// input; one now and then is the network.
func TestGapsThatFollowEachOtherMayBeAQueue(t *testing.T) {
	for every, want := range map[int]string{60: "unknown " + ReasonQueueHides, 1: "network_or_clock "} {
		var traces []*spans.Trace
		r := rand.New(rand.NewPCG(3, 7))
		long := false
		for i := range 600 {
			if i%every == 0 {
				long = every > 1 && !long || every == 1 && r.IntN(2) == 0
			}
			start, lag := int64(i)*1000, int64(1+i%3)
			if long {
				lag = 100 + int64(i%7)
			}
			traces = append(traces, spans.NewTrace(spans.TraceID{Lo: uint64(i + 1)}, []spans.Span{
				span(1, 0, 1, start, 2*lag+5), span(2, 1, 2, start+lag, 5),
			}, smallHops, nil))
		}
		p := resultOf(t, traces, 2, Config{}, Query{}).Pairs[0]
		if got := string(p.Verdict) + " " + p.Figures.Reason; got != want {
			t.Errorf("%d in a row: %s, want %s", every, got, want)
		}
	}
}
