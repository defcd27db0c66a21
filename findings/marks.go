package findings

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/brief"
)

// suspectedTimeout says where attempts look timed out and nothing marks them so.
func (m *maker) suspectedTimeout() {
	anyMarked := slices.ContainsFunc(m.Hops, func(row buckets.Result) bool { return row.Truncated.All.N > 0 })
	for i := range m.Hops {
		row := &m.Hops[i]
		for _, code := range [...]string{"suspected_unmarked_wall", "timeouts_in_messages"} {
			if text := textOf(row.Warnings, code); text != "" {
				f := m.about(SuspectedTimeout, Warn, row.Hop)
				if anyMarked && code == "timeouts_in_messages" { // those of servers and callers of what timed out
					f.Severity = Info
				}
				f.Figures["sign"] = code
				f.Text = m.name(row.Hop) + ": " + text + "."
				m.add(f)
			}
		}
	}
}

// marksMissing says that nothing tells which attempts timed out.
func (m *maker) marksMissing() {
	var names []string
	var first *buckets.Result
	for i := range m.Hops {
		if row := &m.Hops[i]; warned(row.Warnings, "cut_marks_missing") {
			if names = append(names, m.name(row.Hop)); first == nil {
				first = row
			}
		}
	}
	if first == nil {
		return
	}
	f := m.general(MarksMissing, Warn)
	f.count("hops", uint64(len(names)))
	if len(names) == len(m.Hops) {
		f.Text = "Nothing in the input says which calls timed out: they would stand here as completed."
	} else {
		f.Text = fmt.Sprintf("Nothing says which calls of %s timed out: they would stand here as completed.", few(names))
	}
	f.Do = []string{fmt.Sprintf("Name the mark with --field truncated=KEY, or the timeout: --timeout %s=T.", shellWord(first.Name))}
	m.add(f)
}

// wrongMarks says where marks and durations do not agree.
func (m *maker) wrongMarks() {
	for i := range m.Hops {
		row := &m.Hops[i]
		if wall, known := row.MainWall(); known && wall.Source == buckets.Configured && warned(row.Warnings, "wall_does_not_bound") {
			f := m.about(WrongMarks, Warn, row.Hop)
			f.Text = fmt.Sprintf("%s: calls completed in up to %s, beyond their timeout of %s.", m.name(row.Hop),
				f.ns("slowest", row.Completed.All.Max, brief.Down), f.ns("timeout", *wall.Timeout, brief.Nearest))
			f.Do = []string{"Check --timeout: it does not bound these calls."}
			m.add(f)
		}
		for _, code := range [...]string{"wrong_marks", "cut_before_timeout"} {
			if text := textOf(row.Warnings, code); text != "" {
				f := m.about(WrongMarks, Warn, row.Hop)
				f.Figures["sign"] = code
				f.Text = m.name(row.Hop) + ": " + text + "."
				m.add(f)
			}
		}
	}
}

// nearTimeout says where the timeout is close to what calls take.
func (m *maker) nearTimeout() {
	if m.Retries == nil {
		return
	}
	for i := range m.Retries.Hops {
		h := &m.Retries.Hops[i]
		n := h.NearTimeout
		if n.Of == 0 || n.N*100 <= n.Of*mostNear {
			continue
		}
		f := m.about(NearTimeout, Warn, h.Hop)
		f.count("near", n.N)
		f.count("completed", n.Of)
		f.Text = fmt.Sprintf("%s: %s of the completed calls use more than 80 %% of the timeout (%d of %d).", m.name(h.Hop),
			f.share("near_share", float64(n.N)/float64(n.Of), brief.Nearest), n.N, n.Of)
		m.add(f)
	}
}

// mostNear is how many percent of the completed calls may be near the timeout.
const mostNear = 5
