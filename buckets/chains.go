package buckets

import (
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// BindChain notes which first attempts of a hop come together in a chain of a hop
// log, all of whose lines were added. hops may only grow from one call to the next.
func (c *Classes) BindChain(hops []spans.Hop, chain []spans.Attempt) { c.plain.bindChain(hops, chain) }

// bindChain looks at the hops that have several first attempts: one alone follows
// from the counts of all.
func (s *Set) bindChain(hops []spans.Hop, chain []spans.Attempt) {
	if !comeTogether(chain) {
		return
	}
	for len(s.inChains) < len(hops) {
		s.inChains = append(s.inChains, nil)
	}
	for i := range chain {
		a := &chain[i]
		if !firstOfTail(a) {
			continue
		}
		b := s.inChains[a.Hop]
		if b == nil {
			b = s.hop(hops[a.Hop]).bonds
			s.inChains[a.Hop] = b
		}
		if len(b.open) == 0 {
			s.open = append(s.open, b)
		}
		b.open = append(b.open, stepOf(a))
	}
	for _, b := range s.open {
		b.close()
	}
	s.open = s.open[:0]
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
