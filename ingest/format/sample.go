package format

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/spans"
)

// Sample is a part of the attempts of a chunk or a file, by which two files are
// compared: those with the smallest hashes (a bottom-k sketch; Broder, On the resemblance
// and containment of documents, 1997). What is alike has the same hash wherever it
// stands, so the parts of two files show how much they share.
type Sample struct {
	hashes []uint64
	// beyond is the largest number there is less the largest hash that counts; full: as
	// many hashes are there as are kept.
	beyond uint64
	full   bool
	// Named: every attempt of the part names its chain.
	Named bool
}

// kept is how many hashes are kept: a share is known to some 3 points.
const kept = 256

// Under leaves out what cannot be among the smallest hashes of a file, by what earlier
// chunks of it had.
func (s *Sample) Under(earlier *Sample) { s.beyond = earlier.beyond }

// LeaveOut leaves out every row, of a file that is not compared.
func (s *Sample) LeaveOut() { s.beyond = math.MaxUint64 }

// Order is the upper half of a row's hash, which costs little: most rows are left out by
// it.
func Order(r *spans.Row) uint64 {
	return (uint64(r.Start) ^ uint64(r.Duration)*digest.B) * digest.A >> 32
}

// Counts reports whether a row with that order may be among the smallest.
func (s *Sample) Counts(order uint64) bool { return order <= ^s.beyond>>32 }

// Add takes a row of a hop log. One that names neither its chain nor its start says
// nothing: many are alike.
func (s *Sample) Add(order uint64, r *spans.Row, hop []byte) {
	if r.Trace == nil && !r.HasStart {
		return
	}
	rest := digest.Sum(digest.Sum(order^uint64(r.Outcome), r.Trace), hop)
	s.Named = (s.Named || len(s.hashes) == 0) && r.Trace != nil
	s.put(order<<32 | rest&math.MaxUint32)
}

func (s *Sample) put(h uint64) {
	if h > ^s.beyond {
		return
	}
	if s.hashes = append(s.hashes, h); len(s.hashes) == 2*kept {
		s.settle()
	}
}

// settle leaves the smallest hashes, each once.
func (s *Sample) settle() {
	slices.Sort(s.hashes)
	s.hashes = slices.Compact(s.hashes)
	if len(s.hashes) >= kept {
		s.hashes, s.full = s.hashes[:kept], true
		s.beyond = ^s.hashes[kept-1]
	}
}

// Merge takes what another part has.
func (s *Sample) Merge(o *Sample) {
	if len(o.hashes) == 0 {
		return
	}
	s.Named = (s.Named || len(s.hashes) == 0) && o.Named
	s.hashes = slices.Grow(s.hashes, min(len(o.hashes), 2*kept-len(s.hashes)))
	for _, h := range o.hashes {
		s.put(h)
	}
}

// End leaves of a sample to which nothing comes any more what it is compared by. Few
// files have something in common, so those of small ones are sorted once they are
// compared.
func (s *Sample) End() {
	if len(s.hashes) >= kept {
		s.settle()
	}
	s.hashes = slices.Clip(s.hashes)
}

// Sort makes a sample that has ended ready for Shared.
func (s *Sample) Sort() { s.settle() }

// Shared says how many of the attempts looked at in two files whose samples were sorted are
// in both, and how many there are in each.
func (s *Sample) Shared(o *Sample) (both, here, there int) {
	a, b := s.upTo(o.last()), o.upTo(s.last())
	for _, h := range a {
		if _, found := slices.BinarySearch(b, h); found {
			both++
		}
	}
	return both, len(a), len(b)
}

// last is the largest hash that counts.
func (s *Sample) last() uint64 {
	if s.full {
		return s.hashes[kept-1]
	}
	return math.MaxUint64
}

func (s *Sample) upTo(most uint64) []uint64 {
	n, found := slices.BinarySearch(s.hashes, most)
	if found {
		n++
	}
	return s.hashes[:n]
}

// Hashes are those of a sample that has ended; before it is sorted, one may come twice.
func (s *Sample) Hashes() []uint64 { return s.hashes }
