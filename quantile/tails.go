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
	// Doubtful attempts count as completed or as failed, but a timeout may have ended them
	// for all that is known: recorded durations. Their places are those of CutSeen.
	Doubtful, DoubtfulFailures Union

	Open Union // attempts that were not seen to end: how long they were seen to last

	Failed Union // other failed attempts, which are left out, as they may hide slower ones
	Step   int64 // of the clock that durations were read from; 0 and 1 are none
}

// Status says what a quantile's value is worth.
type Status uint8

const (
	// NoValue: no sample, or nothing completed and no timeout known.
	NoValue Status = iota
	// Exact: the rank falls on a completed value, whatever the cut attempts would have
	// taken.
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
	Value   int64  // unless Status is NoValue
	AtMost  *int64 // what the quantile is at most where it is AtLeast; nil if nothing says

	// Distribution-free one-sided limits, nil where none exists. Upper is a
	// completed value, Lower a value of the ordering that Value comes from; a step of
	// the clock is added and taken off where it is a thousandth of them or more.
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
	FirstCut       *int64 // smallest of Cuts
	Known          uint64 // attempts that are known from above: the completed ones
	CutMin, CutMax *int64 // smallest and largest of Cuts
	Tails          []Tail // in the order they were asked for
}

// Tails returns the quantiles ps with one-sided limits at the given
// confidence.
//
// What each attempt would have taken lies between two ends: see lowerEnds for those of
// cut ones. The value is the nearest rank of the lower ends, AtMost that of the upper
// ones; where both are equal it is Exact. Lower is a rank of the lower ends, Upper one of
// the upper ends, with as many more attempts as failures may hide above it. None of it
// needs an assumption about why attempts were cut, but that a cut is logged at most 30 %
// after its timeout where others, with longer timeouts, completed beyond it.
func (o Observed) Tails(ps []P, confidence P) Tails {
	t := o.shared()
	t.Tails = make([]Tail, len(ps))
	order := o.ordering(t)
	for i, p := range ps {
		t.Tails[i] = Tail{P: p, N: t.N, IsMaximum: p.beyondLessThanOne(t.N)}
		order.judge(&t.Tails[i], confidence)
	}
	ranks := o.kmRanks(t, ps)
	km := runs.NewRankQuery(o.Completed, ranks)
	order.read(o, km)
	for i, rank := range ranks {
		t.Tails[i].Rank = ps[i].Rank(t.N)
		if rank > 0 {
			t.Tails[i].KM = &km.Values[i]
		}
	}
	o.conclude(t.Tails, confidence)
	return t
}

// kmRanks returns the ranks of the Kaplan-Meier quantiles among the completed values.
func (o Observed) kmRanks(t Tails, ps []P) []uint64 {
	rest := o.Completed.Cursor()
	return kmRanksFrom(rest.UpTo(limit(t.FirstCut)), rest, o.Completed.N(), o.Cuts(), ps)
}

// conclude finds the status once both ends were read, lets the limits count failures
// and puts them a step of the clock farther out.
func (o Observed) conclude(tails []Tail, confidence P) {
	for i := range tails {
		tails[i].settle()
	}
	o.raise(tails, confidence)
	for i := range tails {
		tails[i].widen(o.Step)
	}
}

// settle compares the ends.
func (t *Tail) settle() {
	if t.AtMost != nil && *t.AtMost == t.Value {
		t.Status, t.AtMost = Exact, nil
	}
}

// Cuts are all attempts that were cut, that a timeout may have ended, or that were not seen
// to end: those of known timeouts at their censoring time.
func (o Observed) Cuts() Union { return append(append(Union(nil), o.placed()...), o.unplaced()...) }

// placed are those of them that are known to have lasted so long.
func (o Observed) placed() Union { return append(append(Union(nil), o.CutAt...), o.Open...) }

// unplaced are those of them whose timeout is not known.
func (o Observed) unplaced() Union {
	return append(append(append(Union(nil), o.CutSeen...), o.Doubtful...), o.DoubtfulFailures...)
}

// shared fills everything but the quantiles.
func (o Observed) shared() (t Tails) {
	cuts := o.Cuts()
	t.Cut, t.Known = o.CutAt.N()+o.CutSeen.N(), o.Completed.N()
	t.N = cuts.N() + t.Known
	if cuts.N() > 0 {
		ends := cuts.At(1, cuts.N())
		t.FirstCut, t.CutMin, t.CutMax = &ends[0], &ends[0], &ends[1]
	}
	return t
}

// limit is the first cut, beyond everything where there is none.
func limit(firstCut *int64) int64 {
	if firstCut == nil {
		return math.MaxInt64
	}
	return *firstCut
}
