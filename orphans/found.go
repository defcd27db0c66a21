package orphans

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Found is an orphan in one trace. Parent and Child are places in the trace's Spans,
// Overrun and Wasted are ns.
type Found struct {
	Parent, Child   int32
	Kind            Kind
	Overrun, Wasted int64
	Sure            Sure
	Evidence        string

	grade grade
}

// In returns the orphans of one trace whose retries and cuts are marked, judged by what
// all traces of the accumulator tell of clocks and of who waits for whom. The trace may
// be one of them.
func (a *Accumulator) In(t *spans.Trace, q Query) []Found {
	if q.Confidence == (quantile.P{}) {
		q.Confidence = usualConfidence
	}
	var found []Found
	one := NewAccumulator(a.config)
	one.found = &found
	one.AddTrace(t)
	f := a.fates(&q)
	kept := found[:0]
	for _, o := range found {
		key := hopPair{a.hop(t, o.Parent), a.hop(t, o.Child)}
		if f.of(key, o.grade) == notAwaited {
			continue
		}
		c := Case{Parent: endOf(t, o.Parent), Child: endOf(t, o.Child), Overrun: o.Overrun, firm: firm(t, o.Parent, o.Child)}
		o.Sure, o.Evidence = a.sure(&c, f.apart)
		kept = append(kept, o)
	}
	return kept
}
