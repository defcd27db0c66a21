package timeouts

import (
	"fmt"
	"slices"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// passedOn are the warnings of a row that its advice carries too.
var passedOn = []string{
	"suspected_unmarked_wall", "suspected_slow_log", "timeouts_in_messages", "covers_all_tries", "failures_exceed_p", "late_cuts_may_mislead", "wall_does_not_bound", "duration_covers_more_than_the_call", "weighted",
	"dependent_attempts", "drift",
}

// warningsOf says what a reader of the advice for a hop must know.
func (a *adviser) warningsOf(h *Hop, row *buckets.Result) []note.Warning {
	var list []note.Warning
	if text := a.closeToMedian(h, row); text != "" {
		list = append(list, note.Warning{Code: "close_to_median", Text: text})
	}
	if h.Inner != nil && h.Inner.Evidence == Identified && h.Timeout != nil && a.nodes[h.Hop].Served > 0 {
		list = append(list, note.Warning{Code: "own_work_from_servers", Text: "its own work is in part that of servers whose call timed out"})
	}
	for _, w := range row.Warnings {
		if slices.Contains(passedOn, w.Code) {
			list = append(list, w)
		}
	}
	return list
}

// closeToMedian warns where what the timeout is made of is less than twice the
// median: a hop that gets a little slower would be cut all the time.
func (a *adviser) closeToMedian(h *Hop, row *buckets.Result) string {
	tail, median := &row.Target.Tail, &row.Target.Median
	if h.Bound == nil || h.Inner != nil || median.Status != quantile.Exact || *h.Bound/2 >= median.Value {
		return ""
	}
	return fmt.Sprintf("%s is less than twice the median of %s: a small slowdown of all calls would time out nearly every one", tail.P.Label(), durations.Text(median.Value))
}

const day = 24 * 3600e9

// warn says what a reader of the whole section must know.
func (a *adviser) warn() {
	add := func(code, text string) {
		if text != "" {
			a.result.Warnings = append(a.result.Warnings, note.Warning{Code: code, Text: text})
		}
	}
	add("pool_full", a.queues())
	if len(a.result.Hops) > 0 {
		add("short_window", a.shortWindow())
	}
	add("deadline_far_above", a.farAbove())
	add("timeouts_inverted", a.inverted())
	add("calls_both_ways", a.bothWays())
	add("calls_in_a_circle", a.inCircle())
	add("serial_by_assumption", a.untimed())
	add("several_layers_retry", a.layers())
}

func (a *adviser) shortWindow() string {
	switch w, seen := a.result.Window, a.Graph.Window; {
	case w == nil && seen.Untimed == 0 && seen.Timed > 0:
		return "all attempts start at one moment, so how long the input covers is not known: a timeout is for the busiest day too"
	case w == nil:
		return "how long the input covers is not known, as not every attempt has a start: a timeout is for the busiest day too"
	case *w < day:
		return fmt.Sprintf("the input covers %s, less than a day: a timeout is for the busiest hour too, and slow spells that are rarer cannot be known", durations.Text(*w))
	}
	return ""
}

// farAboveSlowest is how many times the slowest request a deadline may be.
const farAboveSlowest = 4

// farAbove compares the deadline of requests with the slowest seen.
func (a *adviser) farAbove() string {
	total := &a.result.Total
	deadline, slowest := max(a.EntryBudget, 0), a.slowestRequest(a.nodes[total.Entry])
	if deadline == 0 && total.Budget != nil {
		deadline = *total.Budget
	}
	if slowest == 0 || deadline/farAboveSlowest <= slowest {
		return ""
	}
	return fmt.Sprintf("a request may take %s, and the slowest seen took %s: so long a deadline holds what waits for long after all hope is gone", durations.Text(deadline), durations.Text(slowest))
}

// slowestRequest returns the longest request with a node seen, 0 where it is not known.
func (a *adviser) slowestRequest(n *callgraph.Node) int64 {
	switch {
	case n == nil || a.Biased:
		return 0
	case a.measured(n):
		return a.rows[n.Hop].Completed.All.Max
	case n.Whole != nil && n.Whole.N() > 0:
		return quantile.Summarize(quantile.Union{n.Whole}, nil).Max
	}
	return 0
}

func (a *adviser) inverted() string {
	var list []string
	for _, v := range a.result.Inversions {
		list = append(list, fmt.Sprintf("%s waits %s for a call that gives %s %s", v.Parent.Name, durations.Text(v.ParentNS), v.Child.Name, durations.Text(v.ChildNS)))
	}
	return sentence("today's timeouts do not get shorter down the tree: ", list, "; ", "")
}

func (a *adviser) bothWays() string {
	var list []string
	for _, p := range a.unsure {
		if p.a == p.b {
			list = append(list, p.a.Name+" calls itself")
			continue
		}
		list = append(list, p.a.Name+" and "+p.b.Name+" each seem to call the other")
	}
	return sentence("", list, "; ", ": such calls are left out of the budget")
}

func (a *adviser) inCircle() string {
	slices.Sort(a.circle)
	return sentence("calls go round in a circle through ", slices.Compact(a.circle), ", ", ": what the calls in it need is not known")
}

func (a *adviser) untimed() string {
	n := a.nodes[spans.Hop{}]
	if a.Graph.Untimed == 0 || n == nil || len(n.Calls) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %s no start times: %s calls are taken to come one after the other, which is the longest they can take", a.Graph.Untimed,
		note.Count(a.Graph.Requests, "request")+note.Form(a.Graph.Untimed, " has", " have"), note.Form(a.Graph.Untimed, "its", "their"))
}

// layers names the hops that retry above others that do.
func (a *adviser) layers() string {
	var list []string
	for i := range a.result.Hops {
		h := &a.result.Hops[i]
		if g := a.grants[h.Hop]; g != nil && g.inside && g.tries > 0 {
			list = append(list, h.Name)
		}
	}
	return sentence("", list, ", ", " retries and so does what it calls: the budget reserves the retries of the outer layer only, as the inner one should fail fast")
}
