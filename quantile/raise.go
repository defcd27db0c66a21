package quantile

// A failure is left out of the tail, but a slow one may hide an attempt that would have
// been slower than the others. So an upper limit x counts the failures that may have
// taken x or longer, f of them: it is that of n + f attempts. The more count the higher
// the limit, and the higher it is the fewer count; the fewest that agree are looked for.

// LoggedFrom returns the least duration whose 1.3 fold reaches x, both in ns.
func LoggedFrom(x int64) int64 { return x/13*10 + (x%13*10+12)/13 }

// failuresReaching counts, for ascending limits, the failures that may have taken so
// long or longer.
func (o Observed) failuresReaching(limits []int64) []uint64 {
	counts := make([]uint64, len(limits))
	left, cursor := o.Failed.N(), o.Failed.Cursor()
	for i, x := range limits {
		left -= cursor.UpTo(LoggedFrom(x) - 1)
		counts[i] = left
	}
	return counts
}

// raise moves the upper limits so that they count failures. Limits are values of the
// completed ones, without the clock's step.
func (o Observed) raise(tails []Tail, confidence P) {
	if o.Failed.N() == 0 {
		return
	}
	var searches []*limitSearch
	for i := range tails {
		if s := o.searchFor(&tails[i], confidence); s != nil {
			searches = append(searches, s)
		}
	}
	for o.narrow(searches) {
	}
	for _, s := range searches {
		s.Upper = nil
		if k := s.rank(s.enough); k <= s.completed {
			s.Upper = &o.Completed.At(k)[0]
		}
	}
}

// limitSearch looks for the number of failures that a limit must count: too few of them
// leave more that reach the limit.
type limitSearch struct {
	*Tail
	confidence     P
	completed      uint64 // values
	tooFew, enough uint64 // failures
	rungs          []uint64
}

// searchFor returns nil where no failure matters to the limit.
func (o Observed) searchFor(q *Tail, confidence P) *limitSearch {
	if q.Upper == nil {
		return nil
	}
	s := &limitSearch{Tail: q, confidence: confidence, completed: o.Completed.N(), enough: o.failuresReaching([]int64{*q.Upper})[0]}
	if s.enough == 0 || s.rank(s.enough) == s.rank(0) {
		return nil
	}
	return s
}

// rank returns the rank of the limit among the completed values if it counts so many
// failures; it is beyond them where there is no limit.
func (s *limitSearch) rank(failures uint64) uint64 {
	n := s.N + failures
	size := s.Effect.Size(n)
	lo, hi := uint64(1), size
	if size == n {
		lo, hi = s.UpperRank, s.UpperRank+failures // one more attempt moves the rank by one at most
	}
	k := upperRankIn(lo, hi, size, s.P, s.confidence)
	if k > size {
		return s.completed + 1
	}
	return Sum{Lo: n}.Portion(k, size).Lo
}

// rungsAtOnce is how many numbers are tried in one walk over the values.
const rungsAtOnce = 8

// narrow tries numbers of failures between too few and enough, and reports whether any
// were left.
func (o Observed) narrow(searches []*limitSearch) bool {
	var ranks []uint64
	for _, s := range searches {
		s.rungs = s.rungs[:0]
		for f, step := s.tooFew, max(1, (s.enough-s.tooFew)/rungsAtOnce); f+step < s.enough; {
			f += step
			s.rungs = append(s.rungs, f)
			ranks = append(ranks, min(s.rank(f), s.completed))
		}
	}
	if len(ranks) == 0 {
		return false
	}
	values := o.Completed.At(ranks...)
	for _, s := range searches {
		n := len(s.rungs)
		s.decide(o.failuresReaching(values[:n]))
		values = values[n:]
	}
	return true
}

// decide takes the first of the rungs that is enough, by how many failures reach the
// limit of each.
func (s *limitSearch) decide(reaching []uint64) {
	for i, f := range s.rungs {
		if reaching[i] <= f || s.rank(f) > s.completed {
			s.enough = f
			return
		}
		s.tooFew = f
	}
}
