package spans

import (
	"cmp"
	"math"
)

// Attempt is an attempt of a chain or a call of a trace, placed among the others:
// those that a caller waits for, by their starts.
type Attempt struct {
	Start, Duration int64 // ns
	Hop             int32 // index into the hops that come with it
	Parent          int32 // index of the attempt in which it ran, -1 for none
	Instance        int32 // index into the instances that come with it, 0 for none
	Outcome         Outcome
	CutBy           CutBy
	// Failure is the kind of one that failed, also where that was a cut from below.
	Failure Failure
	Timed   bool // the start is known
	Retry   bool // the source says that it is one
	// MayBeCut: completed for all that a source without marks says, but as long as
	// its configured timeout.
	MayBeCut bool
}

// End returns start plus duration, at most the largest int64.
func (a *Attempt) End() int64 {
	if a.Duration > 0 && a.Start > math.MaxInt64-a.Duration {
		return math.MaxInt64
	}
	return a.Start + a.Duration
}

// GaveUp reports whether the attempt ended cut or failed.
func (a *Attempt) GaveUp() bool { return a.Outcome == Truncated || a.Outcome == Failed }

// Ran is when the attempt ran.
func (a *Attempt) Ran() Interval { return Interval{a.Start, a.Duration, a.Timed} }

// PassedUp reports whether a failure became a cut from below, since it holds a cut.
func (a *Attempt) PassedUp() bool { return a.CutBy == Below && a.Failure != NotFailed }

// compareAttempts is an order by start, of two that start together the longer
// first. Attempts that compare equal are the same.
func compareAttempts(a, b *Attempt) int {
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	if c := cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Hop, b.Hop)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.ending(), b.ending()), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.rest(), b.rest()))
}

// ending is how the attempt ended as one number; what a cut from below failed with
// makes no difference to it.
func (a *Attempt) ending() uint32 {
	e := uint32(a.Outcome)<<16 | uint32(a.CutBy)<<8
	if a.Outcome == Failed {
		e |= uint32(a.Failure)
	}
	return e
}

func (a *Attempt) rest() uint32 {
	r := uint32(a.Failure) << 3
	for bit, on := range [...]bool{a.Timed, a.Retry, a.MayBeCut} {
		if on {
			r |= 1 << bit
		}
	}
	return r
}
