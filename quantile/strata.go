package quantile

// Stratum is one group of attempts within which cuts do not depend on
// slowness, such as the calls of one caller with its own timeout.
type Stratum struct {
	Completed, Cut Union
}

// strata is the pooled curve S(t) = sum of w_j S_j(t), w_j = n_j/n, on its
// way through time.
type strata struct {
	curves    []*curve
	total     uint64
	done      uint64 // completions up to now
	cutNow    uint64 // cuts at now
	cutBefore uint64 // cuts before now
	stopped   bool   // some curve is not identified after now
}

// StratifiedKMQuantile returns inf{t: S(t) <= 1-p} in nanoseconds for the
// pooled curve S = sum of (n_j/n) S_j. Pooling the values themselves would
// mix different timeouts, and the slower callers would look too slow. S is
// identified up to the smallest time at which some S_j stops because its
// largest observation is a cut; a curve that reached 0 stays there.
func StratifiedKMQuantile(groups []Stratum, p P) (value int64, ok bool) {
	var s strata
	for _, g := range groups {
		c := newCurve(g.Completed, g.Cut, -1)
		if c.total > 0 {
			s.curves = append(s.curves, c)
			s.total += c.total
		}
	}
	for !s.stopped {
		t, more := s.peek()
		if !more {
			return 0, false
		}
		if s.step(t) && s.reached(p) {
			return t, true
		}
	}
	return 0, false
}

// peek returns the next time of any curve.
func (s *strata) peek() (t int64, ok bool) {
	for _, c := range s.curves {
		if next, more := c.peek(); more && (!ok || next < t) {
			t, ok = next, true
		}
	}
	return t, ok
}

// step moves every curve that has something at time t; fell reports a
// completion among them.
func (s *strata) step(t int64) (fell bool) {
	s.cutBefore += s.cutNow
	s.cutNow = 0
	for _, c := range s.curves {
		if next, more := c.peek(); !more || next != t {
			continue
		}
		c.step()
		s.done += c.now.Completed
		s.cutNow += c.now.Cut
		fell = fell || c.now.Completed > 0
		_, more := c.peek()
		s.stopped = s.stopped || !more && c.now.Survival > 0
	}
	return fell
}

// reached is curve.reached for the pooled curve.
func (s *strata) reached(p P) bool {
	if s.cutBefore == 0 {
		return s.done >= p.Rank(s.total)
	}
	sum := 0.0
	for _, c := range s.curves {
		sum += float64(c.total) / float64(s.total) * c.now.Survival
	}
	return sum <= p.Beyond()*reachedTolerance
}
