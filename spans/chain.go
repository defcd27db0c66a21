package spans

import (
	"cmp"
	"math"
	"slices"
)

// Chain is the attempts of a hop log that have one id. Whoever is given a chain may
// keep nothing of it but the names.
type Chain struct {
	Hops      []Hop    // of all chains, sorted
	Instances []string // of all chains, sorted; the first is none
	// Attempts are sorted by their starts, of those that start together the longer
	// one first. Their parents are not known before somebody places them.
	Attempts []Attempt
	Timed    bool // every start is known
	ID       TraceID
	Group    uint16

	// PlacedBy says of which rule the parents are; nil where nobody has placed them.
	PlacedBy any

	// Named is what the chain's id is asked of: the trace for a chain that came as one.
	Named interface{ Name() string }

	ended []ended
}

// ended is an attempt that was cut, or a retry that completed.
type ended struct {
	ran   Interval
	hop   int32
	cut   bool // it was
	retry bool
}

// Name returns the chain's id as it was written.
func (c *Chain) Name() string {
	if c.Named == nil {
		return ""
	}
	return c.Named.Name()
}

// Clone returns a copy that stays good after the visitor's callback. It names only the
// hops that occur.
func (c *Chain) Clone() *Chain {
	k := &Chain{
		Instances: slices.Clone(c.Instances), Attempts: slices.Clone(c.Attempts), Timed: c.Timed, ID: c.ID, Group: c.Group,
		PlacedBy: c.PlacedBy, Named: fixedName(c.Name()),
	}
	k.Hops = occurring(c.Hops, k.Attempts, func(a *Attempt) *int32 { return &a.Hop })
	return k
}

type fixedName string

// Name returns the id of a chain that was copied.
func (n fixedName) Name() string { return string(n) }

// TooLong reports whether there are more attempts than can be placed: an id of so
// many is none of a request.
func (c *Chain) TooLong() bool { return len(c.Attempts) > MostNested }

// PassUpCuts makes failed attempts that hold a cut one of another hop cut from
// below: they failed because a call under them was cut, and no retry completed it, as
// Inside says.
func (c *Chain) PassUpCuts() {
	if !c.anyFailed() {
		return
	}
	if cuts := c.findEnded(); cuts == 0 || cuts > MostCuts {
		return
	}
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Outcome == Failed && c.passedTo(a) {
			a.Outcome, a.CutBy = Truncated, Below
		}
	}
}

func (c *Chain) anyFailed() bool {
	for i := range c.Attempts {
		if c.Attempts[i].Outcome == Failed {
			return true
		}
	}
	return false
}

// findEnded copies the attempts that were cut, since others become so, and the retries
// that completed, by their hops.
func (c *Chain) findEnded() (cuts int) {
	c.ended = c.ended[:0]
	for i := range c.Attempts {
		a := &c.Attempts[i]
		cut := a.Outcome == Truncated
		if cut {
			if cuts++; cuts > MostCuts {
				return cuts
			}
		} else if !a.Retry || a.Outcome != Completed {
			continue
		}
		c.ended = append(c.ended, ended{a.Ran(), a.Hop, cut, a.Retry})
	}
	slices.SortFunc(c.ended, func(a, b ended) int { return int(a.hop) - int(b.hop) })
	return cuts
}

// passedTo reports whether a cut of another hop was passed up to a failed attempt.
func (c *Chain) passedTo(a *Attempt) bool {
	for lo, hi := 0, 0; lo < len(c.ended); lo = hi {
		inside := Inside{Of: a.Ran()}
		for hi = lo; hi < len(c.ended) && c.ended[hi].hop == c.ended[lo].hop; hi++ {
			switch e := &c.ended[hi]; {
			case e.hop == a.Hop:
			case e.cut:
				inside.Cut(e.ran, e.retry)
			default:
				inside.Answer(e.ran)
			}
		}
		if passes, _ := inside.PassesUp(); passes {
			return true
		}
	}
	return false
}

// Link brings the attempts into their order, and sees whether all their starts are
// known.
func (c *Chain) Link() {
	c.Timed = true
	for i := range c.Attempts {
		c.Timed = c.Timed && c.Attempts[i].Timed
	}
	sortFew(c.Attempts, compareAttempts)
}

// Chain returns a trace that is a chain of a hop log as such, with the attempts of
// which a duration is known. It is good until it is called again.
func (t *Trace) Chain() *Chain {
	c := &t.work.chain
	c.Hops, c.Instances, c.ID, c.Group, c.Named, c.PlacedBy, c.Attempts = t.Hops, t.Instances, t.ID, t.ID.Group(), t, nil, c.Attempts[:0]
	for i := range t.Spans {
		s := &t.Spans[i]
		if !s.Flags.Has(HasDuration) || s.Duration < 0 {
			continue
		}
		c.Attempts = append(c.Attempts, Attempt{
			Start: s.Start, Duration: s.Duration, Hop: s.Hop, Parent: -1, Instance: s.Instance, Outcome: s.Outcome, CutBy: s.CutBy, Failure: s.Failure,
			Timed: s.Flags.Has(HasStart), Retry: s.Retry(),
		})
	}
	c.Link()
	return c
}

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
	// its timeout, so that it counts as cut.
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
