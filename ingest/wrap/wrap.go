// Package wrap takes records out of what they lie in: text that a tool put before each
// line, JSON inside the strings of other JSON, arrays and other documents around them.
//
// A wrapper is one file and a line in kinds. Which of them a file has is decided from
// its head; whoever reads records then sees lines of them alone, and a Chunk tells where
// they stood.
package wrap

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
)

// layer is one wrapper as a file has it. It is read-only once made.
type layer struct {
	name string
	// peel returns what lies in a line, and the time that the wrapper bears, nil for
	// none; ok is false for a line that has no such wrapper, and inner nil for one that
	// holds no record.
	peel func(line []byte) (inner, at []byte, ok bool)
	// partial reports whether the record goes on in a later line of the same stream (0 or
	// 1); pending, whether the line goes on with one. It is nil where lines are whole.
	partial func(line []byte, pending bool) (stream int, yes bool)
}

// kinds propose the wrappers that lines may have, the surest first.
var kinds = []func(lines [][]byte) []layer{
	proposeCRI,
	proposeText,
	proposeMembers,
	proposePairs,
	proposeInsights,
	proposeRust,
}

// Plan says what the records of a file lie in, outermost first.
type Plan struct {
	document []string // keys on the way to the array of records, nil for none
	isDoc    bool
	inRow    bool // one document behind the other, each a record
	layers   []layer
	// Timed has the time of the wrapper put into records that may have none of their own.
	Timed bool
}

// mostLayers is how deep wrappers lie in wrappers.
const mostLayers = 3

// Accept says whether lines of what may be records are such. elements tells that they are
// those of an array: arrays of spans are read by the formats of traces.
type Accept func(lines []byte, elements bool) bool

// Find looks for the wrappers of a file by its head.
func Find(head []byte, accept Accept) *Plan {
	if IsDocument(head) {
		if plan := FindDocument(head, accept); plan != nil {
			return plan
		}
	}
	lines := linesOf(head)
	if layers, ok := find(lines, mostLayers, accept); ok {
		return &Plan{layers: layers}
	}
	return FindDocument(head, accept)
}

// FindDocument is Find for files that are one document, or many of several lines each.
func FindDocument(head []byte, accept Accept) *Plan {
	if plan := findArrayLines(head, accept); plan != nil {
		return plan
	}
	for _, path := range proposePaths(head) {
		elements := elementsOf(head, path)
		if len(elements) == 0 {
			continue
		}
		if accept(bytes.Join(elements, format.Newline), true) {
			return &Plan{document: path, isDoc: true, inRow: trim(head)[0] == '{'}
		}
		if layers, ok := find(elements, mostLayers-1, accept); ok {
			return &Plan{document: path, isDoc: true, inRow: trim(head)[0] == '{', layers: layers}
		}
	}
	return nil
}

// find looks for the wrappers of lines.
func find(lines [][]byte, depth int, accept Accept) ([]layer, bool) {
	for _, propose := range kinds {
		for _, l := range propose(lines) {
			inner := l.peelAll(lines)
			if len(inner) == 0 {
				continue
			}
			if accept(bytes.Join(inner, format.Newline), false) {
				return []layer{l}, true
			}
			if depth > 1 {
				if rest, ok := find(inner, depth-1, accept); ok {
					return append([]layer{l}, rest...), true
				}
			}
		}
	}
	return nil, false
}

func (l *layer) peelAll(lines [][]byte) (all [][]byte) {
	for _, line := range lines {
		if inner, _, ok := l.peel(line); ok && len(inner) > 0 {
			all = append(all, oneLine(inner))
		}
	}
	return all
}

// linesOf are the lines of the head that are not blank, without the one that it cuts off.
func linesOf(head []byte) (lines [][]byte) {
	for line := range bytes.Lines(head) {
		if line[len(line)-1] != '\n' && len(head) == format.HeadSize {
			break
		}
		if line = trim(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// trim takes blanks, byte order marks and the NULs of a rotated log off a line.
func trim(line []byte) []byte {
	return bytes.TrimLeft(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimLeft(line, "\x00"), format.ByteOrderMark)), "\x00")
}

// oneLine makes what lies in a string one line of JSON: there, line breaks are blanks.
func oneLine(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if bytes.IndexByte(b, '\n') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, format.Newline, []byte{' '})
}

// Name names the wrappers, outermost first.
func (p *Plan) Name() string {
	var names []string
	switch {
	case p.isDoc && len(p.document) > 0:
		names = append(names, "array "+strings.Join(p.document, "."))
	case p.isDoc && p.inRow:
		names = append(names, "objects of several lines, or several on one")
	case p.isDoc:
		names = append(names, "array")
	}
	for _, l := range p.layers {
		if !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	return strings.Join(names, ", ")
}

// Chunker returns what cuts a file of this kind into chunks.
func (p *Plan) Chunker(f *format.File) format.Chunker {
	switch {
	case p.isDoc:
		return newDocuments(f, p.document)
	case p.layers[0].partial != nil:
		return withTail(format.NewSplitter(f, p.layers[0].wholeRecords))
	}
	return withTail(format.NewSplitter(f, format.LastNewline))
}

// withTail has chunks know what stood before them, as records that tell no retries need.
func withTail(s *format.Splitter) *format.Splitter {
	s.Tail = func() int { return format.TailBytes }
	return s
}

// wholeRecords returns the length of the longest run of lines after which no record
// goes on.
func (l *layer) wholeRecords(b []byte) int {
	var pending [2]bool
	whole, at := 0, 0
	for {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return whole
		}
		stream, partial := l.partial(b[at:at+n], pending[0])
		if stream != 0 {
			_, partial = l.partial(b[at:at+n], pending[1])
		}
		pending[stream] = partial
		if at += n + 1; !pending[0] && !pending[1] {
			whole = at
		}
	}
}
