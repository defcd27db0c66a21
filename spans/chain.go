package spans

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

	cuts []cut
}

// cut is an attempt that was cut.
type cut struct {
	hop int32
	ran Interval
}

// Name returns the chain's id as it was written.
func (c *Chain) Name() string {
	if c.Named == nil {
		return ""
	}
	return c.Named.Name()
}

// TooLong reports whether there are more attempts than can be placed: an id of so
// many is none of a request.
func (c *Chain) TooLong() bool { return len(c.Attempts) > MostNested }

// PassUpCuts makes failed attempts that hold a cut one of another hop cut from
// below: they failed because a call under them was cut.
func (c *Chain) PassUpCuts() {
	c.findCuts()
	if len(c.cuts) == 0 || len(c.cuts) > MostCuts {
		return
	}
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Outcome == Failed && a.holdsAny(c.cuts) {
			a.Outcome, a.CutBy = Truncated, Below
		}
	}
}

// findCuts copies the attempts that were cut, since others become so.
func (c *Chain) findCuts() {
	c.cuts = c.cuts[:0]
	for i := range c.Attempts {
		if a := &c.Attempts[i]; a.Outcome == Truncated && len(c.cuts) <= MostCuts {
			c.cuts = append(c.cuts, cut{a.Hop, a.Ran()})
		}
	}
}

func (a *Attempt) holdsAny(cuts []cut) bool {
	for i := range cuts {
		if cuts[i].hop == a.Hop {
			continue
		}
		if held, _ := a.Ran().Holds(cuts[i].ran); held {
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
