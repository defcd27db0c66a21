package buckets

import (
	"hash/maphash"

	"github.com/tailscope/tailscope/spans"
)

// A failed attempt that holds a cut attempt of its chain did not fail: the cut
// was passed up, and how long the attempt would have taken is not known. To
// leave it out as a failure would hide exactly the slow requests. Only cut and
// failed attempts matter here, so only they are kept until the input was read.

// DefaultMaxHeld is how many cut and failed attempts are kept by default, about
// 60 bytes each.
const DefaultMaxHeld = 2 << 20

// slack is how far a cut may reach beyond the attempt that holds it: clocks and
// log lines have no more than a millisecond.
const slack = 1e6

// chain identifies a trace by two hashes of its id: ids are long and the
// chance that two of a billion share all 128 bits is one in 10^20.
type chain [2]uint64

// interval is when an attempt ran; without a start only its length is known.
type interval struct {
	start, duration int64
	known           bool
}

// holds reports whether o ran inside i; where times are not known, whether o is
// at least no longer.
func (i interval) holds(o interval) (held, byTimes bool) {
	if !i.known || !o.known {
		return o.duration <= i.duration, false
	}
	late := o.start - i.start
	if late < -slack || late > i.duration+slack {
		return false, true
	}
	return o.duration-i.duration <= slack-late, true
}

type heldCut struct {
	chain chain
	ran   interval
	hop   *hop
}

type heldFailure struct {
	chain chain
	ran   interval
	attempt
}

// belowCount says how failures of a hop became cuts.
type belowCount struct {
	byDuration uint64 // without times, by their lengths alone
	unchecked  bool   // failures were not checked: there were too many
}

func (b *belowCount) add(o belowCount) {
	b.byDuration += o.byDuration
	b.unchecked = b.unchecked || o.unchecked
}

// hold keeps what finding cuts from below needs of a cut or failed attempt. It
// returns true for a failed one that is decided later.
func (s *Set) hold(h *hop, a attempt, b *spans.Batch, i int) bool {
	trace := b.Trace(i)
	if trace == nil || a.outcome == spans.Unfinished {
		return false
	}
	if s.eligible++; s.tooMany() {
		s.giveUp()
		h.below.unchecked = h.below.unchecked || a.outcome == spans.Failed
		return false
	}
	id := chain{maphash.Bytes(s.config.seeds[0], trace), maphash.Bytes(s.config.seeds[1], trace)}
	ran := interval{duration: a.duration}
	ran.start, ran.known = b.Start(i)
	if a.outcome == spans.Truncated {
		s.cuts = append(s.cuts, heldCut{id, ran, h})
		return false
	}
	h.held = append(h.held, heldFailure{id, ran, a})
	return true
}

// tooMany decides by the count of the whole input, not by what one worker saw,
// so that the result is the same for any number of workers.
func (s *Set) tooMany() bool { return s.eligible > s.config.MaxHeld }

// giveUp counts all failures as failures, unchecked.
func (s *Set) giveUp() {
	if s.cuts == nil && s.gaveUp {
		return
	}
	for _, h := range s.hops {
		for _, f := range h.held {
			h.add(f.attempt)
			h.below.unchecked = true
		}
		h.held = nil
	}
	s.cuts, s.gaveUp = nil, true
}

// passUp decides the failures that were kept: cut from below, or failed.
func (s *Set) passUp() {
	if s.tooMany() {
		s.giveUp()
		return
	}
	cuts := map[chain][]heldCut{}
	for _, c := range s.cuts {
		cuts[c.chain] = append(cuts[c.chain], c)
	}
	for _, h := range s.hops {
		for _, f := range h.held {
			h.add(f.decide(h, cuts[f.chain]))
		}
		h.held = nil
	}
	s.cuts = nil
}

// decide returns the attempt as it counts.
func (f *heldFailure) decide(h *hop, cuts []heldCut) attempt {
	a := f.attempt
	if a.stratum != nil {
		a.stratum = h.stratumOf(a.stratum.name)
	}
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
	for _, c := range cuts {
		if c.hop.name == own.name {
			continue
		}
		inside, times := f.ran.holds(c.ran)
		if inside && times {
			return true, true
		}
		held = held || inside
	}
	return held, false
}
