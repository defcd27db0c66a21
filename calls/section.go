package calls

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/report"
)

type value = report.Value

// Section says of each call why it is slow, and of each callee how many it serves at once.
// CSV has a row a call and callee.
func (r *Result) Section(v *report.View) report.Section {
	lines := r.lines()
	r = r.shown(v)
	s := report.Section{Key: "calls", JSON: func() any { return r }, Lines: lines, Data: report.NewTable("", r.Pairs, columns)}
	if !r.Checkable {
		if v.InFull {
			s.Lines = append(s.Lines, "Calls: not checkable ("+string(r.Reason)+").")
		}
		return s
	}
	s.Tables = []report.Table{r.pairTable(), r.calleeTable()}
	if v.InFull {
		s.Tables = append(s.Tables, r.detailTable())
	}
	return s
}

// shown is the result with the hops to show.
func (r *Result) shown(v *report.View) *Result {
	s := *r
	s.Pairs = report.Shown(v, r.Pairs, func(p *Pair) []string { return []string{p.Call.Name, p.Callee} })
	s.Callees = report.Shown(v, r.Callees, func(c *Callee) []string { return []string{c.Hop} })
	s.Unanswered = report.Shown(v, r.Unanswered, func(u *Unanswered) []string { return []string{u.Call.Name} })
	return &s
}

// lines say among the first lines which calls queue, are held up on the way, or go to a
// slow instance.
func (r *Result) lines() (list []string) {
	for i := range r.Pairs {
		if p := &r.Pairs[i]; p.Verdict != Unknown && p.Verdict != SlowWork {
			list = append(list, fmt.Sprintf("Calls: %s: %s.", p.name(), p.Sentence()))
		}
	}
	if r.Checkable {
		for _, w := range r.Warnings {
			list = append(list, "Of calls: "+w.Text+".")
		}
	}
	return list
}

// name is the call, and its callee where the call's name does not end with it.
func (p *Pair) name() string { return p.Call.Name + " → " + p.Callee }

// Sentence says the verdict with the figures that it rests on, as a clause without a full
// stop.
func (p *Pair) Sentence() string {
	f := &p.Figures
	switch p.Verdict {
	case PoolFull:
		return p.poolSentence()
	case SlowInstance:
		return fmt.Sprintf("a slow instance, %s: its median work is %s times that of the others, and it has %s of the slow calls",
			*f.Instance, ratio.Number(*f.InstanceRatio), ratio.Percent(*f.InstanceSlow))
	case NetworkOrClock:
		return fmt.Sprintf("the time is between the two spans and nothing queues: the network, or what comes before the server's span; gap %s in the median, work %s", durations.Text(f.GapP50), durations.Text(f.WorkP50))
	case SlowWork:
		text := fmt.Sprintf("the work takes long: %s in the median of the slow calls, %s of all", durations.Text(f.WorkP50Slow), durations.Text(f.WorkP50))
		if p.WorkGrows() {
			text += "; it grows with the calls open at once, as behind a lock"
		}
		return text
	case CallerSide:
		return "the time is before the request is sent"
	}
	return "not known: " + reasonText[f.Reason]
}

// Brief says the verdict in a few words.
func (p *Pair) Brief() string {
	switch p.Verdict {
	case PoolFull:
		return map[Side]string{
			CalleeSide: "calls queue for the workers of " + p.Callee, CallersOwn: "calls queue for connections to " + p.Callee,
			EitherSide: "calls queue for workers of " + p.Callee + ", or for connections to it",
		}[p.Side]
	case SlowInstance:
		return "an instance of " + p.Callee + " is slow, " + *p.Figures.Instance
	case NetworkOrClock:
		return "the time is on the way to " + p.Callee + " and back"
	case SlowWork:
		return "the work of " + p.Callee + " takes long"
	case CallerSide:
		return "the time is before the request is sent"
	}
	return "why is not known"
}

// WorkGrows reports whether the work takes the longer the more calls are open.
func (p *Pair) WorkGrows() bool { return p.Figures.Grows != nil && *p.Figures.Grows >= growing }

var reasonText = map[string]string{
	ReasonFewCalls:   fmt.Sprintf("fewer than %d calls have a server's span", leastCalls),
	ReasonFewSlow:    "too few calls are slow",
	ReasonNoServer:   "too many calls have no server's span",
	ReasonNoExcess:   "the slow calls are not slower than the usual ones",
	ReasonSampled:    "not all traces are there",
	ReasonTwoCauses:  "calls queue, but the slow ones wait for something else",
	ReasonUndecided:  "no cause makes half of the difference and explains it",
	ReasonQueueHides: "the time is between the two spans, and calls that follow each other wait alike: a queue may hide",
}

// poolSentence says whose pool is full, how large it is and how long calls wait for it.
func (p *Pair) poolSentence() string {
	f := &p.Figures
	whose := map[Side]string{
		CalleeSide: "the callee's workers are all taken", CallersOwn: "the caller's connections are all taken",
		EitherSide: "a pool is full, the callee's workers or the caller's connections",
	}[p.Side]
	text := whose
	if f.Size != nil {
		text += fmt.Sprintf(" (%d at once, busy %s of the time", *f.Size, ratio.Percent(*f.Utilisation))
		if *f.ForSeventy > *f.Size {
			text += fmt.Sprintf("; %d would be busy 70 %%", *f.ForSeventy)
		}
		text += ")"
	}
	return text + fmt.Sprintf(": calls wait %s in the median and are worked on for %s; %s of those that waited began as another one ended, %s would by chance",
		durations.Text(f.GapP50), durations.Text(f.WorkP50), ratio.Percent(p.HandOver.Share), ratio.Percent(p.HandOver.Chance))
}

// columns are those of CSV.
var columns = []report.Column[Pair]{
	{Key: "call", Of: func(p *Pair) value { return report.String(p.Call.Name) }},
	{Key: "callee", Of: func(p *Pair) value { return report.String(p.Callee) }},
	{Key: "n", Of: func(p *Pair) value { return report.Count(p.N) }},
	{Key: "calls", Of: func(p *Pair) value { return report.Count(p.Calls) }},
	{Key: "cut", Of: func(p *Pair) value { return report.Count(p.Cut) }},
	{Key: "verdict", Of: func(p *Pair) value { return report.String(p.Verdict) }},
	{Key: "reason", Of: func(p *Pair) value { return report.String(p.Figures.Reason) }},
	{Key: "side", Of: func(p *Pair) value { return report.String(p.Side) }},
	{Key: "clock", Of: func(p *Pair) value { return report.String(p.Clock) }},
	{Key: "gap_p50_ns", Of: func(p *Pair) value { return report.Nanos(p.Figures.GapP50) }},
	{Key: "work_p50_ns", Of: func(p *Pair) value { return report.Nanos(p.Figures.WorkP50) }},
	{Key: "work_p50_slow_ns", Of: func(p *Pair) value { return report.Nanos(p.Figures.WorkP50Slow) }},
	{Key: "excess_gap_ns", Of: func(p *Pair) value { return report.Nanos(p.Figures.ExcessGap) }},
	{Key: "excess_work_ns", Of: func(p *Pair) value { return report.Nanos(p.Figures.ExcessWork) }},
	{Key: "waited", Of: func(p *Pair) value { return report.Count(p.Figures.Waited) }},
	{Key: "hand_over_scope", Of: func(p *Pair) value {
		return report.Maybe(p.HandOver, func(h HandOver) value { return report.String(h.Scope) })
	}},
	{Key: "hand_over_strength", Of: func(p *Pair) value {
		return report.Maybe(p.HandOver, func(h HandOver) value { return report.Share(h.Strength) })
	}},
	{Key: "hand_over_chance", Of: func(p *Pair) value {
		return report.Maybe(p.HandOver, func(h HandOver) value { return report.Share(h.Chance) })
	}},
	{Key: "pool_size", Of: func(p *Pair) value { return report.Maybe(p.Figures.Size, report.Count) }},
	{Key: "utilisation", Of: func(p *Pair) value { return report.Maybe(p.Figures.Utilisation, report.Share) }},
	{Key: "workers_for_70", Of: func(p *Pair) value { return report.Maybe(p.Figures.ForSeventy, report.Count) }},
}

// named are the columns that say which call a row is about.
var named = []report.Column[Pair]{
	{Head: "call", Is: report.Key | report.Name, Of: func(p *Pair) value { return report.String(p.Call.Name) }},
	{Head: "callee", Is: report.Key | report.Name, Of: func(p *Pair) value { return report.String(p.Callee) }},
}

func (r *Result) pairTable() report.Table {
	columns := append(named[:len(named):len(named)], []report.Column[Pair]{
		{Head: "n", Of: func(p *Pair) value { return report.Count(p.N) }},
		{Head: "timed out", Of: func(p *Pair) value { return report.Count(p.Cut) }},
		{Head: "gap, median", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.GapP50) }},
		{Head: "work, median", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.WorkP50) }},
		{Head: "slow by gap", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.ExcessGap) }},
		{Head: "slow by work", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.ExcessWork) }},
		{Head: "why", Is: report.Words, Of: func(p *Pair) value { return report.Code(p.Verdict).Noted(p.note()) }},
	}...)
	caption := []string{
		"gap: a call's duration less its server's, so wait and return together; of one that timed out what it waited. work: the server's.",
		"slow by: how much longer calls from p95 up, and those that timed out, take than those up to p50, in the mean.",
	}
	if n := len(r.Unanswered); n > 0 {
		caption = append(caption, fmt.Sprintf("%s no server's span and no verdict.", note.Count(n, "hop")+note.Form(n, "'s calls have", "s' calls have")))
	}
	return report.NewTable("Queue or slow: why calls are slow", r.Pairs, columns, caption...)
}

// note says the verdict and what would refute it.
func (p *Pair) note() string {
	text := p.Sentence() + ". "
	if p.Verdict != Unknown {
		text += "It is refuted if "
	}
	return text + p.Figures.Refutes + "."
}

func (r *Result) calleeTable() report.Table {
	return report.NewTable("What callees serve at once", r.Callees, []report.Column[Callee]{
		{Head: "callee", Is: report.Key | report.Name, Of: func(c *Callee) value { return report.String(c.Hop) }},
		{Head: "instance", Is: report.Key | report.Name, Of: func(c *Callee) value { return report.String(c.Instance) }},
		{Head: "n", Of: func(c *Callee) value { return report.Count(c.N) }},
		{Head: "most at once", Of: func(c *Callee) value { return report.Maybe(c.OpenMax, report.Count) }},
		{Head: "of the time", Of: func(c *Callee) value { return report.Maybe(c.ShareAtMax, report.Share) }},
		{Head: "mean", Of: func(c *Callee) value { return report.Maybe(c.OpenMean, report.Number) }},
		{Head: "a second", Of: func(c *Callee) value { return report.Number(c.Rate) }},
		{Head: "pool", Of: func(c *Callee) value { return report.Maybe(c.Size, report.Count) }},
		{Head: "busy", Of: func(c *Callee) value { return report.Maybe(c.Utilisation, report.Share) }},
		{Head: "for 70 %", Of: func(c *Callee) value { return report.Maybe(c.ForSeventy, report.Count) }},
		{Head: "worked", Is: report.Rounded, Of: func(c *Callee) value { return report.Nanos(c.Work) }},
		{Head: "wasted", Is: report.Rounded, Of: func(c *Callee) value { return report.Nanos(c.Wasted) }},
		{Head: "share", Of: func(c *Callee) value { return report.Share(c.WastedShare()) }},
	},
		"most at once, of the time: the most server's spans open, and for which part of the time that any was. It shows no pool: a caller that makes one call after the other holds a plateau too.",
		"pool, busy: how many workers there are and how busy they are, where calls that waited begin as others end; for 70 %: with so many each would work 70 % of the time.",
		"wasted: for callers that had left. It is slot time, not CPU time.")
}

// detailTable has what the verdicts rest on.
func (r *Result) detailTable() report.Table {
	share := func(v *float64) value { return report.Maybe(v, report.Number) }
	columns := append(named[:len(named):len(named)], []report.Column[Pair]{
		{Head: "slow", Of: func(p *Pair) value { return report.Count(p.Figures.Slow) }},
		{Head: "usual", Of: func(p *Pair) value { return report.Count(p.Figures.Usual) }},
		{Head: "least gap", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.Floor) }},
		{Head: "waited", Of: func(p *Pair) value { return report.Count(p.Figures.Waited) }},
		{Head: "hand-overs", Of: func(p *Pair) value {
			return report.Maybe(p.HandOver, func(h HandOver) value { return report.Share(h.Share) })
		}},
		{Head: "by chance", Of: func(p *Pair) value {
			return report.Maybe(p.HandOver, func(h HandOver) value { return report.Share(h.Chance) })
		}},
		{Head: "of", Is: report.Words, Of: func(p *Pair) value {
			return report.Maybe(p.HandOver, func(h HandOver) value { return report.String(h.Scope) })
		}},
		{Head: "slow ones' neighbours", Of: func(p *Pair) value { return report.Maybe(p.Figures.Beside, report.Share) }},
		{Head: "next gap", Of: func(p *Pair) value { return share(p.Figures.Next) }},
		{Head: "work and open", Of: func(p *Pair) value { return share(p.Figures.Grows) }},
		{Head: "work of the slow", Is: report.Rounded, Of: func(p *Pair) value { return report.Nanos(p.Figures.WorkP50Slow) }},
		{Head: "clock", Is: report.Words, Of: func(p *Pair) value { return report.String(p.Clock) }},
	}...)
	return report.NewTable("What that rests on", r.Pairs, columns,
		"hand-overs: of the calls that waited, those that begin within 1 ms of another one's end; by chance: how many would.",
		"slow ones' neighbours: the part of the slow calls' waiting that the two calls before and after waited too.",
		"next gap, work and open: rank correlations of a call's gap with the next one's, and of work with the calls open at its start.")
}
