package buckets

import (
	"hash/maphash"
	"iter"
	"maps"

	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its buckets.
type Config struct {
	// Timeouts are the configured ones, in nanoseconds by hop name.
	Timeouts map[string]int64
	// MaxHeld bounds the cut and failed attempts that are kept to find failures
	// that hold a cut; 0 means DefaultMaxHeld.
	MaxHeld int

	seeds [2]maphash.Seed
}

// NewConfig returns a Config; all sets that are to be merged share one.
func NewConfig(timeouts map[string]int64) Config {
	return Config{Timeouts: timeouts, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// Set groups attempts by hop. Not safe for concurrent use: each worker has its
// own, and they are merged at the end.
type Set struct {
	config Config
	hops   map[string]*hop
	byDict map[*spans.Dictionary][]*hop
	cuts   []heldCut
	// eligible counts the attempts that hold was to keep, gaveUp that it does
	// not any more.
	eligible int
	gaveUp   bool
}

// NewSet returns an empty set.
func NewSet(c Config) *Set {
	if c.MaxHeld == 0 {
		c.MaxHeld = DefaultMaxHeld
	}
	return &Set{config: c, hops: map[string]*hop{}, byDict: map[*spans.Dictionary][]*hop{}}
}

// Add counts the attempts of a batch. It keeps nothing of the batch, which
// stays the caller's.
func (s *Set) Add(b *spans.Batch) {
	hops := s.bind(b)
	for i, index := range b.Hop {
		h := hops[index]
		a := attempt{
			duration: b.Duration[i],
			timeout:  b.Timeout[i],
			outcome:  spans.Outcome(b.Outcome[i]),
			cutBy:    spans.CutBy(b.CutBy[i]),
			failure:  spans.Failure(b.Failure[i]),
			retry:    b.Retry(i),
			marked:   b.Marked(i),
		}
		if b.Stratum != nil && !a.retry {
			a.stratum = h.stratumOf(b.Strata[b.Stratum[i]])
		}
		if b.Resolution != nil {
			h.resolution = max(h.resolution, b.Resolution[i])
		}
		if a.outcome != spans.Completed && s.hold(h, a, b, i) {
			continue
		}
		h.add(a)
	}
}

// bind returns the hops of the batch's dictionary by their index.
func (s *Set) bind(b *spans.Batch) []*hop {
	hops := s.byDict[b.Lineage]
	for _, name := range b.Hops[len(hops):] {
		hops = append(hops, s.hop(name))
	}
	s.byDict[b.Lineage] = hops
	return hops
}

func (s *Set) hop(name string) *hop {
	h := s.hops[name]
	if h == nil {
		h = &hop{name: name, timeout: s.config.Timeouts[name]}
		s.hops[name] = h
	}
	return h
}

// Merge moves the attempts of o into s; o must not be used any more.
func (s *Set) Merge(o *Set) {
	for name, h := range o.hops {
		s.hop(name).merge(h)
	}
	s.cuts = append(s.cuts, o.cuts...)
	s.eligible += o.eligible
}

// Attempts returns how many attempts were added.
func (s *Set) Attempts() uint64 {
	var n uint64
	for _, h := range s.hops {
		n += h.attempts()
	}
	return n
}

// Names yields the names of all hops, in no order.
func (s *Set) Names() iter.Seq[string] { return maps.Keys(s.hops) }

// Has reports whether a hop of that name was seen.
func (s *Set) Has(name string) bool { return s.hops[name] != nil }

func (h *hop) attempts() uint64 {
	n := h.unfinished + uint64(len(h.held))
	for _, p := range [...]*part{&h.first, &h.retries} {
		n += p.all().N() + p.suspects.N()
	}
	return n
}
