package retries

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Query is what a result is to hold.
type Query struct {
	Confidence quantile.P // of limits, one-sided
	// Wall returns the timeout of a hop in ns, where it is known.
	Wall func(spans.Hop) (int64, bool)
	// Completed returns the durations of a hop's completed attempts.
	Completed func(spans.Hop) quantile.Union
	// Biased says that the traces were chosen by how they went: no share of them
	// says anything of the rest. Weighted says that they stand for different
	// numbers of others, which is not taken into account.
	Biased, Weighted bool
	MaxHops          int // most hops to list, those with most calls that were retried; 0 for all
	// Queue says of a hop's calls, in a few words, which full pool they wait for, "" where
	// none is known; nil knows none.
	Queue func(spans.Hop) string
}

// Result says what retries are worth. Times are ns.
type Result struct {
	Hops          jsontype.List[Hop]          `json:"-"` // sorted by hop, then kind
	All           Hop                         `json:"-"` // all hops together, without a name
	Traced        bool                        `json:"-"` // there were traces: a hop log knows no servers
	Amplification Amplification               `json:"-"`
	Ratio         Ratio                       `json:"-"`
	InStep        []InStep                    `json:"-"` // moments in which retries of many traces began together
	Period        *int64                      `json:"-"` // of those moments, nil where there is none
	ExecutedTwice jsontype.List[Case]         `json:"executed_twice"`
	Confidence    quantile.P                  `json:"confidence"`
	Warnings      jsontype.List[note.Warning] `json:"warnings"`
}

// Hop is what retries of one hop are worth. Unless it says otherwise, a count is
// of calls: a first attempt and the retries that belong to it.
type Hop struct {
	spans.Hop      `json:"-"`
	Calls          uint64                      `json:"-"`
	Attempts       uint64                      `json:"-"`
	FirstCut       uint64                      `json:"-"`
	Rescue         Rescue                      `json:"-"` // of calls whose first attempt was cut
	Completion     *float64                    `json:"first_completion"`
	AfterFailure   jsontype.List[AfterFailure] `json:"after_failure"`
	ExecutedTwice  *Twice                      `json:"executed_twice"`
	FinishedAnyway *Finished                   `json:"finished_anyway"`
	NearTimeout    Near                        `json:"near_timeout"`
	Backoff        Backoff                     `json:"backoff"`
	Wall           Wall                        `json:"wall"`
	TooLate        *Count                      `json:"retries_too_late"`         // retries that could no longer fit into what their caller waits, nil where not known
	Permanent      uint64                      `json:"permanent_errors_retried"` // retries after a 4xx
	Unmatched      uint64                      `json:"unmatched_retries"`        // retries of what is not known
	MostAttempts   uint64                      `json:"most_attempts"`
}

// Count is n of some.
type Count struct {
	N  uint64 `json:"n"`
	Of uint64 `json:"of"`
}

func (c *Count) add(o Count) { c.N, c.Of = c.N+o.N, c.Of+o.Of }

// Near is how many completed attempts used more than NearTimeout of their wall; Of
// is 0 where no wall is known.
type Near struct{ Count }

// Share returns n over of, nil for nothing of nothing.
func (c Count) Share() *float64 {
	if c.Of == 0 {
		return nil
	}
	f := float64(c.N) / float64(c.Of)
	return &f
}

// Rescue is how many retried calls a retry completed, with one-sided limits of the
// share.
type Rescue struct {
	Count
	Lower, Upper float64
	Verdict      Verdict
	Biased       bool // the counts are of a biased sample: they give no share
}

// shares returns the share and its limits, nil where nothing gives them.
func (r *Rescue) shares() (rate, lower, upper *float64) {
	if r.Of == 0 || r.Biased {
		return nil, nil, nil
	}
	return r.Share(), &r.Lower, &r.Upper
}

// AfterFailure is the rescue of calls whose first attempt failed in one way.
type AfterFailure struct {
	Kind  spans.Failure
	First uint64 // calls whose first attempt failed so
	Rescue
}

// Twice is how many retried calls the server ran to a good end more than once, of
// those with at least two attempts whose server is there. Writes are those of N that
// look like writes, Retried counts all retried calls.
type Twice struct {
	Count
	Retried uint64 `json:"retried_calls"`
	Writes  uint64 `json:"writes"`
}

// Finished is how many cut first attempts their server brought to a good end, of
// those whose server is there, and how long after the cut.
type Finished struct {
	Count
	MedianAfter *int64 `json:"median_after_ns"`
}

// Backoff is the gaps between the end of an attempt and the start of its retry.
// Base and Growth are those of the first retries and of the second over the first.
type Backoff struct {
	N      uint64   `json:"n"`
	Min    *int64   `json:"gap_min_ns"`
	P50    *int64   `json:"gap_p50_ns"`
	Max    *int64   `json:"gap_max_ns"`
	Base   *int64   `json:"base_ns"`
	Growth *float64 `json:"growth"`
	Jitter Jitter   `json:"jitter"`
}

// Wall says whether failing calls last whole multiples of their timeout.
type Wall struct {
	Verdict   WallVerdict        `json:"-"`
	Timeout   *int64             `json:"-"` // nil where it is not known, or not the same for all
	Count                        // failing calls at the wall, of those whose timeout is known
	Width     int64              `json:"bin_ns"`    // of the bins
	Histogram jsontype.List[Bin] `json:"histogram"` // of all failing calls, without empty bins
}

// Bin counts calls that lasted from From to less than one width more.
type Bin struct {
	From int64  `json:"from_ns"`
	N    uint64 `json:"n"`
}

// Amplification is what retries make of one request.
type Amplification struct {
	ObservedMax *uint64              `json:"observed_max"` // nil for hop logs
	Possible    uint64               `json:"possible"`
	Layers      jsontype.List[Layer] `json:"layers"`
	OnePath     bool                 `json:"-"` // the layers of hop logs are taken for one path
}

// Layer is a hop that retries.
type Layer struct {
	spans.Hop
	Retries      uint64 `json:"retries"`
	MostAttempts uint64 `json:"most_attempts"`
}

// Ratio is retries over first attempts, in all and in the worst minute that has
// enough of them; a nil share is not known.
type Ratio struct {
	All, Worst Count
	At         int64 // start of the worst minute, ns since the Unix epoch
	// Minutes counts those in which anything began, 0 where that is not known.
	Minutes uint64
}

// Result returns what retries are worth. It may be asked for again.
func (a *Accumulator) Result(q Query) Result {
	d := describer{w: a, q: q}
	r := Result{Confidence: q.Confidence, Traced: a.counts.traces > 0, Amplification: a.amplification(), InStep: a.inStep(), ExecutedTwice: a.cases}
	r.Ratio.All = Count{a.minutes.allAgain, a.minutes.allRequests}
	r.Ratio.At, r.Ratio.Worst.N, r.Ratio.Worst.Of = a.minutes.worst()
	r.Ratio.Minutes = a.minutes.busy()
	if ns, regular := period(r.InStep); regular {
		r.Period = &ns
	}
	var rows []*hop
	for _, i := range a.table.index.Sorted() {
		h := a.table.hops[i]
		h.settle()
		if calls(h.Kind) || h.retries > 0 {
			rows = append(rows, h)
			r.Hops = append(r.Hops, d.describe([]*hop{h}))
		}
	}
	r.All = d.describe(rows)
	r.All.Backoff.Jitter = jointJitter(r.Hops, r.All.Backoff.Jitter)
	if q.Biased {
		r.forgetShares()
	}
	r.Warnings = d.warnings(&r)
	r.Hops = mostRetried(r.Hops, q.MaxHops)
	return r
}

// mostRetried leaves the hops with most retried calls, in the same order.
func mostRetried(list []Hop, most int) []Hop {
	if most <= 0 || len(list) <= most {
		return list
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		a, b := &list[i], &list[k]
		return cmp.Or(cmp.Compare(b.Rescue.Of, a.Rescue.Of), cmp.Compare(b.Attempts-b.Calls, a.Attempts-a.Calls), cmp.Compare(b.Attempts, a.Attempts))
	})
	order = order[:most]
	slices.Sort(order) // as the list is sorted
	kept := make([]Hop, most)
	for i, at := range order {
		kept[i] = list[at]
	}
	return kept
}

// forgetShares drops what a biased sample cannot tell.
func (r *Result) forgetShares() {
	r.Ratio = Ratio{}
	r.All.forgetShares()
	for i := range r.Hops {
		r.Hops[i].forgetShares()
	}
}

func (h *Hop) forgetShares() {
	h.Completion, h.NearTimeout = nil, Near{}
	h.Rescue.forgetShare()
	h.Wall.Verdict, h.Wall.Count = WallTooFew, Count{}
	for i := range h.AfterFailure {
		h.AfterFailure[i].forgetShare()
	}
}

func (r *Rescue) forgetShare() { r.Biased, r.Lower, r.Upper, r.Verdict = true, 0, 0, TooFew }

func (w *Accumulator) amplification() Amplification {
	a := Amplification{Possible: w.possible()}
	if w.counts.traces > 0 {
		a.ObservedMax = &w.most
	}
	logged := 0
	for _, i := range w.table.index.Sorted() {
		h := w.table.hops[i]
		if h.retries+h.counted == 0 || !calls(h.Kind) {
			continue
		}
		a.Layers = append(a.Layers, Layer{h.Hop, h.retries + h.counted, max(1, h.mostAttempts)})
		if h.Kind == spans.NoKind {
			logged++
		}
	}
	a.OnePath = logged > 1 && w.counts.lines > 0
	return a
}
