package runs

import (
	"testing"
	"unsafe"

	"github.com/tailscope/tailscope/internal/durationtest"
)

// sampleOf returns a sample of the values.
func sampleOf(values ...int64) *Sample {
	s := new(Sample)
	s.AddAll(values)
	return s
}

func talliesOf(u Union) []durationtest.Tally { return durationtest.Tallies(u.All()) }

// shorter is a quarter of a large size where tests are to be short.
func shorter(n int) int {
	if testing.Short() && n >= 100_000 {
		return n / 4
	}
	return n
}

// heldBytes is all the memory that s holds. Blocks that a clone shares are counted in
// both.
func (s *Sample) heldBytes() uint64 {
	total := uint64(unsafe.Sizeof(*s)) + s.pages.heldBytes()
	total += uint64(cap(s.pending)) * uint64(unsafe.Sizeof(int64(0)))
	total += uint64(cap(s.heavy)) * uint64(unsafe.Sizeof(tally{}))
	total += uint64(cap(s.runs)) * uint64(unsafe.Sizeof(run{}))
	for _, r := range s.runs {
		total += r.held + uint64(cap(r.blocks))*uint64(unsafe.Sizeof(block{}))
	}
	return total
}

func (d *directory) heldBytes() uint64 {
	held := uint64(cap(d.nodes)) * uint64(unsafe.Sizeof(&node{}))
	for _, n := range d.nodes {
		if n != nil {
			held += uint64(unsafe.Sizeof(node{}))
		}
	}
	for _, p := range d.all() {
		held += uint64(unsafe.Sizeof(*p))
		for _, g := range p.high {
			if g != nil {
				held += uint64(unsafe.Sizeof(*g))
			}
		}
	}
	return held
}
