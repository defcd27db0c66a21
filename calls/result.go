package calls

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Result is why calls are slow. Durations are ns.
type Result struct {
	// Checkable is false where no call has a server's span; Reason says so.
	Checkable bool                        `json:"checkable"`
	Reason    jsontype.Text               `json:"reason"`
	Warnings  jsontype.List[note.Warning] `json:"warnings"`
	// Pairs are the calls of a hop that one callee answers, by call and callee.
	Pairs jsontype.List[Pair] `json:"pairs"`
	// Callees are the services with server's spans, each followed by its instances where it
	// has several.
	Callees jsontype.List[Callee] `json:"callees"`
	// Unanswered are calls of which none has a server's span, as those to databases: they
	// have no verdict.
	Unanswered jsontype.List[Unanswered] `json:"unanswered"`
}

// Pair is the calls of one hop that one callee answers.
type Pair struct {
	Call   spans.Hop // a client's hop
	Callee string    // the service that answers, or the server's hop where it names none
	N      uint64    // calls with a server's span of this callee
	Calls  uint64    // those, and all calls of the hop of which no server's span is there
	Cut    uint64    // of N: the call left before the server was done

	// Gap is a call's duration less its server's: wait and return, without a clock in it.
	// That of a cut call is its lag above the pair's floor of lags, and the floor of gaps.
	Gap quantile.Summary
	// Work is the duration of the server's span, stopped or not.
	Work quantile.Summary
	// Wait is from the call's start to the server's, Return from the server's end to that
	// of a call that was not cut; nil where the clocks are skewed.
	Wait, Return *quantile.Summary
	// GapCut is Gap of the cut calls, nil where there are none.
	GapCut *quantile.Summary
	Clock  Clock

	HandOver *HandOver // nil where too few calls waited to look for hand-overs
	Side     Side      // "" unless Verdict is PoolFull
	Verdict  Verdict
	Figures  Figures
}

// Clock says whether times of the two sides may be compared.
type Clock string

// The clocks: one host; times that contradict each other; two hosts, or none named, and
// no contradiction, so that the clocks differ by less than the least gap.
const (
	OneClock     Clock = "one"
	SkewedClock  Clock = "skewed"
	UnknownClock Clock = "unknown"
)

// HandOver is how often a call that waited begins just as another one of a scope ends.
type HandOver struct {
	Scope    Scope   `json:"scope"`
	Strength float64 `json:"strength"` // (share - chance) / (1 - chance)
	Share    float64 `json:"share"`
	Chance   float64 `json:"chance"` // above .5 the scope tells nothing, and the strength is 0
}

// Figures are what a verdict rests on. Shares are of 1.
type Figures struct {
	Reason string `json:"-"` // why the verdict is unknown
	// Slow calls take as long as p95 or are cut, usual ones up to p50 and are not cut.
	Slow  uint64 `json:"slow"`
	Usual uint64 `json:"usual"`
	// The excess is the mean of the slow calls less that of the usual ones, in its two parts.
	ExcessGap  int64   `json:"excess_gap_ns"`
	ExcessWork int64   `json:"excess_work_ns"`
	GapShare   float64 `json:"-"` // of the excess; 0 where there is no excess
	// WaitShare is the part of gaps above their floor in the mean time of all calls.
	WaitShare   float64 `json:"wait_share"`
	Waited      uint64  `json:"waited"`   // calls whose gap is above its floor by a fifth of the excess and 1 ms
	Floor       int64   `json:"floor_ns"` // median of the floors of gaps
	GapP50      int64   `json:"gap_p50_ns"`
	WorkP50     int64   `json:"work_p50_ns"`      // of all calls
	WorkP50Slow int64   `json:"work_p50_slow_ns"` // of the slow ones
	// Beside is the part of the slow calls' waiting that the calls begun next to them waited
	// too, nil where it was not looked at; Next the rank correlation of a call's gap and
	// the next one's.
	Beside *float64 `json:"slow_beside"`
	Next   *float64 `json:"next"`
	// Grows is the rank correlation of work and the calls open at its start, nil where it
	// was not looked at.
	Grows *float64 `json:"grows"`
	// Behind is the median from the last end of the callee to the begin of a call that
	// waited, nil unless Verdict is PoolFull.
	Behind *int64 `json:"behind_ns"`
	// Instance is the one with the longest median work, nil where fewer than two have 20
	// calls: how many times that of the others it is, and its share of the slow calls.
	Instance      *string  `json:"instance"`
	InstanceRatio *float64 `json:"instance_ratio"`
	InstanceSlow  *float64 `json:"instance_share_of_slow"`
	// Size, Utilisation and ForSeventy are those of the pool, where Verdict is PoolFull: of
	// each instance where the scope is the instance, and of each caller's where it is the
	// caller.
	Size        *int     `json:"pool_size"`
	Utilisation *float64 `json:"utilisation"`
	ForSeventy  *int     `json:"workers_for_70"`
	// Refutes says what would refute the verdict, or make it known.
	Refutes string `json:"refuted_by"`
}

// Callee is the server's spans of a service, or of one of its instances. Durations are ns
// on its own clock.
type Callee struct {
	Hop      string        // the service, or the server's hop where it names none
	Instance jsontype.Text // "" for all instances together
	N        uint64        // server's spans
	// OpenMax is the most that were open at once, OpenMean the mean while any was, and
	// ShareAtMax the part of that time with the most; nil where traces were sampled.
	OpenMax              *int
	OpenMean, ShareAtMax *float64
	Busy                 int64   // while any was open
	Rate                 float64 // spans a second, from the first begin to the last end
	// Size is how many workers the pool has, Utilisation what part of their time they work
	// and ForSeventy how many would work .7 of theirs: nil unless a call's verdict is
	// PoolFull.
	Size        *int
	Utilisation *float64
	ForSeventy  *int
	Work        int64 // of all spans
	Wasted      int64 // for callers that had left
}

// WastedShare is the part of the work that was for callers that had left.
func (c *Callee) WastedShare() float64 {
	if c.Work == 0 {
		return 0
	}
	return float64(c.Wasted) / float64(c.Work)
}

// Of returns what is known of the calls of a hop, by its name: of several callees that
// with most calls among those whose verdict is known. It is nil where none is.
func (r *Result) Of(call string) *Pair {
	return r.most(func(p *Pair) bool { return p.Call.Name == call })
}

// OfCallee is Of by who answers.
func (r *Result) OfCallee(callee string) *Pair {
	return r.most(func(p *Pair) bool { return p.Callee == callee })
}

func (r *Result) most(is func(*Pair) bool) (best *Pair) {
	if r == nil {
		return nil
	}
	for i := range r.Pairs {
		if p := &r.Pairs[i]; is(p) && p.Verdict != Unknown && (best == nil || p.N > best.N) {
			best = p
		}
	}
	return best
}

// Unanswered is the calls of a hop of which none has a server's span.
type Unanswered struct {
	Call  spans.Hop
	Calls uint64
}

// Query is what a run asks of its accumulator.
type Query struct {
	Quantiles []quantile.P
	// Biased says that traces were chosen by how they went, Sampled that not all are there:
	// what was open at once is not known then.
	Biased, Sampled bool
	// Memory is how many bytes samples hold before the rest goes to a file; 0: no limit.
	Memory int64
	Jobs   int // goroutines to use; the result is the same for any number
}

// Result says why calls are slow. After an error, which Err tells too, it is not to be
// trusted.
func (a *Accumulator) Result(q Query) Result {
	r := Result{Warnings: a.warnings(&q)}
	if r.Checkable = len(a.pairs.Values()) > 0; !r.Checkable {
		r.Reason = "no call has a server's span"
	}
	a.renumber()
	for _, part := range a.studies(&q) {
		r.Pairs, r.Callees = append(r.Pairs, part.Pairs...), append(r.Callees, part.Callees...)
	}
	slices.SortStableFunc(r.Pairs, func(x, y Pair) int { return cmp.Or(x.Call.Compare(y.Call), cmp.Compare(x.Callee, y.Callee)) })
	r.Unanswered = a.unanswered()
	return r
}

// unanswered lists the hops whose calls no server's span answers.
func (a *Accumulator) unanswered() (list []Unanswered) {
	for _, i := range a.hops.Sorted() {
		if of := a.of[i]; of.calls > 0 && of.answered == 0 {
			list = append(list, Unanswered{a.hops.Hop(i), of.calls})
		}
	}
	return list
}

// sortedNumbers returns the numbers of names in the order of the names.
func sortedNumbers(names []string) []int {
	list := make([]int, len(names))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(names[a], names[b]) })
	return list
}

// renumber gives pairs and instances the numbers of their order, so that nothing depends
// on which worker saw what first.
func (a *Accumulator) renumber() {
	to := &numbers{calls: make([]int32, len(a.pairs.Values())), names: make([]int32, len(a.names.Values()))}
	for at, i := range sortedNumbers(a.names.Values()) {
		to.names[i] = int32(at)
	}
	for at, i := range a.sortedPairs() {
		to.calls[i] = int32(at)
	}
	for i := range a.logs {
		a.logs[i].translate(to)
	}
}

func (a *Accumulator) sortedPairs() []int {
	keys, callees := a.pairs.Values(), a.callees.Values()
	list := make([]int, len(keys))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(x, y int) int {
		return cmp.Or(a.hops.Hop(keys[x].hop).Compare(a.hops.Hop(keys[y].hop)), cmp.Compare(callees[keys[x].callee], callees[keys[y].callee]))
	})
	return list
}

// studies looks at each callee, in the order of their names.
func (a *Accumulator) studies(q *Query) []Result {
	names, calls, callees := sortedNames(a.names.Values()), a.sortedPairs(), sortedNumbers(a.callees.Values())
	parts, errs := make([]Result, len(callees)), make([]error, len(callees))
	var next atomic.Int64
	var group sync.WaitGroup
	for range max(1, q.Jobs) {
		group.Go(func() {
			for i := int(next.Add(1) - 1); i < len(callees); i = int(next.Add(1) - 1) {
				d := describer{Accumulator: a, callee: a.callees.Values()[callees[i]], names: names, calls: calls}
				errs[i] = d.describe(&a.logs[callees[i]], q, &parts[i])
			}
		})
	}
	group.Wait()
	a.fail(cmp.Or(errs...))
	return parts
}

func sortedNames(names []string) []string {
	list := slices.Clone(names)
	slices.Sort(list)
	return list
}
