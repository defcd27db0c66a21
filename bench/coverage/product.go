package main

import (
	"time"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// The hop of all attempts, and that of the servers where they are spans.
const hopName, serverName = "h", "server"

var (
	quantiles = []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.9"), quantile.MustP("0.95"), quantile.MustP("0.99"), quantile.MustP("0.999")}
	target    = quantile.MustP("0.999")
)

// advised are the settings that a run has without flags.
var advised = func() timeouts.Settings {
	share, _ := timeouts.ParseShare("0.1%")
	headroom, _ := timeouts.ParseFactor("1.33")
	return timeouts.Settings{FalseTimeout: share, Headroom: headroom, Allowance: int64(10 * time.Millisecond), Floor: int64(10 * time.Millisecond)}
}()

// heap is an allocator of Arrow memory that leaves all to Go.
type heap struct{}

func (heap) Allocate(size int) []byte             { return make([]byte, size) }
func (heap) Reallocate(size int, b []byte) []byte { return append(make([]byte, 0, size), b...)[:size] }
func (heap) Free([]byte)                          {}

// answer is what the product says of a log: of its hop, and of the hop's timeout.
type answer struct {
	buckets.Result
	advice timeouts.Hop
}

// reading is a log on its way through the product.
type reading struct {
	*world
	walls  *spans.Walls
	hops   *buckets.Accumulator
	calls  *callgraph.Accumulator
	marked bool
}

// read asks the product what a log says. The user gives this timeout, in ns; 0 for none.
func (w *world) read(log []attempt, given int64) answer {
	known := map[string]int64{}
	if given > 0 {
		known[hopName] = given
	}
	r := reading{world: w, walls: spans.NewWalls(known, nil, true), hops: buckets.NewAccumulator(buckets.NewConfig(known)), calls: callgraph.NewAccumulator(callgraph.Config{})}
	for i := range log {
		r.marked = r.marked || !log[i].unmarked
	}
	if w.ended {
		r.addTraces(log)
	} else {
		r.addLines(log)
		r.addChains(log)
	}
	return r.answer()
}

func (r *reading) addLines(log []attempt) {
	b := spans.NewBuilder(heap{}, spans.Resolutions|spans.Starts)
	defer b.Release()
	hop := b.Hop([]byte(hopName))
	for i := range log {
		row := r.row(&log[i])
		if row.Hop = hop; b.Full(&row) {
			r.take(b.Batch())
		}
		b.Append(&row)
	}
	r.take(b.Batch())
	r.hops.EndBatches()
}

func (r *reading) take(b *spans.Batch) {
	defer b.Release()
	r.walls.CutFailed(b)
	if err := r.hops.AddBatch(b); err != nil {
		panic(err) // nothing is written to a file
	}
}

func (w *world) row(a *attempt) spans.Row {
	return spans.Row{
		Outcome: a.outcome, CutBy: a.cutBy, Failure: a.failure, Speaks: a.speaks, Marked: !a.unmarked,
		HasDuration: true, Duration: a.logged, Resolution: w.digit(),
		HasTimeout: a.timeout > 0, Timeout: a.timeout, HasStart: a.start > 0, Start: a.start,
	}
}

// digit is the power of ten, in ns, of the last digit that a log has.
func (w *world) digit() (digit uint8) {
	for step := w.step; step >= 10; step /= 10 {
		digit++
	}
	return digit
}

// addChains adds the lines that have one id.
func (r *reading) addChains(log []attempt) {
	hops := []spans.Hop{{Name: hopName}}
	for i := 0; i < len(log) && log[i].chain > 0; {
		c := &spans.Chain{Hops: hops, Instances: []string{""}, ID: spans.TraceID{Lo: uint64(log[i].chain)}}
		for first := log[i].chain; i < len(log) && log[i].chain == first; i++ {
			a := &log[i]
			c.Attempts = append(c.Attempts, spans.Attempt{Start: a.start, Duration: a.logged, Parent: -1, Outcome: a.outcome, CutBy: a.cutBy, Failure: a.failure, Timed: a.start > 0})
		}
		r.hops.AddChain(c)
	}
}

// addTraces adds attempts as spans of clients, each around that of a server, which is seen
// for as long as the log says.
func (r *reading) addTraces(log []attempt) {
	hops := []spans.Hop{{Name: hopName, Kind: spans.Client}, {Name: serverName, Kind: spans.Server}}
	for i := range log {
		a := &log[i]
		call := spans.Span{ID: 1, Start: midday, Duration: a.logged, Outcome: a.outcome, Digest: 1, Flags: spans.HasStart | spans.HasDuration | spans.OutcomeMarked}
		if a.outcome == spans.Unfinished {
			call.Flags, call.Duration = spans.HasStart, 0
		}
		server := spans.Span{ID: 2, Parent: 1, Hop: 1, Start: midday, Duration: a.logged, Digest: 2, Flags: spans.HasStart | spans.HasDuration | spans.OutcomeMarked}
		t := spans.NewTrace(spans.TraceID{Lo: uint64(i + 1)}, []spans.Span{call, server}, hops, []string{""})
		r.hops.AddTrace(t, 0)
	}
}

func (r *reading) answer() answer {
	confidence := quantile.MustP("0.95")
	results := r.hops.Results(buckets.Query{Quantiles: quantiles, Confidence: confidence, Marked: r.marked, Target: &target, Jobs: 1})
	a := timeouts.Advise(timeouts.Query{
		Settings: advised, Target: target, Confidence: confidence, Graph: r.calls.Graph(), Retries: &retries.Result{},
		Hops: results, FirstCompleted: r.hops.FirstCompleted(),
	})
	for _, one := range results {
		if one.Name == hopName {
			return answer{one, a.Hops[0]}
		}
	}
	panic("the hop of all attempts is not there")
}
