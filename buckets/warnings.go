package buckets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// warnings says what a reader of the hop's numbers must know.
func (t tailer) warnings() []note.Warning {
	var list []note.Warning
	for _, w := range [...]struct{ code, text string }{
		{"cut_marks_missing", t.marksMissing()},
		{"timeouts_in_messages", t.messages()},
		{"cut_before_timeout", t.cutEarly()},
		{"wrong_marks", t.wrongMarks()},
		{"covers_all_tries", t.coversTries()},
		{"weighted", t.weighted()},
		{"dependent_attempts", t.dependent()},
		{"drift", t.drift()},
		{"failures_exceed_p", t.failuresExceed()},
		{"is_maximum", t.maxima()},
		{"wall_does_not_bound", t.beyondWall()},
		{"duration_covers_more_than_the_call", t.lateCuts()},
		{"late_cuts_may_mislead", t.cutsMayMislead()},
		{"walls_omitted", t.wallsOmitted()},
		{"suspected_unmarked_wall", t.unmarkedWall()},
		{"suspected_slow_log", t.slowLog()},
		{"cut_below_by_duration", t.belowByDuration()},
		{"below_unchecked", t.belowUnchecked()},
		{"cuts_follow_slowness", t.informativeCuts()},
		{"too_many_strata", t.tooManyStrata()},
		{"hops_folded", t.folded()},
	} {
		if w.text != "" {
			list = append(list, note.Warning{Code: w.code, Text: w.text})
		}
	}
	return list
}

func (t tailer) marksMissing() string {
	missing := "the input has no mark that says which attempts timed out: "
	if t.query.Marked {
		missing = "other hops are marked, but no attempt of this one says whether it timed out: "
	}
	switch {
	case t.hop.tells(t.query) || t.r.Attempts == t.r.Unfinished:
		return ""
	case t.hop.timeout > 0:
		return missing + "those of " + durations.Text(t.hop.timeout) + " or more count as timed out, but one with a shorter timeout or a failure would stand here as completed"
	}
	return missing + "those that did would stand here as completed; name the mark with --field truncated=KEY or give --timeout HOP=T"
}

// messages says how many attempts have messages of timeouts that do not count.
func (t tailer) messages() string {
	n := t.hop.spoken
	if n == 0 {
		return ""
	}
	return note.Count(n, "attempt that counts as completed or failed has", "attempts that count as completed or failed have") +
		" a message that speaks of a timeout or a cancellation: for values and limits what failed may have taken any time longer; --match-messages counts " + note.Form(n, "it", "them") + " as timed out"
}

// cutEarly says that another timeout than the one that is known cuts.
func (t tailer) cutEarly() string {
	e := t.hop.early
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s long before the timeout of %s that is known, the first at %s: another one is at work, or the unit of the timeout is wrong",
		note.Count(e.n, "attempt timed out", "attempts timed out"), durations.Text(e.timeout), durations.Text(e.duration))
}

// wrongMarks names cuts that lie together where more attempts completed above them.
func (t tailer) wrongMarks() string {
	var list []string
	for _, w := range t.wrong {
		list = append(list, fmt.Sprintf("%s marked as timed out at %s, and %d completed above", note.Count(w.Count, "attempt is", "attempts are"), durations.Text(w.To), w.Outlasted))
	}
	if list == nil {
		return ""
	}
	return strings.Join(list, "; ") + ": that is no timeout, so the marks may be wrong"
}

// coversTries says that durations are those of calls with all their tries.
func (t tailer) coversTries() string {
	if t.hop.tried == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s took more than one try: a row is a call, and its duration, and a timeout made of it, covers all its tries and the waits between", t.hop.tried, note.Count(t.r.Attempts, "attempt"))
}

// weighted says which numbers are by weight and which are not.
func (t tailer) weighted() string {
	if t.r.Effective == 0 {
		return ""
	}
	return fmt.Sprintf("weighted: traces of different weights. Tail and shares count each of the %s (n) by the weight of its trace, and limits are those of %s (n_eff); without a Kaplan-Meier value. Durations by how attempts ended count each once", note.Count(t.r.TruncatedShare.Of, "first attempt"), note.Count(t.r.Effective, "equal one"))
}

// dependent names the limits that stand on fewer attempts than were seen.
func (t tailer) dependent() string {
	var hit []string
	for _, q := range t.tails.Tails.Tails {
		if q.Effect.Counts() {
			hit = append(hit, effectText(q.Effect)+" beyond "+q.P.Label())
		}
	}
	if cut := t.r.TruncatedShare.Effect; len(t.effects) > 0 && cut.Counts() {
		hit = append(hit, effectText(cut)+" of those that timed out")
	}
	if hit == nil {
		return ""
	}
	lead := "slow first attempts come together, so they tell less than as many independent ones"
	if t.r.TruncatedShare.Effect.Assumed {
		lead = "attempts of one trace may go the same way, which so few traces do not tell"
	}
	return lead + ": design effect " +
		strings.Join(hit, ", ") + "; their limits are those of n_eff = n/effect attempts"
}

func effectText(e depend.Effect) string {
	return strconv.FormatFloat(e.Float(), 'f', -1, 64) + " by " + e.Cluster()
}

// drift names the quantiles beyond which the share moved.
func (t tailer) drift() string {
	var moved []string
	for i, e := range t.effects {
		if d := e.Drift; d != nil {
			moved = append(moved, fmt.Sprintf("beyond %s %s and %s", t.tails.Tails.Tails[i].P.Label(), percentOf(d.First), percentOf(d.Last)))
		}
	}
	if moved == nil {
		return ""
	}
	return "the tail moved between the first and the last third of the first attempts, by time: " + strings.Join(moved, ", ") +
		"; quantiles and limits are of all of it, and of no time to come"
}

func percentOf(p depend.Part) string { return ratio.Percent(float64(p.Count) / float64(p.Of)) }

// FailuresExceed reports whether as many first attempts failed as lie beyond a quantile, or
// more: it is that of the others, and slow ones that are refused at once leave no trace in it.
func (r *Result) FailuresExceed(p quantile.P) bool {
	return r.FailedShare > 0 && float64(r.FailedShare) >= p.Beyond()
}

// failuresExceed names the quantiles that lie among the failures, and the target apart.
func (t tailer) failuresExceed() string {
	hit := t.labels(func(q quantile.Tail) bool { return t.r.FailuresExceed(q.P) })
	if p := t.query.Target; p != nil && t.hop.merged == 0 && t.r.FailuresExceed(*p) && !slices.ContainsFunc(t.query.Quantiles, func(q quantile.P) bool { return q.Compare(*p) == 0 }) {
		hit = strings.TrimPrefix(hit+", "+p.Label(), ", ")
	}
	if hit == "" {
		return ""
	}
	return fmt.Sprintf("%s of the first attempts failed, as many as lie beyond %s or more: the tail is that of the others",
		ratio.Percent(float64(t.r.FailedShare)), hit)
}

// maxima names the quantiles that n(1-p) < 1 makes the largest value seen.
func (t tailer) maxima() string {
	hit := t.labels(func(q quantile.Tail) bool { return q.IsMaximum && q.Status == quantile.Exact })
	if hit == "" {
		return ""
	}
	return fmt.Sprintf("%s: max of %s, too few for this quantile; the true value may well lie above it", hit, note.Count(t.tails.N, "first attempt"))
}

// labels names the quantiles that fit.
func (t tailer) labels(fits func(quantile.Tail) bool) string {
	var names []string
	for _, q := range t.tails.Tails.Tails {
		if fits(q) {
			names = append(names, q.P.Label())
		}
	}
	return strings.Join(names, ", ")
}

// beyondWall compares completed attempts with the configured timeout.
func (t tailer) beyondWall() string {
	if t.hop.timeout == 0 || t.r.Completed.All.N == 0 || t.r.Completed.All.Max <= t.hop.timeout {
		return ""
	}
	return fmt.Sprintf("attempts completed in up to %s, above the configured %s: that timeout does not bound them",
		durations.Text(t.r.Completed.All.Max), durations.Text(t.hop.timeout))
}

func (t tailer) lateCuts() string {
	wall := t.hop.timeout
	if wall == 0 || t.r.Truncated.All.N == 0 || t.r.Truncated.All.Max <= spans.LatestCut(wall) {
		return ""
	}
	return fmt.Sprintf("timed-out attempts are logged with up to %s under a timeout of %s: the duration covers more than the call, such as clean-up or a wait for a connection",
		durations.Text(t.r.Truncated.All.Max), durations.Text(wall))
}

// cutsMayMislead looks for signs that attempts with different timeouts are
// mixed, of which some are not known. A cut is logged at its timeout or later;
// a completed attempt with a longer timeout may lie between, and then counts as
// below the first cut although the cut one need not have been slower. Where
// nothing lasts longer than the first cut, all may share one timeout, and
// nothing is said. Only own cuts count: the others end with another call, and no
// timeout would place them.
func (t tailer) cutsMayMislead() string {
	unknown := quantile.Summarize(t.hop.first.union(ownCuts), nil)
	if unknown.N == 0 || t.hop.merged > 0 || t.query.Biased {
		return ""
	}
	longest := t.allowed(unknown)
	if longest-unknown.Min <= max(mixedNS, unknown.Min/mixedShare) {
		return ""
	}
	return fmt.Sprintf("timeouts of unknown length begin at %s, yet other attempts could take %s: if those are logged late, values here are too high, even exact ones; give the timeouts with --timeout HOP=T or a timeout column",
		durations.Text(unknown.Min), durations.Text(longest))
}

const (
	// What lasts this much longer than the first cut had another timeout.
	mixedShare = 50 // one in 50: 2 %
	mixedNS    = 1e6
	// Cuts of one timeout lie this close together, as those of a wall do.
	wallSpread = 15 // percent
)

// allowed returns the longest that a first attempt is seen to have been allowed
// to take, with cuts of unknown timeout.
func (t tailer) allowed(unknown quantile.Summary) int64 {
	known := quantile.Summarize(t.hop.first.union(censoredAt), nil)
	longest := max(t.r.Completed.First.Max, known.Max)
	for _, w := range t.r.Walls {
		longest = max(longest, w.To)
	}
	if (unknown.Max-unknown.Min)/wallSpread > unknown.Min/100 {
		longest = max(longest, unknown.Max)
	}
	return longest
}

func (t tailer) wallsOmitted() string {
	if t.unlisted == 0 {
		return ""
	}
	return fmt.Sprintf("%d different timeouts are at work: the %d that end most attempts are listed", maxWalls+t.unlisted, maxWalls)
}

// unmarkedWall says that attempts pile up as those of a timeout do.
func (t tailer) unmarkedWall() string {
	pile := t.hop.first.pile()
	if pile == nil {
		return ""
	}
	done, failed := t.hop.first.held(piledDone), t.hop.first.held(piledFailed)
	var list []string
	if n := failed.N(); n > 0 {
		list = append(list, note.Count(n, "failure", "failures"))
	}
	if n := done.N(); n > 0 {
		list = append(list, note.Count(n, "attempt that counts as completed", "attempts that count as completed"))
	}
	all := quantile.Union{done, failed}
	ends := all.At(1, all.N())
	timeout := durations.Text(roundBelow(ends[0]))
	return fmt.Sprintf("%s lie%s at %s: that looks like a timeout of %s without a mark; for values and limits they may have taken any time longer. --timeout %s=%s counts them as timed out",
		strings.Join(list, " and "), note.Form(all.N(), "s", ""), rangeText(ends[0], " to ", ends[1]), timeout, t.hopText(), strings.ReplaceAll(timeout, " ", ""))
}

// slowLog says that the log looks like one of slow attempts alone.
func (t tailer) slowLog() string {
	if t.floor == 0 {
		return ""
	}
	return fmt.Sprintf("no attempt is shorter than %s, though many are hardly longer: a log of slow calls looks like that, and its quantiles are not those of all. --sampling all says that nothing was left out", durations.Text(t.floor))
}

// roundBelow returns the largest number of at most two digits and zeros that is not above
// a duration, if it is no more than a hundredth below it, else the duration.
func roundBelow(ns int64) int64 {
	unit := int64(1)
	for ns/unit >= 100 {
		unit *= 10
	}
	if round := ns - ns%unit; ns-round <= ns/100 {
		return round
	}
	return ns
}

func pow10(digits uint8) int64 {
	if digits == unmeasured {
		return 1
	}
	return int64(moment.Pow10[min(digits, 18)])
}

func (t tailer) belowByDuration() string {
	if t.hop.below.byDuration == 0 {
		return ""
	}
	return fmt.Sprintf("%s as timed out below because a timed-out attempt of %s; with start times that would be certain",
		note.Count(t.hop.below.byDuration, "failed attempt counts", "failed attempts count"), note.Form(t.hop.below.byDuration, "its chain was no longer than it", "their chain was no longer than they"))
}

func (t tailer) belowUnchecked() string {
	below := t.hop.below
	if below.limit == 0 {
		return ""
	}
	return fmt.Sprintf("more than %d attempts timed out or failed, too many to look for failures that hold a timeout of their chain: %d of this hop %s as failed",
		below.limit, below.failures, note.Form(below.failures, "counts", "count"))
}

// informativeCuts warns where Kaplan-Meier's assumption does not hold.
func (t tailer) informativeCuts() string {
	cuts := &t.hop.first.endings().cuts
	informative := cuts[spans.Below] + cuts[spans.Caller]
	if informative*10 <= t.r.TruncatedShare.Count || !slices.ContainsFunc(t.r.Tail, func(q Tail) bool { return q.KM != nil }) {
		return ""
	}
	return fmt.Sprintf("%d of %s came from below or from the caller, so %s slowness: do not read the Kaplan-Meier value alone",
		informative, note.Count(t.r.TruncatedShare.Count, "timeout"), note.Form(informative, "it follows", "they follow"))
}

func (t tailer) tooManyStrata() string {
	if !t.hop.strata.tooMany || t.hop.merged > 0 {
		return ""
	}
	return fmt.Sprintf("--by gives more than %d strata: no Kaplan-Meier value", maxStrata)
}

func (t tailer) folded() string {
	if t.hop.merged == 0 {
		return ""
	}
	return note.Count(uint64(t.hop.merged), "hop with the least time in a row of its own: --top all lists it", "hops with the least time together in one row: --top all lists them")
}
