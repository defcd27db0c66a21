package retries

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile"
)

// The limits of the rules.
const (
	leastRescued  = 8  // calls that were cut first and retried
	leastGaps     = 8  // gaps
	leastOfMinute = 20 // attempts in a minute
	leastInStep   = 20 // traces whose retries begin together
	leastPulses   = 3
	mostPossible  = 10 // attempts that one request may become
	budgetPercent = 10 // retries of first attempts
	nearPercent   = 80 // of the wall
	leastNear     = 20 // completed attempts
	nearShare     = 5  // percent of completed attempts near the wall
	earlyPart     = 1000
	overheadPart  = 5
	leastBackoff  = 1e6 // ns
)

// NearTimeout is the part of its wall that a completed attempt may use.
const NearTimeout = nearPercent / 100.

// Verdict says what retries of cut attempts are worth.
type Verdict string

// FreshDraw: a retry is nearly as good as a first attempt. Partly: it helps, but it shares
// some of what cut the first. SameSlowness: it meets that again. TooFew: none is shown.
const (
	FreshDraw    Verdict = "fresh_draw"
	Partly       Verdict = "partly"
	SameSlowness Verdict = "same_slowness"
	TooFew       Verdict = "too_few"
)

// Words says whether retries help: "help", "help in part", "do not help" or "too few".
func (v Verdict) Words() string {
	switch v {
	case FreshDraw:
		return "help"
	case Partly:
		return "help in part"
	case SameSlowness:
		return "do not help"
	case TooFew:
		return "too few"
	}
	return ""
}

// WallVerdict says whether failing calls last whole multiples of their timeout.
type WallVerdict string

// The verdicts on a wall.
const (
	AtTheWall  WallVerdict = "at_the_wall"
	Scattered  WallVerdict = "scattered"
	WallTooFew WallVerdict = "too_few"
)

// words says where failing calls ended: "at the timeout", "scattered" or "too few".
func (v WallVerdict) words() string {
	switch v {
	case AtTheWall:
		return "at the timeout"
	case WallTooFew:
		return "too few"
	}
	return string(v)
}

// Jitter says whether the gaps before retries differ.
type Jitter string

// The kinds of jitter.
const (
	NoJitter      Jitter = "none"
	SomeJitter    Jitter = "some"
	JitterUnknown Jitter = "unknown"
)

func rescueVerdict(r Rescue, first Count, confidence quantile.P) Verdict {
	if r.Of < leastRescued || first.N == 0 { // nothing to be as good as
		return TooFew
	}
	half := float64(first.N) / float64(first.Of) / 2
	least, _ := quantile.ClopperPearson(first.N, first.Of, confidence)
	switch {
	case r.Upper < half:
		return SameSlowness
	case r.Upper < least:
		return Partly
	case r.Lower > half:
		return FreshDraw
	}
	return TooFew
}

func wallVerdict(c Count, confidence quantile.P) WallVerdict {
	lower, upper := quantile.ClopperPearson(c.N, c.Of, confidence)
	switch {
	case c.Of == 0:
		return WallTooFew
	case lower > .5:
		return AtTheWall
	case upper < .5:
		return Scattered
	}
	return WallTooFew
}

// jitterOf judges gaps before the same retry of their calls.
func jitterOf(u quantile.Union) Jitter {
	if u.N() < leastGaps {
		return JitterUnknown
	}
	q := quantile.Summarize(u, tenths).Quantiles
	if q[1] < leastBackoff || q[2]-q[0] <= q[1]/4 {
		return NoJitter
	}
	return SomeJitter
}

// jointJitter is none where a hop has none. Where no hop has enough gaps, all
// together may still have none; that they differ may be due to the hops.
func jointJitter(hops []Hop, together Jitter) Jitter {
	j := JitterUnknown
	if together == NoJitter {
		j = NoJitter
	}
	for i := range hops {
		switch hops[i].Backoff.Jitter {
		case NoJitter:
			return NoJitter
		case SomeJitter:
			j = SomeJitter
		}
	}
	return j
}

// Rule is a rule of the section, as 'tailscope rules' prints it.
type Rule struct{ Name, Needs, Says string }

// Rules lists the rules in the order of the section.
var Rules = [...]Rule{
	{"call", "1 attempt", "a first attempt and its retries: each belongs to the latest timed-out or failed attempt of its hop that ended before it and has none yet"},
	{"same_slowness", fmt.Sprintf("%d calls timed out at first and retried, 1 first attempt that completed", leastRescued), "the upper limit of the share that a retry completed is below half of the first attempts' completion rate"},
	{"partly", "the same", "else, if the upper limit of that share is below the lower limit of the completion rate: retries fail more often than first attempts, surely"},
	{"fresh_draw", "the same", "else, if the lower limit is above that half; none of the three, or fewer: too_few"},
	{"at_the_wall", "5 failing calls, a known timeout", "the attempts of a failing call ran for that many timeouts, 0.1 % less or the overhead seen more (up to a fifth): the lower limit of the share is above 50 %"},
	{"scattered", "5 failing calls, a known timeout", "the upper limit of that share is below 50 %; neither: too_few"},
	{"near_timeout", fmt.Sprintf("%d completed attempts, a known timeout", leastNear), fmt.Sprintf("more than %d %% of the completed attempts used more than %d %% of the timeout", nearShare, nearPercent)},
	{"executed_twice", "2 attempts with a server span", "a call whose server ran to a good end more than once; an error where the operation looks like a write (POST, PATCH, create…, --write-hop)"},
	{"finished_anyway", "1 timed-out first attempt with a server span", "the server came to a good end all the same: a longer wait would have done"},
	{"retries_too_late", "1 retry, both timeouts known", "less than a whole attempt was left of what the caller waits when it began"},
	{"permanent_errors_retried", "1 retry", "what failed before it was a 4xx other than 429"},
	{"amplification_over_10", "1 call", "the product of the most attempts seen along a path is above 10"},
	{"several_layers_retry", "2 hops on a path", "more than one of them retries"},
	{"retry_ratio", "1 first attempt", "retries are more than 10 % of the first attempts"},
	{"retry_storm", fmt.Sprintf("%d attempts in a minute, all with a start", leastOfMinute), "in the worst minute they are, though not in the mean"},
	{"no_jitter", fmt.Sprintf("%d gaps", leastGaps), "the gaps before the same retry differ by no more than a quarter from p10 to p90, or are below 1 ms"},
	{"retries_in_step", fmt.Sprintf("%d traces", leastInStep), "their retries begin within 10 ms, more than half of those in the second around"},
	{"retry_pulses", fmt.Sprintf("%d such moments", leastPulses), "they are the same time apart, to a fifth"},
}
