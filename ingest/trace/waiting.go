package trace

import "github.com/tailscope/tailscope/spans"

// A shortcut that reads many spans at once hands none of them on before it has
// seen the end of all: where something is wrong, the general reader begins anew.

// waiting is a span that was read and not handed on.
type waiting struct {
	row       spans.Row
	operation []byte
	kind      spans.Kind
	process   process
	digest    uint64
	// The name of a process that is not known yet.
	processID    []byte
	hasProcessID bool
}

// waiting hands on the spans for which read called wait, unless it returns false:
// then nothing was done.
func (r *spanReader) waiting(read func() bool) bool {
	if r.general || r.partial != nil || r.rest != nil {
		return false
	}
	before := *r.tally
	r.waits = r.waits[:0]
	if !read() {
		*r.tally, r.partial = before, nil
		return false
	}
	for i := range r.waits {
		r.release(&r.waits[i])
	}
	return true
}

// wait makes a row of the span that was read; false where something is wrong
// with it.
func (r *spanReader) wait(at int) bool {
	if len(r.waits) == cap(r.waits) {
		r.waits = append(r.waits, waiting{})
	} else {
		r.waits = r.waits[:len(r.waits)+1]
	}
	w := &r.waits[len(r.waits)-1]
	r.row = &w.row
	defer func() { r.row = &r.own }()
	if r.measure(at) != nil || !r.has.named {
		return false
	}
	r.judge()
	f := &r.has
	w.operation, w.kind, w.process, w.digest = f.operation, f.kind, f.process, f.digest
	w.processID, w.hasProcessID = f.processID, f.hasProcessID
	return true
}

// release hands on a span that waited.
func (r *spanReader) release(w *waiting) {
	f := &r.has
	f.process, f.operation, f.kind, f.digest, f.named = w.process, w.operation, w.kind, w.digest, true
	r.row = &w.row
	_ = r.name() // whose faults wait has seen
	r.handOn()
	r.row = &r.own
}
