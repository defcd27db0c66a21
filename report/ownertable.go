package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/ratio"
)

// ownerLines say the verdict among the first lines, and what to know with it.
func ownerLines(r *Report) []string {
	if r.Owner == nil {
		return nil
	}
	lines := []string{"Owner of the tail: " + r.Owner.Verdict + "."}
	if r.Owner.Owner == nil {
		lines[0] = "No owner of the tail: " + strings.TrimPrefix(r.Owner.Verdict, "no owner: ") + "."
	}
	for _, w := range r.Owner.Warnings {
		lines = append(lines, "Of the owner: "+w.Text+".")
	}
	return lines
}

// ownerTables are the tables on the tail's owner: the hops, where failures sit
// and, in full, the instances of the owner.
func ownerTables(r *Report, notes *footnotes) []Table {
	o := r.Owner
	if o == nil {
		return nil
	}
	switch {
	case r.InFull:
		return []Table{ownerHops(r, notes), failurePlaces(o), instanceTable(o)}
	case len(o.Hops) == 1: // one hop has all of everything
		return nil
	}
	return []Table{ownerHops(r, notes), failurePlaces(o)}
}

// ownerHops has a row for each hop, the largest excess first.
func ownerHops(r *Report, notes *footnotes) Table {
	o := r.Owner
	t := Table{Title: "Who owns the tail", Columns: []Column{
		{Head: "hop", Key: true, Name: true}, {Head: "tail", Right: true}, {Head: "body", Right: true}, {Head: "excess", Right: true},
		{Head: "share", Right: true}, {Head: "limits", Right: true}, {Head: "largest in", Right: true},
	}}
	all := attribution.ByExcess(o.Listed())
	tail, body, excess := columnOf(all, tailMean), columnOf(all, bodyMean), columnOf(all, excessOf)
	for _, h := range all {
		name := Cell{Text: ownerHopText(&h)}
		if r.InFull {
			notes.mark(&name, exemplarText(r, h.Exemplars))
		}
		share := Cell{Text: shareOf(h.Share), Bound: h.LowerBound && h.Share != nil}
		if share.Bound {
			share.Text = "≥ " + share.Text
		}
		t.Rows = append(t.Rows, []Cell{
			name, {Text: tail.nearest(h.TailMean)}, {Text: body.nearest(h.BodyMean)}, {Text: excess.nearest(h.Excess)},
			share, {Text: shareLimits(&h)}, {Text: fmt.Sprintf("%d of %d", h.LargestIn, o.Tail.Traces)},
		})
	}
	t.Caption = ownerCaption(o)
	return t
}

func tailMean(h *attribution.Hop) int64 { return h.TailMean }
func bodyMean(h *attribution.Hop) int64 { return h.BodyMean }
func excessOf(h *attribution.Hop) int64 { return h.Excess }

// columnOf is the scale of a column: that of its largest value, since means go
// down to nothing.
func columnOf(hops []attribution.Hop, of func(*attribution.Hop) int64) scale {
	most := int64(0)
	for i := range hops {
		most = max(most, of(&hops[i]), -of(&hops[i]))
	}
	return scaleOf([]int64{most})
}

func ownerHopText(h *attribution.Hop) string {
	if h.Gap {
		return h.Name
	}
	return h.Hop.String()
}

func shareOf(share *float64) string {
	if share == nil {
		return dash
	}
	return ratio.Percent(*share)
}

func shareLimits(h *attribution.Hop) string {
	if h.Lower == nil {
		return dash
	}
	return fmt.Sprintf("%s to %s", ratio.Number(*h.Lower), ratio.Percent(*h.Upper))
}

// exemplarText names traces to look at.
func exemplarText(r *Report, traces []string) string {
	if len(traces) == 0 {
		return ""
	}
	var parts []string
	for _, trace := range traces {
		if url := r.traceURL(trace); url != "" {
			trace += " " + url
		}
		parts = append(parts, trace)
	}
	return "the longest traces in which it is the largest part: " + strings.Join(parts, ", ")
}

// basisText says what the hops' times rest on.
var basisText = map[attribution.Basis]string{
	attribution.CriticalPath: "the critical path of each trace, where every moment belongs to one hop",
	attribution.Containment:  "attempts nested by their times; (gap) is time between attempts",
	attribution.SerialSum:    "the attempts of each chain added up, as they have no times",
}

func ownerCaption(o *attribution.Result) []string {
	if o.EndToEnd.N == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("tail: means of the %s at or above %s of the end-to-end time (%s), or that failed; body: of the %s up to p50 (%s).",
			count(int64(o.Tail.Traces), "trace"), o.TailFrom.Label(), durations.Text(o.Tail.Limit), count(int64(o.Body.Traces), "trace"), durations.Text(o.Body.Limit)),
		fmt.Sprintf("share: of the whole excess, %s; limits: %s %% interval, from drawing whole traces anew. ≥: a cut ended some of the hop's time.", durations.Text(o.Excess), ratio.Number(o.Interval.Float())),
		fmt.Sprintf("The times rest on %s.", basisText[o.Basis]),
		fmt.Sprintf("Quantiles do not add: the hops' p99 add up to %s, the measured p99 from end to end is %s.", durations.Text(o.SumOfP99), durations.Text(o.P99)),
	}
	for _, w := range o.Observations {
		lines = append(lines, "Seen: "+w.Text+".")
	}
	return lines
}

// failurePlaces has a row for each hop that is blamed.
func failurePlaces(o *attribution.Result) Table {
	f := &o.Failures
	t := Table{
		Title:   "Where failures sit",
		Columns: []Column{{Head: "hop", Key: true, Name: true}, {Head: "failures", Right: true}, {Head: "any cut", Right: true}},
		Caption: []string{
			fmt.Sprintf("failures: %s, by the deepest attempt that was cut or failed: %s.", count(int64(f.N), "trace")+" that failed", placeText(f.Verdict)),
			fmt.Sprintf("any cut: %s, by the deepest cut in them: %s.", count(int64(f.AnyCut.N), "trace")+" with a cut, rescued or not", placeText(f.AnyCut.Verdict)),
		},
	}
	if ended := outcomeText(o.Outcomes); ended != "" {
		t.Caption = append(t.Caption, "Traces by how they ended: "+ended+".")
	}
	for _, c := range blamed(f) {
		t.Rows = append(t.Rows, []Cell{{Text: c.hop}, {Text: strconv.FormatUint(c.failures, 10)}, {Text: strconv.FormatUint(c.cuts, 10)}})
	}
	return t
}

// blame is what a hop is blamed for.
type blame struct {
	hop            string
	failures, cuts uint64
}

// blamed lists the hops that are blamed, those for failures first.
func blamed(f *attribution.Failures) []blame {
	var list []blame
	for _, c := range f.ByHop {
		list = append(list, blame{hop: c.Hop, failures: c.N})
	}
	for _, c := range f.AnyCut.ByHop {
		at := slices.IndexFunc(list, func(b blame) bool { return b.hop == c.Hop })
		if at < 0 {
			at = len(list)
			list = append(list, blame{hop: c.Hop})
		}
		list[at].cuts = c.N
	}
	return list
}

func placeText(p attribution.Place) string {
	switch p {
	case attribution.OneHop:
		return "at one hop, look for a slow node"
	case attribution.Spread:
		return "spread over hops, look at concurrency and queues"
	}
	return "too few to tell whether one hop is to blame"
}

func outcomeText(list []attribution.OutcomeCount) string {
	var parts []string
	for _, o := range list {
		if o.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", o.N, o.Outcome))
		}
	}
	return strings.Join(parts, ", ")
}

func instanceTable(o *attribution.Result) Table {
	t := Table{
		Title: "Instances of the owner",
		Columns: []Column{
			{Head: "instance", Key: true, Name: true}, {Head: "tail traces", Right: true}, {Head: "share", Right: true}, {Head: "of the body", Right: true},
		},
		Caption: []string{instanceText(o.InstancesOf)},
	}
	for _, i := range o.Instances {
		t.Rows = append(t.Rows, []Cell{{Text: i.Instance}, {Text: strconv.FormatUint(i.N, 10)}, {Text: ratio.Percent(i.Share)}, {Text: ratio.Percent(i.BodyShare)}})
	}
	return t
}

func instanceText(v attribution.InstanceVerdict) string {
	switch v {
	case attribution.SlowNode:
		return "A slow node: the owner's time is on one instance, which does not have most of the body."
	case attribution.SlowService:
		return "A slow service: the owner's time is not on one instance alone."
	case attribution.OneInstance:
		return "Only one instance was seen: a slow node cannot be told from a slow service."
	}
	return "Too few tail traces to tell a slow node from a slow service."
}
