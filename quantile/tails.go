package quantile

import (
	"math"

	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/runs"
)

// Observed is what is known of a hop's first attempts: a right-censored
// sample. Durations are in nanoseconds.
type Observed struct {
	Completed Union // exact durations
	CutAt     Union // cut attempts whose timeout is known: min(duration, timeout), their censoring time
	CutSeen   Union // cut attempts whose timeout is not known: recorded durations
}

// Status says what a quantile's value is worth.
type Status uint8

const (
	// NoValue: no sample, or nothing completed and no timeout known.
	NoValue Status = iota
	// Exact: the rank falls on a completed value at or below the first cut.
	Exact
	// AtLeast: the quantile of the uncut durations is this value or more.
	AtLeast
)

// String returns "no_value", "exact" or "at_least".
func (s Status) String() string {
	switch s {
	case Exact:
		return "exact"
	case AtLeast:
		return "at_least"
	}
	return "no_value"
}

// MarshalText gives String for JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Tail is one quantile of a hop; durations are in nanoseconds.
type Tail struct {
	P       P
	N, Rank uint64
	Status  Status
	Value   int64 // unless Status is NoValue

	// Distribution-free one-sided limits, nil where none exists. Upper is a
	// completed value at or below the first cut, Lower a value of the
	// ordering that Value comes from.
	Lower, Upper         *int64
	LowerRank, UpperRank uint64 // of Size(); 0 and Size()+1 where no rank is enough

	// Effective is n_eff where attempts have different weights, or where Effect
	// counts; else 0. With weights Rank is one more than the attempts that stand
	// before Value.
	Effective uint64
	Effect    depend.Effect // of attempts that go the same way

	KM        *int64 // Kaplan-Meier quantile; nil where it is not identified
	IsMaximum bool   // n(1-p) < 1: the rank is the last one
}

// Size is the number of equal, independent attempts that the limits stand on.
func (t Tail) Size() uint64 {
	if t.Effective > 0 {
		return t.Effective
	}
	return t.N
}

// Tails is what the quantiles of one hop share, and the quantiles.
type Tails struct {
	N, Cut         uint64
	FirstCut       *int64 // smallest cut
	Below          uint64 // completed values at or below the first cut
	SlowestBelow   *int64 // largest of those
	CutMin, CutMax *int64 // smallest and largest cut, of CutAt and CutSeen
	Tails          []Tail // in the order they were asked for
}

// Tails returns the quantiles ps with one-sided limits at the given
// confidence. Completions come before cuts of the same duration.
//
// A rank among the completed values at or below the first cut is Exact,
// whatever the cut attempts would have taken. Any other is AtLeast: the value
// at that rank when each cut attempt stands at what the data prove of it, its
// censoring time if its timeout is known, else SlowestBelow (0 if there is
// none). That needs no assumption about why attempts were cut. It takes a
// recorded duration as the time up to which an attempt ran: where several
// unknown timeouts are mixed and a cut is recorded late, a completed value
// between its timeout and its recorded duration makes both statuses too high,
// and only naming the timeout (CutAt) helps.
func (o Observed) Tails(ps []P, confidence P) Tails {
	t, rest := o.shared()
	t.Tails = make([]Tail, len(ps))
	order := o.ordering(t)
	for i, p := range ps {
		t.Tails[i] = Tail{P: p, N: t.N, IsMaximum: p.beyondLessThanOne(t.N)}
		order.judge(&t.Tails[i], confidence)
	}
	ranks := kmRanksFrom(t.Below, rest, o.Completed.N(), o.Cuts(), ps)
	km := runs.NewRankQuery(o.Completed, ranks)
	order.read(o.known(), km)
	for i, rank := range ranks {
		t.Tails[i].Rank = ps[i].Rank(t.N)
		if rank > 0 {
			t.Tails[i].KM = &km.Values[i]
		}
	}
	return t
}

// Cuts are all cut attempts, those of known timeouts at their censoring time.
func (o Observed) Cuts() Union {
	return append(append(Union(nil), o.CutAt...), o.CutSeen...)
}

// known are the values that are no lower bounds, but for timeouts.
func (o Observed) known() Union { return append(append(Union(nil), o.Completed...), o.CutAt...) }

// shared fills everything but the quantiles. The rest are the completed values
// beyond the first cut.
func (o Observed) shared() (t Tails, rest runs.Cursor) {
	cuts := o.Cuts()
	t.Cut = cuts.N()
	t.N = t.Cut + o.Completed.N()
	if t.Cut > 0 {
		ends := cuts.At(1, t.Cut)
		t.FirstCut, t.CutMin, t.CutMax = &ends[0], &ends[0], &ends[1]
	}
	rest = o.Completed.Cursor()
	if t.Below = rest.UpTo(limit(t.FirstCut)); t.Below > 0 {
		t.SlowestBelow = new(rest.Largest())
	}
	return t, rest
}

// limit is the first cut, beyond everything where there is none.
func limit(firstCut *int64) int64 {
	if firstCut == nil {
		return math.MaxInt64
	}
	return *firstCut
}
