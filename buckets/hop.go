package buckets

import (
	"math"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// hop collects the attempts of one hop.
type hop struct {
	spans.Hop
	timeout    int64 // configured, 0 if not
	first      part
	retries    *part            // nil before the first one; see again
	timeouts   *quantile.Sample // of own cuts whose timeout is known, a value a cut; nil for none
	suspected  *quantile.Sample // the same, of suspects
	unfinished uint64
	*rare                // written to by what keep returns
	clusters   *clusters // nil for hops folded into one
	// marked: the source said of some attempt how it ended. A log that writes its
	// mark only where it is true may have hops without any; they are taken for
	// unmarked, since a mark that is missing looks the same.
	marked bool
	// traced: the attempts are spans. Those say nothing where all went well.
	traced     bool
	resolution uint8      // finest seen, as a power of ten over 1 ns: loggers drop trailing zeros
	clock      uint8      // step of the clock, as such a power, once all was read
	early      *earlyCuts // by their own timeout, but not the one that is known; nil for none
}

// rare is what most hops have nothing of.
type rare struct {
	strata  strata
	held    []heldFailure
	merged  int     // hops folded into this one
	classes []class // first attempts by weight, where they have several
	below   belowCount
	calls   callsThatCut // that cut first attempts from below
	spoken  uint64       // attempts that were not cut, whose messages speak of a timeout
	tried   uint64       // attempts that took more than one try
}

// nothingRare stands for what never came into being. It is only read.
var nothingRare rare

func newHop(id spans.Hop) *hop {
	return &hop{Hop: id, rare: &nothingRare, resolution: unmeasured}
}

// keep returns what most hops have nothing of for writing; it comes into being.
func (h *hop) keep() *rare {
	if h.rare == &nothingRare {
		h.rare = &rare{strata: strata{store: h.first.store}}
	}
	return h.rare
}

// unmeasured is the resolution of a hop before any row told it.
const unmeasured = math.MaxUint8

// part is the first attempts, the retries or a stratum of a hop.
type part struct {
	store   *quantile.Store // of the samples
	samples [usualEndings]*quantile.Sample
	rare    *rareEndings
	waiting []int64        // completed, of the batch being added
	starts  []int64        // of those, where any is known and blocks is there
	blocks  *depend.Blocks // nil for all but first attempts
	ends    *ends          // nil where all completed
}

// ends counts attempts that did not complete, by why.
type ends struct {
	failures [len(spans.Failures) + 1]uint64
	cuts     [len(spans.CutBys) + 1]uint64
}

// noEnds and noRetries stand for what never came into being. They are only read.
var (
	noEnds    ends
	noRetries part
)

// endings returns the counts for reading.
func (p *part) endings() *ends {
	if p.ends == nil {
		return &noEnds
	}
	return p.ends
}

// countEnds returns the counts, which come into being.
func (p *part) countEnds() *ends {
	if p.ends == nil {
		p.ends = new(ends)
	}
	return p.ends
}

// again returns the retries for reading.
func (h *hop) again() *part {
	if h.retries == nil {
		return &noRetries
	}
	return h.retries
}

// countTimeout counts own cuts by a timeout.
func (h *hop) countTimeout(ns int64, cuts uint64) {
	if h.timeouts == nil {
		h.timeouts = new(quantile.Sample)
	}
	h.timeouts.AddN(ns, cuts)
}

// The samples of a part. Each comes into being with its first value: most parts of
// most hops stay empty, and what is rare takes no place before.
const (
	completions = iota
	failures
	knownCuts  // whose timeout is known: recorded duration
	censoredAt // the same: censoring time
	ownCuts    // whose timeout is not known: by their own
	otherCuts  // and by anything else
	usualEndings

	suspects    = iota - 1 // unmarked, but as long as their timeout
	suspectAt              // the same: censoring time
	nearWall               // unmarked, and not so much shorter than it that no overhead explains it
	doubtful               // completed, but a timeout may have ended them
	spoken                 // failed, with a message of a timeout
	piledDone              // completed where attempts pile up as those of a timeout do
	piledFailed            // and failed there
	open                   // not seen to end: how long they were seen to last
	byCall                 // cut from below by a call whose timeout is not known: recorded duration
	byCallAt               // the same: lower ends
	endings
)

// rareEndings are the samples that few parts have.
type rareEndings struct {
	samples [endings - usualEndings]*quantile.Sample
	pile    *quantile.PileUp // of attempts that look cut; nil for none
}

// slot returns where a sample of the part is or will be.
func (p *part) slot(of int) **quantile.Sample {
	if of < usualEndings {
		return &p.samples[of]
	}
	if p.rare == nil {
		p.rare = new(rareEndings)
	}
	return &p.rare.samples[of-usualEndings]
}

// held returns a sample of the part, nil where there is none.
func (p *part) held(of int) *quantile.Sample {
	if of >= usualEndings && p.rare == nil {
		return nil
	}
	return *p.slot(of)
}

// leave returns the same and takes it out of the part.
func (p *part) leave(of int) *quantile.Sample {
	s := p.held(of)
	if s != nil {
		*p.slot(of) = nil
	}
	return s
}

// attempt is one row of a batch.
type attempt struct {
	duration int64
	timeout  int64 // 0 if not known
	outcome  spans.Outcome
	cutBy    spans.CutBy
	failure  spans.Failure
	retry    bool
	tries    uint8 // of the call, 0 where they are not counted
	marked   bool
	speaks   bool     // a message that does not count speaks of a timeout
	stratum  *stratum // nil but for first attempts of a run with strata
	start    int64    // ns, where timed
	timed    bool
	inTrace  bool     // that is at hand as a whole
	seen     bool     // unfinished, and duration is how long it was seen to last
	call     *cutCall // that cut it from below, nil where it is not at hand
}

// sample returns a sample of the part, which comes into being when it is first
// asked for.
func (p *part) sample(of int) *quantile.Sample {
	slot := p.slot(of)
	if *slot == nil {
		*slot = p.store.New()
	}
	return *slot
}

// take moves the values of a sample, which must not be used any more.
func (p *part) take(of int, from *quantile.Sample) {
	if from == nil {
		return
	}
	slot := p.slot(of)
	if *slot == nil {
		*slot = from
		return
	}
	(*slot).Merge(from)
}

// count puts the attempts that wait where they belong.
func (p *part) count(s *hopSet) {
	p.sample(completions).AddAll(p.waiting)
	if p.blocks != nil && s.together {
		p.blocks.AddAt(s.starts[0], p.waiting)
	} else {
		p.blocks.AddAll(p.starts, p.waiting)
	}
	p.waiting, p.starts = p.waiting[:0], p.starts[:0]
}

func (h *hop) part(retry bool) *part {
	if retry {
		if h.retries == nil {
			h.retries = &part{store: h.first.store}
		}
		return h.retries
	}
	return &h.first
}

// add puts an attempt in its bucket.
func (h *hop) add(a attempt) {
	h.marked = h.marked || a.marked
	if a.tries > 1 {
		h.keep().tried++
	}
	if a.speaks && a.outcome != spans.Truncated {
		h.keep().spoken++
	}
	switch a.outcome {
	case spans.Completed:
		h.addCompleted(a)
	case spans.Truncated:
		h.addCut(a)
	case spans.Failed:
		h.addFailed(a)
	default:
		h.addUnfinished(a)
	}
}

// addUnfinished takes an attempt that was not seen to end. Where its trace tells how long it
// lasted at least, so long or longer it would have taken.
func (h *hop) addUnfinished(a attempt) {
	h.unfinished++
	if a.seen {
		h.addToClusters(a, depend.CutBucket)
		h.part(a.retry).sample(open).Add(a.duration)
	}
}

// addFailed takes a failed attempt. One that speaks of a timeout may have taken any time
// longer.
func (h *hop) addFailed(a attempt) {
	p, of := h.part(a.retry), failures
	if a.speaks {
		of = spoken
		h.addToClusters(a, depend.CutBucket)
	}
	p.sample(of).Add(a.duration)
	p.countEnds().failures[a.failure]++
	if a.stratum != nil {
		if of == spoken {
			of = censoredAt
		}
		a.stratum.sample(of).Add(a.duration)
	}
}

func (h *hop) addCompleted(a attempt) {
	h.addToClusters(a, depend.LogBucketOf(a.duration))
	of := h.completedAs(&a)
	if of == suspects {
		h.addSuspect(a, h.wallOf(&a))
		return
	}
	h.part(a.retry).sample(of).Add(a.duration)
	if a.stratum != nil {
		a.stratum.sample(completions).Add(a.duration)
	}
}

// completedAs says what an attempt is counted as that nothing says was cut. Without a
// mark it may have been: by its timeout, if its duration with all that a log may add to a
// cut reaches that, or by any if it speaks of one.
func (h *hop) completedAs(a *attempt) int {
	wall := h.wallOf(a)
	switch {
	case a.marked:
		return completions
	case spans.AtWall(wall, a.duration):
		return suspects
	case wall > 0 && a.duration >= quantile.LoggedFrom(wall):
		return nearWall
	case a.speaks && !a.inTrace:
		return doubtful
	}
	return completions
}

// nearNS is how much before its timeout a cut may be logged, or 0.1 % of it where that is
// more.
const nearNS = 1e6

// cutBy reports whether an attempt that was cut lasted as long as its timeout.
func cutBy(timeout, duration int64) bool {
	return timeout > 0 && duration >= min(timeout-nearNS, spans.Reached(timeout))
}

// addCut takes a truncated attempt. Its censoring time is its timeout, where that is
// known and was reached; a timeout given by the user goes before a recorded
// one. One that ended earlier was cut by something else.
func (h *hop) addCut(a attempt) {
	h.addToClusters(a, depend.CutBucket)
	p := h.part(a.retry)
	p.countEnds().cuts[a.cutBy]++
	at, timeout := a.duration, h.wallOf(&a)
	switch {
	case cutBy(timeout, a.duration):
		at = timeout
		p.sample(knownCuts).Add(a.duration)
		p.sample(censoredAt).Add(at)
		if a.cutBy == spans.Own {
			h.countTimeout(timeout, 1)
		}
	case a.cutBy == spans.Own:
		p.sample(ownCuts).Add(a.duration)
		h.noteEarly(timeout, a.duration)
	case a.call != nil && !a.retry:
		at = h.addCutByCall(&a)
	default:
		p.sample(otherCuts).Add(a.duration)
	}
	if a.stratum != nil {
		a.stratum.sample(censoredAt).Add(at)
	}
}

// addSuspect takes an attempt that its timeout cut, unless the input turns out to mark
// those.
func (h *hop) addSuspect(a attempt, wall int64) {
	if h.suspected == nil {
		h.suspected = new(quantile.Sample)
	}
	h.suspected.Add(wall)
	h.part(a.retry).addSuspect(a.duration, wall)
	if a.stratum != nil {
		a.stratum.addSuspect(a.duration, wall)
	}
}

func (p *part) addSuspect(duration, wall int64) {
	p.sample(suspects).Add(duration)
	p.sample(suspectAt).Add(wall)
}

// joined merges two samples, of which either may be nil; they must not be used any more.
func joined(a, b *quantile.Sample) *quantile.Sample {
	if a == nil {
		return b
	}
	a.Merge(b)
	return a
}

// merge moves the attempts of o into h.
func (h *hop) merge(o *hop) {
	h.first.merge(&o.first)
	if o.retries != nil {
		h.part(true).merge(o.retries)
	}
	h.timeouts = joined(h.timeouts, o.timeouts)
	h.suspected = joined(h.suspected, o.suspected)
	h.unfinished += o.unfinished
	h.mergeEarly(o.early)
	h.marked = h.marked || o.marked
	h.traced = h.traced || o.traced
	h.resolution = min(h.resolution, o.resolution)
	if o.rare != &nothingRare {
		h.mergeRare(o)
	}
}

func (h *hop) mergeRare(o *hop) {
	mine := h.keep()
	mine.spoken += o.spoken
	mine.tried += o.tried
	mine.strata.merge(&o.strata)
	mine.calls.merge(o.calls)
	mine.held = append(mine.held, o.held...)
	mine.below.add(o.below)
	mine.mergeClasses(o.classes)
}

func (p *part) merge(o *part) {
	for of := range endings {
		p.take(of, o.held(of))
	}
	if o.ends == nil {
		return
	}
	into := p.countEnds()
	for i, n := range o.ends.failures {
		into.failures[i] += n
	}
	for i, n := range o.ends.cuts {
		into.cuts[i] += n
	}
}

// settle decides the suspects: in an input without any mark they were cut by
// their timeout, in one with marks they completed. So did those near it, but without
// marks that is in doubt.
func (h *hop) settle(marked bool) {
	if !marked {
		h.timeouts = joined(h.timeouts, h.suspected)
	}
	h.suspected = nil
	h.first.settle(marked)
	if h.retries != nil {
		h.retries.settle(marked)
	}
	for _, s := range h.strata.byName {
		s.settle(marked)
	}
}

func (p *part) settle(marked bool) {
	p.settleNear(marked)
	list, at := p.leave(suspects), p.leave(suspectAt)
	switch {
	case list == nil:
	case marked:
		p.take(completions, list)
	default:
		p.countEnds().cuts[spans.Own] += list.N()
		p.take(censoredAt, at)
		p.take(knownCuts, list)
	}
}

// settleNear decides those that ended near their timeout.
func (p *part) settleNear(marked bool) {
	as := doubtful
	if marked {
		as = completions
	}
	p.take(as, p.leave(nearWall))
}

// readClock finds the step of the clock that the durations were read from.
func (h *hop) readClock() {
	for step := quantile.ClockStep(h.completed(), pow10(h.resolution)); step > 1; step /= 10 {
		h.clock++
	}
}

// step is that of the clock, in ns.
func (h *hop) step() int64 { return pow10(h.clock) }
