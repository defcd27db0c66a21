package orphans

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// soon is within what time of the cut a callee that honours it stops. One that
// knows the deadline stops before.
const soon = 50e6

// leavings is what callees did when their first calls left. Each sample holds how long
// after that they ended, 0 for before.
type leavings struct {
	stops    quantile.Sample // of those that ended with an error or a cancellation of their own
	passed   quantile.Sample // with one that they had from a call of theirs
	finishes quantile.Sample // completed
	finished quantile.Sample // how long those that completed within 50 ms had worked
}

func (l *leavings) merge(o *leavings) {
	l.stops.Merge(&o.stops)
	l.passed.Merge(&o.passed)
	l.finishes.Merge(&o.finishes)
	l.finished.Merge(&o.finished)
}

// left notes how a callee ended whose call had left.
func (l *leavings) left(t *spans.Trace, p, c int32) {
	child := &t.Spans[c]
	late := after(child.End(), t.Spans[p].End())
	switch {
	case !child.GaveUp():
		l.finishes.Add(late)
		if late <= soon {
			l.finished.Add(child.Duration)
		}
	case child.Outcome == spans.Failed && late < -soon || passed(t, c):
		l.passed.Add(late)
	default:
		l.stops.Add(late)
	}
}

// passed reports whether a span ended as it did because a call under it was cut by its
// own timeout: that says nothing about its caller. Where a call under it was cancelled,
// the cancellation was handed on.
func passed(t *spans.Trace, i int32) bool {
	if t.Spans[i].CutBy != spans.Below {
		return false
	}
	for _, c := range t.Children(i) {
		if t.Spans[c].CutBy == spans.Caller {
			return false
		}
	}
	return true
}

// Honours says whether callees stop when their callers leave.
type Honours string

// Yes: more than half of those that were still at work do, at the confidence of the
// run. No: fewer than half. Unknown: neither can be said.
const (
	HonoursYes     Honours = "yes"
	HonoursNo      Honours = "no"
	HonoursUnknown Honours = "unknown"
)

// Cancellation is what callees of first calls that left did. Those that completed
// within 50 ms of that say nothing: they may have been about to. Lower and Upper are
// the limits of Stopped in Stopped + RanOn, each one-sided.
type Cancellation struct {
	Honours   Honours `json:"honoured"`
	Stopped   uint64  `json:"stopped"`   // within 50 ms, with an error or surely before their work was done
	RanOn     uint64  `json:"ran_on"`    // still at work 50 ms later
	Completed uint64  `json:"completed"` // all the same
	Lower     float64 `json:"lower"`
	Upper     float64 `json:"upper"`
}

// leastUsual is how many completed calls must all have taken longer for one to be
// surely shorter than usual.
const leastUsual = 100

// cancellation adds up what callees did, on clocks that may be apart by some ns.
func (l *leavings) cancellation(usual *waiting, apart int64, confidence quantile.P) Cancellation {
	bound := soon + apart
	by := func(s *quantile.Sample) uint64 { return quantile.Union{s}.UpTo(bound) }
	c := Cancellation{Honours: HonoursUnknown, Stopped: by(&l.stops), Completed: by(&l.finishes)}
	c.RanOn = l.stops.N() - c.Stopped + l.passed.N() - by(&l.passed) + l.finishes.N() - c.Completed
	if usual != nil && usual.usual >= leastUsual {
		short := quantile.Union{&l.finished}.UpTo(usual.shortest - 1)
		c.Stopped, c.Completed = c.Stopped+short, c.Completed-short
	}
	c.Lower, c.Upper = quantile.ClopperPearson(c.Stopped, c.Stopped+c.RanOn, confidence)
	switch {
	case c.Lower > .5:
		c.Honours = HonoursYes
	case c.Upper < .5:
		c.Honours = HonoursNo
	}
	return c
}
