package attribution

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/spans"
)

// verdict is room for who is to blame in one trace or chain, by node.
type verdict struct {
	depth []int32 // how far below its root
	under []bool  // at or below a call for which the trace fails, and may be why
	until []int64 // when the first such call at or above it gave up
}

func (v *verdict) begin(nodes int) {
	v.depth = append(v.depth[:0], make([]int32, nodes)...)
	v.under = append(v.under[:0], make([]bool, nodes)...)
	v.until = append(v.until[:0], make([]int64, nodes)...)
}

// spread measures depths, and marks what may have made the marked calls fail: all
// below them but what nobody waited for and what was answered after all before a
// call above it gave up. The order lists nodes after their parents.
func (v *verdict) spread(nodes []node, order []int32, answer func(int32) (end int64, known bool)) {
	for _, i := range order {
		n := &nodes[i]
		v.until[i] = math.MaxInt64
		if p := n.parent; p >= 0 {
			v.depth[i], v.until[i] = v.depth[p]+1, v.until[p]
			if v.under[p] && !n.detached {
				end, known := answer(i)
				v.under[i] = v.under[i] || !known || end > v.until[i]
			}
		}
		if v.under[i] && n.gaveUp() && n.inTime {
			v.until[i] = min(v.until[i], n.end)
		}
	}
}

// deepest returns the deepest node of a kind; of equally deep ones the one that
// ended last, then the first. It is -1 if there is none.
func (v *verdict) deepest(nodes []node, of func(int) bool) int {
	best := -1
	for i := range nodes {
		if of(i) && (best < 0 || v.depth[i] > v.depth[best] || v.depth[i] == v.depth[best] && nodes[i].end > nodes[best].end) {
			best = i
		}
	}
	return best
}

func (a *Accumulator) anyGaveUp() bool {
	return slices.ContainsFunc(a.path.nodes, func(n node) bool { return n.gaveUp() })
}

// succeeds counts a trace or chain that does not fail.
func (a *Accumulator) succeeds() bool {
	a.counts.outcomes[success]++
	a.last.Outcome = Success
	return false
}

// blame counts how a trace or chain ended, and the hops to blame: that of the deepest
// cut, and if it fails that of the deepest attempt that may be why. Without an outcome
// only the cut is counted.
func (a *Accumulator) blame(outcome Outcome) (fails bool) {
	nodes := a.path.nodes
	if at := a.verdict.deepest(nodes, func(i int) bool { return nodes[i].outcome == spans.Truncated }); at >= 0 {
		a.hop(nodes[at].hop).anyCut++
	}
	if outcome == "" {
		return false
	}
	a.counts.outcomes[outcome.index()]++
	a.last.Outcome = outcome
	if outcome == Success {
		return false
	}
	at := a.verdict.deepest(nodes, func(i int) bool { return a.verdict.under[i] && nodes[i].gaveUp() })
	a.hop(nodes[at].hop).failures++
	return true
}

// judgeTrace says whether a trace fails. Of one without a root only its cuts are
// counted.
func (a *Accumulator) judgeTrace(t *spans.Trace, root int32) (fails bool) {
	if !a.anyGaveUp() {
		return root >= 0 && a.succeeds()
	}
	a.verdict.begin(len(t.Spans))
	outcome := Outcome("")
	if root >= 0 {
		a.rescues.find(t)
		outcome = a.outcomeOf(t, root)
	}
	a.verdict.spread(a.path.nodes, t.TopDown(), func(i int32) (int64, bool) { return a.rescues.answer(a.path.nodes, i) })
	return a.blame(outcome)
}

// outcomeOf says how a trace ended, and marks the calls for which it fails: the root
// where that gave up, else the last attempts of the calls that it made itself and
// waited for.
func (a *Accumulator) outcomeOf(t *spans.Trace, root int32) Outcome {
	outcome := Success
	switch t.Spans[root].Outcome {
	case spans.Truncated:
		outcome, a.verdict.under[root] = Cut, true
	case spans.Failed:
		outcome, a.verdict.under[root] = Failed, true
	default:
		for _, c := range t.Children(root) {
			if t.Spans[c].GaveUp() && t.HoldsUp(c) && !a.rescues.again(c) {
				outcome, a.verdict.under[c] = Partial, true
			}
		}
	}
	return outcome
}
