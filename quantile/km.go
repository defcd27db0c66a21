package quantile

import (
	"iter"

	"github.com/tailscope/tailscope/quantile/runs"
)

// reachedTolerance absorbs the rounding of a product of survival ratios, so
// that a curve which equals 1-p in real numbers counts as having reached it.
const reachedTolerance = 1 + 1e-9

// KMStep is the Kaplan-Meier curve at one distinct time. At equal times
// completions come before cuts.
type KMStep struct {
	Time      int64  // nanoseconds
	Completed uint64 // at Time
	Cut       uint64 // at Time
	Survival  float64
}

// KMBeyond yields the survival curve of those right-censored durations that lie
// above a threshold in nanoseconds, given that they do: one step for each distinct
// time, ascending. All do where it is negative. It streams: its memory does not
// depend on the number of values. Source: Kaplan and Meier, JASA 53 (1958).
func KMBeyond(completed, cut Union, threshold int64) iter.Seq[KMStep] {
	return func(yield func(KMStep) bool) {
		done, cuts := completed.Cursor(), cut.Cursor()
		below := done.UpTo(threshold) + cuts.UpTo(threshold)
		s := survivalOf(completed.N() + cut.N() - below)
		for t, shares := range runs.Interleave(&done, &cuts) {
			step := KMStep{Time: t}
			if first := shares[0]; first.From == 0 {
				step.Completed = first.Count
				s.complete(first.Count)
			}
			step.Survival = s.after(0)
			if last := shares[len(shares)-1]; last.From == 1 {
				step.Cut = last.Count
				s.cut(last.Count)
			}
			if !yield(step) {
				return
			}
		}
	}
}

// survival is what is left of n attempts. Between two cuts the product
// telescopes: with a at risk, S = last a/base. That leaves one rounding per cut
// time, not per time.
type survival struct {
	atRisk, base uint64  // now, and after the last cut
	last         float64 // S at the last cut
}

func survivalOf(n uint64) survival { return survival{atRisk: n, base: n, last: 1} }

// after returns S once n more have completed. It falls, or stays, with each.
func (s survival) after(n uint64) float64 {
	if s.base == 0 {
		return s.last
	}
	return s.last * (float64(s.atRisk-n) / float64(s.base))
}

func (s *survival) complete(n uint64) { s.atRisk -= n }

// cut takes n cut attempts out.
func (s *survival) cut(n uint64) {
	s.last = s.after(0)
	s.atRisk -= n
	s.base = s.atRisk
}

// kmRanksFrom returns the ranks, among n completed values, at which the curve has
// fallen to 1-p; 0 where it never does. Between two cuts it falls with each completed
// value whatever that is, so only their numbers matter. It goes on after the first of
// the values, so many that are none of them longer than the first cut.
func kmRanksFrom(below uint64, completed runs.Cursor, n uint64, cut Union, ps []P) []uint64 {
	total := n + cut.N()
	f := &fall{survival: survivalOf(total), total: total, ps: ps, ranks: make([]uint64, len(ps)), missing: len(ps)}
	f.complete(below)
	cuts := cut.Cursor()
	for t, k, ok := cuts.Next(); ok && f.missing > 0; t, k, ok = cuts.Next() {
		f.complete(completed.UpTo(t))
		f.cut(k)
		f.wasCut = true
	}
	f.complete(n - f.done)
	return f.ranks
}

// fall is a Kaplan-Meier curve on its way down, from cut to cut.
type fall struct {
	survival
	total   uint64
	done    uint64
	wasCut  bool
	ps      []P
	ranks   []uint64
	missing int
}

// complete lets n attempts complete and finds the ranks among them.
func (f *fall) complete(n uint64) {
	for i, p := range f.ps {
		if f.ranks[i] > 0 {
			continue
		}
		if k := firstWhere(1, n, func(k uint64) bool { return f.reached(p, k) }); k <= n {
			f.ranks[i] = f.done + k
			f.missing--
		}
	}
	f.done += n
	f.survival.complete(n)
}

// reached reports whether S <= 1-p after k more completions. Before the first
// cut the nearest rank decides, in integers.
func (f *fall) reached(p P, k uint64) bool {
	if !f.wasCut {
		return f.done+k >= p.Rank(f.total)
	}
	return f.after(k) <= p.Beyond()*reachedTolerance
}
