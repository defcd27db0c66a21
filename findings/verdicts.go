package findings

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
)

// eachVerdict calls see with every call whose slowness was explained so. Unless all are
// asked for, only the call that owns the tail counts.
func (m *maker) eachVerdict(v calls.Verdict, all bool, see func(p *calls.Pair, callee string)) {
	if m.Calls == nil {
		return
	}
	for i := range m.Calls.Pairs {
		p := &m.Calls.Pairs[i]
		if p.Verdict != v || !all && !m.owns(p.Call) {
			continue
		}
		callee := p.Callee
		if server, known := m.Names.Server(p.Call); known && server.Service == p.Callee {
			callee = m.Names.Callee(p.Call)
		}
		see(p, callee)
	}
}

// queues reports whether calls wait for a full pool: a longer timeout would make them wait
// longer.
func (m *maker) queues(call spans.Hop) bool {
	if m.Calls != nil && slices.ContainsFunc(m.Calls.Pairs, func(p calls.Pair) bool { return p.Call == call && p.Verdict == calls.PoolFull }) {
		return true
	}
	p := m.pairOf(call)
	return p != nil && p.Verdict == orphans.Queue
}

// owns reports whether a call makes slow requests slow.
func (m *maker) owns(call spans.Hop) bool {
	return m.Owner != nil && m.Owner.Owner != nil && m.Names.Call(*m.Owner.Owner) == call
}

// poolFull says where calls wait for a pool: that of the callee's workers, or of the
// caller's connections.
func (m *maker) poolFull() {
	m.eachVerdict(calls.PoolFull, true, func(p *calls.Pair, callee string) {
		f := m.about(PoolFull, Warn, p.Call)
		f.Harmed = f.count("waited", p.Figures.Waited)
		f.count("calls", p.N)
		if row := m.row(p.Call); row != nil && row.Truncated.All.N > 0 {
			f.Severity = Fail
		}
		pool := map[calls.Side]string{calls.CalleeSide: "workers of " + callee, calls.CallersOwn: "connections to " + callee}[p.Side]
		if pool == "" {
			pool = "workers of " + callee + ", or connections to it,"
		}
		if n := p.Figures.Size; n != nil {
			pool = fmt.Sprintf("%d %s", f.count("pool_size", uint64(*n)), pool)
		}
		f.Text = fmt.Sprintf("The %s are all taken: %d of %d calls wait, %s (p50) for %s of work.", pool, p.Figures.Waited, p.N,
			f.ns("wait_p50", p.Figures.GapP50, brief.Nearest), f.ns("work_p50", p.Figures.WorkP50, brief.Nearest))
		if h := p.HandOver; h != nil {
			f.share("hand_overs", h.Share, brief.Nearest)
			f.share("hand_overs_by_chance", h.Chance, brief.Nearest)
		}
		f.Do = m.widen(f, p, callee)
		m.add(f)
	})
}

// widen says how a full pool is helped.
func (m *maker) widen(f *Finding, p *calls.Pair, callee string) []string {
	more, n := "Give "+callee+" more workers", p.Figures.ForSeventy
	if p.Side == calls.CallersOwn {
		more = "Allow more connections to " + callee
	}
	if n != nil && p.Figures.Size != nil && *n > *p.Figures.Size {
		more += fmt.Sprintf(" (%d would be busy 70 %% of the time)", f.count("workers_for_70", uint64(*n)))
	}
	return []string{more + ", or let it drop calls whose deadline has passed.", "Not first: a longer timeout or a retry at " + m.name(p.Call) + ". Both lengthen the queue."}
}

func (m *maker) slowWork() {
	m.eachVerdict(calls.SlowWork, false, func(p *calls.Pair, callee string) {
		f := m.about(SlowWork, Warn, p.Call)
		f.Harmed = f.count("slow_calls", p.Figures.Slow)
		f.Text = fmt.Sprintf("The work of %s takes long: %s in slow calls (p50), %s in all.", callee,
			f.ns("work_p50_slow", p.Figures.WorkP50Slow, brief.Nearest), f.ns("work_p50", p.Figures.WorkP50, brief.Nearest))
		f.Do = []string{"Make " + callee + " faster: its work is long, not its queue."}
		if p.WorkGrows() {
			f.Do = []string{"Look for a lock in " + callee + ": its work grows with the calls open at once."}
		}
		m.add(f)
	})
}

func (m *maker) networkOrClock() {
	m.eachVerdict(calls.NetworkOrClock, false, func(p *calls.Pair, callee string) {
		f := m.about(NetworkOrClock, Warn, p.Call)
		f.Harmed = f.count("slow_calls", p.Figures.Slow)
		f.Text = fmt.Sprintf("The time of %s is between the two sides, and nothing queues: %s there (p50), %s at work.", m.name(p.Call),
			f.ns("gap_p50", p.Figures.GapP50, brief.Nearest), f.ns("work_p50", p.Figures.WorkP50, brief.Nearest))
		f.Do = []string{"Look at the network, and at what comes before the span of " + callee + ": connecting, TLS, a proxy."}
		m.add(f)
	})
}

func (m *maker) callerSide() {
	m.eachVerdict(calls.CallerSide, false, func(p *calls.Pair, callee string) {
		f := m.about(CallerSide, Warn, p.Call)
		f.Harmed = f.count("slow_calls", p.Figures.Slow)
		f.Text = fmt.Sprintf("The time of %s is spent before the request is sent: %s (p50), while %s works %s.", m.name(p.Call),
			f.ns("gap_p50", p.Figures.GapP50, brief.Nearest), callee, f.ns("work_p50", p.Figures.WorkP50, brief.Nearest))
		f.Do = []string{"Look at the caller: connection pool, name lookup, its own threads."}
		m.add(f)
	})
}

// slowInstanceOfCall says that one instance works longer than its siblings.
func (m *maker) slowInstanceOfCall() {
	m.eachVerdict(calls.SlowInstance, false, func(p *calls.Pair, callee string) {
		x := &p.Figures
		if x.Instance == nil || x.InstanceRatio == nil || x.InstanceSlow == nil {
			return
		}
		f := m.about(SlowInstance, Warn, p.Call)
		f.Harmed = f.count("slow_calls", x.Slow)
		f.Figures["instance"], f.Figures["times_the_others"] = *x.Instance, *x.InstanceRatio
		f.Text = fmt.Sprintf("One instance of %s is slow, %s: its work takes %s times that of the others (p50), and it has %s of the slow calls.", callee, *x.Instance,
			brief.Number(*x.InstanceRatio, brief.Nearest), f.share("share", *x.InstanceSlow, brief.Nearest))
		f.Do = []string{"Replace or drain " + *x.Instance + "."}
		m.add(f)
	})
}
