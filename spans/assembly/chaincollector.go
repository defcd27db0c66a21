package assembly

import (
	"bytes"

	"github.com/tailscope/tailscope/internal/spill"

	"github.com/tailscope/tailscope/spans"
)

// ChainCollector takes the batches of one worker goroutine. Lines of a chain often
// come one behind the other: such a run is one record, with some 20 bytes for its
// chain and 7 for each line.
type ChainCollector struct {
	config     ChainConfig
	tables     *tables
	hops       []hopOfChains
	sites      table[site]
	store      *store
	starts     [chainPartitions]int64 // of the last run of each partition, in ns
	run        runWriter
	lines      int64          // that were kept
	resolution spans.Resolved // of their times
}

// site is a hop at an instance: what a line takes up as one number.
type site struct{ hop, instance int32 }

// hopOfChains is what a collector knows of a hop.
type hopOfChains struct {
	marked  bool
	timeout int64 // as ChainConfig has it, 0 for none
	// The site as which it was seen last, one more than the number.
	instance, site int32
}

func newChainCollector(c ChainConfig) *ChainCollector {
	q := &quota{limit: c.Memory / int64(c.Workers)}
	return &ChainCollector{config: c, tables: newTables(), store: newStore(chainPartitions, 0, q, spill.New(c.TempDir, "chains"))}
}

// AddBatch takes over what it needs of a batch of a hop log with the columns Traces
// and Starts, and Instances where those are wanted; the batch stays the caller's. An
// error is one of writing the file.
func (c *ChainCollector) AddBatch(b *spans.Batch) error {
	if c.config.Keep == KeepNone {
		return nil
	}
	names := c.namesOf(b)
	for i := range b.Len() {
		hop := names.hops[b.Hop[i]]
		mayBeCut := c.mayBeCut(hop, b, i)
		id := b.Trace(i)
		if id != nil && b.HasDuration(i) && b.Duration[i] >= 0 && (c.config.Keep == KeepAll || mayBeCut || ofRetried(b, i)) {
			if err := c.add(id, b, i, c.siteOf(hop, instanceOf(names, b, i)), mayBeCut); err != nil {
				return err
			}
		}
	}
	return c.endRun()
}

// ofRetried reports whether row i may belong to a call with retries.
func ofRetried(b *spans.Batch, i int) bool {
	o := spans.Outcome(b.Outcome[i])
	return o == spans.Truncated || o == spans.Failed || b.Retry(i)
}

func instanceOf(names *renaming, b *spans.Batch, i int) int32 {
	if b.Instance == nil {
		return 0
	}
	return at(names.instances, b.Instance[i])
}

func (c *ChainCollector) namesOf(b *spans.Batch) *renaming {
	r, grown := c.tables.of(b)
	c.store.quota.charge(grown)
	for _, h := range c.tables.hops.Values()[len(c.hops):] {
		c.hops = append(c.hops, hopOfChains{timeout: c.config.Naming.Timeout(c.config.Timeouts, h.Name)})
	}
	return r
}

// mayBeCut reports whether row i completed for all that it says, and yet is as long
// as its timeout. It notes whether the row says anything.
func (c *ChainCollector) mayBeCut(hop int32, b *spans.Batch, i int) bool {
	h := &c.hops[hop]
	if b.Marked(i) {
		h.marked = true
		return false
	}
	timeout := h.timeout
	if timeout == 0 {
		timeout = b.Timeout[i]
	}
	return timeout > 0 && spans.Outcome(b.Outcome[i]) == spans.Completed && b.HasDuration(i) && spans.AtWall(timeout, b.Duration[i])
}

// siteOf returns the number of a hop at an instance.
func (c *ChainCollector) siteOf(hop, instance int32) int32 {
	h := &c.hops[hop]
	if h.site > 0 && h.instance == instance {
		return h.site - 1
	}
	i, _ := c.sites.add(site{hop, instance})
	h.instance, h.site = instance, i+1
	return i
}

// renamed returns the sites in the numbers of other tables.
func (c *ChainCollector) renamed(r *renaming) []site {
	list := make([]site, len(c.sites.Values()))
	for i, s := range c.sites.Values() {
		list[i] = site{r.hops[s.hop], r.instances[s.instance]}
	}
	return list
}

// add writes a line into the record of its run.
func (c *ChainCollector) add(id []byte, b *spans.Batch, i int, site int32, mayBeCut bool) error {
	if c.run.text == nil || !bytes.Equal(id, c.run.text) {
		if err := c.endRun(); err != nil {
			return err
		}
		c.beginRun(id)
	}
	c.run.line(b, i, site, mayBeCut)
	c.lines++
	c.resolution.Durations.See(b.Duration[i])
	if start, timed := b.Start(i); timed {
		c.resolution.Starts.See(start)
	}
	return nil
}

// beginRun starts the record of a chain's next run.
func (c *ChainCollector) beginRun(text []byte) {
	r := &c.run
	r.begin(text)
	r.partition = partitionOf(r.id, chainPartitions, 0)
	r.start = c.starts[r.partition]
}

// endRun puts the record that is being written where it belongs, if there is one.
func (c *ChainCollector) endRun() error {
	r := &c.run
	if r.text == nil {
		return nil
	}
	r.bytes[r.flags] |= flagLast
	r.text = nil // it is the batch's
	if !r.first {
		c.starts[r.partition] = r.firstStart
	}
	return c.store.partitions[r.partition].add(r.id, r.bytes)
}
