package buckets

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// A failed attempt that holds a cut attempt of its chain did not fail: the cut
// was passed up, and how long the attempt would have taken is not known. To
// leave it out as a failure would hide exactly the slow requests. Only cut and
// failed attempts matter here, so only they are kept until the input was read.

// DefaultMaxHeld is how many cut and failed attempts are kept by default, 48
// and 80 bytes each.
const DefaultMaxHeld = 2 << 20

// chain identifies a trace by two hashes of its id: ids are long and the
// chance that two of a billion share all 128 bits is one in 10^20.
type chain [2]uint64

func (c chain) compare(o chain) int {
	return cmp.Or(cmp.Compare(c[0], o[0]), cmp.Compare(c[1], o[1]))
}

type heldCut struct {
	chain chain
	ran   spans.Interval
	hop   *hop
}

type heldFailure struct {
	chain chain
	ran   spans.Interval
	attempt
}

// belowCount says how failures of a hop were checked for a cut inside them.
type belowCount struct {
	failures   uint64 // that could be checked: they name their chain
	byDuration uint64 // became cuts without times, by their lengths alone
	limit      int    // so many held attempts were too few to check; 0 if checked
}

func (b *belowCount) add(o belowCount) {
	b.failures += o.failures
	b.byDuration += o.byDuration
	b.limit = max(b.limit, o.limit)
}

// hold keeps what finding cuts from below needs of a cut or failed attempt. It
// returns true for a failed one that is decided later.
func (s *hopSet) hold(h *hop, a attempt, b *spans.Batch, row int) bool {
	trace := b.Trace(row)
	if trace == nil || a.outcome == spans.Unfinished || s.config.KeepFailures {
		return false
	}
	s.eligible++
	if a.outcome == spans.Failed {
		h.below.failures++
	}
	if s.gaveUp {
		return false
	}
	if s.tooMany() {
		s.giveUp()
		return false
	}
	id := chain{maphash.Bytes(s.config.seeds[0], trace), maphash.Bytes(s.config.seeds[1], trace)}
	ran := spans.Interval{Duration: a.duration}
	ran.Start, ran.Known = b.Start(row)
	if a.outcome == spans.Truncated {
		s.cuts = append(s.cuts, heldCut{id, ran, h})
		return false
	}
	h.held = append(h.held, heldFailure{id, ran, a})
	return true
}

// tooMany decides by the count of the whole input, not by what one worker saw,
// so that the result is the same for any number of workers.
func (s *hopSet) tooMany() bool { return s.eligible > s.config.MaxHeld }

// giveUp counts all failures as failures and keeps nothing from here on.
func (s *hopSet) giveUp() {
	s.gaveUp, s.cuts = true, nil
	for _, h := range s.hops {
		h.release(func(f *heldFailure) attempt { return f.attempt })
	}
}

// passUp decides the failures that were kept: cut from below, or failed.
func (s *hopSet) passUp() {
	if s.holdsFailures() {
		slices.SortFunc(s.cuts, func(a, b heldCut) int { return a.chain.compare(b.chain) })
	}
	for _, h := range s.hops {
		h.release(func(f *heldFailure) attempt { return f.decide(h, s.cutsOf(f.chain)) })
		if s.gaveUp && h.below.failures > 0 {
			h.below.limit = s.config.MaxHeld
		}
	}
	s.cuts = nil
}

func (s *hopSet) holdsFailures() bool {
	for _, h := range s.hops {
		if len(h.held) > 0 {
			return true
		}
	}
	return false
}

// release adds the failures that were kept as what they turn out to be.
func (h *hop) release(turnOut func(*heldFailure) attempt) {
	for i := range h.held {
		a := turnOut(&h.held[i])
		if a.stratum != nil { // it may be that of a hop that was merged into this one
			a.stratum = h.strata.of(a.stratum.name)
		}
		h.add(a)
	}
	h.held = nil
}

// cutsOf returns the cuts of a chain; the cuts must be sorted.
func (s *hopSet) cutsOf(c chain) []heldCut {
	from, _ := slices.BinarySearchFunc(s.cuts, c, func(h heldCut, c chain) int { return h.chain.compare(c) })
	to := from
	for to < len(s.cuts) && s.cuts[to].chain == c {
		to++
	}
	return s.cuts[from:to]
}

// decide returns the attempt as it counts.
func (f *heldFailure) decide(h *hop, cuts []heldCut) attempt {
	a := f.attempt
	if held, byTimes := f.holdsAny(h, cuts); held {
		a.outcome, a.cutBy, a.failure = spans.Truncated, spans.Below, spans.NotFailed
		if !byTimes {
			h.below.byDuration++
		}
	}
	return a
}

// holdsAny reports whether the failure holds one of the cuts of another hop.
// Times are better evidence than lengths, so they are looked for first.
func (f *heldFailure) holdsAny(own *hop, cuts []heldCut) (held, byTimes bool) {
	if len(cuts) > spans.MostCuts {
		return false, false
	}
	for _, c := range cuts {
		if c.hop.Hop == own.Hop {
			continue
		}
		inside, times := f.ran.Holds(c.ran)
		if inside && times {
			return true, true
		}
		held = held || inside
	}
	return held, false
}
