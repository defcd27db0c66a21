package calls

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// A world is calls of which it is known what each of them waited for: callers, with a
// pool of connections maybe, a network, and instances of a callee, with a pool of workers
// maybe. Times are ms.
type world struct {
	calls       int
	callers     int
	connections int     // of each caller, 0 for as many as are wanted
	instances   int     // of the callee
	workers     int     // of each instance, 0 for as many as are wanted
	grows       int     // workers that each instance has more in the end
	utilisation float64 // of all workers, or the mean number of calls that are worked on
	work        func() float64
	slow        float64        // how many times as long the first instance works
	net         func() float64 // one way
	timeout     float64        // 0: none
	stops       bool           // servers stop, and leave the queue, when their call was cut
	retries     bool           // a cut call is tried again, once
	skew        float64        // of the callee's clock
	missing     float64        // share of server's spans that are lost
	keepOne     int            // of so many traces, 0 for all
	lock        bool           // work is done one at a time, inside the server's span
	random      *rand.Rand
	busy        float64 // what part of its time a worker worked
}

// truth is what a call's time was made of, in ms.
type truth struct{ connection, queue, net, work float64 }

// attempt is a call in a world.
type attempt struct {
	trace, caller, instance     int
	start, sent, arrived, begun float64
	served, ended               float64
	toServer, toCaller, toWork  float64
	cut, left, answered, retry  bool
	truth
}

// event is something that happens.
type event struct {
	at   float64
	seq  int
	does func()
}

type events struct {
	list []event
	seq  int
	now  float64
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, j int) bool {
	return e.list[i].at < e.list[j].at || e.list[i].at == e.list[j].at && e.list[i].seq < e.list[j].seq
}
func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }
func (e *events) Push(x any)    { e.list = append(e.list, x.(event)) }
func (e *events) Pop() any {
	last := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return last
}

func (e *events) in(ms float64, does func()) {
	e.seq++
	heap.Push(e, event{e.now + ms, e.seq, does})
}

func (e *events) run() {
	for len(e.list) > 0 {
		next := heap.Pop(e).(event)
		e.now = next.at
		next.does()
	}
}

// running is a world that runs.
type running struct {
	*world
	events
	free    []int        // workers by instance
	queues  [][]*attempt // by instance
	lines   []int        // free connections by caller
	waiting [][]*attempt // for connections, by caller
	locked  []float64    // until when, by instance
	all     []*attempt
}

// run makes the calls of a world.
func (w *world) run() []*attempt {
	r := &running{world: w, queues: make([][]*attempt, w.instances), waiting: make([][]*attempt, w.callers), locked: make([]float64, w.instances)}
	for range w.instances {
		r.free = append(r.free, w.workers)
	}
	for range w.callers {
		r.lines = append(r.lines, w.connections)
	}
	rate := w.rate()
	t := 0.0
	for i := range w.calls {
		t += w.random.ExpFloat64() / rate
		r.in(t, func() { r.call(i, i%w.callers, false) })
	}
	if w.grows > 0 {
		for k := range w.grows {
			r.in(t*float64(k+1)/float64(w.grows+1), func() { r.grow() })
		}
	}
	r.events.run()
	return r.all
}

// rate is how many calls a ms keep the workers as busy as is wanted.
func (w *world) rate() float64 {
	var sum float64
	for range 4000 {
		sum += w.work()
	}
	mean := sum / 4000
	if w.slow > 0 {
		mean *= (w.slow + float64(w.instances-1)) / float64(w.instances)
	}
	places := float64(max(1, w.workers) * w.instances)
	if w.connections > 0 {
		places, mean = float64(w.connections*w.callers), mean+2*w.net()
	}
	return w.utilisation * places / mean
}

func (r *running) grow() {
	for i := range r.free {
		r.free[i]++
		r.next(i)
	}
}

func (r *running) call(trace, caller int, retry bool) {
	a := &attempt{trace: trace, caller: caller, instance: r.random.IntN(r.instances), start: r.now, retry: retry, toServer: r.net(), toCaller: r.net(), toWork: r.work()}
	if a.instance == 0 && r.slow > 0 {
		a.toWork *= r.slow
	}
	r.all = append(r.all, a)
	if r.timeout > 0 {
		r.in(r.timeout, func() { r.giveUp(a) })
	}
	if r.connections > 0 && r.lines[caller] == 0 {
		r.waiting[caller] = append(r.waiting[caller], a)
		return
	}
	r.lines[caller]--
	r.send(a)
}

func (r *running) send(a *attempt) {
	a.sent, a.connection = r.now, r.now-a.start
	r.in(a.toServer, func() { r.arrive(a) })
}

func (r *running) arrive(a *attempt) {
	a.arrived = r.now
	if a.left && r.stops {
		return
	}
	if r.workers > 0 && r.free[a.instance] <= 0 {
		r.queues[a.instance] = append(r.queues[a.instance], a)
		return
	}
	r.begin(a)
}

func (r *running) begin(a *attempt) {
	r.free[a.instance]--
	a.begun, a.answered, a.queue = r.now, true, r.now-a.arrived
	end := r.now + a.toWork
	if r.lock {
		end = max(r.now, r.locked[a.instance]) + a.toWork
		r.locked[a.instance] = end
	}
	a.served = end
	r.in(end-r.now, func() { r.finish(a) })
}

func (r *running) finish(a *attempt) {
	if a.served != r.now { // it was stopped before
		return
	}
	r.free[a.instance]++
	r.next(a.instance)
	r.in(a.toCaller, func() { r.answer(a) })
}

func (r *running) next(instance int) {
	for len(r.queues[instance]) > 0 && r.free[instance] > 0 {
		a := r.queues[instance][0]
		r.queues[instance] = r.queues[instance][1:]
		if a.left && r.stops {
			continue
		}
		r.free[instance]-- // a worker takes some tens of microseconds to take up the next
		r.in(.02+.03*r.random.Float64(), func() { r.free[instance]++; r.begin(a) })
	}
}

func (r *running) answer(a *attempt) {
	if !a.left {
		a.ended = r.now
		r.leave(a)
	}
}

func (r *running) giveUp(a *attempt) {
	if a.left {
		return
	}
	a.cut, a.ended = true, r.now
	if i := slices.Index(r.waiting[a.caller], a); i >= 0 {
		r.waiting[a.caller] = slices.Delete(r.waiting[a.caller], i, i+1)
		a.left = true
	} else {
		r.leave(a)
	}
	if r.retries && !a.retry {
		r.in(5*r.random.Float64(), func() { r.call(a.trace, a.caller, true) })
	}
	if r.stops && a.answered && a.served > r.now+a.toServer {
		a.served = r.now + a.toServer
		r.in(a.toServer, func() { r.free[a.instance]++; r.next(a.instance) })
	}
}

// leave gives the connection up.
func (r *running) leave(a *attempt) {
	a.left = true
	r.lines[a.caller]++
	if list := r.waiting[a.caller]; len(list) > 0 && r.connections > 0 {
		r.waiting[a.caller] = list[1:]
		r.lines[a.caller]--
		r.in(.02*r.random.Float64(), func() { r.send(list[0]) })
	}
}

var worldHops = []spans.Hop{
	{Name: "front GET", Service: "front", Operation: "GET", Kind: spans.Server},
	{Name: "front call back", Service: "front", Operation: "call back", Kind: spans.Client},
	{Name: "back GET", Service: "back", Operation: "GET", Kind: spans.Server},
}

// traces are the calls as spans, with what of them was kept.
func (w *world) traces(all []*attempt) (list []*spans.Trace) {
	hosts := []string{""}
	for i := range w.callers {
		hosts = append(hosts, fmt.Sprintf("front-%d", i))
	}
	for i := range w.instances {
		hosts = append(hosts, fmt.Sprintf("back-%d", i))
	}
	const known = spans.HasStart | spans.HasDuration
	byTrace := map[int][]*attempt{}
	for _, a := range all {
		byTrace[a.trace] = append(byTrace[a.trace], a)
	}
	for i := range w.calls {
		calls := byTrace[i]
		if w.keepOne > 0 && w.random.IntN(w.keepOne) > 0 {
			continue
		}
		root := spans.Span{ID: 1, Host: int32(1 + calls[0].caller), Start: us(calls[0].start - .1), Duration: us(calls[len(calls)-1].ended) - us(calls[0].start) + 200_000, Flags: known}
		found := []spans.Span{root}
		for k, a := range calls {
			call := spans.Span{ID: spans.SpanID(10 + 2*k), Parent: 1, Hop: 1, Host: root.Host, Start: us(a.start), Duration: us(a.ended) - us(a.start), Flags: known}
			if a.cut {
				call.Outcome, call.CutBy = spans.Truncated, spans.Own
			}
			found = append(found, call)
			if a.answered && w.random.Float64() >= w.missing {
				server := spans.Span{ID: call.ID + 1, Parent: call.ID, Hop: 2, Host: int32(1 + w.callers + a.instance), Start: us(a.begun + w.skew), Duration: us(a.served) - us(a.begun), Flags: known}
				found = append(found, server)
			}
		}
		list = append(list, spans.NewTrace(spans.TraceID{Lo: uint64(i + 1)}, found, worldHops, hosts))
	}
	return list
}

// us is a time in ns, in whole microseconds.
func us(ms float64) int64 { return 1_700_000_000_000_000_000 + int64(math.Round(ms*1000))*1000 }

// resultOf collects traces with so many workers.
func resultOf(t testing.TB, traces []*spans.Trace, workers int, c Config, q Query) Result {
	t.Helper()
	var all []*Accumulator
	for range workers {
		all = append(all, NewAccumulator(c))
	}
	for i, trace := range traces {
		all[(i*7/3)%workers].AddTrace(trace)
	}
	for _, a := range all[1:] {
		all[0].Merge(a)
		defer a.Close()
	}
	if q.Quantiles == nil {
		q.Quantiles = []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.95")}
	}
	q.Jobs = workers
	r := all[0].Result(q)
	if err := all[0].Err(); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// lognormal draws times with a median and a spread.
func lognormal(r *rand.Rand, median, sigma float64) func() float64 {
	return func() float64 { return median * math.Exp(sigma*r.NormFloat64()) }
}
