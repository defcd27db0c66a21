package attribution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/report"
)

// Section says who owns the tail: the hops, where failures sit and, in full, the
// instances of the owner.
func (r *Result) Section(v *report.View) report.Section {
	lines, few := r.lines(), len(r.Hops) == 1
	r = r.shown(v)
	columns := r.columns(v)
	s := report.Section{Key: "owner", JSON: func() any { return r }, Lines: lines, Data: report.NewTable("", r.Hops, columns)}
	if few && !v.InFull { // one hop has all of everything
		return s
	}
	s.Tables = []report.Table{
		report.NewTable("Who owns the tail", ByExcess(r.Listed()), columns, ownerCaption(r)...), failurePlaces(r),
	}
	if v.InFull {
		s.Tables = append(s.Tables, nestingTable(r), instanceTable(r))
	}
	return s
}

// shown is the result with the hops to show.
func (r *Result) shown(v *report.View) *Result {
	s := *r
	s.Hops = report.Shown(v, r.Hops, func(h *Hop) []string { return []string{h.Name} })
	s.Failures.ByHop = report.Shown(v, r.Failures.ByHop, countedHop)
	s.Failures.AnyCut.ByHop = report.Shown(v, r.Failures.AnyCut.ByHop, countedHop)
	s.Instances = report.Shown(v, r.Instances, func(i *Instance) []string { return []string{i.Hop} })
	if r.Nesting != nil {
		n := *r.Nesting
		n.Pairs = report.Shown(v, n.Pairs, func(p *PairOfHops) []string { return []string{p.Caller, p.Callee} })
		n.Late = report.Shown(v, n.Late, func(name *string) []string { return []string{*name} })
		s.Nesting = &n
	}
	return &s
}

func countedHop(c *HopCount) []string { return []string{c.Hop} }

// lines say the verdict among the first lines, and what to know with it.
func (r *Result) lines() []string {
	verdict := "Owner of the tail: " + r.Verdict
	if r.Owner == nil {
		verdict = "No owner of the tail: " + strings.TrimPrefix(r.Verdict, "no owner: ")
	}
	return report.Opening(verdict, "the owner", r.Warnings)
}

type value = report.Value

// columns are those of a row a hop: people see those listed, the largest excess
// first, CSV has all, the figures of the whole repeated.
func (r *Result) columns(v *report.View) []report.Column[Hop] {
	return []report.Column[Hop]{
		{Head: "hop", Is: report.Key | report.Name, Of: func(h *Hop) value { return report.String(ownerHopText(h)).Noted(exemplarText(v, h.Exemplars)) }},
		{Key: "hop", Of: func(h *Hop) value { return report.String(h.Name) }},
		{Key: "kind", Of: func(h *Hop) value { return report.String(h.KindName()) }},
		{Key: "tail_mean_ns", Head: "tail", Is: report.ByMost, Of: func(h *Hop) value { return report.Nanos(h.TailMean) }},
		{Key: "body_mean_ns", Head: "typical", Is: report.ByMost, Of: func(h *Hop) value { return report.Nanos(h.BodyMean) }},
		{Key: "excess_ns", Head: "excess", Is: report.ByMost, Of: func(h *Hop) value { return report.Nanos(h.Excess) }},
		{Key: "share", Head: "share", Of: func(h *Hop) value { return report.Maybe(h.Share, report.Share).AtLeast(h.LowerBound && h.Share != nil) }},
		{Key: "share_lower", Of: func(h *Hop) value { return report.Maybe(h.Lower, report.Share) }},
		{Key: "share_upper", Of: func(h *Hop) value { return report.Maybe(h.Upper, report.Share) }},
		{Head: "limits", Of: shareLimits},
		{Key: "lower_bound", Of: func(h *Hop) value { return report.Flag(h.LowerBound) }},
		{Key: "largest_in", Head: "largest in", Of: func(h *Hop) value { return report.OutOf(h.LargestIn, r.Tail.Traces) }},
		{Key: "owner", Of: func(h *Hop) value { return report.Flag(r.Owner != nil && *r.Owner == h.Hop) }},
		{Key: "failures", Of: func(h *Hop) value { return report.Count(h.Failures) }},
		{Key: "any_cut", Of: func(h *Hop) value { return report.Count(h.AnyCut) }},
		{Key: "exemplars", Of: func(h *Hop) value { return report.String(strings.Join(h.Exemplars, " ")) }},
		{Key: "basis", Of: func(*Hop) value { return report.String(r.Basis) }},
		{Key: "tail_from", Of: func(*Hop) value { return report.String(r.TailFrom.String()) }},
		{Key: "tail_traces", Of: func(*Hop) value { return report.Count(r.Tail.Traces) }},
		{Key: "body_traces", Of: func(*Hop) value { return report.Count(r.Body.Traces) }},
		{Key: "verdict", Of: func(*Hop) value { return report.String(r.Verdict) }},
	}
}

// KindName is the kind of the hop's spans, "gap" for what is no hop.
func (h *Hop) KindName() string {
	if h.Gap {
		return "gap"
	}
	return h.Kind.String()
}

func ownerHopText(h *Hop) string {
	if h.Gap {
		return h.Name
	}
	return h.Hop.String()
}

func shareLimits(h *Hop) value {
	if h.Lower == nil {
		return value{}
	}
	return report.String(fmt.Sprintf("%s to %s", ratio.Down(*h.Lower), ratio.Up(*h.Upper)+" %"))
}

// exemplarText names traces to look at, on a page that has room for them.
func exemplarText(v *report.View, traces []string) string {
	if len(traces) == 0 || !v.InFull {
		return ""
	}
	var parts []string
	for _, trace := range traces {
		if url := v.TraceAddress(trace); url != "" {
			trace += " " + url
		}
		parts = append(parts, trace)
	}
	return "the longest traces in which it is the largest part: " + strings.Join(parts, ", ")
}

// basisText says what the hops' times rest on.
var basisText = map[Basis]string{
	CriticalPath: "the critical path of each trace, where every moment belongs to one hop",
	Containment:  "attempts nested by their times; (gap) is time between attempts",
	SerialSum:    "the attempts of each chain added up, as they have no times",
}

func ownerCaption(o *Result) []string {
	if o.EndToEnd.N == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("tail: means of the %s at or above %s of the end-to-end time (%s), or that failed; typical: of the %s up to p50 (%s).",
			note.Count(o.Tail.Traces, "trace"), o.TailFrom.Label(), durations.Text(o.Tail.Limit), note.Count(o.Body.Traces, "trace"), durations.Text(o.Body.Limit)),
		fmt.Sprintf("share: of the whole excess, %s; limits: %s %% interval, from drawing whole traces anew. ≥: a timeout or cancellation ended some of the hop's time.", durations.Text(o.Excess), ratio.Number(o.Interval.Float())),
		fmt.Sprintf("The times rest on %s.", basisText[o.Basis]),
		fmt.Sprintf("Quantiles do not add: the hops' p99 add up to %s, the measured p99 from end to end is %s.", durations.Text(o.SumOfP99), durations.Text(o.P99)),
	}
	for _, w := range o.Observations {
		lines = append(lines, "Seen: "+w.Text+".")
	}
	return lines
}

// failurePlaces has a row for each hop that is blamed.
func failurePlaces(o *Result) report.Table {
	f := &o.Failures
	caption := []string{
		fmt.Sprintf("failures: %s, by the deepest attempt that timed out, was cancelled or failed: %s.", note.Count(f.N, "trace")+" that failed", placeText(&f.Blame)),
		fmt.Sprintf("any timeout: %s, by the deepest such attempt: %s.", note.Count(f.AnyCut.N, "trace")+" in which an attempt timed out or was cancelled, rescued or not", placeText(&f.AnyCut)),
	}
	if ended := outcomeText(o.Outcomes); ended != "" {
		caption = append(caption, "Traces by how they ended: "+ended+".")
	}
	return report.NewTable("Where failures sit", blamed(f), []report.Column[blamedHop]{
		{Head: "hop", Is: report.Key | report.Name, Of: func(b *blamedHop) value { return report.String(b.hop) }},
		{Head: "failures", Of: func(b *blamedHop) value { return report.Count(b.failures) }},
		{Head: "any timeout", Of: func(b *blamedHop) value { return report.Count(b.cuts) }},
	}, caption...)
}

// blamedHop is what a hop is blamed for.
type blamedHop struct {
	hop            string
	failures, cuts uint64
}

// blamed lists the hops that are blamed, those for failures first.
func blamed(f *Failures) []blamedHop {
	var list []blamedHop
	for _, c := range f.ByHop {
		list = append(list, blamedHop{hop: c.Hop, failures: c.N})
	}
	for _, c := range f.AnyCut.ByHop {
		at := slices.IndexFunc(list, func(b blamedHop) bool { return b.hop == c.Hop })
		if at < 0 {
			at = len(list)
			list = append(list, blamedHop{hop: c.Hop})
		}
		list[at].cuts = c.N
	}
	return list
}

func placeText(b *Blame) string {
	switch {
	case b.Verdict == OneHop && b.Cause != nil:
		return "at one hop: " + b.Cause.Brief
	case b.Verdict == OneHop:
		return "at one hop, look for a slow node"
	case b.Verdict == Spread && b.Cause != nil:
		return "spread over hops, most at " + b.First + ": " + b.Cause.Brief
	case b.Verdict == Spread:
		return "spread over hops, look at concurrency and queues"
	}
	return "too few to tell whether one hop is to blame"
}

func (o Outcome) words() string {
	if o == Cut {
		return "timed out"
	}
	return string(o)
}

func outcomeText(list []OutcomeCount) string {
	var parts []string
	for _, o := range list {
		if o.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", o.N, o.Outcome.words()))
		}
	}
	return strings.Join(parts, ", ")
}

func instanceTable(o *Result) report.Table {
	return report.NewTable("Instances of the owner", o.Instances, []report.Column[Instance]{
		{Head: "instance", Is: report.Key | report.Name, Of: func(i *Instance) value { return report.String(i.Instance) }},
		{Head: "tail traces", Of: func(i *Instance) value { return report.Count(i.N) }},
		{Head: "share", Of: func(i *Instance) value { return report.Share(i.Share) }},
		{Head: "of typical ones", Of: func(i *Instance) value { return report.Share(i.BodyShare) }},
	}, instanceText(o.InstancesOf))
}

func instanceText(v InstanceVerdict) string {
	switch v {
	case SlowNode:
		return "A slow node: the owner's time is on one instance, which does not have most of the typical traces."
	case SlowService:
		return "A slow service: the owner's time is not on one instance alone."
	case PoolFull:
		return "Calls queue: a pool is full, whatever the instance."
	case NetworkOrClock:
		return "The time is on the way, whatever the instance."
	case OneInstance:
		return "Only one instance was seen: a slow node cannot be told from a slow service."
	}
	return "Too few tail traces to tell a slow node from a slow service."
}
