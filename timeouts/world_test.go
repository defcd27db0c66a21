package timeouts

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

const ms = int64(1e6)

// hop is what a test says of one hop: n attempts that took ms each, and cut ones
// at the wall.
type hop struct {
	name     string // of a client's where it begins with "call "
	n        int
	ms       int64
	cut      int
	wall     int64 // ms, 0 for none
	loose    int64 // ms, of cuts whose timeout is not known
	clock    int64 // ms, step of the clock
	retries  uint64
	backoff  int64 // ms
	unmarked bool
	servers  *buckets.ServerSide
	estimate int64 // ms, bound of the models, 0 for none
	warnings []string
	effect   depend.Effect
	failed   float64 // share of the first attempts
}

// world is an input as its sections would tell it.
type world struct {
	hops     []hop
	graph    *callgraph.Accumulator
	settings Settings
	biased   bool
	weighted bool
	queue    func(spans.Hop) *Queue
}

var usual = Settings{FalseTimeout: 1e6, Headroom: 133, Allowance: 10 * ms, Floor: 10 * ms}

var confidence = quantile.MustP("0.95")

func kindOf(name string) spans.Kind {
	if strings.HasPrefix(name, "call ") {
		return spans.Client
	}
	return spans.NoKind
}

// advise works the advice out.
func (w world) advise() Result {
	if w.settings == (Settings{}) {
		w.settings = usual
	}
	if w.graph == nil {
		w.graph = callgraph.NewAccumulator(callgraph.Config{})
	}
	g := w.graph.Graph()
	q := Query{Settings: w.settings, Target: w.settings.Target(g), Confidence: confidence, Graph: g, Retries: &retries.Result{}, Biased: w.biased, Weighted: w.weighted, Queue: w.queue}
	q.FirstCompleted = map[spans.Hop]quantile.Union{}
	for _, h := range w.hops {
		k := spans.Hop{Name: h.name, Kind: kindOf(h.name)}
		completed := new(quantile.Sample)
		completed.AddN(h.ms*ms, uint64(h.n))
		q.FirstCompleted[k] = quantile.Union{completed}
		q.Hops = append(q.Hops, h.row(completed, q.Target))
		q.Retries.Hops = append(q.Retries.Hops, h.retriesRow())
	}
	return Advise(q)
}

func (h hop) retriesRow() retries.Hop {
	r := retries.Hop{Hop: spans.Hop{Name: h.name, Kind: kindOf(h.name)}, MostAttempts: 1 + h.retries}
	if h.backoff > 0 {
		most := h.backoff * ms
		r.Backoff.Max = &most
	}
	return r
}

// row is the hop's row of the hop table.
func (h hop) row(completed *quantile.Sample, target quantile.P) buckets.Result {
	cut := new(quantile.Sample)
	cut.AddN(max(h.wall, h.loose)*ms, uint64(h.cut))
	if h.loose > 0 {
		return rowOf(h, quantile.Observed{Completed: quantile.Union{completed}, CutSeen: quantile.Union{cut}}, target)
	}
	return rowOf(h, quantile.Observed{Completed: quantile.Union{completed}, CutAt: quantile.Union{cut}}, target)
}

func rowOf(h hop, o quantile.Observed, target quantile.P) buckets.Result {
	t := o.Tails([]quantile.P{target, quantile.MustP("0.5")}, confidence)
	r := buckets.Result{Hop: spans.Hop{Name: h.name, Kind: kindOf(h.name)}, FirstAttempts: t.N, Attempts: t.N, Confidence: confidence, FailedShare: jsontype.Number(h.failed)}
	r.Completed.All, r.Truncated.All = quantile.Summarize(o.Completed, nil), quantile.Summarize(append(o.CutAt, o.CutSeen...), nil)
	r.Completed.First, r.Truncated.First = r.Completed.All, r.Truncated.All
	r.TruncatedShare = buckets.Share{Count: t.Cut, Of: t.N, Value: float64(t.Cut) / float64(t.N)}
	recorded := quantile.Summarize(append(append(o.Completed, o.CutAt...), o.CutSeen...), []quantile.P{quantile.MustP("0.95")})
	r.Target = &buckets.Target{Tail: buckets.Tail{Tail: t.Tails[0], Reason: "cut", ServerSide: h.servers}, Median: buckets.Tail{Tail: t.Tails[1]}}
	r.Target.Tail.Effect, r.Target.Tail.ClockStep = h.effect, h.clock*ms
	if bound := h.estimate * ms; bound > 0 {
		r.Target.Tail.Estimate = &fit.Estimate{Bound: &bound}
	}
	if recorded.N > 0 {
		r.Target.Recorded95 = &recorded.Quantiles[0]
	}
	if h.wall > 0 {
		ns := h.wall * ms
		r.Walls = []buckets.Wall{{Timeout: &ns, Source: buckets.Configured, Count: t.Cut, From: ns, To: ns}}
	}
	for _, code := range h.warnings {
		r.Warnings = append(r.Warnings, note.Warning{Code: code, Text: code})
	}
	if h.unmarked {
		r.Warnings = append(r.Warnings, note.Warning{Code: "cut_marks_missing"})
		r.Target.Tail.Upper = nil
	}
	return r
}

// call is an attempt of a request in a test; in is the place of the one in which it
// runs, one more than the index.
type call struct {
	name       string
	start, end int64 // ms
	in         int
}

// requests gives n equal requests to an accumulator.
func requests(n int, calls ...call) *callgraph.Accumulator {
	w := callgraph.NewAccumulator(callgraph.Config{})
	chain := &spans.Chain{Timed: true}
	for i, c := range calls {
		chain.Hops = append(chain.Hops, spans.Hop{Name: c.name, Kind: kindOf(c.name)})
		chain.Attempts = append(chain.Attempts, spans.Attempt{Hop: int32(i), Parent: int32(c.in - 1), Start: c.start * ms, Duration: (c.end - c.start) * ms, Timed: true})
	}
	for range n {
		w.AddChain(chain)
	}
	return w
}

func (r Result) hop(name string) *Hop {
	for i := range r.Hops {
		if r.Hops[i].Name == name {
			return &r.Hops[i]
		}
	}
	return &Hop{}
}

// system is a distribution of durations in ns.
type system struct {
	name     string
	draw     func(*rand.Rand) float64
	survival func(float64) float64
}

var systems = []system{
	{"lognormal", func(r *rand.Rand) float64 { return 20e6 * math.Exp(.9*r.NormFloat64()) },
		func(x float64) float64 { return .5 * math.Erfc(math.Log(x/20e6)/.9/math.Sqrt2) }},
	{"Weibull", func(r *rand.Rand) float64 { return 50e6 * math.Pow(r.ExpFloat64(), 1/.7) },
		func(x float64) float64 { return math.Exp(-math.Pow(x/50e6, .7)) }},
	{"Lomax", func(r *rand.Rand) float64 { return 100e6 * (math.Exp(r.ExpFloat64()/3) - 1) },
		func(x float64) float64 { return math.Pow(1+x/100e6, -3) }},
	{"uniform", func(r *rand.Rand) float64 { return 1e9 * r.Float64() },
		func(x float64) float64 { return max(0, 1-x/1e9) }},
}
