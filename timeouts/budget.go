package timeouts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// totals adds up what a request may take, for each hop with which requests begin
// and which makes calls.
func (a *adviser) totals() {
	for i := range a.Graph.Nodes {
		if n := &a.Graph.Nodes[i]; n.Entries > 0 && a.inner(n.Hop) {
			a.result.Entries = append(a.result.Entries, a.total(n))
		}
	}
	if len(a.result.Entries) == 0 {
		a.result.Total.Reason = jsontype.Text(a.noCalls())
		return
	}
	a.result.Total = slices.MaxFunc(a.result.Entries, func(x, y Total) int { return cmp.Compare(x.Requests, y.Requests) })
}

func (a *adviser) noCalls() string {
	if a.Graph.Requests > 0 {
		return "no request shows a call of one hop by another"
	}
	return "no chain of calls is known: give the key of the chain's id with --field trace=KEY; chains of very many lines are none"
}

// total is the budget of requests that begin with a hop.
func (a *adviser) total(n *callgraph.Node) Total {
	t := Total{Entry: n.Hop, Requests: n.Entries}
	below, own := a.below(n), a.entryOwn(n)
	retry := a.retryOf(n)
	t.Seen = retry.tries
	var sum, once amount
	if a.measured(n) {
		time := a.timeOf(n, below)
		sum, once = a.given(time, retry.ns), a.given(time, 0)
		t.Parts = a.measuredParts(n, time, retry, sum)
	} else {
		rest := a.restOf(n, own, below)
		once = own.and(rest).and(below.need)
		sum = once.and(amount{ns: retry.ns, evidence: Certified})
		t.Parts = a.partsOf(n, own, rest, retry)
	}
	if t.Budget = sum.known(); t.Budget == nil || a.Biased {
		t.Budget, t.Parts, t.Reason = nil, nil, jsontype.Text(a.unknownBelow(n, own, sum))
		return t
	}
	has := *t.Budget
	if a.EntryBudget > 0 {
		has = a.EntryBudget
	}
	t.Effective = retry.fit(has - once.ns)
	return t
}

// measured reports whether the caller with which requests begin is a hop of its own: then
// its time is not only that of its parts.
func (a *adviser) measured(n *callgraph.Node) bool {
	row := a.rows[n.Hop]
	return row != nil && row.Target != nil
}

func (a *adviser) partsOf(n *callgraph.Node, own, rest amount, retry retry) []Part {
	parts := append([]Part{{ownName(n.Hop), own.ns}}, a.callParts(n, func(g *grant) amount { return g.need })...)
	parts = append(parts, Part{"seen beyond these", rest.ns}, Part{retry.what, retry.ns})
	return slices.DeleteFunc(parts, func(p Part) bool { return p.NS == 0 })
}

// measuredParts are what the caller's own limit or its parts take at most, with headroom
// once for all.
func (a *adviser) measuredParts(n *callgraph.Node, t callerTime, retry retry, sum amount) []Part {
	var parts []Part
	if path := a.given(callerTime{own: t.path(), calls: amount{evidence: Certified}, longest: t.longest}, retry.ns); t.limit != nil && (path.known() == nil || sum.ns < path.ns) {
		parts = []Part{{n.Hop.Name + " at most, as it is seen", *t.limit}}
	} else {
		parts = append([]Part{{ownName(n.Hop), t.own.ns}}, a.callParts(n, func(g *grant) amount { return g.bound })...)
		parts = append(parts, Part{"seen beyond these", t.beyond.ns}, Part{retry.what, retry.ns})
	}
	left := sum.ns
	for _, p := range parts {
		left -= p.NS
	}
	parts = append(parts, Part{"headroom, rounded up", left})
	return slices.DeleteFunc(parts, func(p Part) bool { return p.NS == 0 })
}

func ownName(k spans.Hop) string {
	if k == (spans.Hop{}) {
		return "between calls"
	}
	return "own work of " + k.Name
}

// entryOwn is what the hop with which requests begin works itself. Where nobody
// wrote that hop down, that is the time between its calls, as it was seen.
func (a *adviser) entryOwn(n *callgraph.Node) amount {
	if n.Hop != (spans.Hop{}) {
		return a.ownOf(n)
	}
	if n.Own == nil || n.Own.N() == 0 {
		return amount{evidence: Certified} // without times: nothing is known of it, and nothing is added
	}
	return a.ownBound(n)
}

// callParts lists the longest call of each group.
func (a *adviser) callParts(n *callgraph.Node, of func(*grant) amount) []Part {
	var parts []Part
	for _, group := range n.Groups {
		most := a.longestCall(n, group)
		if most == nil {
			continue
		}
		what := a.callName(most) + a.othersIn(n, group, most)
		parts = append(parts, Part{what, a.inRow(most, of(a.grantOf(most.Hop))).ns})
	}
	return parts
}

// othersIn names the calls that a group holds beside the longest.
func (a *adviser) othersIn(n *callgraph.Node, group []int, most *callgraph.Call) (text string) {
	var beside, instead []string
	for i, c := range a.inGroup(n, group) {
		switch {
		case c == most:
		case most.Instead(i):
			instead = append(instead, a.callName(c))
		default:
			beside = append(beside, a.callName(c))
		}
	}
	if len(beside) > 0 {
		text = ", side by side with " + listed(beside, ", ")
	}
	if len(instead) > 0 {
		text += ", or instead " + listed(instead, ", ")
	}
	return text
}

// mostListed names are listed in one sentence.
const mostListed = 10

// listed joins names, the first of many.
func listed(names []string, sep string) string {
	if more := len(names) - mostListed; more > 1 {
		names = append(slices.Clone(names[:mostListed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, sep)
}

// sentence lists names between two texts; it is empty without names.
func sentence(before string, names []string, sep, after string) string {
	if len(names) == 0 {
		return ""
	}
	return before + listed(names, sep) + after
}

func (a *adviser) callName(c *callgraph.Call) string {
	if n := c.InRow(a.Target); n > 1 {
		return fmt.Sprintf("%d × %s in a row", n, c.Name)
	}
	return c.Name
}

// retry is what is reserved for retries.
type retry struct {
	what  string
	ns    int64
	one   int64 // what one more retry takes, with its backoff
	tries uint64
}

// fit is how many retries find room in a time.
func (r retry) fit(ns int64) *uint64 {
	if r.one <= 0 {
		return nil
	}
	return new(uint64(max(0, ns) / r.one))
}

// retryOf is the retries that a node's budget reserves: those of the one layer that
// retries, of the call with the longest ones. Where none was seen it is one retry
// of the longest call.
func (a *adviser) retryOf(n *callgraph.Node) retry {
	spare := func(g *grant) int64 { return g.spare }
	longest := a.grantWithMost(n, spare)
	switch {
	case longest == nil:
		return retry{}
	case longest.spare == 0 && (a.measured(n) || a.oneCaller(n)):
		return retry{} // a caller was measured, and made none
	case longest.spare == 0:
		g := a.grantWithMost(n, func(g *grant) int64 { return g.need.ns })
		return retry{what: "one retry of " + g.hop.Name, ns: g.need.ns, one: g.need.ns}
	}
	layer := longest
	for depth := 0; layer.tries == 0 && depth < len(a.nodes); depth++ {
		inside := a.grantWithMost(a.nodes[layer.hop], spare)
		if inside == nil {
			break
		}
		layer = inside
	}
	return retry{
		what: retriesText(layer.tries) + " of " + layer.hop.Name, ns: longest.spare,
		one: durations.Sum(layer.perTry.ns, a.backoffs(layer.hop, 1)), tries: layer.tries,
	}
}

// oneCaller reports whether what nobody is seen to call is a single hop, which makes calls:
// it is the caller.
func (a *adviser) oneCaller(n *callgraph.Node) bool {
	return n.Hop == (spans.Hop{}) && len(n.Calls) == 1 && a.inner(n.Calls[0].Hop)
}

func retriesText(n uint64) string {
	return note.Form(n, "one retry", fmt.Sprintf("%d retries", n))
}

// grantWithMost returns the grant of a node's call for which a figure is largest, of
// equal ones the first; nil where it makes none.
func (a *adviser) grantWithMost(n *callgraph.Node, figure func(*grant) int64) (most *grant) {
	for i := range n.Calls {
		c := &n.Calls[i]
		if g := a.grantOf(c.Hop); (most == nil || figure(g) > figure(most)) && a.counts(n, c) {
			most = g
		}
	}
	return most
}

// unknownBelow says which hops leave a budget open.
func (a *adviser) unknownBelow(n *callgraph.Node, own, all amount) string {
	switch {
	case a.Biased:
		return "the traces were chosen by how they went"
	case rank[all.evidence] >= rank[Identified]:
		return tooLong
	}
	var names []string
	if own.known() == nil {
		names = append(names, ownName(n.Hop))
	}
	for i := range n.Calls {
		if c := &n.Calls[i]; a.counts(n, c) && a.grantOf(c.Hop).need.known() == nil {
			names = append(names, c.Name)
		}
	}
	return "not known without " + listed(names, ", ")
}

// findInversions compares today's timeouts of calls with those of the calls that
// are made inside them. Walls that are only inferred count as equal up to 2 %.
func (a *adviser) findInversions() {
	for i := range a.Graph.Nodes {
		n := &a.Graph.Nodes[i]
		for i := range n.Calls {
			c := &n.Calls[i]
			if v, found := a.inversion(n.Hop, c.Hop); found && a.counts(n, c) {
				a.result.Inversions = append(a.result.Inversions, v)
			}
		}
	}
}

func (a *adviser) inversion(parent, child spans.Hop) (Inversion, bool) {
	p, c := a.rows[parent], a.rows[child]
	if p == nil || c == nil || !setByCaller(p) || !setByCaller(c) {
		return Inversion{}, false
	}
	outer, known := p.MainWall()
	inner, also := c.MainWall()
	if !known || !also {
		return Inversion{}, false
	}
	slack := int64(0)
	if outer.Timeout == nil || inner.Timeout == nil {
		slack = inner.To / 50
	}
	return Inversion{parent, child, outer.To, inner.To}, outer.To <= durations.Sum(inner.To, slack)
}

// planSteps writes the roll-out, with the figures of the advice.
func (a *adviser) planSteps() {
	if len(a.result.Hops) == 0 {
		return
	}
	a.step("for a week, change nothing: log one line for each attempt, with the chain's id, the hop, the duration, whether it timed out, and whether it is a retry",
		"that every hop is there, that attempts that timed out are marked, and that the window covers the busiest day", "tailscope timeouts")
	a.step(a.queueStep(), "that calls no longer wait for each other, and how busy the pool is", "tailscope calls, for traces")
	a.step(a.canaryStep(), "the share that still times out: none of that many first attempts shows that the quantile lies below the raised timeout",
		"tailscope timeouts --by KEY, with the key that tells the canary's calls from the others")
	a.step(a.setStep(), "that no hop has more than "+a.FalseTimeout.Text()+" of its first attempts timed out, and what is held at the busiest time",
		"tailscope quantiles --timeout HOP=T, with the new timeouts")
	a.step(a.totalStep(), "that retries complete what timed out, that they stay below 10 % of the requests, and that nothing runs on after its caller left",
		"tailscope retries, and tailscope orphans for traces")
}

// step adds a step unless there is nothing to do.
func (a *adviser) step(do, watch, read string) {
	if do != "" {
		a.result.Steps = append(a.result.Steps, Step{len(a.result.Steps) + 1, do, watch, read})
	}
}

func (a *adviser) canaryStep() string {
	var list []string
	for i := range a.result.Hops {
		if h := &a.result.Hops[i]; h.Canary != nil {
			list = append(list, fmt.Sprintf("%s to %s for %d %s", h.Name, raiseText(h.Canary), quantile.CanarySize(a.Target, 0, a.Confidence), h.Canary.attempts()))
		}
	}
	return sentence("on a part of the traffic, raise ", list, ", ", "")
}

// attempts names what the sizes count.
func (c *Canary) attempts() string {
	if c.Effect.Known() {
		return "independent first attempts (today's are not)"
	}
	return "first attempts"
}

func (a *adviser) setStep() string {
	var list []string
	for i := range a.result.Hops {
		if h := &a.result.Hops[i]; h.Timeout != nil {
			list = append(list, h.Name+" "+durations.Text(*h.Timeout))
		}
	}
	return sentence("for two days, only the timeout of each hop: ", list, ", ", "; retries and the total stay as they are")
}

func (a *adviser) totalStep() string {
	total := "then retries and the total"
	if b := a.result.Total.Budget; b != nil {
		total += ", " + durations.Text(*b)
	}
	return total + ": retry at one layer only; start no attempt unless the rest of the budget covers a whole one, and do not back off unless the backoff and an attempt still fit"
}
