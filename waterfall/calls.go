package waterfall

import (
	"slices"

	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/spans"
)

// ofTrace finds the longest call of each hop that may be meant.
func (p *Picker) ofTrace(t *spans.Trace) {
	p.use(t.Hops)
	for i := range t.Spans {
		s := &t.Spans[i]
		if p.match[s.Hop] == neighbors.Unlike || !s.Flags.Has(spans.HasDuration) || s.Duration < 0 {
			continue
		}
		if p.match[s.Hop] == neighbors.Served && !slices.ContainsFunc(t.Children(int32(i)), func(c int32) bool { return p.serves[t.Spans[c].Hop] }) {
			continue
		}
		p.see(s.Hop, s.Duration, s.GaveUp())
	}
}

// ofChain is the same of a chain.
func (p *Picker) ofChain(c *spans.Chain) {
	p.use(c.Hops)
	for i := range c.Attempts {
		if a := &c.Attempts[i]; p.match[a.Hop] != neighbors.Unlike {
			p.see(a.Hop, a.Duration, a.GaveUp())
		}
	}
}

// mostParts is how many hops a part of a name may be in until it surely means none.
const mostParts = 64

// use finds which of the hops that the next requests share may be meant.
func (p *Picker) use(hops []spans.Hop) {
	if len(hops) == 0 || p.source == &hops[0] && len(p.match) == len(hops) {
		return
	}
	p.source, p.match, p.serves = &hops[0], nil, nil
	parts := 0
	for _, h := range hops {
		p.hops[h] = true
		like := neighbors.LikenessOf(p.config.Of, h)
		parts += count(like == neighbors.Part)
		p.match = append(p.match, like)
		p.serves = append(p.serves, neighbors.Serves(p.config.Of, h))
	}
	for i, like := range p.match {
		if parts > mostParts && like == neighbors.Part {
			p.match[i] = neighbors.Unlike
			if neighbors.MayBeServed(p.config.Of, hops[i]) {
				p.match[i] = neighbors.Served
			}
		}
	}
	p.most, p.mostUp, p.calls = make([]int64, len(hops)), make([]int64, len(hops)), make([]counts, len(hops))
	p.used = p.used[:0]
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (p *Picker) see(hop int32, ns int64, gaveUp bool) {
	c := &p.calls[hop]
	if c.n == 0 {
		p.used = append(p.used, hop)
		p.most[hop], p.mostUp[hop] = -1, -1
	}
	c.n++
	p.most[hop] = max(p.most[hop], ns)
	if gaveUp {
		c.gaveUp++
		p.mostUp[hop] = max(p.mostUp[hop], ns)
	}
}

// keepCalls keeps the request that was just looked at where it has the longest call of a
// hop.
func (p *Picker) keepCalls(hops []spans.Hop, name func() string, copied func() *request) {
	for _, h := range p.used {
		w, c := p.ofHop(hops[h]), &p.calls[h]
		w.n, w.nGaveUp = w.n+c.n, w.nGaveUp+c.gaveUp
		w.all.consider(p.most[h], name, copied)
		if c.gaveUp > 0 {
			w.gaveUp.consider(p.mostUp[h], name, copied)
		}
		*c = counts{}
	}
	p.used = p.used[:0]
}

// ofHop returns what is kept of a hop.
func (p *Picker) ofHop(h spans.Hop) *pair {
	if p.ofHops[h] == nil {
		p.ofHops[h] = new(pair)
	}
	return p.ofHops[h]
}
