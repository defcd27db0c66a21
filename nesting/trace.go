package nesting

import "github.com/tailscope/tailscope/spans"

// PlaceTrace gives a trace that is a chain of a hop log its parents. What has no time
// is a root, and so is what lies in nothing.
func (p *Placer) PlaceTrace(t *spans.Trace) {
	c := &p.chain
	c.Hops, c.ID, c.Attempts = t.Hops, t.ID, c.Attempts[:0]
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Timed() && s.Duration >= 0 {
			c.Attempts = append(c.Attempts, spans.Attempt{Start: s.Start, Duration: s.Duration, Hop: s.Hop, Instance: int32(i), Outcome: s.Outcome, Timed: true})
		}
	}
	c.Link()
	c.PlacedBy = nil
	p.Place(c)
	p.parents = append(p.parents[:0], make([]int32, len(t.Spans))...)
	for i := range p.parents {
		p.parents[i] = -1
	}
	for i := range c.Attempts {
		if up := c.Attempts[i].Parent; up >= 0 {
			p.parents[c.Attempts[i].Instance] = c.Attempts[up].Instance
		}
	}
	t.SetParents(p.parents)
}
