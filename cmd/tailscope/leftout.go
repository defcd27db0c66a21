package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// leftOut counts the traces that the selection leaves out, and their spans by the file
// that they came from.
type leftOut struct {
	traces, spans, timeless int64
	byFile                  map[int32]int64
}

// keeps reports whether a trace is looked at: one of its spans is wanted and none
// unwanted, and it begins within the time looked at. One that is not is counted.
func (l *leftOut) keeps(s *selection.Selection, t *spans.Trace) bool {
	if s == nil || l.wanted(t) && l.inTime(s, t) {
		return true
	}
	if l.byFile == nil {
		l.byFile = map[int32]int64{}
	}
	for i := range t.Spans {
		l.byFile[t.Spans[i].File]++
	}
	l.traces++
	l.spans += int64(len(t.Spans))
	return false
}

func (*leftOut) wanted(t *spans.Trace) bool {
	var all spans.Ties
	for i := range t.Spans {
		all |= t.Spans[i].Ties
	}
	return all.Has(spans.Wanted) && !all.Has(spans.Unwanted)
}

// inTime reports whether the root of a trace begins within the time looked at. Of several
// roots the first counts, and of a trace without one the first span.
func (l *leftOut) inTime(s *selection.Selection, t *spans.Trace) bool {
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

func (l *leftOut) merge(o *leftOut) {
	l.traces += o.traces
	l.spans += o.spans
	l.timeless += o.timeless
	if l.byFile == nil {
		l.byFile = o.byFile
		return
	}
	for file, n := range maps.All(o.byFile) {
		l.byFile[file] += n
	}
}

func (l *leftOut) warnings() []note.Warning {
	if l.timeless == 0 {
		return nil
	}
	return []note.Warning{{Code: "timeless_traces", Text: note.Count(l.timeless, "trace has a root without a start and was", "traces have a root without a start and were") + " left out by --since and --until"}}
}

// showsHop reports whether --hop chooses a hop of that name.
func (p *plan) showsHop(name string) bool {
	return slices.ContainsFunc(p.hop, func(glob string) bool { return selection.Glob(glob, name) })
}

// hopsShown says how many of all hops --hop chooses, and what may be meant by a pattern
// like which there is none.
func (p *plan) hopsShown(names map[string]bool) (list []note.Warning) {
	if p.hop == nil {
		return nil
	}
	shown := 0
	for name := range names {
		if p.showsHop(name) {
			shown++
		}
	}
	list = append(list, note.Warning{Code: "hops_chosen", Text: fmt.Sprintf("only %d of %s shown: --hop chose them, and all count", shown, note.Count(len(names), "hop")+note.Form(shown, " is", " are"))})
	for _, glob := range p.hop {
		if slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(name string) bool { return selection.Glob(glob, name) }) {
			continue
		}
		text := fmt.Sprintf("--hop %q: there is no such hop", glob)
		if name := nearest.Name(strings.Trim(glob, "*"), slices.Collect(maps.Keys(names))); name != "" {
			text += "; did you mean " + name + "?"
		}
		list = append(list, note.Warning{Code: "hop_not_found", Text: text})
	}
	return list
}
