package timeouts

import (
	"fmt"
	"math"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// setByCaller reports whether a row is of attempts whose timeout a caller sets.
func setByCaller(row *buckets.Result) bool {
	return row.Kind == spans.NoKind || row.Kind == spans.Client
}

func (a *adviser) adviseAll() {
	for i := range a.Hops {
		if row := &a.Hops[i]; row.Target != nil && setByCaller(row) {
			a.result.Hops = append(a.result.Hops, a.advise(row))
		}
	}
	if len(a.result.Hops) == 0 && len(a.Hops) > 0 {
		a.result.Reason = "no client spans: a timeout is set by who calls, and servers alone do not show how long their callers wait"
	}
}

// advise returns the advice for one row.
func (a *adviser) advise(row *buckets.Result) Hop {
	h := Hop{Hop: row.Hop, N: row.Target.Tail.N, Retries: a.retriesOf(row.Hop), ServerSide: a.serverSide(row)}
	if wall, known := row.MainWall(); known {
		h.Current = &Current{wall.To, wall.Source}
	}
	if !row.Biased && marked(row) && row.TruncatedShare.Of > 0 {
		h.Cut = &row.TruncatedShare
	}
	h.PerSecond = a.rate(row)
	if !a.Biased {
		h.Strata = a.strata(row)
	}
	if a.inner(row.Hop) {
		a.adviseInner(&h, row)
	} else {
		a.adviseLeaf(&h, row)
	}
	a.compare(&h, row)
	h.Warnings = a.warningsOf(&h, row)
	a.queueing(&h)
	return h
}

const tooLong = "with headroom it is longer than any clock tells"

func (a *adviser) adviseLeaf(h *Hop, row *buckets.Result) {
	h.Evidence, h.Bound = a.evidenceOf(row)
	switch h.Evidence {
	case TooFew:
		h.Allows = a.allowed(row)
		if a.Allowed && h.Allows.Timeout < math.MaxInt64 {
			h.Timeout = &h.Allows.Timeout
		}
		fallthrough
	case Identified:
		h.Missing = a.missing(&row.Target.Tail)
	}
	h.Reason = a.reasonOf(row, h.Evidence)
	if h.Bound != nil {
		if ns := a.from(*h.Bound); ns < math.MaxInt64 {
			h.Timeout = &ns
			return
		}
		h.Evidence, h.Reason = None, tooLong
	}
	h.Reason += a.becameKnown(h)
	raise, from := a.raiseOf(row)
	h.Canary = a.canary(raise, from, h.PerSecond, row.Target.Tail.Effect)
}

func (a *adviser) adviseInner(h *Hop, row *buckets.Result) {
	g, own := a.grantOf(h.Hop), a.ownBound(a.nodes[h.Hop])
	h.Inner = &Inner{Own: g.own.known(), Grants: g.below.known(), Rest: g.rest.known(), Evidence: own.evidence}
	if h.Inner.Own != nil {
		h.Inner.OwnBound = &own.ns
	}
	h.Bound = g.bound.known()
	h.Evidence, h.Timeout = g.perTry.evidence, g.perTry.known()
	switch {
	case a.Biased || row.Biased || !marked(row):
		h.Evidence, h.Timeout, h.Reason = None, nil, a.noEvidence(row)
		return
	case g.perTry.ns == math.MaxInt64:
		h.Evidence, h.Timeout, h.Reason = None, nil, tooLong
		return
	}
	h.Reason = a.innerReason(h, g)
	if h.Timeout == nil && h.Evidence != TooFew && !g.perTry.missing {
		raise, from := a.raiseInner(h, g, row)
		h.Canary = a.canary(raise, from, h.PerSecond, row.Target.Tail.Effect)
	}
}

// raiseInner is the timeout of a canary for a call that makes calls, 0 where today's
// has room for those of what it calls.
func (a *adviser) raiseInner(h *Hop, g *grant, row *buckets.Result) (int64, string) {
	raise, from := max(g.perTry.ns, a.Floor), "its own work and the canaries of what it calls"
	if h.Inner.Evidence == NotIdentified { // it is itself that is cut
		if most, what := a.twice(row); most > raise {
			return most, what
		}
	}
	if h.Current != nil && raise <= h.Current.Timeout {
		return 0, ""
	}
	return raise, from
}

// innerReason explains the timeout of a call that makes calls itself.
func (a *adviser) innerReason(h *Hop, g *grant) string {
	n := a.nodes[h.Hop]
	t := a.timeOf(n, a.below(n))
	path := t.path().known()
	switch {
	case t.limited(0) && path == nil:
		return fmt.Sprintf("it calls others, of which not all is known; its own %s is at most %s", a.Target.Label(), durations.Text(*t.limit))
	case t.limited(0):
		return fmt.Sprintf("its own %s is at most %s; its work and its calls in a row, each at its most, would be %s", a.Target.Label(), durations.Text(*t.limit), durations.Text(*path))
	case path != nil:
		return a.pathReason(h, g, &t)
	}
	return "it calls others, so not from its own quantile: " + a.partsReason(h, g)
}

// pathReason adds up what a call that makes calls takes at most.
func (a *adviser) pathReason(h *Hop, g *grant, t *callerTime) string {
	text := fmt.Sprintf("it calls others: at most %s of its own work and %s of its calls in a row", durations.Text(t.own.ns), durations.Text(t.calls.ns))
	if t.beyond.ns > 0 {
		text += ", and " + durations.Text(t.beyond.ns) + " that its attempts are seen to take beyond both"
	}
	if text += ", with headroom once for all"; g.inside && g.tries == 0 {
		text += "; the retries of its calls come on top"
	}
	return text
}

// partsReason adds up what each part of a call that makes calls is given.
func (a *adviser) partsReason(h *Hop, g *grant) string {
	below := "what it gives the calls under it is not known"
	if h.Inner.Grants != nil {
		below = durations.Text(*h.Inner.Grants) + " for the calls under it"
		if g.inside && g.tries == 0 {
			below += ", their retries too"
		}
	}
	own := "its own work is not known: " + a.whyNoOwn()
	if h.Inner.Own != nil {
		own = fmt.Sprintf("%s for its own work (%s %s)", durations.Text(*h.Inner.Own), a.Target.Label(), durations.Text(*h.Inner.OwnBound))
	}
	if g.rest.ns > 0 {
		below += ", and " + durations.Text(g.rest.ns) + " that its attempts are seen to take beyond both"
	}
	return own + ", " + below
}

func (a *adviser) whyNoOwn() string {
	if a.Weighted {
		return "its traces have different weights"
	}
	return "too many of its attempts timed out"
}

// rate is how many first attempts come a second, nil where the input does not tell.
func (a *adviser) rate(row *buckets.Result) *float64 {
	if a.result.Window == nil || row.Biased || a.Sampled {
		return nil
	}
	return new(float64(row.FirstAttempts) / (float64(*a.result.Window) / 1e9))
}

// compare says what the advice changes.
func (a *adviser) compare(h *Hop, row *buckets.Result) {
	if h.Current != nil {
		h.HeldToday = held(h.PerSecond, h.Current.Timeout)
	}
	timeout := h.Timeout
	if timeout == nil && h.Allows != nil {
		timeout = &h.Allows.Timeout
	}
	if timeout != nil && row.Effective == 0 { // of traces that stand for many, counts tell no share
		h.Under = a.under(row, *timeout)
	}
	if h.Timeout == nil {
		return
	}
	h.HeldThen = held(h.PerSecond, *h.Timeout)
	if h.Current == nil {
		return
	}
	switch {
	case *h.Timeout < h.Current.Timeout:
		h.Change, h.SafeToLower = Lower, h.Evidence == Certified
	case *h.Timeout > h.Current.Timeout:
		h.Change = Raise
	default:
		h.Change = Keep
	}
}

// held is how many calls are held at once if each lasts as long as its timeout.
func held(perSecond *float64, timeout int64) *float64 {
	if perSecond == nil {
		return nil
	}
	return new(*perSecond * float64(timeout) / 1e9)
}

// under counts the first attempts that a timeout would cut: those that took longer,
// and those that were cut already, however long they would have taken.
func (a *adviser) under(row *buckets.Result, timeout int64) *Under {
	completed := a.FirstCompleted[row.Hop]
	u := Under{N: completed.N() - completed.UpTo(timeout) + row.TruncatedShare.Count, Of: completed.N() + row.TruncatedShare.Count}
	if u.Of == 0 {
		return nil
	}
	size := min(u.Of, row.Target.Tail.Size(), row.TruncatedShare.Size())
	_, n := quantile.EffectiveShare(u.N, u.Of, size)
	_, u.Upper = quantile.ClopperPearson(n, size, a.Confidence)
	return &u
}
