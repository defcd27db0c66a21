package attribution

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// The least numbers from which the rules speak.
const (
	leastTail     = 3
	leastBody     = 10
	fewTail       = 20 // below it an owner is named with a warning
	leastPlaced   = 20 // failures, or tail traces, of which a place is named
	leastTogether = 20
	leastOfKind   = 5

	ownerAbove = 0.5 // the lower limit of an owner's share
	oneAbove   = 0.8 // the lower limit of the share of one hop or instance
	usualBelow = 0.5 // the body's share of an instance that stands out
)

// Rule is a rule by which something is said, and what it needs.
type Rule struct{ Name, Needs, Says string }

// Rules lists the rules in the order of the section.
var Rules = [...]Rule{
	{"tail", "1 trace", "at or above the nearest-rank --tail-from of the end-to-end time, and every trace that fails"},
	{"body", "1 trace", "a typical trace: up to the nearest-rank p50 of the end-to-end time, unless it fails"},
	{"owner", fmt.Sprintf("%d tail and %d typical traces, 2 hops", leastTail, leastBody), "the hop whose share of the excess has its lower limit above 50 % and above the upper limit of the runner-up; else no owner"},
	{"nesting", "20 votes for a pair of hops", "a hop log without callers: who calls whom is decided for pairs of hops, by whether their attempts end together; the owner is named only if it is the same whatever is not known"},
	{"few_tail_traces", fmt.Sprintf("fewer than %d tail traces", fewTail), "a warning beside the owner"},
	{"lower_bound", "1 tail trace", "a timeout or cancellation ended some of the hop's time in the tail: it would have taken longer"},
	{"one_hop", fmt.Sprintf("%d traces", leastPlaced), "failures sit at one hop: the lower limit of its share is at least 80 %; else spread; fewer: too_few"},
	{"slow_node", fmt.Sprintf("%d tail traces, 2 instances", leastPlaced), "the owner's time is on one instance: the lower limit of its share of the tail is at least 80 %, and it has at most 50 % of the typical traces; else slow_service"},
	{"one_connection", fmt.Sprintf("%d pairs", leastTogether), "calls of one span that started together, and whose callees never ran together"},
	{"failures_change_kind", fmt.Sprintf("%d of each kind", leastOfKind), "a hop's failures of one kind all began before those of another"},
}

// Place says whether failures sit at one hop.
type Place string

// The places.
const (
	OneHop Place = "one_hop"
	Spread Place = "spread"
	TooFew Place = "too_few"
)

// placeOf says where n failures sit; the list is sorted, the most first.
func placeOf(n uint64, list []HopCount, confidence quantile.P) Place {
	if n < leastPlaced {
		return TooFew
	}
	if lower, _ := quantile.ClopperPearson(list[0].N, n, confidence); lower >= oneAbove {
		return OneHop
	}
	return Spread
}

// InstanceVerdict says whether the owner's time sits on one instance.
type InstanceVerdict string

// The verdicts; "" where there is no owner, or the source names no instance.
const (
	SlowNode     InstanceVerdict = "slow_node"
	SlowService  InstanceVerdict = "slow_service"
	TooFewTraces InstanceVerdict = "too_few"
	OneInstance  InstanceVerdict = "one_instance"
	// What the spans of both sides of the owner's calls show, whatever instances the time
	// is on.
	PoolFull       InstanceVerdict = "pool_full"
	NetworkOrClock InstanceVerdict = "network_or_clock"
)

// Cause is why the calls of a hop are slow, as the spans of both sides show it: a verdict
// of package calls, what it rests on in full and in short.
type Cause struct {
	Verdict string `json:"verdict"`
	Text    string `json:"text"`
	Brief   string `json:"-"`
}

// The verdicts of a Cause, as package calls has them.
const (
	causeSlowInstance = "slow_instance"
	causePoolFull     = "pool_full"
	causeNetwork      = "network_or_clock"
	causeSlowWork     = "slow_work"
)

// explain says why the owner is slow. Where that is known, it decides whether a node is
// slow: shares of tail and body do not tell a slow node from a queue before it.
func (r *Result) explain(why func(string) *Cause) {
	if r.Owner == nil || why == nil {
		return
	}
	if r.Cause = why(r.Owner.Name); r.Cause == nil || r.InstancesOf == "" {
		return
	}
	switch r.Cause.Verdict {
	case causeSlowInstance:
		r.InstancesOf = SlowNode
	case causePoolFull:
		r.InstancesOf = PoolFull
	case causeNetwork:
		r.InstancesOf = NetworkOrClock
	case causeSlowWork:
		if r.InstancesOf == SlowNode {
			r.InstancesOf = SlowService
		}
	}
}

// explain says why the first of the blamed hops is slow.
func (b *Blame) explain(why func(string) *Cause) {
	if why != nil && len(b.ByHop) > 0 {
		b.First = b.ByHop[0].Hop
		b.Cause = why(b.First)
	}
}

// decide names the owner, or says why there is none. The hops are in any order.
func (r *Result) decide() {
	list := ByExcess(r.Hops)
	r.Verdict = r.reasonAgainst(list)
	if r.Verdict != "" {
		return
	}
	owner := list[0]
	r.Owner = &owner.Hop
	r.Verdict = fmt.Sprintf("%s: %s, the largest part in %d of %s", owner.Hop.String(), shareText(owner, r.Interval), owner.LargestIn, note.Count(r.Tail.Traces, "tail trace"))
	if owner.LowerBound {
		r.Verdict += "; a lower bound, as timeouts or cancellations ended some of its time"
	}
	if r.Tail.Traces < fewTail {
		r.Warnings = append(r.Warnings, note.Warning{Code: "few_tail_traces", Text: fmt.Sprintf("the owner rests on %s, fewer than %d", note.Count(r.Tail.Traces, "tail trace"), fewTail)})
	}
}

// reasonAgainst says why there is no owner, "" if there is one.
func (r *Result) reasonAgainst(list []Hop) string {
	switch {
	case r.EndToEnd.N == 0:
		return "no owner: no trace and no chain has a time from end to end"
	case oneHop(list):
		return "one hop only: the chain's time cannot be attributed"
	case r.Tail.Traces < leastTail || r.Body.Traces < leastBody:
		return fmt.Sprintf("no owner: too few, %d tail and %s where %d and %d are needed", r.Tail.Traces, note.Count(r.Body.Traces, "typical trace"), leastTail, leastBody)
	case list[0].Share == nil:
		return fmt.Sprintf("no owner: the tail takes no longer than typical traces (means %s and %s)", durations.Text(r.Tail.Mean), durations.Text(r.Body.Mean))
	case list[0].Lower == nil:
		return "no owner: the tail is not surely slower than typical traces"
	case list[0].Gap:
		return fmt.Sprintf("no owner: the gaps between attempts come first, with %s", shareText(list[0], r.Interval))
	case *list[0].Lower <= ownerAbove:
		return fmt.Sprintf("no owner: %s comes first with %s, not surely more than half", textOf(list[0]), shareText(list[0], r.Interval))
	case *list[0].Lower <= *list[1].Upper:
		return fmt.Sprintf("no owner: %s comes first with %s, not surely more than %s with %s",
			textOf(list[0]), shareText(list[0], r.Interval), textOf(list[1]), shareText(list[1], r.Interval))
	}
	return ""
}

// oneHop reports whether all hops have one name.
func oneHop(list []Hop) bool {
	names := map[string]bool{}
	for _, h := range list {
		if !h.Gap {
			names[h.Name] = true
		}
	}
	return len(names) < 2
}

func shareText(h Hop, confidence quantile.P) string {
	return fmt.Sprintf("%s of the tail's excess (%s %% interval %s to %s)", ratio.Percent(*h.Share), ratio.Number(confidence.Float()), ratio.Down(*h.Lower), ratio.Up(*h.Upper)+" %")
}

// warnings say what the figures do not cover.
func (a *Accumulator) warnings(q Query) []note.Warning {
	var list []note.Warning
	add := func(code, format string, args ...any) {
		list = append(list, note.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	all := a.total.N()
	for i, n := range a.counts.measured {
		if b := bases[i]; n > 0 && n < all && b != a.basis() {
			add("mixed_basis", "%d of %s %s on %s, the most on %s", n, note.Count(all, "trace"), note.Form(n, "rests", "rest"), b, a.basis())
		}
	}
	if n := a.counts.rootless; n > 0 {
		add("traces_without_root", "traces without a root that has a start and an end: %d; their time is not known, and of their failures only timeouts and cancellations are counted", n)
	}
	if n := a.counts.outside; n > 0 {
		add("children_outside", "%d of %s outside it by more than 1 ms, as where clocks differ: what lies outside has no time here, and the parent has it", n, note.Count(a.counts.children, "span that its parent waits for", "spans that their parent waits for")+note.Form(n, " lies", " lie"))
	}
	if n := a.counts.loneLines; n > 0 {
		add("lines_without_chain", "%d of %s no chain: %s left out", n, note.Count(a.counts.lines, "line")+note.Form(n, " names", " name"), note.Form(n, "it is", "they are"))
	}
	if n := a.counts.tooLong; n > 0 {
		add("chains_too_long", "%s of more than %d lines %s left out: does the field taken for the chain name one?", note.Count(n, "chain"), spans.MostNested, note.Form(n, "is", "are"))
	}
	if n := a.counts.topless; n > 0 {
		add("chains_without_top", "%s no attempt of a hop that requests begin with: %s left out, as the time from end to end is not known", note.Count(n, "chain has", "chains have"), note.Form(n, "it is", "they are"))
	}
	if a.table.crowded() {
		add("too_many_instances", "more than %d hosts, peers and instances are named: they are not told apart; --field instance=KEY names the field of a log that holds them", spans.MostInstances)
	}
	if q.Weighted {
		add("weights_not_used", "traces carry different weights, but each counts once here")
	}
	return list
}

// textOf is a hop, or the gap, as a sentence names it.
func textOf(h Hop) string {
	if h.Gap {
		return "the time between attempts"
	}
	return h.Hop.String()
}
