package buckets

import "github.com/tailscope/tailscope/spans"

// AddTrace counts the spans of a whole trace, whose retries and cuts from below
// are marked already. It keeps nothing of the trace.
func (s *Set) AddTrace(t *spans.Trace) {
	hops := s.hopsOfTable(t.Hops)
	for i := range t.Spans {
		one := &t.Spans[i]
		h := hops[one.Hop]
		if h == nil {
			h = s.hop(t.Hops[one.Hop])
			hops[one.Hop] = h
		}
		h.traced = true
		alone := len(h.clusters.open) == 0
		h.resolution = min(h.resolution, one.Resolution)
		h.add(attemptOf(h, t, one))
		if alone && len(h.clusters.open) == 1 {
			s.open = append(s.open, h.clusters)
		}
	}
	s.closeOpen()
}

// closeOpen ends the trace or the chain that was added.
func (s *Set) closeOpen() {
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
		start:    one.Start,
		timed:    one.Flags.Has(spans.HasStart),
		inTrace:  true,
	}
	if !a.retry && len(t.Strata) > 0 {
		a.stratum = h.strata.of(t.Strata[one.Stratum])
	}
	return a
}

// hopsOfTable returns the hops of a table by their index, nil where none of its
// spans was seen yet. All traces that were assembled share one table, and
// so do all chains.
func (s *Set) hopsOfTable(table []spans.Hop) []*hop {
	if len(table) == 0 {
		return nil
	}
	if s.table != &table[0] || len(s.byTable) != len(table) {
		s.table, s.byTable = &table[0], make([]*hop, len(table))
	}
	return s.byTable
}
