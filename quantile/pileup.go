package quantile

import (
	"math"

	"github.com/tailscope/tailscope/quantile/runs"
)

// PileUp is durations that lie as close together as those of a timeout do, and so many
// of them that nothing else makes them: [From, To] is a hundredth wide.
type PileUp struct {
	From, To int64 // ns
	N        uint64
}

const (
	topLevel    = 1e-3 // chance of a pile-up at the top where there is none
	insideLevel = 1e-6 // and of one anywhere else, where many places are looked at
	fewestAtTop = 3
	fewestPiled = 5
	overDensity = 4 // so many times what the values before it let expect
)

// FindPileUp looks for a timeout that nobody marked. A window begins at a value and is a
// hundredth wide; the values of a reference before it say how many to expect in it, in
// whole steps of the clock. Looked at are the window of the largest values, and all that
// begin beyond p90, of which that with most values is taken; there it must hold a fifth
// of what lies beyond p, the quantile that matters. Nothing is found where a body of
// values is as narrow as a pile-up, or the clock too coarse to tell.
func FindPileUp(durations Union, step int64, p P) (PileUp, bool) {
	s := newPileSearch(durations, step)
	if s.n < fewestAtTop {
		return PileUp{}, false
	}
	at := durations.At((s.n+1)/2, s.n*9/10+1, s.n)
	s.median, s.p90, s.largest = at[0], at[1], at[2]
	if s.narrow() {
		return PileUp{}, false
	}
	if found, ok := s.atTop(); ok {
		return found, true
	}
	return s.inside(p)
}

// hundredthUp returns a duration and a hundredth of it.
func hundredthUp(ns int64) int64 { return ns + min(ns/100, math.MaxInt64-ns) }

// share returns 100/of of a duration, rounded up.
func share(ns, of int64) int64 { return ns/of*100 + (ns%of*100+of-1)/of }

type pileSearch struct {
	n    uint64
	step int64
	// the lower median, the first value beyond p90, and the last
	median, p90, largest int64
	places               []place // that the walk passed, upwards
}

func newPileSearch(values Union, step int64) *pileSearch {
	return &pileSearch{n: values.N(), step: max(step, 1), places: []place{{Cursor: values.Cursor(), limit: -1}}}
}

// place is one between two values, with how many come before it: all up to limit.
type place struct {
	runs.Cursor
	limit int64
	below uint64
}

// to goes on to a limit that is no less.
func (p *place) to(limit int64) {
	p.below += p.UpTo(limit)
	p.limit = limit
}

// placeAt returns the place after all values up to limit. To go there from the last place
// before takes less time than from the first.
func (s *pileSearch) placeAt(limit int64) place {
	from := len(s.places) - 1
	for from > 0 && s.places[from].limit > limit {
		from--
	}
	p := s.places[from]
	p.Cursor = p.Fork()
	p.to(limit)
	return p
}

// pass is upTo, and keeps the place to go on from.
func (s *pileSearch) pass(limit int64) uint64 {
	p := s.placeAt(limit)
	if limit > s.places[len(s.places)-1].limit {
		s.places = append(s.places, p)
	}
	return p.below
}

// upTo returns how many values there are up to limit.
func (s *pileSearch) upTo(limit int64) uint64 {
	p := s.placeAt(limit)
	return p.below
}

// narrow reports whether a fifth of all lies around the median.
func (s *pileSearch) narrow() bool {
	below := s.pass(share(s.median, 101) - 1)
	return (s.pass(hundredthUp(s.median))-below)*5 >= s.n
}

// fits reports whether a window that begins at v can be told from others.
func (s *pileSearch) fits(v int64) bool { return v > hundredthUp(s.median) && v/100 >= s.step }

// atTop looks at the largest values.
func (s *pileSearch) atTop() (PileUp, bool) {
	s.pass(share(s.p90, 105) - 1)
	s.pass(s.p90 - 1)
	top := s.placeAt(share(s.largest, 101) - 1)
	if s.n-top.below < fewestAtTop {
		return PileUp{}, false
	}
	v, _, _ := top.Next()
	if !s.fits(v) {
		return PileUp{}, false
	}
	from := func(of int64) pileWindow {
		return s.window(v, s.n-top.below, top.below-s.upTo(share(v, of)-1), share(v, of))
	}
	w := from(105)
	return w.pileUp(), w.chance() <= topLevel || w.dense() && from(200).chance() <= topLevel
}

// inside looks at all values beyond p90, block by block: most blocks are passed over.
func (s *pileSearch) inside(p P) (PileUp, bool) {
	num, den := p.Fraction()
	f := pileFinder{pileSearch: s, fewest: max(fewestPiled, float64(s.n)*float64(den-num)/float64(den)/5)}
	blocks := s.walk()
	f.walk = s.walk()
	for from := s.p90; from <= s.largest; {
		to := hundredthUp(from) + 1
		if f.mayBeIn(&blocks, from, to) {
			f.look(from, to)
		}
		if from = to; from <= 0 {
			break // beyond the largest duration there is
		}
	}
	return f.most, f.found
}

// pileWalk is three places that go upwards together: where windows begin, where they end,
// and where their references begin.
type pileWalk struct{ at, ahead, behind place }

// walk returns one that begins at p90.
func (s *pileSearch) walk() pileWalk {
	return pileWalk{at: s.placeAt(s.p90 - 1), ahead: s.placeAt(s.p90 - 1), behind: s.placeAt(share(s.p90, 105) - 1)}
}

// window returns the one that begins at v, of which all values below are passed.
func (w *pileWalk) window(s *pileSearch, v int64) pileWindow {
	w.ahead.to(hundredthUp(v))
	w.behind.to(share(v, 105) - 1)
	return s.window(v, w.ahead.below-w.at.below, w.at.below-w.behind.below, share(v, 105))
}

// pileFinder finds the window with most values.
type pileFinder struct {
	*pileSearch
	walk   pileWalk
	next   int64  // the value that at has read last, if count is above 0
	count  uint64 // of next; below does not have it
	fewest float64
	most   PileUp
	found  bool
}

// mayBeIn reports whether a pile-up may begin in [from, to): not where all that lies in
// any window of those is too little for what lies in the reference of each.
func (f *pileFinder) mayBeIn(w *pileWalk, from, to int64) bool {
	w.at.to(from - 1)
	w.ahead.to(hundredthUp(to))
	w.behind.to(share(to, 105) - 1)
	count, reference := float64(w.ahead.below-w.at.below), float64(w.at.below-min(w.behind.below, w.at.below))
	width, before := from/100/f.step+1, max(1, (to-share(to, 105))/f.step+1)
	least := overDensity * reference * float64(width) / float64(before)
	return count >= f.fewest && count > float64(f.most.N) && f.fits(to) && count*(1+1e-9) >= least
}

// look looks at all windows that begin in [from, to).
func (f *pileFinder) look(from, to int64) {
	w := &f.walk
	if f.count == 0 || f.next < from {
		w.at.below, f.count = w.at.below+f.count, 0
		w.at.to(from - 1)
	}
	for f.read() && f.next < to {
		p := w.window(f.pileSearch, f.next)
		w.at.below, f.count = w.at.below+f.count, 0
		if float64(p.count) >= f.fewest && p.count > f.most.N && f.fits(p.from) && p.dense() && p.chance() <= insideLevel {
			f.most, f.found = p.pileUp(), true
		}
	}
}

// read reads the next value where the last one is passed; false after the last.
func (f *pileFinder) read() bool {
	if f.count == 0 {
		f.next, f.count, _ = f.walk.at.Next()
	}
	return f.count > 0
}

// pileWindow is a window with the values in it and in its reference, and the share of
// both together that its width lets expect.
type pileWindow struct {
	from             int64
	count, reference uint64
	expected         float64
}

func (s *pileSearch) window(v int64, count, reference uint64, from int64) pileWindow {
	width, before := v/100/s.step+1, max(1, (v-from)/s.step)
	return pileWindow{v, count, reference, float64(width) / float64(width+before)}
}

// chance is how likely so many values are in the window.
func (w pileWindow) chance() float64 {
	return chance{w.expected, 1 - w.expected}.atLeast(w.count, w.count+w.reference)
}

// dense reports whether the window holds several times what the reference lets expect.
func (w pileWindow) dense() bool {
	return float64(w.count) >= overDensity*float64(w.reference)*w.expected/(1-w.expected)
}

func (w pileWindow) pileUp() PileUp { return PileUp{w.from, hundredthUp(w.from), w.count} }
