package buckets

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/fit"
)

// estimate puts beside each tail that the wall hides what models say of it, or
// why they are not asked.
func (t tailer) estimate() {
	if t.query.NoEstimate {
		return
	}
	if why := t.unmodelled(); why != "" {
		for i := range t.r.Tail {
			t.explain(i, why)
		}
		return
	}
	for i, e := range fit.Estimates(t.hop.first.observed(t.hop.step()), t.tails.Tails.Tails) {
		if t.r.Tail[i].Estimate = e; e == nil {
			t.explain(i, "no estimate: it lies below what the models describe")
		}
	}
}

// estimateTarget does so for the tail that is given apart.
func (t tailer) estimateTarget() {
	at := &t.r.Target.Tail
	if t.query.NoEstimate || t.unmodelled() != "" {
		return
	}
	for i := range t.r.Tail {
		if t.r.Tail[i].P.Compare(at.P) == 0 {
			at.Estimate = t.r.Tail[i].Estimate
			return
		}
	}
	at.Estimate = fit.Estimates(t.hop.first.observed(t.hop.step()), []quantile.Tail{at.Tail})[0]
}

// unmodelled says why no model is asked; else it is empty.
func (t tailer) unmodelled() string {
	switch {
	case t.r.Effective > 0:
		return "no estimate: the attempts have different weights"
	case !t.hop.tells(t.query):
		return "no estimate: the input does not say which attempts timed out"
	}
	return ""
}

// explain adds to the reason of a quantile that the wall hides.
func (t tailer) explain(i int, why string) {
	if q := &t.r.Tail[i]; q.Status == quantile.AtLeast {
		q.Reason = sentences(q.Reason, why)
	}
}
