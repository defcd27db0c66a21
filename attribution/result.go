package attribution

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Query is what a result is to hold.
type Query struct {
	Quantiles []quantile.P // of the end-to-end time
	TailFrom  quantile.P   // where the tail begins
	// Confidence is that of the interval of a share, two-sided, and of the
	// limits of counts, one-sided.
	Confidence quantile.P
	// Biased says that the traces were chosen by how they went: then only
	// failures are counted. Weighted says that they stand for different numbers
	// of others, which is not taken into account.
	Biased, Weighted bool
	Jobs             int  // goroutines to use; the result is the same for any number
	MaxHops          int  // most hops to list, those with the largest excess; 0 for all
	few              bool // a rough interval will do
	// Why returns why the calls of a hop are slow, by its name, nil where that is not known;
	// a nil Why knows nothing.
	Why func(hop string) *Cause
}

// Result says who owns the tail. Times are ns.
type Result struct {
	Basis    Basis            `json:"-"` // that of most traces; "" where there is none
	TailFrom quantile.P       `json:"-"`
	Tail     Side             `json:"-"`
	Body     Side             `json:"-"`
	EndToEnd quantile.Summary `json:"-"`
	SumOfP99 int64            `json:"-"` // of each hop's time on the path; P99 is that of the whole
	P99      int64            `json:"-"`
	Excess   int64            `json:"-"`
	Hops     []Hop            `json:"-"` // sorted by hop, then kind; all of them, see Listed
	MaxHops  int              `json:"-"` // as in Query
	Owner    *spans.Hop       `json:"-"`

	Verdict      string                      `json:"verdict"`
	Nesting      *Nesting                    `json:"nesting"`    // of hop logs with start times; nil for others
	Interval     quantile.P                  `json:"confidence"` // of the shares' limits
	Failures     Failures                    `json:"failures"`
	Outcomes     jsontype.List[OutcomeCount] `json:"outcomes"`
	Instances    jsontype.List[Instance]     `json:"instances"` // of the owner, by hop and count
	InstancesOf  InstanceVerdict             `json:"instances_verdict"`
	Cause        *Cause                      `json:"why"` // of the owner; nil where it is not known
	Observations jsontype.List[note.Warning] `json:"observations"`
	Warnings     jsontype.List[note.Warning] `json:"warnings"`
}

// Side is the tail or the body: how many traces, where it begins or ends, and
// their mean.
type Side struct {
	Traces      uint64
	Limit, Mean int64
}

// Hop is what one hop has to do with the tail. A share is nil where the tail is
// no slower than the body; its limits are nil where resampling does not give any.
type Hop struct {
	spans.Hop  `json:"-"`
	Gap        bool                  `json:"-"` // not a hop: time between attempts
	TailMean   int64                 `json:"tail_mean_ns"`
	BodyMean   int64                 `json:"body_mean_ns"`
	Excess     int64                 `json:"excess_ns"`
	Share      *float64              `json:"share"`
	Lower      *float64              `json:"share_lower"`
	Upper      *float64              `json:"share_upper"`
	LowerBound bool                  `json:"lower_bound"` // a cut ended some of its time in the tail
	LargestIn  uint64                `json:"largest_in"`
	Exemplars  jsontype.List[string] `json:"exemplars"` // ids of tail traces in which it is the largest
	Failures   uint64                `json:"-"`         // traces that it is blamed for
	AnyCut     uint64                `json:"-"`
}

// Failures says where failures sit. AnyCut is about all traces with a cut, whether
// they fail or not.
type Failures struct {
	Blame
	AnyCut Blame `json:"any_cut"`
}

// Blame is how many traces went wrong in one way, and at which hops.
type Blame struct {
	N       uint64                  `json:"n"`
	ByHop   jsontype.List[HopCount] `json:"by_hop"`
	Verdict Place                   `json:"verdict"`
	Cause   *Cause                  `json:"why"` // of the first hop; nil where it is not known
	First   string                  `json:"-"`   // that hop, also where it is not among those to show
}

// HopCount is how many traces a hop is blamed for.
type HopCount struct {
	Hop string `json:"hop"`
	N   uint64 `json:"n"`
}

// Instance is how many tail traces took the owner's time on one instance, and
// what share of all that is.
type Instance struct {
	Hop       string  `json:"hop"`
	Instance  string  `json:"instance"`
	N         uint64  `json:"n"`
	Share     float64 `json:"share"`
	BodyShare float64 `json:"body_share"`
}

// OutcomeCount is how many traces ended in one way.
type OutcomeCount struct {
	Outcome Outcome `json:"outcome"`
	N       uint64  `json:"n"`
}

// Result returns who owns the tail. Nothing is lost: it may be asked for again.
func (a *Accumulator) Result(q Query) Result {
	a.flush()
	r := Result{Basis: a.basis(), TailFrom: q.TailFrom, MaxHops: q.MaxHops, Interval: q.Confidence, Observations: a.observations(), Warnings: a.warnings(q)}
	for i, o := range Outcomes {
		r.Outcomes = append(r.Outcomes, OutcomeCount{o, a.counts.outcomes[i]})
	}
	r.Failures = a.failuresOf(q.Confidence)
	r.Failures.explain(q.Why)
	r.Failures.AnyCut.explain(q.Why)
	if q.Biased {
		r.Verdict = "no owner: the traces were chosen by how they went, so their tail is not the tail"
		return r
	}
	s := a.split(q, &r)
	r.Hops = a.hopsOf(s, q)
	r.decide()
	a.readAgain(q, &r)
	r.warnOfHops()
	a.instancesOf(&r, s)
	r.explain(q.Why)
	return r
}

// basis is that of most traces, of as many the first.
func (a *Accumulator) basis() Basis {
	best := 0
	for i, n := range a.counts.measured {
		if n > a.counts.measured[best] {
			best = i
		}
	}
	if a.counts.measured[best] == 0 {
		return ""
	}
	return bases[best]
}

// failuresOf says where failures sit, by the names of hops.
func (a *Accumulator) failuresOf(confidence quantile.P) Failures {
	return Failures{
		a.blamed(confidence, func(h *hop) uint64 { return h.failures }),
		a.blamed(confidence, func(h *hop) uint64 { return h.anyCut }),
	}
}

func (a *Accumulator) blamed(confidence quantile.P, count func(*hop) uint64) (b Blame) {
	names := map[string]uint64{}
	for i := range a.hops {
		n := count(&a.hops[i])
		names[a.table.hops()[i].Name] += n
		b.N += n
	}
	b.ByHop = hopCounts(names, 1)
	b.Verdict = placeOf(b.N, b.ByHop, confidence)
	return b
}

// hopCounts lists counts that are at least so large, the largest first.
func hopCounts(counts map[string]uint64, least uint64) (list []HopCount) {
	for name, n := range counts {
		if n >= least {
			list = append(list, HopCount{name, n})
		}
	}
	slices.SortFunc(list, func(a, b HopCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Hop, b.Hop)) })
	return list
}

// hopsOf lists all hops of the traces and chains, also those without any time.
func (w *Accumulator) hopsOf(s *split, q Query) []Hop {
	var list []Hop
	for i := range w.table.hops() {
		seen := w.hop(int32(i))
		h := Hop{
			Hop: w.table.hops()[i], Gap: int32(i) == gap, TailMean: s.tail.mean(i), BodyMean: s.body.mean(i),
			LowerBound: s.cut[i], LargestIn: s.largest[i], Exemplars: seen.exemplars.inTail(s.from), Failures: seen.failures, AnyCut: seen.anyCut,
		}
		h.Excess = h.TailMean - h.BodyMean
		if s.gaps || !h.Gap {
			list = append(list, h)
			s.listed = append(s.listed, int32(i))
		}
	}
	s.shares(w, list, q)
	slices.SortFunc(list, func(a, b Hop) int { return a.Hop.Compare(b.Hop) })
	return list
}

// Listed returns the hops to list, sorted by hop, then kind: where they are too
// many, those with the largest excess.
func (r *Result) Listed() []Hop {
	if r.leftOut() == 0 {
		return r.Hops
	}
	list := ByExcess(r.Hops)[:r.MaxHops]
	slices.SortFunc(list, func(a, b Hop) int { return a.Hop.Compare(b.Hop) })
	return list
}

// leftOut is how many hops are not listed.
func (r *Result) leftOut() int {
	if r.MaxHops == 0 {
		return 0
	}
	return max(0, len(r.Hops)-r.MaxHops)
}

func (r *Result) warnOfHops() {
	if n := r.leftOut(); n > 0 {
		r.Warnings = append(r.Warnings, note.Warning{Code: "hops_left_out", Text: fmt.Sprintf(
			"%d of %s left out of the list, those with the least excess: --top says how many are listed", n, note.Count(len(r.Hops), "hop")+note.Form(n, " is", " are"))})
	}
}

func byExcess(a, b Hop) int { return cmp.Or(cmp.Compare(b.Excess, a.Excess), a.Hop.Compare(b.Hop)) }

// ByExcess returns hops sorted by their excess, the largest first.
func ByExcess(hops []Hop) []Hop {
	list := slices.Clone(hops)
	slices.SortFunc(list, byExcess)
	return list
}
