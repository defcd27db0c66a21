package buckets

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
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

// held is an attempt that was cut, or a retry that completed.
type held struct {
	chain           chain
	start, duration int64
	hop             *hop
	how             heldAs
	timed, retry    bool
}

// heldAs is why an attempt is held.
type heldAs uint8

const (
	unheld heldAs = iota
	wasCut
	mayBeCut // it is a suspect
	answered // a retry that completed
	hasFailed
)

func (c *held) ran() spans.Interval {
	return spans.Interval{Start: c.start, Duration: c.duration, Known: c.timed}
}

// compareHeld orders by chain and hop.
func compareHeld(a, b held) int {
	if c := a.chain.compare(b.chain); c != 0 {
		return c
	}
	return a.hop.Compare(b.hop.Hop)
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

// hold keeps what finding cuts from below needs of an attempt that was cut or failed,
// and of a retry that completed. It returns true for a failed one that is decided later.
func (s *hopSet) hold(h *hop, a attempt, b *spans.Batch, row int) bool {
	trace, how := b.Trace(row), h.endingOf(&a)
	if trace == nil || how == unheld || s.config.KeepFailures {
		return false
	}
	s.eligible++
	if how == hasFailed {
		h.keep().below.failures++
	}
	if s.gaveUp {
		return false
	}
	if s.tooMany() {
		s.giveUp()
		return false
	}
	id := chain{maphash.Bytes(s.config.seeds[0], trace), maphash.Bytes(s.config.seeds[1], trace)}
	start, timed := b.Start(row)
	if how != hasFailed {
		s.ended = append(s.ended, held{id, start, a.duration, h, how, timed, a.retry})
		return false
	}
	kept := h.keep()
	kept.held = append(kept.held, heldFailure{id, spans.Interval{Start: start, Duration: a.duration, Known: timed}, a})
	return true
}

// endingOf says what an attempt is held as.
func (h *hop) endingOf(a *attempt) heldAs {
	switch {
	case a.outcome == spans.Truncated:
		return wasCut
	case a.outcome == spans.Failed:
		return hasFailed
	case a.outcome != spans.Completed:
		return unheld
	case !a.marked && spans.AtWall(h.wallOf(a), a.duration):
		return mayBeCut
	case a.retry:
		return answered
	}
	return unheld
}

// tooMany decides by the count of the whole input, not by what one worker saw,
// so that the result is the same for any number of workers.
func (s *hopSet) tooMany() bool { return s.eligible > s.config.MaxHeld }

// giveUp counts all failures as failures and keeps nothing from here on.
func (s *hopSet) giveUp() {
	s.gaveUp, s.ended = true, nil
	for h := range s.each() {
		h.release(func(f *heldFailure) attempt { return f.attempt })
	}
}

// passUp decides the failures that were kept: cut from below, or failed. What suspects
// are is known then.
func (s *hopSet) passUp(q Query) {
	if s.holdsFailures() {
		s.decideSuspects(q)
		slices.SortFunc(s.ended, compareHeld)
	}
	for h := range s.each() {
		h.release(func(f *heldFailure) attempt { return f.decide(h, s.endedOf(f.chain)) })
		if s.gaveUp && h.below.failures > 0 {
			h.keep().below.limit = s.config.MaxHeld
		}
	}
	s.ended = nil
}

// decideSuspects makes them what they are: cut where their hop has no marks, else
// completed.
func (s *hopSet) decideSuspects(q Query) {
	for i := range s.ended {
		c := &s.ended[i]
		switch {
		case c.how != mayBeCut:
		case !s.hop(c.hop.Hop).tells(q):
			c.how = wasCut
		case c.retry:
			c.how = answered
		default:
			c.how = unheld
		}
	}
}

func (s *hopSet) holdsFailures() bool {
	for h := range s.each() {
		if len(h.held) > 0 {
			return true
		}
	}
	return false
}

// release adds the failures that were kept as what they turn out to be.
func (h *hop) release(turnOut func(*heldFailure) attempt) {
	if len(h.held) == 0 {
		return
	}
	for i := range h.held {
		a := turnOut(&h.held[i])
		if a.stratum != nil { // it may be that of a hop that was merged into this one
			a.stratum = h.keep().strata.of(a.stratum.name)
		}
		h.add(a)
	}
	h.keep().held = nil
}

// endedOf returns what is held of a chain; all must be sorted.
func (s *hopSet) endedOf(c chain) []held {
	from, _ := slices.BinarySearchFunc(s.ended, c, func(h held, c chain) int { return h.chain.compare(c) })
	to := from
	for to < len(s.ended) && s.ended[to].chain == c {
		to++
	}
	return s.ended[from:to]
}

// decide returns the attempt as it counts.
func (f *heldFailure) decide(h *hop, list []held) attempt {
	a := f.attempt
	if passes, byTimes := f.passed(h, list); passes {
		a.outcome, a.cutBy, a.failure = spans.Truncated, spans.Below, spans.NotFailed
		if !byTimes {
			h.keep().below.byDuration++
		}
	}
	return a
}

// passed reports whether a cut of another hop was passed up to the failure. Times are
// better evidence than lengths.
func (f *heldFailure) passed(own *hop, list []held) (passes, byTimes bool) {
	if !fewCuts(list) {
		return false, false
	}
	for lo, hi := 0, 0; lo < len(list); lo = hi {
		inside := spans.Inside{Of: f.ran}
		for hi = lo; hi < len(list) && list[hi].hop.Hop == list[lo].hop.Hop; hi++ {
			switch c := &list[hi]; c.how {
			case wasCut:
				inside.Cut(c.ran(), c.retry)
			case answered:
				inside.Answer(c.ran())
			}
		}
		if list[lo].hop.Hop == own.Hop {
			continue
		}
		one, times := inside.PassesUp()
		passes, byTimes = passes || one, byTimes || one && times
	}
	return passes, byTimes
}

// fewCuts reports whether a chain has so few cuts that its id may be one of a request.
func fewCuts(list []held) bool {
	cuts := 0
	for i := range list {
		if list[i].how == wasCut {
			cuts++
		}
	}
	return cuts <= spans.MostCuts
}

// cutCall is the call that cut an attempt from below.
type cutCall struct {
	hop     spans.Hop
	after   int64 // ns from the attempt's start to its own
	timeout int64 // that cut it, 0 where it is not known
}

// callThatCut returns the call that cut a span of a trace from below, nil where it is not
// there.
func (s *hopSet) callThatCut(t *spans.Trace, i int32, hops []*hop) *cutCall {
	at := t.CutBelow(i)
	if at < 0 || at == i || t.Spans[at].Start < t.Spans[i].Start {
		return nil
	}
	one := &t.Spans[at]
	h := s.hopAt(hops, t.Hops, one.Hop)
	c := &cutCall{hop: h.Hop, after: one.Start - t.Spans[i].Start}
	if timeout := h.wallOf(&attempt{timeout: one.Timeout}); cutBy(timeout, one.Duration) {
		c.timeout = timeout
	}
	return c
}

// addCutByCall takes a first attempt that was cut because a call was. It would have gone on
// as long as that call had not ended: from the call's start on for its timeout, or for the
// least that the cuts of its hop show, which is known at the end. It returns from where on,
// as far as it is known.
func (h *hop) addCutByCall(a *attempt) (at int64) {
	if c := a.call; c.timeout == 0 {
		h.first.sample(byCall).Add(a.duration)
		h.keep().calls.of(c.hop).Add(c.after)
		return a.duration
	}
	at = min(durations.Sum(a.call.after, a.call.timeout), a.duration)
	h.first.sample(knownCuts).Add(a.duration)
	h.first.sample(censoredAt).Add(at)
	return at
}

// callsThatCut are calls that cut attempts from below, by their hop: how long after the
// attempts they began, in ns, a value a cut.
type callsThatCut map[spans.Hop]*quantile.Sample

// of returns those of one hop, which come into being.
func (c *callsThatCut) of(id spans.Hop) *quantile.Sample {
	if *c == nil {
		*c = callsThatCut{}
	}
	if (*c)[id] == nil {
		(*c)[id] = new(quantile.Sample)
	}
	return (*c)[id]
}

func (c *callsThatCut) merge(from callsThatCut) {
	for id, after := range from {
		c.of(id).Merge(after)
	}
}

func (c callsThatCut) clone() (o callsThatCut) {
	for id, after := range c {
		o.of(id).Merge(after.Clone())
	}
	return o
}

// placeByCalls gives what was cut by calls of unknown timeouts its lower ends.
func placeByCalls(hops []*hop) {
	least := map[spans.Hop]int64{}
	for _, h := range hops {
		for id := range h.calls {
			least[id] = 0
		}
	}
	for _, h := range hops {
		if _, cuts := least[h.Hop]; cuts {
			least[h.Hop] = h.first.observed(h.step()).LeastCut()
		}
	}
	for _, h := range hops {
		h.first.placeByCalls(h.calls, least)
		for i := range h.classes {
			h.classes[i].placeByCalls(h.classes[i].calls, least)
		}
	}
}

func (p *part) placeByCalls(calls callsThatCut, least map[spans.Hop]int64) {
	for id, after := range calls {
		for ns, n := range after.All() {
			p.sample(byCallAt).AddN(durations.Sum(ns, least[id]), n)
		}
	}
}
