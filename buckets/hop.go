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
	retries    part
	timeouts   quantile.Sample // of own cuts whose timeout is known, a value a cut
	unfinished uint64
	// failedAtWall: see Config.
	failedAtWall bool
	// marked: the source said of some attempt how it ended. A log that writes its
	// mark only where it is true may have hops without any; they are taken for
	// unmarked, since a mark that is missing looks the same.
	marked bool
	// traced: the attempts are spans. Those say nothing where all went well.
	traced     bool
	resolution uint8 // finest seen, as a power of ten over 1 ns: loggers drop trailing zeros
	strata     strata
	held       []heldFailure
	merged     int     // hops folded into this one
	classes    []class // first attempts by weight, where they have several
	below      belowCount
	clusters   *clusters // nil for hops folded into one
}

// unmeasured is the resolution of a hop before any row told it.
const unmeasured = math.MaxUint8

// part is the first attempts or the retries of a hop. Samples come into being
// with their first value: most parts of most hops stay empty.
type part struct {
	store     *quantile.Store // of the samples
	completed *quantile.Sample
	failed    *quantile.Sample
	knownSeen *quantile.Sample // cuts whose timeout is known: recorded duration
	knownAt   *quantile.Sample // the same: censoring time
	ownSeen   *quantile.Sample // cuts whose timeout is not known: by their own
	otherSeen *quantile.Sample // and by anything else
	suspects  *quantile.Sample // unmarked, but as long as the configured timeout
	waiting   []int64          // completed, of the batch being added
	starts    []int64          // of those, where any is known and blocks is there
	blocks    *depend.Blocks   // nil for retries
	failures  [len(spans.Failures) + 1]uint64
	cuts      [len(spans.CutBys) + 1]uint64
}

// attempt is one row of a batch.
type attempt struct {
	duration int64
	timeout  int64 // 0 if not known
	outcome  spans.Outcome
	cutBy    spans.CutBy
	failure  spans.Failure
	retry    bool
	marked   bool
	stratum  *stratum // nil but for first attempts of a run with strata
	start    int64    // ns, where timed
	timed    bool
	inTrace  bool // that is at hand as a whole
}

// sample returns a sample of the store that comes into being when it is first
// asked for.
func (p *part) sample(s **quantile.Sample) *quantile.Sample {
	if *s == nil {
		*s = p.store.New()
	}
	return *s
}

// merge moves the values of a sample, which must not be used any more.
func merge(into **quantile.Sample, from *quantile.Sample) {
	if *into == nil {
		*into = from
		return
	}
	(*into).Merge(from)
}

// count puts the attempts that wait where they belong.
func (p *part) count(s *Set) {
	p.sample(&p.completed).AddAll(p.waiting)
	if p.blocks != nil && s.together {
		p.blocks.AddAt(s.starts[0], p.waiting)
	} else {
		p.blocks.AddAll(p.starts, p.waiting)
	}
	p.waiting, p.starts = p.waiting[:0], p.starts[:0]
}

func (h *hop) part(retry bool) *part {
	if retry {
		return &h.retries
	}
	return &h.first
}

// add puts an attempt in its bucket.
func (h *hop) add(a attempt) {
	h.marked = h.marked || a.marked
	switch a.outcome {
	case spans.Completed:
		h.addCompleted(a)
	case spans.Truncated:
		h.addCut(a)
	case spans.Failed:
		if h.atWall(a) {
			a.cutBy = spans.Own
			h.addCut(a)
			return
		}
		p := h.part(a.retry)
		p.sample(&p.failed).Add(a.duration)
		p.failures[a.failure]++
	default:
		h.unfinished++
	}
}

func (h *hop) atWall(a attempt) bool {
	return h.failedAtWall && FailedAtWall(h.timeout, a.duration, a.failure)
}

// FailedAtWall reports whether a failure of no known kind lies where the configured
// timeout cuts: from 0.1 % below it to as far above as cuts are still said to
// cover the call alone. Both are in ns; a timeout of 0 is none.
func FailedAtWall(timeout, duration int64, f spans.Failure) bool {
	if timeout == 0 || f != spans.FailureUnknown && f != spans.OtherFailure {
		return false
	}
	return duration >= reached(timeout) && duration <= timeout+max(timeout/lateShare, lateNS)
}

// WallFrom returns how long an attempt of which nothing says how it ended must be,
// so that it lasted as long as the configured timeout, both in ns; 0 for no timeout.
func WallFrom(timeout int64) int64 {
	if timeout <= 0 {
		return 0
	}
	return reached(timeout)
}

// AtWall reports whether an attempt of which nothing says how it ended lasted as
// long as the configured timeout, both in ns; a timeout of 0 is none.
func AtWall(timeout, duration int64) bool { return timeout > 0 && duration >= reached(timeout) }

func (h *hop) addCompleted(a attempt) {
	h.addToClusters(a, depend.LogBucketOf(a.duration))
	p := h.part(a.retry)
	if !a.marked && AtWall(h.timeout, a.duration) {
		p.sample(&p.suspects).Add(a.duration)
		if a.stratum != nil {
			p.sample(&a.stratum.suspects).Add(a.duration)
		}
		return
	}
	p.sample(&p.completed).Add(a.duration)
	if a.stratum != nil {
		p.sample(&a.stratum.completed).Add(a.duration)
	}
}

// addCut takes a truncated attempt. Its censoring time is the smaller of its
// duration and its timeout; a timeout given by the user goes before a recorded
// one.
func (h *hop) addCut(a attempt) {
	h.addToClusters(a, depend.CutBucket)
	p := h.part(a.retry)
	p.cuts[a.cutBy]++
	at, timeout := a.duration, a.timeout
	if h.timeout > 0 {
		timeout = h.timeout
	}
	switch {
	case timeout > 0:
		at = min(at, timeout)
		p.sample(&p.knownSeen).Add(a.duration)
		p.sample(&p.knownAt).Add(at)
		if a.cutBy == spans.Own {
			h.timeouts.Add(timeout)
		}
	case a.cutBy == spans.Own:
		p.sample(&p.ownSeen).Add(a.duration)
	default:
		p.sample(&p.otherSeen).Add(a.duration)
	}
	if a.stratum != nil {
		p.sample(&a.stratum.cut).Add(at)
	}
}

// merge moves the attempts of o into h.
func (h *hop) merge(o *hop) {
	h.first.merge(&o.first)
	h.retries.merge(&o.retries)
	h.timeouts.Merge(&o.timeouts)
	h.unfinished += o.unfinished
	h.marked = h.marked || o.marked
	h.traced = h.traced || o.traced
	h.resolution = min(h.resolution, o.resolution)
	h.strata.merge(&o.strata)
	h.held = append(h.held, o.held...)
	h.below.add(o.below)
	h.mergeClasses(o.classes)
}

func (p *part) merge(o *part) {
	merge(&p.completed, o.completed)
	merge(&p.failed, o.failed)
	merge(&p.knownSeen, o.knownSeen)
	merge(&p.knownAt, o.knownAt)
	merge(&p.ownSeen, o.ownSeen)
	merge(&p.otherSeen, o.otherSeen)
	merge(&p.suspects, o.suspects)
	for i, n := range o.failures {
		p.failures[i] += n
	}
	for i, n := range o.cuts {
		p.cuts[i] += n
	}
}

// settle decides the suspects: in an input without any mark they were cut by
// the configured timeout, in one with marks they completed.
func (h *hop) settle(marked bool) {
	for _, p := range [...]*part{&h.first, &h.retries} {
		if marked {
			merge(&p.completed, p.suspects)
		} else {
			h.cutSuspects(p)
		}
		p.suspects = nil
	}
	for _, s := range h.strata.byName {
		if marked {
			merge(&s.completed, s.suspects)
		} else {
			h.first.addUpTo(&s.cut, s.suspects, h.timeout)
		}
		s.suspects = nil
	}
}

func (h *hop) cutSuspects(p *part) {
	n := p.suspects.N()
	p.cuts[spans.Own] += n
	h.timeouts.AddN(h.timeout, n)
	p.addUpTo(&p.knownAt, p.suspects, h.timeout)
	merge(&p.knownSeen, p.suspects)
}

// addUpTo adds the values of from, those above limit as limit.
func (p *part) addUpTo(into **quantile.Sample, from *quantile.Sample, limit int64) {
	if from.N() == 0 {
		return
	}
	capped := p.sample(into)
	for ns, count := range from.All() {
		capped.AddN(min(ns, limit), count)
	}
}

// The readings of a part.

func (p *part) done() quantile.Union { return quantile.Union{p.completed} }

func (p *part) ended() quantile.Union { return quantile.Union{p.failed} }

func (p *part) truncated() quantile.Union {
	return quantile.Union{p.knownSeen, p.ownSeen, p.otherSeen}
}

func (p *part) all() quantile.Union {
	return append(p.truncated(), p.completed, p.failed)
}

func (p *part) observed() quantile.Observed {
	return quantile.Observed{
		Completed: quantile.Union{p.completed},
		CutAt:     quantile.Union{p.knownAt},
		CutSeen:   quantile.Union{p.ownSeen, p.otherSeen},
	}
}
