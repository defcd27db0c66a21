package retries

import (
	"fmt"
	"time"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
)

// warnings are what to know of a result, of all hops, also those not listed.
func (d *describer) warnings(r *Result) []note.Warning {
	var list []note.Warning
	say := func(code, format string, args ...any) {
		list = append(list, note.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	d.ofInput(r, say)
	ofLayers(r, say)
	ofRatio(r, say)
	for i := range r.Hops {
		ofHop(&r.Hops[i], say)
		d.ofQueue(&r.Hops[i], say)
	}
	ofMoments(r, say)
	return list
}

type sayer func(code, format string, args ...any)

func (d *describer) ofInput(r *Result, say sayer) {
	c := &d.w.counts
	if c.lone > 0 && r.All.Attempts > r.All.Calls {
		say("retries_without_chain", "lines without a chain's id that gave up or are retries: %d; they belong to no call", c.lone)
	}
	if r.All.Unmatched > 0 {
		say("unmatched_retries", "retries of which no timed-out or failed attempt before them is known: %d of %d", r.All.Unmatched, r.All.Attempts-r.All.Calls)
	}
	for _, name := range d.w.unknownWrites() {
		say("unknown_write_hop", "no hop and no operation is called %s", name)
	}
	if d.q.Biased {
		say("biased_sample", "the traces were chosen by how they went: counts are of those, and no share is given")
	}
	if d.q.Weighted {
		say("weights_not_used", "the traces carry different weights, but each counts once here")
	}
	if most := d.q.MaxHops; most > 0 && len(r.Hops) > most {
		say("hops_left_out", "%s not listed", note.Count(len(r.Hops)-most, "hop with fewer retried calls is", "hops with fewer retried calls are"))
	}
}

func ofLayers(r *Result, say sayer) {
	a := &r.Amplification
	if a.Possible > mostPossible {
		say("amplification_over_10", "one request may become %d attempts: the product of the most attempts seen along a path", a.Possible)
	}
	most := uint64(1)
	for _, l := range a.Layers {
		most = max(most, l.MostAttempts)
	}
	if len(a.Layers) > 1 && a.Possible > most {
		assumed := ""
		if a.OnePath {
			assumed = "; a hop log names no callers, so they are taken for one path"
		}
		say("several_layers_retry", "more than one layer retries, up to %d attempts for one request: retry in one only%s", a.Possible, assumed)
	}
}

func ofRatio(r *Result, say sayer) {
	over := func(c Count) bool { return c.N*100 > c.Of*budgetPercent }
	mean, worst := r.Ratio.All, r.Ratio.Worst
	if mean.Of > 0 && over(mean) {
		say("retry_ratio", "retries are %s of the first attempts, more than %d %%", ratio.Percent(*mean.Share()), budgetPercent)
	}
	if worst.Of > 0 && over(worst) && !over(mean) {
		say("retry_storm", "in the minute from %s retries were %s of the first attempts, in the mean %s", clock(r.Ratio.At), ratio.Percent(*worst.Share()), ratio.Percent(*mean.Share()))
	}
}

func ofHop(h *Hop, say sayer) {
	name := h.Hop.String()
	if h.Rescue.Verdict == SameSlowness {
		say("same_slowness", "%s: retries of attempts that timed out do not help, %d of %d calls were rescued", name, h.Rescue.N, h.Rescue.Of)
	}
	if text := sharedText(h); text != "" {
		say("retries_partly", "%s: %d of %d calls were rescued%s", name, h.Rescue.N, h.Rescue.Of, text)
	}
	if h.Wall.Verdict == AtTheWall && h.Wall.Timeout != nil {
		say("at_the_wall", "%s: %d of %d failing calls lasted as many times %s as they had attempts", name, h.Wall.N, h.Wall.Of, durations.Text(*h.Wall.Timeout))
	}
	if h.Permanent > 0 {
		say("permanent_errors_retried", "%s: retries after a 4xx other than 429: %d; they fail again", name, h.Permanent)
	}
	if t := h.TooLate; t != nil && t.N > 0 {
		say("retries_too_late", "%s: %d of %s began when less than a whole attempt was left of what the caller waits", name, t.N, note.Count(t.Of, "retry", "retries"))
	}
	if n := h.NearTimeout; n.Of >= leastNear && n.N*100 > n.Of*nearShare {
		say("near_timeout", "%s: %s of the completed attempts used more than %d %% of the timeout", name, ratio.Percent(*n.Share()), nearPercent)
	}
	if h.Backoff.Jitter == NoJitter {
		say("no_jitter", "%s: retries wait the same time, %s: clients that fail together come back together", name, durations.Text(*h.Backoff.P50))
	}
	if t := h.ExecutedTwice; t != nil && t.N > 0 {
		say("executed_twice", "%s: of %s that can tell, the server ran %d to a good end more than once", name, note.Count(t.Of, "retried call"), t.N)
	}
	if t := h.ExecutedTwice; t != nil && t.Writes > 0 {
		say("write_executed_twice", "%s: %d of the calls that the server ran more than once %s", name, t.Writes, note.Form(t.Writes, "looks like a write", "look like writes"))
	}
}

// ofQueue holds what retries complete against the load that they add to a full pool.
func (d *describer) ofQueue(h *Hop, say sayer) {
	if d.q.Queue == nil || h.Attempts == h.Calls || h.Calls == 0 {
		return
	}
	if queue := d.q.Queue(h.Hop); queue != "" {
		more := Count{h.Attempts - h.Calls, h.Calls}
		say("retries_lengthen_queue", "%s: %s, and retries add %s of its calls to the queue: that %d of %d were rescued stands against what the others wait longer", h.Hop, queue, ratio.Percent(*more.Share()), h.Rescue.N, h.Rescue.Of)
	}
}

func ofMoments(r *Result, say sayer) {
	if len(r.InStep) == 0 {
		return
	}
	worst := r.worstMoment()
	say("retries_in_step", "retries of %d traces began within 10 ms from %s, more than half of those in the second around it; such moments: %d", worst.Traces, clock(worst.At), len(r.InStep))
	if r.Period != nil {
		say("retry_pulses", "retries come in pulses %s apart", durations.Text(*r.Period))
	}
}

// worstMoment is the first of those in which most traces retried; zero where there
// is none.
func (r *Result) worstMoment() (worst InStep) {
	for _, one := range r.InStep {
		if one.Traces > worst.Traces {
			worst = one
		}
	}
	return worst
}

// clock writes a moment in UTC, as in RFC 3339.
func clock(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
