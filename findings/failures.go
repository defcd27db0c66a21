package findings

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
)

// The lower limits of a share from which on failures are as bad.
const (
	failAbove = .01
	warnAbove = .001
)

func severityOf(lower float64) Severity {
	switch {
	case lower > failAbove:
		return Fail
	case lower > warnAbove:
		return Warn
	}
	return Info
}

// requestsFail says where requests fail. Without whole requests it says which calls do.
func (m *maker) requestsFail() {
	total, ended := m.requests()
	if total == 0 {
		m.callsFail()
		return
	}
	worst := Info
	for _, hop := range m.Owner.Failures.ByHop {
		if s := m.failAt(hop, total, ended); s.rank() < worst.rank() {
			worst = s
		}
	}
	m.failSpread(total, ended, worst)
}

// failSpread says how many requests fail in all, where no single hop is to blame for so
// many.
func (m *maker) failSpread(total uint64, ended map[attribution.Outcome]uint64, worst Severity) {
	n := min(m.Owner.Failures.N, total)
	lower, upper := m.limits(n, total)
	if n == 0 || m.biased() || severityOf(lower).rank() >= worst.rank() {
		return
	}
	f := m.general(RequestsFail, severityOf(lower))
	f.Harmed = f.count("requests", n)
	f.count("of", total)
	f.share("share_lower", lower, brief.Down)
	f.share("share_upper", upper, brief.Up)
	f.Text = fmt.Sprintf("%s of requests %s (%d of %d), spread over %s.", f.share("share", float64(n)/float64(total), brief.Nearest), how(ended), n, total,
		note.Count(f.count("hops", uint64(len(m.Owner.Failures.ByHop))), "hop"))
	f.Do = []string{"No hop stands out: look at what they share, such as capacity, connections and queues."}
	m.add(f)
}

// requests counts whole requests, and how they ended.
func (m *maker) requests() (total uint64, ended map[attribution.Outcome]uint64) {
	ended = map[attribution.Outcome]uint64{}
	if m.Owner == nil {
		return 0, ended
	}
	for _, o := range m.Owner.Outcomes {
		ended[o.Outcome] += o.N
		total += o.N
	}
	return total, ended
}

// failAt is about the requests that fail at one hop, and returns how bad that is.
func (m *maker) failAt(at attribution.HopCount, total uint64, ended map[attribution.Outcome]uint64) Severity {
	call := m.hopNamed(at.Hop)
	lower, upper := m.limits(at.N, total)
	f := m.about(RequestsFail, severityOf(lower), call)
	f.Harmed = f.count("requests", at.N)
	f.count("of", total)
	n, where := m.ofAllFailed(at)
	f.count("failed_in_all", n)
	share := ""
	if m.biased() {
		f.Severity = Warn
		share = fmt.Sprintf("Of the requests that were kept %d of %d %s", n, total, how(ended))
	} else if total < fewCalls {
		share = fmt.Sprintf("%d of %s failed", n, note.Count(total, "request"))
		f.share("share_lower", lower, brief.Down)
	} else {
		share = f.share("share_of_all", float64(n)/float64(total), brief.Nearest) + fmt.Sprintf(" of requests %s (%d of %d)", how(ended), n, total)
		f.share("share", float64(at.N)/float64(total), brief.Nearest)
		f.share("share_lower", lower, brief.Down)
		f.share("share_upper", upper, brief.Up)
	}
	kind := "at "
	if call.Kind == spans.Client {
		kind = "at one call: "
	}
	f.Text = fmt.Sprintf("%s, %s%s%s%s.", share, where, kind, m.name(m.Names.Call(call)), m.timeoutText(f, call))
	m.whyItFails(f, call)
	m.add(f)
	return f.Severity
}

// ofAllFailed is of how many requests that fail those at a hop are told: of all of them at
// the hop where more than half do, elsewhere of themselves.
func (m *maker) ofAllFailed(at attribution.HopCount) (n uint64, where string) {
	all := &m.Owner.Failures
	switch {
	case at.N == all.N && at.N > 1:
		return at.N, "all "
	case at.N < all.N && 2*at.N > all.N:
		return all.N, fmt.Sprintf("%d of them ", at.N)
	}
	return at.N, ""
}

func how(ended map[attribution.Outcome]uint64) string {
	switch fails := ended[attribution.Failed] + ended[attribution.Cut]; {
	case ended[attribution.Partial] == 0:
		return "fail"
	case fails == 0:
		return "get only a partial answer"
	}
	return "fail or get only a partial answer"
}

// hopNamed finds a hop by its name: of several kinds the call.
func (m *maker) hopNamed(name string) (found spans.Hop) {
	for i := range m.Hops {
		if h := m.Hops[i].Hop; h.Name == name && (found.Name == "" || h.Kind == spans.Client) {
			found = h
		}
	}
	if found.Name == "" {
		found.Name = name
	}
	return found
}

func (m *maker) row(h spans.Hop) *buckets.Result {
	for i := range m.Hops {
		if m.Hops[i].Hop == h {
			return &m.Hops[i]
		}
	}
	return nil
}

// timeoutText names the timeout of a hop that times out, where it is known.
func (m *maker) timeoutText(f *Finding, h spans.Hop) string {
	row := m.row(h)
	if row == nil || row.Truncated.All.N == 0 {
		return ""
	}
	wall, known := row.MainWall()
	if !known {
		return ""
	}
	f.Figures["timeout_from_ns"], f.Figures["timeout_to_ns"] = wall.From, wall.To
	return ", timeout " + Timeout(row, wall)
}

// Timeout writes a timeout of a hop: as it was given, or between which values it was seen,
// and both where they do not agree.
func Timeout(row *buckets.Result, w buckets.Wall) string {
	if w.Timeout != nil {
		if seen := row.Truncated.All.Min; seen > *w.Timeout && warned(row.Warnings, "wall_does_not_bound") {
			return brief.Duration(seen, brief.Nearest) + " seen, " + brief.Duration(*w.Timeout, brief.Nearest) + " given"
		}
		return brief.Duration(*w.Timeout, brief.Nearest)
	}
	if w.To-w.From <= w.To/100 {
		return brief.Duration(w.To, brief.Down)
	}
	return brief.Range(w.From, w.To)
}

// callsFail says which calls fail where requests are not told apart.
func (m *maker) callsFail() {
	for i := range m.Hops {
		row := &m.Hops[i]
		n, of := row.Truncated.First.N+row.Failed.First.N, row.FirstAttempts-min(row.FirstAttempts, row.Unfinished)
		if n == 0 || of < n || m.fromBelow(row) {
			continue
		}
		lower, upper := m.limits(n, of)
		f := m.about(RequestsFail, severityOf(lower), row.Hop)
		f.Harmed = f.count("calls", n)
		f.count("of", of)
		does := does(row, of)
		if m.biased() {
			f.Severity, f.Text = Warn, fmt.Sprintf("%d of %s that were kept %s at %s", n, note.Count(of, "call"), does, m.name(row.Hop))
		} else if of < fewCalls {
			f.Text = fmt.Sprintf("%d of %s %s at %s%s", n, note.Count(of, "call"), does, m.name(row.Hop), m.timeoutText(f, row.Hop))
		} else {
			f.Text = fmt.Sprintf("%s of calls (%d of %d; %s limits %s to %s) %s at %s%s", f.share("share", float64(n)/float64(of), brief.Nearest), n, of,
				m.Confidence.Percent(), f.share("share_lower", lower, brief.Down), f.share("share_upper", upper, brief.Up), does, m.name(row.Hop), m.timeoutText(f, row.Hop))
		}
		f.Text += "."
		m.add(f)
	}
}

// does says what so many calls of a hop do: they time out, fail, or both.
func does(row *buckets.Result, of uint64) string {
	timeOut, fail := note.Form(of, "times out", "time out"), note.Form(of, "fails", "fail")
	switch {
	case row.Failed.First.N == 0:
		return timeOut
	case row.Truncated.First.N == 0:
		return fail
	}
	return timeOut + " or " + note.Form(of, "fails", "fail")
}

// fromBelow reports whether calls of a hop time out because one below does, mostly.
func (m *maker) fromBelow(row *buckets.Result) bool {
	own, below := uint64(0), uint64(0)
	for _, c := range row.Truncated.CutBy {
		if c.By == spans.Below || c.By == spans.Caller {
			below += c.N
		} else {
			own += c.N
		}
	}
	return below > own
}

func (m *maker) biased() bool {
	return m.Read != nil && m.Read.Sampling.Kind == "biased"
}

// whyItFails says what the servers of the calls were doing, and what to do first.
func (m *maker) whyItFails(f *Finding, call spans.Hop) {
	if m.explained(call) {
		return
	}
	p := m.pairOf(call)
	if p == nil {
		m.doAbout(f, call)
		return
	}
	callee := m.Names.Callee(call)
	lag, okLag := median(p.StartLag)
	work, okWork := median(p.Work)
	if okLag && okWork && p.Orphaned > 1 {
		f.Why = append(f.Why, fmt.Sprintf("Of %d that timed out: %s began %s after the call (p50) and worked for %s.", f.count("server_seen", p.Orphaned), callee,
			f.ns("server_start_p50", lag, brief.Nearest), f.ns("server_work_p50", work, brief.Nearest)))
	}
	switch p.Verdict {
	case orphans.Queue:
		f.Do = append(f.Do, "Give "+callee+" more workers, or let it drop calls whose deadline has passed.",
			"Not first: a longer timeout or a retry at "+m.name(call)+". Both lengthen the queue.")
	case orphans.Slow:
		f.Do = append(f.Do, "Make "+callee+" faster: its work is long, not its queue.",
			"Have "+callee+" stop when its caller gives up.")
	default:
		m.doAbout(f, call)
	}
}

// explained reports whether another finding says why the call is slow, and what to do.
func (m *maker) explained(call spans.Hop) bool {
	if m.Calls == nil {
		return false
	}
	return slices.ContainsFunc(m.Calls.Pairs, func(p calls.Pair) bool {
		return p.Call == call && (p.Verdict == calls.PoolFull || p.Verdict != calls.Unknown && m.owns(call))
	})
}

// doAbout is what helps where nothing is known of the servers.
func (m *maker) doAbout(f *Finding, call spans.Hop) {
	row := m.row(call)
	if row == nil || row.Truncated.All.N == 0 {
		f.Do = append(f.Do, "Look at the errors of "+m.name(call)+" by kind: tailscope --verbose")
		return
	}
	if a := m.adviceOf(call); a != nil && a.Canary != nil {
		m.canaryText(f, a)
	}
}

// pairOf is the pair of a call and what serves it that wasted most.
func (m *maker) pairOf(call spans.Hop) *orphans.Pair {
	if m.Orphans == nil || !m.Orphans.Checkable {
		return nil
	}
	for i := range m.Orphans.Pairs {
		if p := &m.Orphans.Pairs[i]; p.Parent == call && p.Orphaned > 0 {
			return p
		}
	}
	return nil
}

// failuresHide says where so many attempts fail that the tail is that of the others.
func (m *maker) failuresHide() {
	for i := range m.Hops {
		row := &m.Hops[i]
		share := float64(row.FailedShare)
		if m.biased() || share < failAbove || !warned(row.Warnings, "failures_exceed_p") || m.servesTimedOut(row.Hop) || row.TruncatedShare.Of+row.Failed.First.N < fewCalls || m.failsForAnother(row.Hop) {
			continue
		}
		f := m.about(FailuresHide, Warn, row.Hop)
		f.Harmed = f.count("failed", row.Failed.First.N)
		f.Text = fmt.Sprintf("%s: %s of the calls fail, and the tail is that of the others.", m.name(row.Hop), f.share("failed_share", share, brief.Nearest))
		m.add(f)
	}
}

// failsForAnother reports whether requests fail, and others are to blame for that.
func (m *maker) failsForAnother(h spans.Hop) bool {
	if m.Owner == nil || len(m.Owner.Failures.ByHop) == 0 {
		return false
	}
	return !slices.ContainsFunc(m.Owner.Failures.ByHop, func(at attribution.HopCount) bool { return at.Hop == h.Name })
}

// servesTimedOut reports whether a hop serves calls that time out: what fails there was
// stopped by its callers.
func (m *maker) servesTimedOut(h spans.Hop) bool {
	call := m.Names.Call(h)
	row := m.row(call)
	return call != h && row != nil && row.Truncated.All.N > 0
}
