package buckets

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// AddTrace counts the spans of a whole trace, whose retries and cuts from below
// are marked already. It keeps nothing of the trace.
func (s *hopSet) AddTrace(t *spans.Trace) {
	hops, last := s.hopsOfTable(t.Hops), lastTime(t)
	for i := range t.Spans {
		one := &t.Spans[i]
		h := s.hopAt(hops, t.Hops, one.Hop)
		h.traced = true
		alone := len(h.clusters.open) == 0
		h.resolution = min(h.resolution, one.Resolution)
		a := attemptOf(h, t, one)
		if a.outcome == spans.Unfinished && a.timed {
			a.duration, a.seen = max(0, last-a.start), true
		}
		if a.cutBy == spans.Below && a.outcome == spans.Truncated && a.timed {
			a.call = s.callThatCut(t, int32(i), hops)
		}
		h.add(a)
		if alone && len(h.clusters.open) == 1 {
			s.open = append(s.open, h.clusters)
		}
	}
	s.closeOpen()
}

// lastTime is the last time seen in a trace with an unfinished span, in ns; 0 in others.
func lastTime(t *spans.Trace) int64 {
	if !slices.ContainsFunc(t.Spans, func(s spans.Span) bool { return s.Outcome == spans.Unfinished }) {
		return 0
	}
	last := int64(math.MinInt64)
	for i := range t.Spans {
		switch one := &t.Spans[i]; {
		case one.Timed():
			last = max(last, one.End())
		case one.Flags.Has(spans.HasStart):
			last = max(last, one.Start)
		}
	}
	return last
}

// closeOpen ends the trace or the chain that was added.
func (s *hopSet) closeOpen() {
	for _, b := range s.open {
		b.close()
	}
	s.open = s.open[:0]
}

func attemptOf(h *hop, t *spans.Trace, one *spans.Span) attempt {
	a := attempt{
		duration: one.Duration,
		timeout:  one.Timeout,
		outcome:  one.Outcome,
		cutBy:    one.CutBy,
		failure:  one.Failure,
		retry:    one.Retry(),
		marked:   one.Flags.Has(spans.OutcomeMarked),
		speaks:   one.Flags.Has(spans.SpeaksOfTimeout),
		tries:    one.Tries,
		start:    one.Start,
		timed:    one.Flags.Has(spans.HasStart),
		inTrace:  true,
	}
	if !a.retry && len(t.Strata) > 0 {
		a.stratum = h.keep().strata.of(t.Strata[one.Stratum])
	}
	return a
}

// hopsOfTable returns the hops of a table by their index, nil where none of its
// spans was seen yet. All traces that were assembled share one table, and so do all
// chains.
func (s *hopSet) hopsOfTable(table []spans.Hop) []*hop {
	if len(table) == 0 {
		return nil
	}
	if s.table != &table[0] || len(s.byTable) != len(table) {
		s.table, s.byTable = &table[0], make([]*hop, len(table))
	}
	return s.byTable
}

// addChain looks at the hops that have several first attempts: one alone follows
// from the counts of all.
func (s *hopSet) addChain(c *spans.Chain) {
	if c.TooLong() || !comeTogether(c.Attempts) {
		return
	}
	hops := s.hopsOfTable(c.Hops)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if !firstOfTail(a) {
			continue
		}
		b := s.hopAt(hops, c.Hops, a.Hop).clusters
		if len(b.open) == 0 {
			s.open = append(s.open, b)
		}
		b.open = append(b.open, stepOf(a))
	}
	s.closeOpen()
}

// firstOfTail reports whether an attempt is one of those that a tail is made of.
func firstOfTail(a *spans.Attempt) bool {
	return !a.Retry && (a.Outcome == spans.Completed || a.Outcome == spans.Truncated)
}

func stepOf(a *spans.Attempt) depend.LogBucket {
	if a.Outcome == spans.Truncated {
		return depend.CutBucket
	}
	return depend.LogBucketOf(a.Duration)
}

// fewLines are compared with each other; of more, some hop surely comes again.
const fewLines = 16

// comeTogether reports whether a hop may have several first attempts in a chain.
func comeTogether(chain []spans.Attempt) bool {
	if len(chain) > fewLines {
		return true
	}
	for i := range chain {
		for k := range chain[:i] {
			if chain[i].Hop == chain[k].Hop && firstOfTail(&chain[i]) && firstOfTail(&chain[k]) {
				return true
			}
		}
	}
	return false
}
