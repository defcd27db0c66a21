package buckets

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// warnings says what a reader of the hop's numbers must know.
func (t tailer) warnings() []note.Warning {
	var list []note.Warning
	for _, w := range [...]struct{ code, text string }{
		{"cut_marks_missing", t.marksMissing()},
		{"failures_exceed_p", t.failuresExceed()},
		{"is_maximum", t.maxima()},
		{"wall_does_not_bound", t.beyondWall()},
		{"duration_covers_more_than_the_call", t.lateCuts()},
		{"suspected_unmarked_wall", t.unmarkedWall()},
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
	if t.query.Marked || t.r.TruncatedShare.Count > 0 {
		return ""
	}
	return "the input has no mark that says which attempts were cut by a timeout: cut ones would stand here as completed; name the mark with --field truncated=KEY or give --timeout HOP=T"
}

// failuresExceed names the quantiles that lie among the failures.
func (t tailer) failuresExceed() string {
	var hit []string
	for _, q := range t.tails.Tails {
		if t.r.FailedShare > 0 && t.r.FailedShare >= q.P.Beyond() {
			hit = append(hit, q.P.Label())
		}
	}
	if hit == nil {
		return ""
	}
	return fmt.Sprintf("%s of the first attempts failed, as many as lie beyond %s or more: the tail is that of the others",
		percent(t.r.FailedShare), strings.Join(hit, ", "))
}

func (t tailer) maxima() string {
	var hit []string
	for _, q := range t.tails.Tails {
		if q.IsMaximum && q.Status == quantile.Exact {
			hit = append(hit, q.P.Label())
		}
	}
	if hit == nil {
		return ""
	}
	return fmt.Sprintf("%s of only %d first attempts: the value is the largest seen, and the true one is most likely above it",
		strings.Join(hit, ", "), t.tails.N)
}

// beyondWall compares completed attempts with the configured timeout.
func (t tailer) beyondWall() string {
	if t.hop.timeout == 0 || t.r.Completed.All.N == 0 || t.r.Completed.All.Max <= t.hop.timeout {
		return ""
	}
	return fmt.Sprintf("attempts completed in up to %s, above the configured %s: that timeout does not bound them",
		durations.Text(t.r.Completed.All.Max), durations.Text(t.hop.timeout))
}

// Cuts this far above the timeout cover more than the call itself.
const (
	lateShare = 50 // one in 50: 2 %
	lateNS    = 50e6
)

func (t tailer) lateCuts() string {
	wall := t.hop.timeout
	if wall == 0 || t.r.Truncated.All.N == 0 || t.r.Truncated.All.Max <= wall+max(wall/lateShare, lateNS) {
		return ""
	}
	return fmt.Sprintf("cut attempts are logged with up to %s under a timeout of %s: the duration covers more than the call, such as clean-up or a wait for a connection",
		durations.Text(t.r.Truncated.All.Max), durations.Text(wall))
}

// An unmarked wall: this share of the completed values, and at least this many,
// within 1 % of the largest.
const (
	spikePerMille = 5
	spikeLeast    = 5
)

func (t tailer) unmarkedWall() string {
	n, top := t.r.Completed.All.N, t.r.Completed.All.Max
	near := top - top/100
	if n == 0 || top/100 < pow10(t.hop.resolution) {
		return ""
	}
	var spike uint64
	for ns, count := range (quantile.Union{t.hop.first.completed, t.hop.retries.completed}).All() {
		if ns >= near {
			spike += count
		}
	}
	if spike < spikeLeast || spike*1000 < n*spikePerMille {
		return ""
	}
	return fmt.Sprintf("%d of %d completed attempts lie within 1 %% of the largest, %s: a timeout without a mark looks like that", spike, n, durations.Text(top))
}

func pow10(digits uint8) int64 {
	v := int64(1)
	for range min(digits, 18) {
		v *= 10
	}
	return v
}

func (t tailer) belowByDuration() string {
	if t.hop.below.byDuration == 0 {
		return ""
	}
	return fmt.Sprintf("%d failed attempts count as cut from below because a cut attempt of their chain was no longer than they; with start times that would be certain",
		t.hop.below.byDuration)
}

func (t tailer) belowUnchecked() string {
	if !t.hop.below.unchecked {
		return ""
	}
	return fmt.Sprintf("more than %d attempts were cut or failed, too many to look for failures that hold a cut of their chain: they count as failed", DefaultMaxHeld)
}

// informativeCuts warns where Kaplan-Meier's assumption does not hold.
func (t tailer) informativeCuts() string {
	var all, informative uint64
	for _, c := range t.r.CutBy {
		all += c.N
		if c.By == spans.Below || c.By == spans.Caller {
			informative += c.N
		}
	}
	if informative*10 <= all || !t.hasKM() {
		return ""
	}
	return fmt.Sprintf("%d of %d cuts came from below or from the caller, so they follow slowness: do not read the Kaplan-Meier value alone", informative, all)
}

func (t tailer) hasKM() bool {
	for _, q := range t.r.Tail {
		if q.KM != nil {
			return true
		}
	}
	return false
}

func (t tailer) tooManyStrata() string {
	if len(t.hop.strata) <= maxStrata {
		return ""
	}
	return fmt.Sprintf("--by gives %d strata, more than %d: no Kaplan-Meier value", len(t.hop.strata), maxStrata)
}

func (t tailer) folded() string {
	if t.hop.merged == 0 {
		return ""
	}
	return fmt.Sprintf("%d hops with the least time together in one row: --hops all lists them", t.hop.merged)
}
