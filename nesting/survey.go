package nesting

import "github.com/tailscope/tailscope/spans"

// Source gives the chains of one round after the other, from 0 on, to visit, which it
// calls from several workers at once. more says that another round would bring others.
type Source func(round int, visit func(worker int, c *spans.Chain) error) (more bool, err error)

// Survey lets the chains of sources vote and decides, with so many workers. step is as
// NewVotes has it, stated as Votes.State. In the first rounds all pairs of hops vote, in further ones those that
// have votes, but too few. Very many votes end it: a log of so many pairs has no end.
func Survey(workers int, step int64, stated *Stated, sources ...Source) (*Finding, error) {
	all := NewVotes(step)
	all.State(stated)
	for round, more := 0, true; more; round++ {
		each := make([]*Votes, max(workers, 1))
		for i := range each {
			each[i] = NewVotes(step)
			each[i].State(stated)
			each[i].settled = all.settled
		}
		more = false
		for _, source := range sources {
			again, err := source(round, func(worker int, c *spans.Chain) error {
				each[worker].AddChain(c)
				return nil
			})
			if err != nil {
				return nil, err
			}
			more = more || again
		}
		for _, v := range each {
			all.Merge(v)
		}
		more = more && all.size() < mostVotes && (round+1 < commonRounds || all.settle())
	}
	return all.Find(), nil
}

const (
	// commonRounds is how many rounds all pairs vote in.
	commonRounds = 4
	mostVotes    = 1 << 17
)

// size is how many votes there are.
func (v *Votes) size() (n int) {
	for _, list := range v.lists {
		n += len(list)
	}
	return n
}

// settle notes which pairs have enough votes; open says that some have too few.
func (v *Votes) settle() (open bool) {
	votes := map[pair]int{}
	for i := range v.ballots {
		b := &v.ballots[i]
		for _, one := range v.lists[b.of][b.from:b.to] {
			votes[pair{one.caller, one.callee}]++
		}
	}
	v.settled = map[[2]spans.Hop]bool{}
	for p, n := range votes {
		if n < leastVotes {
			open = true
			continue
		}
		v.settled[[2]spans.Hop{v.hops.Hop(p.caller), v.hops.Hop(p.callee)}] = true
	}
	return open
}
