package assembly

import (
	"errors"
	"math"
	"sync"

	"github.com/tailscope/tailscope/internal/spill"

	"github.com/tailscope/tailscope/spans"
)

// TraceConfig says what an Traces may use.
type TraceConfig struct {
	// Memory is in bytes, for all workers together; 0 sets no limit. Half of it
	// is for collecting, half for visiting. Besides, each worker needs about
	// 1 MiB for what is on its way, and the names of hops and hosts once; a trace
	// must fit whole, with about 250 bytes a span.
	Memory int64
	// Naming says what hops are called in the end; nil: as they come.
	Naming *spans.Naming
	// TempDir is where spill files are made; "" is the system's folder.
	TempDir string
	// Workers is how many TraceCollectors there are, at least 1.
	Workers int
	// Large is called before the spans of a trace of spans.LargeTrace or more are put
	// together, by any worker: much memory is needed then; nil: nobody wants to know.
	Large func()
}

// Traces makes traces whole whose spans come in pieces, in any order, from
// several files and workers. Each worker adds to its TraceCollector; then Each gives
// every trace once. What memory does not hold is spilled to files, which Close
// removes.
type Traces struct {
	config     TraceConfig
	collectors []*TraceCollector
	visited    bool
	tables     tables     // of all collectors, once Each or Survey has begun
	names      []renaming // of each collector, in these

	mu     sync.Mutex // guards counts
	counts Counts
}

// Counts is what an Traces has seen.
type Counts struct {
	Spans      int64 // after dropping duplicates
	Traces     int64
	Duplicates int64
	Cycles     int64
}

// errNoLinks is a mistake of the caller: the builder was not asked for Links.
var errNoLinks = errors.New("assembly: a batch without the columns of Links")

// NewTraces returns an empty store; the caller must Close it.
func NewTraces(c TraceConfig) *Traces {
	c.Workers = max(c.Workers, 1)
	if c.Memory <= 0 {
		c.Memory = math.MaxInt64 / 8
	}
	a := &Traces{config: c}
	for i := range c.Workers {
		q := &quota{limit: c.Memory / 2 / int64(c.Workers)}
		a.collectors = append(a.collectors, &TraceCollector{number: i, tables: newTables(), store: newStore(tracePartitions, 0, q, a.newFile())})
	}
	return a
}

// Worker returns the collector of worker i of Workers.
func (a *Traces) Worker(i int) *TraceCollector { return a.collectors[i] }

// Counts returns what Each has seen so far.
func (a *Traces) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts
}

func (a *Traces) count(c Counts) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts.Spans += c.Spans
	a.counts.Traces += c.Traces
	a.counts.Duplicates += c.Duplicates
	a.counts.Cycles += c.Cycles
}

// newFile returns the spill file of a store.
func (a *Traces) newFile() *spill.File { return spill.New(a.config.TempDir, "spans") }

// Close removes the spill files. Calling it again does nothing. No Add or Each may
// be running.
func (a *Traces) Close() (err error) {
	for _, c := range a.collectors {
		c.sealed = true
		err = errors.Join(err, c.store.file.Close())
	}
	a.collectors = nil
	return err
}

// TraceCollector takes the batches of one worker goroutine.
type TraceCollector struct {
	number int
	store  *store
	tables *tables
	rows   grouping
	packer packer
	sealed bool

	collected int64 // spans
}

// Add takes over what it needs of a batch with the columns of Links. The batch
// stays the caller's. After an error the Traces are only good for Close.
func (c *TraceCollector) Add(b *spans.Batch) error {
	if b.TraceHi == nil {
		return errNoLinks
	}
	if c.sealed {
		return errors.New("assembly: Add after Each or Close")
	}
	names, grown := c.tables.of(b)
	c.store.quota.charge(grown)
	v := vectorsOf(b, names)
	if err := v.check(); err != nil {
		return err
	}
	c.collected += int64(b.Len())
	c.rows.group(b.Len(), b.TraceID)
	for k, first := range c.rows.firsts {
		if err := c.pack(&v, c.rows.ids[k], first); err != nil {
			return err
		}
	}
	return nil
}

// pack makes fragments of the rows of one trace.
func (c *TraceCollector) pack(v *vectors, id spans.TraceID, first int32) error {
	c.packer.begin(id, c.number, c.text(v.Batch, first))
	for i := first; i >= 0; i = c.rows.next[i] {
		if len(c.packer.b) > fragmentBytes {
			if err := c.store.put(id, c.packer.end()); err != nil {
				return err
			}
			c.packer.begin(id, c.number, nil)
		}
		c.packer.add(v, int(i))
	}
	return c.store.put(id, c.packer.end())
}

// text returns the text of a trace id that is no number, where Texts were asked
// for. Of several that share a hash it is the smallest.
func (c *TraceCollector) text(b *spans.Batch, first int32) (smallest []byte) {
	if b.WithoutTrace() == b.Len() || !b.Lineage.Columns().Has(spans.Texts) {
		return nil
	}
	for i := first; i >= 0; i = c.rows.next[i] {
		if text := b.Trace(int(i)); len(text) > 0 && (smallest == nil || string(text) < string(smallest)) {
			smallest = text
		}
	}
	return smallest
}
