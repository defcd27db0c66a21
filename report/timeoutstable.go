package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/timeouts"
)

// timeoutLines say among the first lines how much is known, and what to know with
// it.
func timeoutLines(r *Report) []string {
	o := r.Timeouts
	if o == nil {
		return nil
	}
	lines := []string{"Timeouts: " + timeoutSummary(o) + "."}
	for _, w := range o.Warnings {
		lines = append(lines, "Of timeouts: "+w.Text+".")
	}
	return lines
}

func timeoutSummary(o *timeouts.Result) string {
	if len(o.Hops) == 0 {
		return "none: " + orElse(string(o.Reason), "no attempts")
	}
	counts := map[timeouts.Evidence]int{}
	for _, h := range o.Hops {
		counts[h.Evidence]++
	}
	var parts []string
	for _, e := range [...]timeouts.Evidence{timeouts.Certified, timeouts.Identified, timeouts.NotIdentified, timeouts.None} {
		if n := counts[e]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, evidenceText(e)))
		}
	}
	text := strings.Join(parts, ", ")
	if b := o.Total.Budget; b != nil {
		text += "; a request may take " + durations.Text(*b)
	}
	return text
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func evidenceText(e timeouts.Evidence) string {
	switch e {
	case timeouts.NotIdentified:
		return "not known"
	case timeouts.None:
		return "without evidence"
	}
	return string(e)
}

// timeoutTables are the tables on timeouts: those of the hops, what a request may
// take and, in full, the budget handed down and the roll-out.
func timeoutTables(r *Report, notes *footnotes) []Table {
	o := r.Timeouts
	switch {
	case o == nil || len(o.Hops) == 0:
		return nil
	case r.InFull:
		return []Table{adviceTable(o, notes), stratumTable(o), slotTable(o), totalTable(o), grantTable(o), rollOut(o)}
	}
	return []Table{adviceTable(o, notes), totalTable(o)}
}

func adviceTable(o *timeouts.Result, notes *footnotes) Table {
	t := Table{Title: "What each timeout should be", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "n", Right: true}, {Head: "today", Right: true}, {Head: "cut", Right: true}, {Head: "evidence"},
		{Head: "timeout", Right: true}, {Head: "would cut", Right: true}, {Head: "servers say", Right: true}, {Head: "canary", Right: true},
	}}
	for i := range o.Hops {
		t.Rows = append(t.Rows, adviceRow(&o.Hops[i], notes))
	}
	t.Caption = adviceCaption(o)
	return t
}

func adviceRow(h *timeouts.Hop, notes *footnotes) []Cell {
	cells := []Cell{
		{Text: nameAndKind(h.Hop, h.Kind)}, {Text: natural(h.N)}, {Text: dash}, {Text: dash}, {Text: evidenceText(h.Evidence)},
		{Text: timeText(h.Timeout)}, {Text: dash}, {Text: dash}, {Text: dash},
	}
	notes.mark(&cells[4], h.Reason)
	for _, w := range h.Warnings {
		notes.mark(&cells[5], w.Text)
	}
	if c := h.Current; c != nil {
		cells[2].Text = durations.Text(c.Timeout)
		if c.Source == buckets.Inferred {
			cells[2].Text = "≤ " + cells[2].Text
		}
	}
	if h.Cut != nil {
		cells[3].Text = ratio.Percent(h.Cut.Value)
	}
	if u := h.Under; u != nil {
		cells[6].Text = fmt.Sprintf("%d of %d", u.N, u.Of)
	}
	if s := h.ServerSide; s != nil {
		cells[7].Text = timeText(s.Suggested)
		notes.mark(&cells[7], fmt.Sprintf("%d of %d first attempts that were cut have a server span", s.N, s.Of))
	}
	if c := h.Canary; c != nil {
		cells[8].Text = durations.Text(c.RaiseTo)
		notes.mark(&cells[8], canaryText(c))
	}
	return cells
}

func nameAndKind(name string, kind jsontype.Text) string {
	if kind == "" {
		return name
	}
	return name + " (" + string(kind) + ")"
}

func timeText(ns *int64) string {
	if ns == nil {
		return dash
	}
	return durations.Text(*ns)
}

// canaryText says how to run a canary.
func canaryText(c *timeouts.Canary) string {
	var sizes []string
	for _, s := range c.Sizes {
		text := fmt.Sprintf("%d first attempts for %s", s.Attempts, s.P.Label())
		if s.Takes != nil {
			text += " (" + roughly(*s.Takes) + " at today's rate)"
		}
		sizes = append(sizes, text)
	}
	return fmt.Sprintf("keep today's timeout and, on a part of the traffic, raise it to %s, from %s: %s, none of them cut, would do%s", durations.Text(c.RaiseTo), c.From, strings.Join(sizes, ", "), together(c.Effect))
}

// together says that a canary of attempts that come together must be larger; by how
// much depends on how many of a trace or a minute are in it.
func together(e quantile.Effect) string {
	if !e.Known() {
		return ""
	}
	return ", if they were independent; today's are not (design effect " + strconv.FormatFloat(e.Float(), 'f', -1, 64) + "), so take more, from many traces and minutes"
}

// roughly writes how long something takes, to be planned with.
func roughly(ns int64) string {
	for _, u := range [...]struct {
		name string
		ns   float64
	}{{"days", 24 * 3600e9}, {"hours", 3600e9}, {"minutes", 60e9}} {
		if n := float64(ns) / u.ns; n >= 2 {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(ns/1e9+1, 10) + " s"
}

func adviceCaption(o *timeouts.Result) []string {
	per := "attempts"
	if o.PerRequest {
		per = "requests"
	}
	return []string{fmt.Sprintf(
		"So that at most %s of the %s are cut in vain: %s at %s confidence, times %s or plus %s, rounded up. What would be cut counts those that are cut today.",
		o.FalseTimeout.Text(), per, o.Target.Label(), o.Confidence.Label()[1:]+" %", strconv.FormatFloat(float64(o.Headroom)/100, 'f', -1, 64), durations.Text(o.Allowance))}
}

// stratumTable has the strata of each hop, such as a canary's.
func stratumTable(o *timeouts.Result) Table {
	t := Table{Title: "By stratum", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "stratum", Key: true, Name: true}, {Head: "n", Right: true}, {Head: "cut", Right: true}, {Head: "evidence"},
		{Head: "bound", Right: true}, {Head: "timeout", Right: true},
	}}
	for i := range o.Hops {
		for _, s := range o.Hops[i].Strata {
			t.Rows = append(t.Rows, []Cell{
				{Text: nameAndKind(o.Hops[i].Hop, o.Hops[i].Kind)}, {Text: orElse(s.Name, dash)}, {Text: natural(s.N)}, {Text: natural(s.Cut)},
				{Text: evidenceText(s.Evidence)}, {Text: timeText(s.Bound)}, {Text: timeText(s.Timeout)},
			})
		}
	}
	t.Caption = []string{"The timeout of one stratum, such as a canary's, is that of all only if its calls are like the others."}
	return t
}

// slotTable says what timeouts hold.
func slotTable(o *timeouts.Result) Table {
	t := Table{Title: "What is held while waiting", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "first attempts a second", Right: true}, {Head: "held today", Right: true}, {Head: "with the advice", Right: true}, {Head: "change"},
	}}
	for i := range o.Hops {
		h := &o.Hops[i]
		if h.PerSecond == nil {
			continue
		}
		change := orElse(string(h.Change), dash)
		if h.SafeToLower {
			change += ", safely"
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: nameAndKind(h.Hop, h.Kind)}, {Text: figure(h.PerSecond)}, {Text: figure(h.HeldToday)}, {Text: figure(h.HeldThen)}, {Text: change},
		})
	}
	t.Caption = []string{"Held are calls at once, if each lasts as long as its timeout: the rate times the timeout. It is the mean rate; the busiest minute holds more."}
	return t
}

// figure writes a number with three digits.
func figure(f *float64) string {
	if f == nil {
		return dash
	}
	return strconv.FormatFloat(*f, 'g', 3, 64)
}

// totalTable has the budget of the entry with most requests.
func totalTable(o *timeouts.Result) Table {
	t := Table{Title: "What a request may take", Columns: []Column{{Head: "part", Key: true, Name: true}, {Head: "time", Right: true}}}
	if o.Total.Budget == nil {
		t.Columns, t.Caption = nil, []string{"Not known: " + strings.TrimPrefix(string(o.Total.Reason), "not known ") + "."}
		return t
	}
	for _, p := range o.Total.Parts {
		t.Rows = append(t.Rows, []Cell{{Text: p.What}, {Text: durations.Text(p.NS)}})
	}
	t.Rows = append(t.Rows, []Cell{{Text: "total"}, {Text: durations.Text(*o.Total.Budget)}})
	t.Caption = totalCaption(o)
	return t
}

func totalCaption(o *timeouts.Result) []string {
	text := fmt.Sprintf("Of %s.", count(int64(o.Total.Requests), "request"))
	if o.Total.Entry != "" {
		begin := "begin"
		if o.Total.Requests == 1 {
			begin = "begins"
		}
		text = fmt.Sprintf("Of %s that %s with %s.", count(int64(o.Total.Requests), "request"), begin, nameAndKind(string(o.Total.Entry), o.Total.Kind))
	}
	if more := len(o.Entries) - 1; more > 0 {
		text += fmt.Sprintf(" Requests begin with %s too: --format json lists all.", count(int64(more), "other hop"))
	}
	if e := o.Total.Effective; e != nil {
		text += fmt.Sprintf(" Retries that find room: %d; the most seen: %d.", *e, o.Total.Seen)
	}
	return []string{text}
}

// grantTable is the entry budget handed down.
func grantTable(o *timeouts.Result) Table {
	a := o.Allocation
	if a == nil {
		return Table{}
	}
	t := Table{Title: "The budget of " + durations.Text(a.Budget) + " handed down", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "needs", Right: true}, {Head: "at most", Right: true}, {Head: "attempts", Right: true}, {Head: "each at most", Right: true},
	}}
	for _, g := range a.Grants {
		t.Rows = append(t.Rows, []Cell{
			{Text: nameAndKind(g.Hop, g.Kind)}, {Text: timeText(g.Needs)}, {Text: timeText(g.Limit)}, {Text: natural((g.Tries + 1) * g.InRow)}, {Text: perTryText(g.PerTry)},
		})
	}
	t.Caption = []string{"At most is what is left for a call when all others take what they need; each attempt may have its part of that without the waits between attempts."}
	if slices.ContainsFunc(a.Grants, func(g timeouts.Grant) bool { return g.Needs == nil }) {
		t.Caption = append(t.Caption, "Where the needs of a call are not known, those of its neighbours are without a limit.")
	}
	if s := a.Infeasible; s != nil {
		t.Caption = append(t.Caption, fmt.Sprintf("The budget is too small: %s needs %s and has %s.", nameAndKind(s.Hop, s.Kind), durations.Text(s.Needs), durations.Text(s.Has)))
	}
	return t
}

// perTryText says where the waits between attempts leave no time for these.
func perTryText(ns *int64) string {
	if ns != nil && *ns == 0 {
		return "no room"
	}
	return timeText(ns)
}

// rollOut is the steps, as sentences.
func rollOut(o *timeouts.Result) Table {
	t := Table{Title: "Roll-out"}
	for i, s := range o.Steps {
		t.Caption = append(t.Caption, fmt.Sprintf("%d. %s. Watch %s. Read it back with: %s.", i+1, upperFirst(s.Do), s.Watch, s.Read))
	}
	return t
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
