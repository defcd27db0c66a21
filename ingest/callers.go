package ingest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/spans"
)

// Whether a key names the hop that made the call is known once all lines were read: it
// does where its values are names of hops. So what stands there is counted by hop, in
// each worker, and put together in the end.

// What is counted is bounded: a key with more names, or more of them beside hops, names
// something else.
const (
	mostCallers     = 4096
	mostCallerPairs = 1 << 16
)

// callers counts what the lines of one builder have under the keys that may name their
// caller.
type callers struct {
	lines []uint64 // by hop
	keys  [spans.CallerKeys]callerKey
}

// callerKey is one of these keys.
type callerKey struct {
	numbers map[string]int32 // of its values
	pairs   map[callerPair]*uint64
	last    []lastCaller // by hop
	crowded bool         // there are too many
}

type callerPair struct{ hop, caller int32 }

// lastCaller is what the last line of a hop had there: the next one mostly has the same.
type lastCaller struct {
	name  string
	lines *uint64
}

// callersOf are those of a builder.
func (d *Decoder) callersOf(b *spans.Builder) *callers {
	if b == d.attempts {
		return &d.callers[0]
	}
	return &d.callers[1]
}

// add counts a line.
func (c *callers) add(r *spans.Row) {
	for int(r.Hop) >= len(c.lines) {
		c.lines = append(c.lines, 0)
	}
	c.lines[r.Hop]++
	for i, name := range r.Callers {
		if len(name) > 0 {
			c.keys[i].add(r.Hop, name)
		}
	}
}

func (k *callerKey) add(hop int32, name []byte) {
	if k.crowded {
		return
	}
	for int(hop) >= len(k.last) {
		k.last = append(k.last, lastCaller{})
	}
	last := &k.last[hop]
	if last.lines == nil || last.name != string(name) {
		if *last = k.find(hop, name); last.lines == nil {
			return
		}
	}
	*last.lines++
}

// find returns where the lines of a hop with that name are counted; nowhere once there
// are too many.
func (k *callerKey) find(hop int32, name []byte) lastCaller {
	if k.numbers == nil {
		k.numbers, k.pairs = map[string]int32{}, map[callerPair]*uint64{}
	}
	n, known := k.numbers[string(name)]
	if !known {
		n = int32(len(k.numbers))
		k.numbers[string(name)] = n
	}
	p := callerPair{hop, n}
	lines := k.pairs[p]
	if lines == nil {
		lines = new(uint64)
		k.pairs[p] = lines
	}
	if len(k.numbers) > mostCallers || len(k.pairs) > mostCallerPairs {
		*k = callerKey{crowded: true}
		return lastCaller{}
	}
	return lastCaller{string(name), lines}
}

// Callers counts what the lines of a run have under the keys that may name the hop that
// made the call. The zero value is empty.
type Callers struct {
	lines map[spans.Hop]uint64
	keys  [spans.CallerKeys]struct {
		pairs   map[NamedCaller]uint64
		crowded bool
	}
}

// NamedCaller is a hop and what its lines have as their caller.
type NamedCaller struct {
	Hop  spans.Hop
	Name string
}

// AddCallers adds what the decoder has counted; its last chunk was decoded.
func (d *Decoder) AddCallers(to *Callers) {
	for i, b := range [...]*spans.Builder{d.attempts, d.spans} {
		to.add(b.Hops(), &d.callers[i])
	}
}

func (c *Callers) add(hops []spans.Hop, o *callers) {
	if c.lines == nil {
		c.lines = map[spans.Hop]uint64{}
		for i := range c.keys {
			c.keys[i].pairs = map[NamedCaller]uint64{}
		}
	}
	for hop, n := range o.lines {
		if n > 0 {
			c.lines[hops[hop]] += n
		}
	}
	for i := range o.keys {
		k := &o.keys[i]
		to := &c.keys[i]
		to.crowded = to.crowded || k.crowded
		names := make([]string, len(k.numbers))
		for name, n := range k.numbers {
			names[n] = name
		}
		for p, n := range k.pairs {
			to.pairs[NamedCaller{hops[p.hop], names[p.caller]}] += *n
		}
	}
}

// Merge adds what another worker has counted.
func (c *Callers) Merge(o *Callers) {
	if c.lines == nil {
		*c = *o
		return
	}
	for h, n := range o.lines {
		c.lines[h] += n
	}
	for i := range c.keys {
		c.keys[i].crowded = c.keys[i].crowded || o.keys[i].crowded
		for p, n := range o.keys[i].pairs {
			c.keys[i].pairs[p] += n
		}
	}
}

// CallerColumn is what the lines of a run have under one of the keys that may name their
// caller.
type CallerColumn struct {
	Crowded bool // it has too many values to name hops
	Names   int  // different values
	OfHops  int  // of these, names of hops
	Calls   []NamedCall
	Stated  map[spans.Hop]uint64 // lines that name another hop; one that is not in the log may stand between two that are
}

// NamedCall is a call that lines name.
type NamedCall struct {
	Caller, Callee spans.Hop
	Lines          uint64
}

// Lines is how many lines the hops have.
func (c *Callers) Lines(h spans.Hop) uint64 { return c.lines[h] }

// Column reads what is under one of field.CallerKeys. naming is what hops are called.
func (c *Callers) Column(key int, naming *spans.Naming) (o CallerColumn) {
	k := &c.keys[key]
	written, names := map[string]bool{}, map[string]bool{}
	named := c.byName()
	lines := map[[2]spans.Hop]uint64{}
	o.Stated = map[spans.Hop]uint64{}
	for p, n := range k.pairs {
		written[p.Name] = true
		if field.Placeholder([]byte(p.Name)) {
			continue
		}
		name := naming.Hop(spans.Hop{Name: p.Name}).Name
		names[name] = true
		if name == p.Hop.Name {
			continue
		}
		if len(named[name]) > 0 {
			o.Stated[p.Hop] += n
		}
		for _, caller := range named[name] {
			lines[[2]spans.Hop{caller, p.Hop}] += n
		}
	}
	for pair, n := range lines {
		o.Calls = append(o.Calls, NamedCall{pair[0], pair[1], n})
	}
	slices.SortFunc(o.Calls, func(a, b NamedCall) int {
		return cmp.Or(a.Caller.Compare(b.Caller), a.Callee.Compare(b.Callee))
	})
	for name := range maps.Keys(names) {
		if o.Names++; len(named[name]) > 0 {
			o.OfHops++
		}
	}
	o.Crowded = k.crowded || len(written) > mostCallers || len(k.pairs) > mostCallerPairs
	return o
}

// byName lists the hops by their names.
func (c *Callers) byName() map[string][]spans.Hop {
	named := map[string][]spans.Hop{}
	for h := range c.lines {
		named[h.Name] = append(named[h.Name], h)
	}
	return named
}
