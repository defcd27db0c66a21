package assembly

import (
	"context"
	"errors"
	"math"

	"github.com/tailscope/tailscope/spans"
)

// Keep says which attempts of hop logs a Chains keeps.
type Keep uint8

const (
	// KeepNone keeps nothing.
	KeepNone Keep = iota
	// KeepRetried keeps what retried calls are made of: attempts that gave up, that
	// may have been cut, and retries. Nothing tells then what ran inside what.
	KeepRetried
	// KeepAll keeps all whose duration is known.
	KeepAll
)

// ChainConfig says what a Chains keeps, and what it may use.
type ChainConfig struct {
	Keep Keep
	// PassUpCuts makes a failed attempt that holds a cut one of another hop of its
	// chain a cut from below.
	PassUpCuts bool
	// Timeouts are those that the user gave, in ns by hop name. An attempt of which the
	// source says nothing was cut if it lasted as long as its timeout: one of these,
	// else the one that its record carries.
	Timeouts map[string]int64
	// Naming says what hops are called in the end; nil: as they come.
	Naming *spans.Naming
	// Memory is in bytes, for all workers together, for attempts that wait for their
	// chain to be whole; 0 sets no limit. What it does not hold goes to files in
	// TempDir, "" being the system's folder. Besides, each worker of Each holds a
	// 256th of everything.
	Memory  int64
	TempDir string
	// Workers is how many ChainCollectors there are, at least 1.
	Workers int
}

// Chains puts the chains of hop logs together, whose lines come in any order,
// from several files and workers. Each worker adds to its ChainCollector; then Each
// gives every chain once. Close must be called.
type Chains struct {
	config     ChainConfig
	collectors []*ChainCollector
	visited    bool
	merged     *collected // once it is asked for
}

// NewChains returns an empty store.
func NewChains(c ChainConfig) *Chains {
	c.Workers = max(c.Workers, 1)
	if c.Memory <= 0 {
		c.Memory = math.MaxInt64
	}
	s := &Chains{config: c}
	for range c.Workers {
		s.collectors = append(s.collectors, newChainCollector(c))
	}
	return s
}

// Worker returns the collector of worker i of Workers.
func (s *Chains) Worker(i int) *ChainCollector { return s.collectors[i] }

// Close removes what is on disk; calling it again does nothing.
func (s *Chains) Close() error {
	var errs []error
	for _, c := range s.collectors {
		errs = append(errs, c.store.file.Close())
	}
	return errors.Join(errs...)
}

// Each calls visit with every chain exactly once, from as many goroutines as there
// are workers; the order of chains is not specified. It comes after all AddBatch,
// and once. A chain is the visitor's until visit returns. An error of visit, of
// reading a file, or the end of ctx, ends it.
func (s *Chains) Each(ctx context.Context, workers int, visit func(worker int, c *spans.Chain) error) error {
	if s.visited {
		return errors.New("assembly: Each after Each")
	}
	s.visited = true
	return s.visit(ctx, workers, 0, chainPartitions, visit)
}

// visit visits the chains of some partitions.
func (s *Chains) visit(ctx context.Context, workers, from, to int, visit func(worker int, c *spans.Chain) error) error {
	all := s.merge()
	return eachPartition(ctx, workers, to-from, func(ctx context.Context, worker int) func(int) error {
		r := &chainReader{collected: all, ctx: ctx, config: s.config, again: !s.visited}
		r.chain = spans.Chain{Hops: all.names.hops.Values(), Instances: all.names.instances.Values()}
		r.visit = func(c *spans.Chain) error { return visit(worker, c) }
		return func(partition int) error { return r.partition(from + partition) }
	})
}

// A sample begins with the chains of about sampleLines lines; each further round doubles
// it, up to sampleRounds.
const (
	sampleLines  = 1 << 12
	sampleRounds = 8
	// commonRound is the round with which there are enough for what is common.
	commonRound = 3
)

// Sample calls visit with whole chains of a part of the log, in one round after the
// other, from 0 on: those whose ids hash so, so that it does not matter who collected
// them. It comes after all AddBatch and before Each, and leaves the chains there. more
// says that another round would bring others. A log of few lines is visited whole in
// the first round.
func (s *Chains) Sample(ctx context.Context, workers, round int, visit func(worker int, c *spans.Chain) error) (more bool, err error) {
	from, to := 0, s.sampled(round)
	if round > 0 {
		from = s.sampled(round - 1)
	}
	return to < chainPartitions && round+1 < sampleRounds, s.visit(ctx, workers, from, to, visit)
}

// SampledGroup is the highest spans.Chain.Group of a part of the log that is about as
// large as a sample of what is common.
func (s *Chains) SampledGroup() uint16 {
	return uint16(s.sampled(commonRound)*(math.MaxUint16+1)/chainPartitions - 1)
}

// sampled is how many partitions all rounds up to one have.
func (s *Chains) sampled(round int) int {
	lines := int64(0)
	for _, c := range s.collectors {
		lines += c.lines
	}
	want := int64(sampleLines) << round
	if lines <= want {
		return chainPartitions
	}
	return int((want*chainPartitions + lines - 1) / lines)
}

// Resolution is that of the times of all lines. Starts is 0 where none has one.
func (s *Chains) Resolution() (r spans.Resolved) {
	for _, c := range s.collectors {
		r.Merge(c.resolution)
	}
	return r
}

// collected is what all collectors have, with one numbering of their names.
type collected struct {
	collectors []*ChainCollector
	names      tables
	sites      [][]site // of each collector, in these names
	marked     []bool   // by hop: the source says of some attempt how it ended
}

// merge joins what the workers saw into tables that do not depend on who saw what.
func (s *Chains) merge() *collected {
	if s.merged != nil {
		return s.merged
	}
	all := &collected{collectors: s.collectors}
	s.merged = all
	var each []*tables
	for _, c := range s.collectors {
		each = append(each, c.tables)
	}
	merged, renamings := mergeTables(each, s.config.Naming)
	all.names, all.marked = merged, make([]bool, len(merged.hops.Values()))
	for i, c := range s.collectors {
		all.sites = append(all.sites, c.renamed(&renamings[i]))
		for hop, h := range c.hops {
			if h.marked {
				all.marked[renamings[i].hops[hop]] = true
			}
		}
		c.tables, c.hops, c.sites = nil, nil, table[site]{}
	}
	return all
}
