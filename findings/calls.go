package findings

import (
	"fmt"
	"math"

	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// wasteful is the share of a callee's work from which on orphaned work is bad.
const wasteful = .05

// orphanedWork says how much callees work for callers that have gone.
func (m *maker) orphanedWork() {
	if m.Orphans == nil || !m.Orphans.Checkable {
		return
	}
	for i := range m.Orphans.Pairs {
		p := &m.Orphans.Pairs[i]
		if p.Orphaned == 0 {
			continue
		}
		f := m.about(OrphanedWork, Info, p.Parent)
		f.count("orphans", p.Orphaned)
		f.Wasted = p.Wasted
		callee := m.name(m.Names.Call(p.Child))
		if server, ok := m.Names.Server(p.Parent); ok && server == p.Child {
			callee = m.Names.Callee(p.Parent)
		}
		wasted, work := f.ns("wasted", p.Wasted, brief.Nearest), m.workOf(p.Child)
		if work > 0 && !m.biased() {
			share := float64(p.Wasted) / float64(work)
			f.Text = fmt.Sprintf("%s of the work of %s (%s of %s) is for callers that have gone: %s.", f.share("wasted_share", share, brief.Nearest), callee,
				wasted, f.ns("work", work, brief.Nearest), note.Count(p.Orphaned, "orphan"))
			if share >= wasteful {
				f.Severity = Warn
			}
		} else {
			f.Text = fmt.Sprintf("%s works %s for callers that have gone: %s.", callee, wasted, note.Count(p.Orphaned, "orphan"))
		}
		if late := p.LateStarts; late > 0 {
			f.Cost = append(f.Cost, fmt.Sprintf("%d of %d began after the caller had given up.", f.count("late_starts", late), p.Orphaned))
		}
		if h := p.Cancellation.Honours; h == orphans.HonoursNo || h == orphans.HonoursUnknown && f.Severity == Warn {
			f.Do = append(f.Do, "Pass the deadline on, and stop when the caller has gone: tailscope orphans")
		}
		m.add(f)
	}
}

// workOf is how long a hop worked in all, in ns.
func (m *maker) workOf(h spans.Hop) int64 {
	row := m.row(h)
	if row == nil || row.Recorded.All.Biased {
		return 0
	}
	all := &row.Recorded.All
	if all.N == 0 || all.Mean <= 0 || uint64(math.MaxInt64)/uint64(all.Mean) < all.N {
		return 0
	}
	return all.Mean * int64(all.N)
}

func (m *maker) cancellationIgnored() {
	if m.Orphans == nil || !m.Orphans.Checkable {
		return
	}
	for i := range m.Orphans.Pairs {
		p := &m.Orphans.Pairs[i]
		c := &p.Cancellation
		if c.Honours != orphans.HonoursNo {
			continue
		}
		f := m.about(CancelIgnored, Warn, p.Parent)
		f.count("stopped", c.Stopped)
		f.count("ran_on", c.RanOn)
		f.share("stopped_lower", c.Lower, brief.Down)
		f.Text = fmt.Sprintf("%d of %d that were at work when the caller gave up stopped within 50 ms (at most %s do).", c.Stopped, c.Stopped+c.RanOn, f.share("stopped_upper", c.Upper, brief.Up))
		m.add(f)
	}
}

// adviceOf is what the timeout of a hop should be.
func (m *maker) adviceOf(h spans.Hop) *timeouts.Hop {
	if m.Timeouts == nil {
		return nil
	}
	for i := range m.Timeouts.Hops {
		if a := &m.Timeouts.Hops[i]; a.Hop == h {
			return a
		}
	}
	return nil
}

func (m *maker) timeoutsInverted() {
	type pair struct{ parent, child spans.Hop }
	said := map[pair]bool{}
	say := func(parent, child spans.Hop, waits, granted int64) {
		if said[pair{parent, child}] {
			return
		}
		said[pair{parent, child}] = true
		f := m.about(TimeoutsInverted, Warn, parent)
		f.Figures["callee"] = child.Name
		f.Text = fmt.Sprintf("%s waits %s for a call that may take longer: %s, %s.", m.name(parent), f.ns("waits", waits, brief.Nearest), m.name(child), f.ns("granted", granted, brief.Nearest))
		f.Do = []string{fmt.Sprintf("Give %s less than %s, or %s more.", m.name(child), f.ns("waits", waits, brief.Nearest), m.name(parent))}
		m.add(f)
	}
	if m.Timeouts != nil {
		for _, v := range m.Timeouts.Inversions {
			say(v.Parent, v.Child, v.ParentNS, v.ChildNS)
		}
	}
	if m.Orphans != nil {
		for _, v := range m.Orphans.Inversions {
			say(v.Parent, v.Child, v.ParentWall, v.ChildWall)
		}
	}
}

// timeoutAdvice names the timeouts that the data prove, where they are new or shorter.
func (m *maker) timeoutAdvice() {
	if m.Timeouts == nil {
		return
	}
	for i := range m.Timeouts.Hops {
		h := &m.Timeouts.Hops[i]
		if h.Timeout == nil || h.Evidence != timeouts.Certified || h.Current != nil && !h.SafeToLower {
			continue
		}
		f := m.about(TimeoutAdvice, Info, h.Hop)
		f.Text = fmt.Sprintf("%s: a timeout of %s would needlessly time out at most %s of the calls.", m.name(h.Hop), f.ns("timeout", *h.Timeout, brief.Up), m.Timeouts.FalseTimeout.Text())
		m.add(f)
	}
}
