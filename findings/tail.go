package findings

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/timeouts"
)

// The shares beyond p95, p99 and p99.9: if surely more time out, the quantile is hidden.
var hidden = [...]struct {
	beyond   float64
	label    string
	severity Severity
}{{.05, "p95", Fail}, {.01, "p99", Warn}, {.001, "p99.9", Info}}

// quantileHidden says of which hops a quantile is the timeout.
func (m *maker) quantileHidden() {
	for i := range m.Hops {
		row := &m.Hops[i]
		if s := &row.TruncatedShare; s.Count == 0 || s.Of < fewCalls || row.Biased || m.fromBelow(row) {
			continue
		}
		for _, q := range hidden {
			if row.TruncatedShare.Lower > q.beyond {
				m.hiddenFrom(row, q.label, q.severity)
				break
			}
		}
	}
}

func (m *maker) hiddenFrom(row *buckets.Result, label string, s Severity) {
	f := m.about(QuantileHidden, s, row.Hop)
	f.Harmed = f.count("timed_out", row.TruncatedShare.Count)
	f.count("of", row.TruncatedShare.Of)
	f.Figures["quantile"] = label
	f.Text = fmt.Sprintf("%s: your %s is the timeout, not the latency.", m.name(row.Hop), label)
	if t := lowestHidden(row); t != nil {
		f.Figures["hidden_from"] = t.P.Label()
		f.Why = append(f.Why, fmt.Sprintf("%s and above are at least %s: the timeout hides how long they would have taken.", t.P.Label(), f.ns("at_least", t.Value, brief.Down)))
	}
	share := &row.TruncatedShare
	f.Cost = append(f.Cost, fmt.Sprintf("%d of %s timed out (%s; %s limits %s to %s).", share.Count, note.Count(share.Of, "call"), f.share("share", share.Value, brief.Nearest),
		row.Confidence.Percent(), f.share("share_lower", share.Lower, brief.Down), f.share("share_upper", share.Upper, brief.Up)))
	if w, known := row.MainWall(); known && w.Timeout == nil && w.To-w.From > w.To/100 {
		f.Do = append(f.Do, fmt.Sprintf("Name the timeout: --timeout %s=T. It lies in %s.", shellWord(row.Name), brief.Range(w.From, w.To)))
		f.Figures["timeout_from_ns"], f.Figures["timeout_to_ns"] = w.From, w.To
	}
	if a := m.adviceOf(row.Hop); a != nil && a.Canary != nil && !m.queues(row.Hop) {
		m.canaryText(f, a)
	}
	if r := row.Target; r != nil && r.Recorded95 != nil && s == Fail {
		f.Do = append(f.Do, fmt.Sprintf("Not: 1.2 × the p95 of the log, %s. That is 1.2 × the timeout plus clean-up.", f.ns("recorded_p95_by_1_2", *r.Recorded95/5*6, brief.Nearest)))
	}
	m.add(f)
}

// lowestHidden is the first quantile that was asked for and that the timeout hides.
func lowestHidden(row *buckets.Result) (lowest *buckets.Tail) {
	for i := range row.Tail {
		if t := &row.Tail[i]; t.Status == quantile.AtLeast && (lowest == nil || t.P.Compare(lowest.P) < 0) {
			lowest = t
		}
	}
	return lowest
}

// canaryText says how a raised timeout would make the tail known.
func (m *maker) canaryText(f *Finding, a *timeouts.Hop) {
	var sizes []string
	for _, s := range a.Canary.Sizes {
		f.count("canary_"+s.P.Label(), s.Attempts)
		sizes = append(sizes, fmt.Sprintf("%d calls give %s", s.Attempts, s.P.Label()))
	}
	text := fmt.Sprintf("To see the real tail of %s, raise its timeout to %s for a part of the traffic", m.name(a.Hop), f.ns("canary", a.Canary.RaiseTo, brief.Nearest))
	if len(sizes) > 0 {
		text += fmt.Sprintf(": %s, if none of them times out", list(sizes))
	}
	f.Do = append(f.Do, text+".")
}

func (m *maker) tailOwner() {
	if m.Owner == nil || m.Owner.Owner == nil {
		return
	}
	h := m.ownHop()
	if h == nil || h.Lower == nil {
		return
	}
	f := m.about(TailOwner, Info, h.Hop)
	f.share("share", *h.Share, brief.Nearest)
	if h.Upper != nil {
		f.share("share_upper", *h.Upper, brief.Up)
	}
	f.count("slow_requests", m.Owner.Tail.Traces)
	f.Text = fmt.Sprintf("%s owns the tail: at least %s of the extra time of slow requests.", m.name(m.Names.Call(h.Hop)), f.share("share_lower", *h.Lower, brief.Down))
	m.add(f)
}

// ownHop is the row of the owner of the tail.
func (m *maker) ownHop() *attribution.Hop {
	for i := range m.Owner.Hops {
		if h := &m.Owner.Hops[i]; h.Hop == *m.Owner.Owner && !h.Gap {
			return h
		}
	}
	return nil
}

// ownerUnsure names the hop that comes first where none surely owns the tail.
func (m *maker) ownerUnsure() {
	if m.Owner == nil || m.Owner.Owner != nil {
		return
	}
	all := attribution.ByExcess(m.Owner.Hops)
	if len(all) < 2 || all[0].Share == nil || all[0].Lower == nil || all[0].Upper == nil || all[0].Excess <= 0 || *all[0].Share <= 0 {
		return
	}
	h := all[0]
	f := m.about(OwnerUnsure, Info, h.Hop)
	f.count("slow_requests", m.Owner.Tail.Traces)
	name := m.name(m.Names.Call(h.Hop))
	if h.Gap {
		name = h.Name
	}
	f.Text = fmt.Sprintf("Slow requests: no single owner (%s %s of the extra time, %s to %s).", name, f.share("share", *h.Share, brief.Nearest),
		f.share("share_lower", *h.Lower, brief.Down), f.share("share_upper", *h.Upper, brief.Up))
	m.add(f)
}

// slowInstance says that one instance makes the tail, as the work of calls or the slow
// requests tell.
func (m *maker) slowInstance() {
	before := len(m.list)
	if m.slowInstanceOfCall(); len(m.list) > before {
		return
	}
	if m.Owner == nil || m.Owner.Owner == nil || m.Owner.InstancesOf != attribution.SlowNode {
		return
	}
	worst := slices.MaxFunc(m.Owner.Instances, func(a, b attribution.Instance) int { return int(a.N) - int(b.N) })
	f := m.about(SlowInstance, Warn, *m.Owner.Owner)
	f.Harmed = worst.N
	f.Figures["instance"] = worst.Instance
	f.count("slow_requests", worst.N)
	f.Text = fmt.Sprintf("%s is slow on one instance, %s: it has %s of the slow requests and %s of the typical ones.", m.name(m.Names.Call(*m.Owner.Owner)), worst.Instance,
		f.share("share", worst.Share, brief.Nearest), f.share("typical_share", worst.BodyShare, brief.Nearest))
	f.Do = []string{"Replace or drain " + worst.Instance + "."}
	m.add(f)
}

// drift says that the tail moved while the input was written.
func (m *maker) drift() {
	var moved []*buckets.Result
	for i := range m.Hops {
		if warned(m.Hops[i].Warnings, "drift") {
			moved = append(moved, &m.Hops[i])
		}
	}
	if len(moved) == 0 {
		return
	}
	f := m.about(Drift, Warn, moved[0].Hop)
	f.count("hops", uint64(len(moved)))
	var names []string
	for _, row := range moved {
		names = append(names, m.name(row.Hop))
	}
	f.Text = fmt.Sprintf("The tail moved while this was logged: %s. Its values hold for all of that time together.", few(names))
	f.Do = []string{"Look at parts of it: --since and --until."}
	m.add(f)
}

func (m *maker) oneConnection() {
	if m.Owner == nil {
		return
	}
	m.quote(OneConnection, textOf(m.Owner.Observations, "one_connection"))
}

// tooFew says which quantiles so few attempts allow.
func (m *maker) tooFew() {
	least := uint64(0)
	var names []string
	for i := range m.Hops {
		row := &m.Hops[i]
		if n := row.TruncatedShare.Of; n > 0 && n < fewCalls {
			names = append(names, m.name(row.Hop))
			if least == 0 || n < least {
				least = n
			}
		}
	}
	if len(names) == 0 {
		return
	}
	f := m.general(TooFew, Info)
	f.count("hops", uint64(len(names)))
	f.count("fewest", least)
	f.Text = fmt.Sprintf("Fewer than %d calls: %s. These are facts about them, not about the service.", fewCalls, few(names))
	m.add(f)
}

// fewCalls is how many calls have quantiles.
const fewCalls = 20
