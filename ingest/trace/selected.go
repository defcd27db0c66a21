package trace

import "github.com/tailscope/tailscope/ingest/format"

// selects notes what the span says of the selection of its trace: by its tags, those of
// its process, and what it is called.
func (r *spanReader) selects() {
	s, f := r.selection, &r.has
	if s == nil {
		return
	}
	v := r.rec.Selected.Or(f.process.selected)
	hop := r.hopNames.SpanHop(nil, f.process.service, f.operation, f.kind)
	for _, known := range [...]struct {
		key   string
		value []byte
	}{
		{"hop", []byte(hop.Name)}, {"service", f.process.service}, {"service.name", f.process.service}, {"operation", f.operation},
		{"operationname", f.operation}, {"name", f.operation}, {"kind", []byte(f.kind.String())}, {"span.kind", []byte(f.kind.String())},
		{"trace", f.trace}, {"traceid", f.trace}, {"trace_id", f.trace},
	} {
		v.Default(s, known.key, known.value)
	}
	r.tally.Selected |= v.Seen
	r.row.Ties |= format.SelectionTies(s.Judge(v))
}
