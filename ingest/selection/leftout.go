package selection

import (
	"maps"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// LeftOut counts the traces that the selection leaves out, and their spans by the file
// that they came from.
type LeftOut struct {
	Traces, Spans, timeless int64
	ByFile                  map[int32]int64
}

// Keeps reports whether a trace is looked at: one of its spans is wanted and none
// unwanted, and it begins within the time looked at. One that is not is counted.
func (l *LeftOut) Keeps(s *Selection, t *spans.Trace) bool {
	if s == nil || l.wanted(t) && l.inTime(s, t) {
		return true
	}
	if l.ByFile == nil {
		l.ByFile = map[int32]int64{}
	}
	for i := range t.Spans {
		l.ByFile[t.Spans[i].File]++
	}
	l.Traces++
	l.Spans += int64(len(t.Spans))
	return false
}

func (*LeftOut) wanted(t *spans.Trace) bool {
	var all spans.Ties
	for i := range t.Spans {
		all |= t.Spans[i].Ties
	}
	return all.Has(spans.Wanted) && !all.Has(spans.Unwanted)
}

// inTime reports whether the root of a trace begins within the time looked at. Of several
// roots the first counts, and of a trace without one the first span.
func (l *LeftOut) inTime(s *Selection, t *spans.Trace) bool {
	if !s.Timed() {
		return true
	}
	tops := t.Roots
	if len(tops) == 0 {
		tops = t.Missing
	}
	var start int64
	known := false
	for _, i := range tops {
		if one := &t.Spans[i]; one.Flags.Has(spans.HasStart) && (!known || one.Start < start) {
			start, known = one.Start, true
		}
	}
	if !known {
		l.timeless++
	}
	return known && s.Holds(start)
}

// Merge adds what another worker left out.
func (l *LeftOut) Merge(o *LeftOut) {
	l.Traces += o.Traces
	l.Spans += o.Spans
	l.timeless += o.timeless
	if l.ByFile == nil {
		l.ByFile = o.ByFile
		return
	}
	for file, n := range maps.All(o.ByFile) {
		l.ByFile[file] += n
	}
}

// Warnings says of traces left out whose time nobody knows.
func (l *LeftOut) Warnings() []note.Warning {
	if l.timeless == 0 {
		return nil
	}
	return []note.Warning{{Code: "timeless_traces", Text: note.Count(l.timeless, "trace has a root without a start and was", "traces have a root without a start and were") + " left out by --since and --until"}}
}
