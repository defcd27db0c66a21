package timeouts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
)

// warned reports whether a row carries a warning.
func warned(row *buckets.Result, code string) bool {
	return slices.ContainsFunc(row.Warnings, func(w note.Warning) bool { return w.Code == code })
}

// textOf returns what a warning of a row says.
func textOf(row *buckets.Result, code string) string {
	for _, w := range row.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// marked reports whether it is known which attempts of a row may have been cut: the input
// says how they ended, or their timeout is given.
func marked(row *buckets.Result) bool {
	return !warned(row, "cut_marks_missing") || slices.ContainsFunc(row.Walls, func(w buckets.Wall) bool { return w.Source == buckets.Configured })
}

// evidenceOf says what is known of the target quantile of a row, and the bound that
// a timeout is made of, nil where it is not known.
func (a *adviser) evidenceOf(row *buckets.Result) (Evidence, *int64) {
	if a.Biased || row.Biased || !marked(row) {
		return None, nil
	}
	if t := &row.Target.Tail; belowTheClock(t) || warned(row, slowLog) {
		return None, nil
	}
	if warned(row, unmarkedWall) {
		return NotIdentified, nil
	}
	evidence, bound := evidenceIn(&row.Target.Tail.Tail, row.Truncated.First.N > 0)
	if evidence == Certified && row.FailuresExceed(a.Target) {
		evidence = Identified // the limit is of those that did not fail
	}
	return evidence, bound
}

// unmarkedWall is the warning of attempts that pile up as those of a timeout do: it takes
// certificates away.
const unmarkedWall = "suspected_unmarked_wall"

// slowLog is the warning of a log that looks like one of slow attempts alone.
const slowLog = "suspected_slow_log"

// belowTheClock reports whether the limit lies below two steps of the clock that the
// durations were read from: they say no more than that it is short.
func belowTheClock(t *buckets.Tail) bool {
	return t.Upper != nil && t.ClockStep > 1 && *t.Upper < 2*t.ClockStep
}

// evidenceIn is evidenceOf for a tail of marked attempts, of which some were cut or none.
func evidenceIn(t *quantile.Tail, cut bool) (Evidence, *int64) {
	switch {
	case t.N == 0:
		return None, nil
	case t.Upper != nil:
		return Certified, t.Upper
	case t.Status == quantile.Exact && !cut && t.UpperRank > t.Size():
		return TooFew, nil
	case t.Status == quantile.Exact:
		return Identified, &t.Value
	}
	return NotIdentified, nil
}

// allowed is the promise that so few attempts allow: none of n took longer than the
// slowest, so at most 1 - (1-confidence)^(1/n) of all do.
func (a *adviser) allowed(row *buckets.Result) *Allowed {
	slowest := row.Completed.First.Max
	_, upper := quantile.ClopperPearson(0, row.Target.Tail.Size(), a.Confidence)
	return &Allowed{Slowest: slowest, Timeout: a.from(slowest), FalseTimeout: upper}
}

// strata says what each stratum of a row tells.
func (a *adviser) strata(row *buckets.Result) []Stratum {
	var list []Stratum
	for i := range row.Target.Strata {
		t := &row.Target.Strata[i]
		s := Stratum{Name: t.Name, N: t.N, Cut: t.Cut}
		if s.Evidence, s.Bound = evidenceIn(&t.Tail, t.Cut > 0); row.Target.Tail.Effect.Counts() || row.FailuresExceed(a.Target) {
			s.Evidence = weaker(s.Evidence, Identified) // how a stratum's attempts depend on each other is not known
		}
		if s.Bound != nil {
			s.Timeout = new(a.from(*s.Bound))
		}
		list = append(list, s)
	}
	return list
}

// becameKnown says which strata show what the whole hides.
func (a *adviser) becameKnown(h *Hop) string {
	var list []string
	for _, s := range h.Strata {
		if s.Timeout != nil && h.Timeout == nil {
			list = append(list, fmt.Sprintf("%s has %s, %s, which makes %s (n = %d)", s.Name, durations.Text(*s.Bound), s.Evidence, durations.Text(*s.Timeout), s.N))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "; among the strata " + strings.Join(list, ", ") + ": the timeout for all if its calls are like the others"
}

// reasonOf explains the evidence of a leaf.
func (a *adviser) reasonOf(row *buckets.Result, evidence Evidence) string {
	t := &row.Target.Tail
	label := t.P.Label()
	switch evidence {
	case Certified:
		return fmt.Sprintf("%s is at most %s at %s confidence (n = %d%s)", label, durations.Text(*t.Upper), a.Confidence.Percent(), t.N, a.daysSeen())
	case Identified:
		if t.Upper != nil {
			return fmt.Sprintf("%s is at most %s of those that did not fail (n = %d); %s failed, as many as lie beyond it or more, and slow ones may be among them: no certificate",
				label, durations.Text(*t.Upper), t.N, ratio.Percent(float64(row.FailedShare)))
		}
		return fmt.Sprintf("%s is %s of %s; %s", label, durations.Text(t.Value), note.Count(t.N, "first attempt"), a.uncertified(row))
	case TooFew:
		return a.tooFewText(row)
	case NotIdentified:
		if warned(row, unmarkedWall) {
			return fmt.Sprintf("%s is not known: %s", label, textOf(row, unmarkedWall))
		}
		if len(row.Walls) == 0 {
			return fmt.Sprintf("%s is not known: %s", label, t.Reason)
		}
		return fmt.Sprintf("%s is hidden by today's timeout: %s%s", label, t.Reason, overNaive(row))
	}
	return a.noEvidence(row)
}

// daysSeen says of how many days a certificate is.
func (a *adviser) daysSeen() string {
	if a.result.Window == nil || *a.result.Window < day {
		return ""
	}
	return ", " + note.Count(uint64(*a.result.Window/day), "day") + " seen"
}

// tooFewText says what too few attempts allow.
func (a *adviser) tooFewText(row *buckets.Result) string {
	t, may := &row.Target.Tail, a.allowed(row)
	of := note.Count(t.N, "first attempt")
	if t.Size() < t.N {
		of += fmt.Sprintf(" worth %d independent ones", t.Size())
	}
	return fmt.Sprintf("%s: too few for %s, which takes %d; of the slowest, %s, comes a timeout of %s, by which at most %s are needlessly timed out (%s)",
		of, t.P.Label(), t.Size()+a.missing(t), durations.Text(may.Slowest), durations.Text(may.Timeout), ratio.Percent(may.FalseTimeout), a.Confidence.Percent())
}

// missing is how many more first attempts would certify an exact quantile, 0 where
// it is not for want of them.
func (a *adviser) missing(t *buckets.Tail) uint64 {
	need := quantile.CanarySize(t.P, 0, a.Confidence)
	return need - min(need, t.Size())
}

// uncertified says why an exact quantile has no upper limit.
func (a *adviser) uncertified(row *buckets.Result) string {
	t := &row.Target.Tail
	more := a.missing(t)
	switch {
	case more == 0:
		return t.Reason
	case t.Size() < t.N:
		return fmt.Sprintf("an upper limit takes an n_eff of %d, and theirs is %d", t.Size()+more, t.Size())
	}
	text := fmt.Sprintf("an upper limit takes %d, %d more", t.Size()+more, more)
	if t.IsMaximum {
		text += "; this is the longest seen"
	}
	return text
}

func (a *adviser) noEvidence(row *buckets.Result) string {
	switch t := &row.Target.Tail; {
	case a.Biased || row.Biased:
		return "the traces were chosen by how they went, so their tail is not the tail"
	case !marked(row):
		return "nothing says which attempts timed out, so what looks completed may have timed out: name the mark with --field truncated=KEY, or of traces with --truncated-if KEY=VALUE"
	case warned(row, slowLog):
		return textOf(row, slowLog)
	case belowTheClock(t):
		return fmt.Sprintf("%s lies within two steps of the clock, which are of %s: a log with finer durations tells", t.P.Label(), durations.Text(t.ClockStep))
	default:
		return t.Reason
	}
}

// overNaive says what comes of making a timeout of recorded durations where these
// are those of attempts that were cut.
func overNaive(row *buckets.Result) string {
	p95, cut := row.Target.Recorded95, &row.Truncated.First
	if p95 == nil || cut.N == 0 || *p95 < cut.Min || row.Completed.First.Max > *p95 {
		return ""
	}
	naive := *p95 + *p95/5
	return fmt.Sprintf("; 1.2 × the recorded p95 of %s would make %s, which is 1.2 × the timeout with its overhead and says nothing of the hop", durations.Text(*p95), durations.Text(naive))
}

// leastCoverage is the share of the calls that were cut, in percent, that must have
// a server span for these to stand for all.
const leastCoverage = 95

// serverSide is the timeout that the servers of the calls suggest.
func (a *adviser) serverSide(row *buckets.Result) *ServerSide {
	s := row.Target.Tail.ServerSide
	if s == nil {
		return nil
	}
	side := &ServerSide{Coverage: s.Coverage}
	if s.Value != nil && s.N*100 >= s.Of*leastCoverage {
		side.Suggested = new(a.from(*s.Value))
	}
	return side
}

// raiseOf is the timeout of a canary for a row, 0 where nothing says how long to
// wait, and what it rests on. It is never below what attempts took that completed, what
// bounds a stratum, or what servers took, each with headroom.
func (a *adviser) raiseOf(row *buckets.Result) (int64, string) {
	evidence, _ := a.evidenceOf(row)
	if evidence != NotIdentified {
		return 0, ""
	}
	raise, from := a.raiseBeyond(row)
	for _, least := range a.leastRaises(row) {
		if ns := a.from(least.ns); ns > raise {
			raise, from = ns, least.from
		}
	}
	if side := a.serverSide(row); side != nil && side.Suggested != nil && *side.Suggested > raise {
		return *side.Suggested, "what the servers took"
	}
	return raise, from
}

// leastRaise is a time that a canary must leave room for.
type leastRaise struct {
	ns   int64
	from string
}

func (a *adviser) leastRaises(row *buckets.Result) []leastRaise {
	var list []leastRaise
	if done := row.Completed.All; done.N > 0 {
		list = append(list, leastRaise{atMost(row, done.Max), "the slowest attempt that completed"})
	}
	for _, s := range a.strata(row) {
		if s.Bound != nil {
			list = append(list, leastRaise{*s.Bound, "what bounds the stratum " + s.Name})
		}
	}
	return slices.DeleteFunc(list, func(l leastRaise) bool { return l.ns == 0 })
}

// atMost is how long something may have taken at most that is logged as ns: a step of the
// clock more, where that is more than a tenth of it. Headroom has room for less. On a clock of
// whole seconds, what was cut at 0 s may have been cut at nearly 1 s.
func atMost(row *buckets.Result, ns int64) int64 {
	if step := row.Target.Tail.ClockStep; step > 1 && step > ns/10 {
		return durations.Sum(ns, step)
	}
	return ns
}

// raiseBeyond is a timeout beyond the one that cuts a row today.
func (a *adviser) raiseBeyond(row *buckets.Result) (int64, string) {
	wall, cut := row.MainWall()
	if side := a.serverSide(row); side != nil && side.Suggested != nil && (!cut || *side.Suggested > wall.To) {
		return *side.Suggested, "what the servers took"
	}
	if e := row.Target.Tail.Estimate; e != nil && e.Bound != nil && cut && a.from(*e.Bound) > wall.To {
		return a.from(*e.Bound), "an estimate, which holds if the tail goes on as below the timeout"
	}
	return a.twice(row)
}

// twice is twice the timeout that cuts a row today, 0 where nothing was cut.
func (a *adviser) twice(row *buckets.Result) (int64, string) {
	if wall, known := row.MainWall(); known {
		most := wall.To
		if wall.Source == buckets.Inferred {
			most = atMost(row, most)
		}
		return a.double(most), "twice today's timeout"
	}
	if cut := row.Truncated.First; cut.N > 0 {
		return a.double(atMost(row, cut.Max)), "twice the longest attempt that timed out"
	}
	return 0, ""
}

func (a *adviser) double(ns int64) int64 { return max(a.Floor, roundUp(durations.Sum(ns, ns))) }

// canaryAt are the quantiles that a canary is sized for, besides the target.
var canaryAt = [...]quantile.P{quantile.MustP("0.95"), quantile.MustP("0.99"), quantile.MustP("0.999")}

// canary sizes a trial of a raised timeout, for first attempts that hang together as
// today's do.
func (a *adviser) canary(raise int64, from string, perSecond *float64, effect depend.Effect) *Canary {
	if raise <= 0 || raise == math.MaxInt64 {
		return nil
	}
	c := &Canary{RaiseTo: raise, From: from}
	if effect.Counts() {
		c.Effect = effect
	}
	ps := canaryAt[:]
	if !slices.ContainsFunc(ps, func(p quantile.P) bool { return p.Compare(a.Target) == 0 }) {
		ps = append(slices.Clone(ps), a.Target)
		slices.SortFunc(ps, quantile.P.Compare)
	}
	for _, p := range ps {
		n := quantile.CanarySize(p, 0, a.Confidence)
		if n == 0 {
			continue
		}
		c.Sizes = append(c.Sizes, Size{P: p, Attempts: n, Takes: takes(n, perSecond)})
	}
	return c
}

// takes is how long n attempts take to come, nil where the rate is not known or
// that is no time to wait for.
func takes(n uint64, perSecond *float64) *int64 {
	if perSecond == nil || *perSecond <= 0 {
		return nil
	}
	ns := float64(n) / *perSecond * 1e9
	if ns > longestWait {
		return nil
	}
	return new(int64(ns))
}

// longestWait is ten years, in ns.
const longestWait = 10 * 365 * 24 * 3600e9
