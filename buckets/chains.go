package buckets

import (
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// AddChain notes which first attempts of a hop come together in a chain of a hop
// log, all of whose lines were added.
func (c *Classes) AddChain(chain *spans.Chain) { c.unweighted.addChain(chain) }

// addChain looks at the hops that have several first attempts: one alone follows
// from the counts of all.
func (s *Set) addChain(c *spans.Chain) {
	if c.TooLong() || !comeTogether(c.Attempts) {
		return
	}
	hops := s.hopsOfTable(c.Hops)
	for i := range c.Attempts {
		a := &c.Attempts[i]
		if !firstOfTail(a) {
			continue
		}
		if hops[a.Hop] == nil {
			hops[a.Hop] = s.hop(c.Hops[a.Hop])
		}
		b := hops[a.Hop].clusters
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
