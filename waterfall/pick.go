package waterfall

import (
	"slices"
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/spans"
)

// Config says which request is wanted.
type Config struct {
	// ID is that of a trace or chain, or the beginning of one; "" for the worst.
	ID string
	// Of is the name of a hop, or a part of it, whose slowest call is wanted; "" for the
	// slowest request.
	Of string
}

// request is a copy of a trace or a chain; one of the two is there.
type request struct {
	trace *spans.Trace
	chain *spans.Chain
	came  attribution.Request
}

func (r *request) name() string {
	if r.trace != nil {
		return r.trace.Name()
	}
	return r.chain.Name()
}

// kept is a request with the time that it was kept for, in ns.
type kept struct {
	*request
	ns int64
}

// pair holds the longest of all requests, or calls of a hop, and the longest of those
// that timed out or failed, which hide how long they would have taken.
type pair struct {
	all, gaveUp kept
	n, nGaveUp  uint64
}

// Picker keeps the request that is wanted. Not safe for concurrent use: each worker has
// its own.
type Picker struct {
	config  Config
	numeric spans.TraceID // of a whole id that is a number
	isHex   bool

	// By id.
	exact   *request
	begin   *request // of a beginning: the first by name
	begins  []string // the names that begin so, sorted, some of them
	nBegins uint64
	near    []string
	seen    uint64

	// Worst.
	worst  pair
	ofHops map[spans.Hop]*pair
	among  neighbors.Accumulator
	hops   map[spans.Hop]bool // all that were met, where one of them is wanted

	source *spans.Hop // the first of the hops that requests share
	match  []neighbors.Likeness
	serves []bool   // by hop of the source, as match
	most   []int64  // by hop, of the request being looked at: the longest call, -1 for none
	mostUp []int64  // the same of those that gave up
	calls  []counts // by hop, of the request being looked at
	used   []int32
}

type counts struct{ n, gaveUp uint64 }

// NewPicker returns a picker that has seen nothing.
func NewPicker(c Config) *Picker {
	p := &Picker{config: c, ofHops: map[spans.Hop]*pair{}, hops: map[spans.Hop]bool{}}
	if id, opaque := spans.ParseTraceID([]byte(c.ID)); c.ID != "" && !opaque {
		p.numeric, p.isHex = id, true
	}
	return p
}

// AddTrace looks at a whole trace whose retries and cuts are marked, and what it came
// to from end to end.
func (p *Picker) AddTrace(t *spans.Trace, came attribution.Request) {
	copied := once(func() *request { return &request{trace: t.Clone(), came: came} })
	p.add(t.ID, t.Name, came, copied, func() {
		p.among.AddTrace(t)
		p.ofTrace(t)
		p.keepCalls(t.Hops, t.Name, copied)
	})
}

// AddChain looks at a chain of a hop log whose attempts are placed.
func (p *Picker) AddChain(c *spans.Chain, came attribution.Request) {
	copied := once(func() *request { return &request{chain: c.Clone(), came: came} })
	p.add(c.ID, c.Name, came, copied, func() {
		p.among.AddChain(c)
		p.ofChain(c)
		p.keepCalls(c.Hops, c.Name, copied)
	})
}

// add considers a request; calls looks at those of the hop that is asked for.
func (p *Picker) add(id spans.TraceID, name func() string, came attribution.Request, copied func() *request, calls func()) {
	p.seen++
	switch {
	case p.config.ID != "":
		p.byID(id, name(), copied)
	case p.config.Of != "":
		calls()
	case came.Basis != "":
		p.worst.consider(came.Total, came.Fails, name, copied)
	}
}

// once makes a copy where one is needed, and then no other.
func once(copied func() *request) func() *request {
	var made *request
	return func() *request {
		if made == nil {
			made = copied()
		}
		return made
	}
}

// byID keeps a request with the id, and one whose id begins so.
func (p *Picker) byID(id spans.TraceID, name string, copied func() *request) {
	switch {
	case name == p.config.ID || p.isHex && id == p.numeric:
		p.exact = copied()
	case p.begun(name):
		p.nBegins++
		if p.begin == nil || name < p.begin.name() {
			p.begin = copied()
		}
		p.begins = few(append(p.begins, name))
	case p.exact == nil:
		if near := nearest.Name(p.config.ID, []string{name}); near != "" {
			p.near = p.nearer(append(p.near, near))
		}
	}
}

// begun reports whether an id begins as written, in any case of letters, be it without the
// zeros in front of a number.
func (p *Picker) begun(name string) bool {
	written, name := strings.ToLower(p.config.ID), strings.ToLower(name)
	return strings.HasPrefix(name, written) || p.isHex && strings.HasPrefix(strings.TrimLeft(name, "0"), written)
}

const mostNames = 3

// few keeps the first names of a list.
func few(list []string) []string {
	slices.Sort(list)
	return list[:min(len(list), mostNames)]
}

// nearer keeps the names that are most like the one written.
func (p *Picker) nearer(list []string) (kept []string) {
	for len(list) > 0 && len(kept) < mostNames {
		name := nearest.Name(p.config.ID, list)
		kept = append(kept, name)
		list = slices.DeleteFunc(list, func(n string) bool { return n == name })
	}
	return kept
}

// consider keeps a request that is among the longest; of equally long ones the first by
// name.
func (w *pair) consider(ns int64, gaveUp bool, name func() string, copied func() *request) {
	w.n++
	w.all.consider(ns, name, copied)
	if gaveUp {
		w.nGaveUp++
		w.gaveUp.consider(ns, name, copied)
	}
}

func (k *kept) consider(ns int64, name func() string, copied func() *request) {
	if k.request == nil || ns > k.ns || ns == k.ns && name() < k.name() {
		*k = kept{copied(), ns}
	}
}

func (w *pair) merge(o *pair) {
	w.n, w.nGaveUp = w.n+o.n, w.nGaveUp+o.nGaveUp
	w.all.merge(&o.all)
	w.gaveUp.merge(&o.gaveUp)
}

func (k *kept) merge(o *kept) {
	if o.request != nil {
		k.consider(o.ns, o.name, func() *request { return o.request })
	}
}

// Merge moves what o kept into p.
func (p *Picker) Merge(o *Picker) {
	p.seen += o.seen
	if p.exact == nil {
		p.exact = o.exact
	}
	if p.begin == nil || o.begin != nil && o.begin.name() < p.begin.name() {
		p.begin = o.begin
	}
	p.nBegins += o.nBegins
	p.begins = few(append(p.begins, o.begins...))
	p.near = p.nearer(append(p.near, o.near...))
	p.worst.merge(&o.worst)
	for h, w := range o.ofHops {
		p.ofHop(h).merge(w)
	}
	for h := range o.hops {
		p.hops[h] = true
	}
	p.among.Merge(&o.among)
}
