package calls

import (
	"cmp"
	"errors"
	"slices"
	"unsafe"

	"github.com/tailscope/tailscope/internal/numbering"
	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/spans"
)

// Config is what a run tells its accumulators.
type Config struct {
	// Memory is how many bytes the moments of one accumulator hold before the rest goes to
	// a file in TempDir; 0 sets no limit.
	Memory  int64
	TempDir string
}

// Accumulator collects the calls of traces with the server's spans that answer them. Not
// safe for concurrent use: each worker has its own. Close must be called.
type Accumulator struct {
	config  Config
	hops    spans.HopIndex // of calls
	of      []ofHop        // by number of the hop
	pairs   numbering.List[pairKey]
	names   numbering.List[string] // of instances; the first is none
	callees numbering.List[string] // services, or hops that name none
	logs    []log                  // by callee
	held    int64                  // bytes of moments in memory
	file    *spill.File
	files   []*spill.File
	err     error

	hosts, instances nameIndex
	serves           calleeIndex
	first            []bool // by span: its server's span was met
	recent           [recentPairs]recentPair
	traces           uint64
}

// ofHop is what is known of the calls of a hop, whoever answers them.
type ofHop struct{ calls, cut, answered, cutAnswered uint64 }

// pairKey is a hop that calls, and what answers.
type pairKey struct{ hop, callee int32 }

// NewAccumulator returns an empty accumulator.
func NewAccumulator(c Config) *Accumulator {
	a := &Accumulator{config: c, file: spill.New(c.TempDir, "calls")}
	a.names.Add("")
	return a
}

// Err returns the first error of writing moments to a file or reading them. After one the
// result is not to be trusted.
func (a *Accumulator) Err() error { return a.err }

// Close deletes the files that moments were written to.
func (a *Accumulator) Close() error {
	err := a.file.Close()
	for _, f := range a.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// AddTrace looks at a whole trace whose cuts are marked.
func (a *Accumulator) AddTrace(t *spans.Trace) {
	if len(t.Spans) == 0 || t.OfLog() || a.err != nil {
		return
	}
	a.traces++
	a.first = append(a.first[:0], make([]bool, len(t.Spans))...)
	for i := range t.Spans {
		s := &t.Spans[i]
		switch kind := t.Hops[s.Hop].Kind; {
		case kind == spans.Client:
			a.call(t, s)
		case kind == spans.Server && s.Timed() && s.Duration >= 0:
			a.serve(t, int32(i))
		}
	}
}

// call counts a call, answered or not.
func (a *Accumulator) call(t *spans.Trace, s *spans.Span) {
	of := a.hop(t, s.Hop)
	of.calls++
	if isCut(s) {
		of.cut++
	}
}

// isCut reports whether a call ended before its answer came. One that was cut from below
// has an answer: that something behind it was cut.
func isCut(s *spans.Span) bool { return s.Outcome == spans.Truncated && s.CutBy != spans.Below }

func (a *Accumulator) hop(t *spans.Trace, i int32) *ofHop {
	h := a.hops.Translate(t.Hops, i)
	for int(h) >= len(a.of) {
		a.of = append(a.of, ofHop{})
	}
	return &a.of[h]
}

// serve keeps the moment of a server's span.
func (a *Accumulator) serve(t *spans.Trace, i int32) {
	s := &t.Spans[i]
	callee := a.calleeOf(t, s.Hop)
	m := moment{call: noCall, begin: s.Start, work: s.Duration, instance: a.ownName(t, s)}
	if p := t.Parents[i]; p >= 0 && t.Hops[t.Spans[p].Hop].Kind == spans.Client && t.Spans[p].Timed() && t.Spans[p].Duration >= 0 {
		a.answer(t, &m, i, p, callee)
	}
	a.keep(callee, m)
}

// answer notes the call that a server's span answers. Of several spans under one call the
// first answers.
func (a *Accumulator) answer(t *spans.Trace, m *moment, i, p int32, callee int32) {
	m.flags |= fromCall
	m.caller = a.callerName(t, p)
	if a.first[p] {
		return
	}
	a.first[p] = true
	c := &t.Spans[p]
	m.call, m.start, m.took = a.pair(pairKey{a.hops.Translate(t.Hops, c.Hop), callee}), c.Start, c.Duration
	of := a.hop(t, c.Hop)
	of.answered++
	if isCut(c) {
		m.flags |= cutCall
		of.cutAnswered++
	}
	if host, server := hostOf(t, c), hostOf(t, &t.Spans[i]); host != "" && server != "" {
		if host == server {
			m.flags |= oneHost
		} else {
			m.flags |= twoHosts
		}
	}
}

// recentPairs is how many pairs are found without a look into the list: few are looked at
// again and again.
const recentPairs = 64

// recentPair is one that was looked at lately.
type recentPair struct {
	pairKey
	next int32 // one more than its number, 0 for none
}

func (a *Accumulator) pair(k pairKey) int32 {
	last := &a.recent[(uint32(k.hop)*31+uint32(k.callee))%recentPairs]
	if last.next == 0 || last.pairKey != k {
		n, known := a.pairs.Find(k)
		if !known {
			n = a.pairs.Add(k)
		}
		*last = recentPair{k, n + 1}
	}
	return last.next - 1
}

func hostOf(t *spans.Trace, s *spans.Span) string {
	if len(t.Hosts) == 0 {
		return ""
	}
	return t.Hosts[s.Host]
}

// ownName is the number of the name of the instance that a server's span ran in: its own,
// or that of its host.
func (a *Accumulator) ownName(t *spans.Trace, s *spans.Span) int32 {
	if len(t.Instances) > 0 && s.Instance > 0 {
		return a.instances.at(&a.names, t.Instances, s.Instance)
	}
	if len(t.Hosts) == 0 {
		return 0
	}
	return a.hosts.at(&a.names, t.Hosts, s.Host)
}

// farthestOwn is how many spans above a call its own server's span is looked for.
const farthestOwn = 16

// callerName is the number of the name of the instance that makes a call: of the server's
// span that makes it, or of its host.
func (a *Accumulator) callerName(t *spans.Trace, call int32) int32 {
	service := t.Hops[t.Spans[call].Hop].Service
	for p, up := t.Parents[call], 0; p >= 0 && up < farthestOwn; p, up = t.Parents[p], up+1 {
		h := &t.Hops[t.Spans[p].Hop]
		if h.Service != service {
			break
		}
		if h.Kind == spans.Server || h.Kind == spans.Consumer {
			return a.ownName(t, &t.Spans[p])
		}
	}
	if len(t.Hosts) == 0 {
		return 0
	}
	return a.hosts.at(&a.names, t.Hosts, t.Spans[call].Host)
}

// calleeOf is the number of the service that a hop belongs to.
func (a *Accumulator) calleeOf(t *spans.Trace, hop int32) int32 {
	n := a.serves.at(&a.callees, t.Hops, hop)
	for int(n) >= len(a.logs) {
		a.logs = append(a.logs, log{})
	}
	return n
}

// keep keeps a moment, and writes out what is too much.
func (a *Accumulator) keep(callee int32, m moment) {
	a.held += int64(a.logs[callee].add(m)) * int64(unsafe.Sizeof(m))
	if a.config.Memory > 0 && a.held > a.config.Memory {
		a.writeOut()
	}
}

// writeOut moves the moments of the callees that have most to the file, until half of the
// memory is free.
func (a *Accumulator) writeOut() {
	most := make([]int32, len(a.logs))
	for i := range most {
		most[i] = int32(i)
	}
	slices.SortFunc(most, func(x, y int32) int { return cmp.Compare(a.logs[y].held, a.logs[x].held) })
	for _, i := range most {
		l := &a.logs[i]
		if a.held <= a.config.Memory/2 || l.held == 0 {
			return
		}
		for _, b := range l.blocks {
			a.held -= int64(cap(b)) * int64(unsafe.Sizeof(moment{}))
		}
		if err := l.writeOut(a.file, byBegin); err != nil {
			a.fail(err)
			return
		}
	}
}

func (a *Accumulator) fail(err error) { a.err = cmp.Or(a.err, err) }

// Merge moves what o collected into a; o must not be used any more but to be closed.
func (a *Accumulator) Merge(o *Accumulator) {
	a.fail(o.err)
	a.traces += o.traces
	a.files = append(append(a.files, o.file), o.files...)
	o.files = nil
	hops := a.hops.Merge(&o.hops)
	a.of = append(a.of, make([]ofHop, a.hops.Len()-len(a.of))...)
	for i, of := range o.of {
		into := &a.of[hops[i]]
		into.calls, into.cut = into.calls+of.calls, into.cut+of.cut
		into.answered, into.cutAnswered = into.answered+of.answered, into.cutAnswered+of.cutAnswered
	}
	callees, n := mergeNames(&a.callees, &o.callees), &numbers{names: mergeNames(&a.names, &o.names)}
	for _, key := range o.pairs.Values() {
		n.calls = append(n.calls, a.pair(pairKey{hops[key.hop], callees[key.callee]}))
	}
	a.logs = append(a.logs, make([]log, len(a.callees.Values())-len(a.logs))...)
	for i := range o.logs {
		a.logs[callees[i]].merge(&o.logs[i], n)
	}
	o.logs = nil
}

func mergeNames(into, from *numbering.List[string]) (list []int32) {
	for _, name := range from.Values() {
		list = append(list, numberOf(into, name))
	}
	return list
}

func numberOf(list *numbering.List[string], name string) int32 {
	if n, known := list.Find(name); known {
		return n
	}
	return list.Add(name)
}

func (l *log) merge(o *log, to *numbers) {
	o.translate(to)
	l.blocks, l.held, l.runs = append(o.blocks, l.blocks...), l.held+o.held, append(l.runs, o.runs...)
	*o = log{}
}

// nameIndex translates the names of a source's list, which may only grow while it is the
// same list.
type nameIndex struct {
	source *string
	known  []int32 // one more than the number, 0 for not known yet
}

func (x *nameIndex) at(list *numbering.List[string], names []string, i int32) int32 {
	if x.source != &names[0] {
		x.source, x.known = &names[0], x.known[:0]
	}
	for len(x.known) < len(names) {
		x.known = append(x.known, 0)
	}
	if x.known[i] == 0 {
		x.known[i] = numberOf(list, names[i]) + 1
	}
	return x.known[i] - 1
}

// calleeIndex does the same for what a server's hop is called as a callee: by its service,
// and by its name where it has none.
type calleeIndex struct {
	source *spans.Hop
	known  []int32
}

func (x *calleeIndex) at(list *numbering.List[string], hops []spans.Hop, i int32) int32 {
	if x.source != &hops[0] {
		x.source, x.known = &hops[0], x.known[:0]
	}
	for len(x.known) < len(hops) {
		x.known = append(x.known, 0)
	}
	if x.known[i] == 0 {
		x.known[i] = numberOf(list, cmp.Or(hops[i].Service, hops[i].Name)) + 1
	}
	return x.known[i] - 1
}
