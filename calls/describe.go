package calls

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/quantile"
)

// describer makes the result of one callee.
type describer struct {
	*Accumulator
	study  *study
	callee string
	names  []string // of instances, sorted
	calls  []int    // numbers of pairs as they were, in the order that they have now
	places []*place
}

// describe enters what the moments of the callee tell into a result.
func (d *describer) describe(l *log, q *Query, r *Result) (err error) {
	if l.empty() {
		return nil
	}
	var store *quantile.Store
	if q.Memory > 0 {
		store = quantile.NewStore(q.Memory/int64(max(1, q.Jobs)), d.config.TempDir)
	}
	file := spill.New(d.config.TempDir, "calls")
	defer func() { err = cmp.Or(err, store.Err(), store.Close(), file.Close()) }()
	d.study = newStudy(l, q, store, file, int(max(blockMoments, q.Memory/momentSize)))
	if err := d.study.run(); err != nil {
		return err
	}
	d.places = d.study.inOrder()
	return d.decide(r)
}

// decide enters the pairs of the callee with their verdicts, and the callee.
func (d *describer) decide(r *Result) error {
	var pools []pool
	for _, call := range slices.Sorted(maps.Keys(d.study.pairs)) {
		p := d.study.pairs[call]
		of := d.of[d.pairs.Values()[d.calls[call]].hop]
		all := p.n + of.calls - of.answered
		f, err := d.study.decide(p, d.places, float64(p.n)/float64(all))
		if err != nil {
			return err
		}
		one := d.pair(p, &f)
		one.Calls = all
		if f.verdict == PoolFull {
			pools = append(pools, d.pool(&one, &f))
		}
		r.Pairs = append(r.Pairs, one)
	}
	d.describeCallee(r, pools)
	return nil
}

// pool is what a full pool says of whom.
type pool struct {
	scope int
	size  int
}

// pool enters the size of a pair's pool and its utilisation.
func (d *describer) pool(p *Pair, f *finding) pool {
	if f.size > 0 && d.whole(p) {
		if load := loadOf(d.roomsOf(f.scope)); load > 0 {
			u, n := load/float64(f.size), workersFor(load)
			p.Figures.Size, p.Figures.Utilisation, p.Figures.ForSeventy = &f.size, &u, &n
		}
	}
	if !d.whole(p) {
		return pool{scope: f.scope}
	}
	return pool{f.scope, f.size}
}

// nearlyAll is the share of calls that must have a server's span for sizes to be known.
const nearlyAll = 0.95

// whole reports whether the spans are all there that tell how many are open at once.
func (d *describer) whole(p *Pair) bool {
	return !d.study.query.Sampled && float64(p.N) >= nearlyAll*float64(p.Calls)
}

func (d *describer) roomsOf(scope int) (list []*room) {
	switch scope {
	case ofInstance:
		list = inOrder(d.study.insts)
	case ofCaller:
		list = inOrder(d.study.calls)
	default:
		list = []*room{&d.study.whole}
	}
	return list
}

func inOrder(m map[int32]*room) (list []*room) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k])
	}
	return list
}

// loadOf is how many work at once in each of the rooms, in the mean.
func loadOf(rooms []*room) float64 {
	var work, length float64
	for _, r := range rooms {
		work, length = work+mean(r.work, 1), length+float64(r.length())
	}
	if length <= 0 {
		return 0
	}
	return work / length
}

func (r *room) load() float64 { return loadOf([]*room{r}) }

func (d *describer) pair(p *pair, f *finding) Pair {
	one := Pair{
		Call: d.hops.Hop(d.Accumulator.pairs.Values()[d.calls[p.call]].hop), Callee: d.callee, N: p.n, Cut: p.cut,
		Gap: d.summary(p.gaps), Work: d.summary(p.works), Clock: p.clock(), Side: f.side, Verdict: f.verdict,
	}
	if one.Clock != SkewedClock {
		one.Wait, one.Return = jsontype.If(p.waits.N() > 0, d.summary(p.waits)), jsontype.If(p.backs.N() > 0, d.summary(p.backs))
	}
	one.GapCut = jsontype.If(p.cut > 0, d.summary(p.gapsCut))
	if f.waited >= leastWaited {
		one.HandOver = f.handOver()
	}
	one.Figures = d.figures(p, f)
	return one
}

func (d *describer) summary(s *quantile.Sample) quantile.Summary {
	sum := quantile.Summarize(quantile.Union{s}, d.study.query.Quantiles)
	sum.Biased = d.study.query.Biased
	return sum
}

func (p *pair) clock() Clock {
	switch {
	case p.skewed:
		return SkewedClock
	case p.oneHost > 0 && p.twoHosts == 0 && p.oneHost == p.n:
		return OneClock
	}
	return UnknownClock
}

// handOver is that of the pool's scope, else of the strongest.
func (f *finding) handOver() *HandOver {
	scope := f.scope
	if f.verdict != PoolFull {
		for i := range f.strength {
			if f.strength[i].value > f.strength[scope].value {
				scope = i
			}
		}
	}
	one := f.strength[scope]
	return &HandOver{scopeNames[scope], one.value, one.share, one.chance}
}

func (d *describer) figures(p *pair, f *finding) Figures {
	s := d.study
	g := Figures{
		Reason: f.reason, Slow: p.slow.n, Usual: p.usual.n, ExcessGap: rounded(p.excess.gap), ExcessWork: rounded(p.excess.work),
		WaitShare: p.waitShare(), Waited: f.waited, Floor: p.floor, GapP50: s.median(p.gaps), WorkP50: s.median(p.works), WorkP50Slow: s.median(p.slowWorks),
	}
	if p.excess.all() > 0 {
		g.GapShare = p.excess.gap / p.excess.all()
	}
	if p.judged {
		g.Grows = ref(p.grows.correlation())
	}
	if f.follow != nil {
		g.Beside, g.Next = ref(f.follow.slowBeside()), ref(f.follow.next.correlation())
	}
	if f.verdict == PoolFull {
		g.Behind = &f.behind
	}
	if f.worst != nil {
		g.Instance, g.InstanceRatio, g.InstanceSlow = ref(d.names[f.worstOf]), &f.ratio, ref(float64(f.worst.slow)/float64(max(1, p.slow.n)))
	}
	g.Refutes = refutes(f)
	return g
}

func ref[T any](v T) *T { return &v }

func rounded(f float64) int64 { return int64(math.Round(f)) }

// describeCallee enters the callee and, where it has several, its instances.
func (d *describer) describeCallee(r *Result, pools []pool) {
	pool := largest(pools)
	r.Callees = append(r.Callees, d.room("", &d.study.whole, pool, len(d.study.insts)))
	if len(d.study.insts) < 2 {
		return
	}
	for _, i := range slices.Sorted(maps.Keys(d.study.insts)) {
		r.Callees = append(r.Callees, d.room(d.names[i], d.study.insts[i], pool, 1))
	}
}

// largest is the pool that says most of the callee's own workers, nil for none.
func largest(pools []pool) (best *pool) {
	for i, p := range pools {
		if p.scope != ofCaller && (best == nil || p.size > best.size) {
			best = &pools[i]
		}
	}
	return best
}

func (d *describer) room(instance string, r *room, p *pool, instances int) Callee {
	c := Callee{Hop: d.callee, Instance: jsontype.Text(instance), N: r.n, Busy: r.busy(), Work: saturated(r.work), Wasted: r.wasted}
	if r.length() > 0 {
		c.Rate = float64(r.n) / (float64(r.length()) / 1e9)
	}
	if d.study.query.Sampled {
		return c
	}
	most := r.most()
	c.OpenMax = &most
	if c.Busy > 0 {
		c.OpenMean, c.ShareAtMax = ref(mean(r.work, 1)/float64(c.Busy)), ref(float64(r.at[most])/float64(c.Busy))
	}
	if p == nil || p.size == 0 || p.scope == ofCallee && instance != "" || r.load() == 0 {
		return c
	}
	size, n := p.size, workersFor(r.load())
	if p.scope == ofInstance && instances > 1 {
		size *= instances
	}
	c.Size, c.ForSeventy, c.Utilisation = &size, &n, ref(r.load()/float64(size))
	return c
}

// saturated is a sum of ns, at most the largest number.
func saturated(s quantile.Sum) int64 {
	if s.Hi > 0 || s.Lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(s.Lo)
}

// warnings are what to know of all calls.
func (a *Accumulator) warnings(q *Query) (list []note.Warning) {
	if q.Biased {
		list = append(list, note.Warning{Code: "biased_sample", Text: "the traces were chosen by how they went: no verdict is given"})
	} else if q.Sampled {
		list = append(list, note.Warning{Code: "sampled", Text: "not all traces are there: what was open at once, and how busy workers were, is not known"})
	}
	var calls, answered uint64
	for _, of := range a.of {
		if of.answered > 0 {
			calls, answered = calls+of.calls, answered+of.answered
		}
	}
	if 10*answered < 9*calls {
		list = append(list, note.Warning{Code: "servers_missing", Text: fmt.Sprintf("%d of %s no server's span", calls-answered, note.Count(calls, "call")+note.Form(calls-answered, " has", " have"))})
	}
	return list
}

// MarshalJSON writes the pair as "call", "callee", "n", its distributions and its verdict.
func (p Pair) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"call", p.Call.Name, "kind", p.Call.Kind, "callee", p.Callee, "n", p.N, "calls", p.Calls, "cut", p.Cut,
		"gap", p.Gap, "work", p.Work, "wait", p.Wait, "return", p.Return, "gap_cut", p.GapCut, "clock", p.Clock,
		"hand_over", p.HandOver, "side", jsontype.Text(p.Side), "verdict", p.Verdict, "figures", p.Figures,
	}.MarshalJSON()
}

// MarshalJSON writes the reason and the share of the gaps besides, null where there is
// none.
func (f Figures) MarshalJSON() ([]byte, error) {
	type fields Figures
	return jsontype.Join(jsontype.Object{
		"reason", jsontype.Text(f.Reason), "gap_share", jsontype.If(f.ExcessGap+f.ExcessWork > 0, f.GapShare),
	}, fields(f))
}

// MarshalJSON writes ns and shares.
func (c Callee) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"hop", c.Hop, "instance", c.Instance, "n", c.N, "open_max", c.OpenMax, "open_mean", c.OpenMean, "share_at_max", c.ShareAtMax, "busy_ns", c.Busy,
		"rate_per_s", c.Rate, "pool_size", c.Size, "utilisation", c.Utilisation, "workers_for_70", c.ForSeventy,
		"work_ns", c.Work, "wasted_ns", c.Wasted, "wasted_share", c.WastedShare(),
	}.MarshalJSON()
}

// MarshalJSON names the hop.
func (u Unanswered) MarshalJSON() ([]byte, error) {
	return jsontype.Object{"call", u.Call.Name, "kind", u.Call.Kind, "calls", u.Calls}.MarshalJSON()
}

// refutes says what would refute a verdict, or make it known.
func refutes(f *finding) string {
	switch f.verdict {
	case SlowInstance:
		return "the instance serves other requests than the rest, or runs on other hardware by intent"
	case PoolFull:
		return map[Side]string{
			CalleeSide: "more workers do not shorten the wait",
			CallersOwn: "more connections do not shorten the wait",
			EitherSide: "neither more workers nor more connections shorten the wait",
		}[f.side]
	case NetworkOrClock:
		return "spans of the server side are missing or begin late: then calls may queue before they are seen"
	case SlowWork:
		return "the server's span begins before its work, so that a queue inside it counts as work"
	}
	return cmp.Or(map[string]string{
		ReasonFewCalls:   fmt.Sprintf("%d calls with a server's span would tell", leastCalls),
		ReasonFewSlow:    "more calls would tell",
		ReasonNoServer:   "server's spans of all calls would tell",
		ReasonSampled:    "all traces of a time would tell",
		ReasonTwoCauses:  "the traces of one of the two causes alone would tell",
		ReasonQueueHides: "all traces of a time, with the server's spans of all calls, would tell",
	}[f.reason], "more calls, or phases of a call (connect, send, wait), would tell")
}
