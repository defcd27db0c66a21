package quantile

import "github.com/tailscope/tailscope/quantile/runs"

// Stratum is one group of attempts within which cuts do not depend on
// slowness, such as the calls of one caller with its own timeout.
type Stratum struct {
	Completed, Cut Union
}

// strata is the pooled curve S(t) = sum of w_j S_j(t), w_j = n_j/n, on its
// way through time.
type strata struct {
	curves  []survival
	cursors []*runs.Cursor // of each curve's completed values and of its cuts
	sizes   []uint64       // of the curves
	total   uint64
	done    uint64 // completions up to now
	wasCut  bool   // before now
	stopped bool   // some curve is not identified after now
}

// StratifiedKMQuantile returns inf{t: S(t) <= 1-p} in nanoseconds for the
// pooled curve S = sum of (n_j/n) S_j. Pooling the values themselves would
// mix different timeouts, and the slower callers would look too slow. S is
// identified up to the smallest time at which some S_j stops because its
// largest observation is a cut; a curve that reached 0 stays there.
func StratifiedKMQuantile(groups []Stratum, p P) (value int64, ok bool) {
	var s strata
	for _, g := range groups {
		s.add(g)
	}
	for t, shares := range runs.Interleave(s.cursors...) {
		fell, cut := s.step(shares)
		if fell && s.reached(p) {
			return t, true
		}
		if s.stopped {
			break
		}
		s.wasCut = s.wasCut || cut
	}
	return 0, false
}

func (s *strata) add(g Stratum) {
	n := g.Completed.N() + g.Cut.N()
	done, cuts := g.Completed.Cursor(), g.Cut.Cursor()
	s.cursors = append(s.cursors, &done, &cuts)
	s.curves, s.sizes = append(s.curves, survivalOf(n)), append(s.sizes, n)
	s.total += n
}

// step enters what has completed and what was cut at one time, and reports whether
// anything was.
func (s *strata) step(shares []runs.Share) (fell, cut bool) {
	for _, one := range shares {
		c := &s.curves[one.From/2]
		if one.From%2 == 0 {
			c.complete(one.Count)
			s.done += one.Count
			fell = true
			continue
		}
		c.cut(one.Count)
		cut = true
		s.stopped = s.stopped || c.atRisk == 0 && c.last > 0
	}
	return fell, cut
}

// reached is fall.reached for the pooled curve.
func (s *strata) reached(p P) bool {
	if !s.wasCut {
		return s.done >= p.Rank(s.total)
	}
	sum := 0.0
	for i, c := range s.curves {
		sum += float64(s.sizes[i]) / float64(s.total) * c.after(0)
	}
	return sum <= p.Beyond()*reachedTolerance
}
