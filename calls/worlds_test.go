package calls

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/internal/racing"
	"github.com/tailscope/tailscope/spans"
)

// kindOfWorld draws worlds of one cause, or of two.
type kindOfWorld struct {
	name string
	draw func(r *rand.Rand) *world
}

// plain is a world in which nothing is slow: 1 ms of network, 10 ms of work.
func plain(r *rand.Rand) *world {
	return &world{calls: 1500, callers: 2, instances: 1, utilisation: 3, random: r, net: lognormal(r, .3+.7*r.Float64(), .3), work: lognormal(r, 8+8*r.Float64(), .5)}
}

func kindsOfWorlds() (list []kindOfWorld) {
	add := func(name string, change func(*world)) {
		list = append(list, kindOfWorld{name, func(r *rand.Rand) *world {
			w := plain(r)
			change(w)
			return w
		}})
	}
	pool := func(w *world, workers, instances int, utilisation float64) {
		w.workers, w.instances, w.utilisation = workers, instances, utilisation
	}
	for _, workers := range []int{1, 2, 4, 10, 20} {
		for _, instances := range []int{1, 3} {
			for _, u := range []float64{.5, .8, .95, 1.1} {
				add(fmt.Sprintf("%d workers in %d, %.2f", workers, instances, u), func(w *world) { pool(w, workers, instances, u) })
			}
		}
	}
	add("a pool that grows", func(w *world) { pool(w, 2, 1, 1.6); w.grows = 3 })
	add("one slow instance of three", func(w *world) { w.instances, w.slow = 3, 2.5+5*w.random.Float64() })
	add("slow work in all", func(w *world) { w.instances, w.work = 3, lognormal(w.random, 10, 1) })
	add("a slow network", func(w *world) { w.net = lognormal(w.random, 4, 1.2) })
	add("a far callee", func(w *world) { w.net, w.work = lognormal(w.random, 60, .15), lognormal(w.random, 3, .3) })
	add("a caller's pool", func(w *world) {
		w.connections, w.utilisation, w.instances = 2+w.random.IntN(4), .9+.15*w.random.Float64(), 2
	})
	add("a pool and a slow network", func(w *world) { pool(w, 3, 1, .9); w.net = lognormal(w.random, 6, 1.3) })
	add("a pool and a slow instance", func(w *world) { pool(w, 8, 3, .75); w.slow = 3 })
	add("cut, and the server goes on", func(w *world) { pool(w, 3, 1, 1.05); w.timeout = 120 })
	add("cut, and the server stops", func(w *world) { pool(w, 3, 1, 1.05); w.timeout, w.stops = 120, true })
	add("slow work, cut", func(w *world) { w.work, w.timeout, w.stops = lognormal(w.random, 12, 1), 60, true })
	add("10 % without a server's span", func(w *world) { pool(w, 3, 1, .95); w.missing = .1 })
	add("30 % without a server's span", func(w *world) { pool(w, 3, 1, .95); w.missing = .3 })
	add("slow network, 30 % without", func(w *world) { w.net, w.missing = lognormal(w.random, 4, 1.2), .28 })
	add("retries", func(w *world) { pool(w, 4, 1, .9); w.timeout, w.retries = 100, true })
	add("clocks 50 ms apart, a pool", func(w *world) { pool(w, 4, 1, .97); w.skew = -50 })
	add("clocks 50 ms apart, a network", func(w *world) { w.net, w.skew = lognormal(w.random, 4, 1.2), 50 })
	add("1 of 5 kept, a pool", func(w *world) { pool(w, 3, 1, .97); w.keepOne, w.calls = 5, 6000 })
	add("1 of 5 kept, slow work", func(w *world) { w.work, w.keepOne, w.calls = lognormal(w.random, 10, 1), 5, 6000 })
	add("a lock", func(w *world) { w.lock, w.utilisation = true, .9 })
	return list
}

// cause is how much of the excess, and of the mean time, each part makes.
type cause struct{ connection, queue, net, work, queueOfAll, connectionOfAll float64 }

// causeOf says what the slow calls of a world, as far as a server's span shows them, took
// longer for.
func causeOf(all []*attempt) (c cause) {
	var seen []*attempt
	for _, a := range all {
		if a.answered {
			a.net = a.toServer + a.toCaller
			if a.work = a.served - a.begun; a.cut && a.begun+a.work < a.ended {
				a.net += a.ended - a.begun - a.work
			}
			seen = append(seen, a)
		}
	}
	time := func(a *attempt) float64 { return a.connection + a.queue + a.net + a.work }
	slices.SortFunc(seen, func(a, b *attempt) int { return cmp.Compare(time(a), time(b)) })
	p95, p50 := time(seen[len(seen)*95/100]), time(seen[len(seen)/2])
	var slow, usual, whole truth
	var n, m float64
	add := func(t *truth, a *attempt) {
		t.connection, t.queue, t.net, t.work = t.connection+a.connection, t.queue+a.queue, t.net+a.net, t.work+a.work
	}
	for _, a := range seen {
		add(&whole, a)
		if a.cut || time(a) >= p95 {
			add(&slow, a)
			n++
		} else if time(a) <= p50 {
			add(&usual, a)
			m++
		}
	}
	part := func(a, b float64) float64 { return a/max(1, n) - b/max(1, m) }
	c = cause{part(slow.connection, usual.connection), part(slow.queue, usual.queue), part(slow.net, usual.net), part(slow.work, usual.work), 0, 0}
	sum := c.connection + c.queue + c.net + c.work
	c.connection, c.queue, c.net, c.work = c.connection/sum, c.queue/sum, c.net/sum, c.work/sum
	total := whole.connection + whole.queue + whole.net + whole.work
	c.queueOfAll, c.connectionOfAll = whole.queue/total, whole.connection/total
	return c
}

// judged is how a verdict stands to the truth.
type judged int

const (
	right judged = iota
	notKnown
	wrong
)

// judge holds a verdict against the cause: what makes a quarter of the excess is right.
func (w *world) judge(p *Pair, c cause) judged {
	is := func(holds bool) judged {
		if holds {
			return right
		}
		return wrong
	}
	queue, connection := max(c.queue, c.queueOfAll), max(c.connection, c.connectionOfAll)
	switch p.Verdict {
	case PoolFull:
		mine := p.Side == EitherSide || p.Side == CalleeSide && queue >= .25 || p.Side == CallersOwn && connection >= .25
		return is(queue+connection >= .25 && mine && w.keepOne == 0)
	case NetworkOrClock:
		return is(c.net >= .25 && w.keepOne == 0)
	case SlowWork:
		return is(c.work >= .25)
	case SlowInstance:
		return is(w.slow > 1.5 && *p.Figures.Instance == "back-0")
	}
	if w.keepOne > 0 && c.work < .25 {
		return right // it cannot be known
	}
	return notKnown
}

// utilised is the part of their time that workers worked, each as long as its instance
// had work.
func (w *world) utilised(all []*attempt) float64 {
	var work, length float64
	for i := range w.instances {
		first, last := math.Inf(1), 0.0
		for _, a := range all {
			if a.answered && a.instance == i {
				work += a.served - a.begun
				first, last = min(first, a.begun), max(last, a.served)
			}
		}
		length += last - first
	}
	return work / length / float64(max(1, w.workers))
}

// trial runs a world and judges its verdict.
func trial(t *testing.T, k kindOfWorld, seed uint64) (judged, *world, *Pair, cause) {
	t.Helper()
	w := k.draw(rand.New(rand.NewPCG(seed, 7)))
	all := w.run()
	c := causeOf(all)
	w.busy = w.utilised(all)
	traces := w.traces(all)
	for _, trace := range traces {
		trace.MarkRetries(spans.RetryOptions{})
	}
	r := resultOf(t, traces, 2, Config{}, Query{})
	if len(r.Pairs) != 1 {
		t.Fatalf("%s: %d pairs", k.name, len(r.Pairs))
	}
	return w.judge(&r.Pairs[0], c), w, &r.Pairs[0], c
}

// TestVerdictsInWorldsOfKnownCause: of all worlds at least 80 % are told right, at least
// 95 % right or not at all, and at most 2 % wrong.
func TestVerdictsInWorldsOfKnownCause(t *testing.T) {
	t.Parallel()
	seeds := uint64(15)
	if testing.Short() || racing.Enabled {
		seeds = 1
	}
	var sum [3]int
	for _, k := range kindsOfWorlds() {
		var of [3]int
		for seed := range seeds {
			is, w, p, c := trial(t, k, seed)
			of[is]++
			sum[is]++
			if u := p.Figures.Utilisation; u != nil && p.Side == CalleeSide && w.grows == 0 && (*u < .95*w.busy || *u > 1.05*w.busy) {
				t.Errorf("%s, seed %d: utilisation %.3f of %d, really %.3f of %d", k.name, seed, *u, *p.Figures.Size, w.busy, w.workers)
			}
			if is == wrong {
				t.Logf("%s, seed %d: %s %s (%s), cause %.2f, instances %d", k.name, seed, p.Verdict, p.Side, p.Figures.Reason, c, w.instances)
			}
		}
		t.Logf("%-32s right %d, not known %d, wrong %d", k.name, of[right], of[notKnown], of[wrong])
	}
	n := sum[right] + sum[notKnown] + sum[wrong]
	t.Logf("all: right %d, not known %d, wrong %d", sum[right], sum[notKnown], sum[wrong])
	if 100*sum[right] < 80*n || 100*sum[wrong] > 2*n {
		t.Errorf("of %d: right %d, not known %d, wrong %d", n, sum[right], sum[notKnown], sum[wrong])
	}
}

// A lock inside the server is work that grows with the calls open at once, and slow work
// without one is not.
func TestWorkBehindALockGrowsWithTheCallsOpen(t *testing.T) {
	t.Parallel()
	grows := map[string]bool{"a lock": true, "slow work in all": false}
	for _, k := range kindsOfWorlds() {
		want, asked := grows[k.name]
		if !asked {
			continue
		}
		for seed := range uint64(5) {
			if _, _, p, _ := trial(t, k, seed); p.Verdict != SlowWork || p.WorkGrows() != want {
				t.Errorf("%s, seed %d: %s, rank correlation of work and calls open %.2f", k.name, seed, p.Verdict, *p.Figures.Grows)
			}
		}
	}
}
