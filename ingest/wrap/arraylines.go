package wrap

import (
	"bytes"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

// An array with a record a line is read line by line: a broken one is then only its own
// fault, which by brackets alone it would not be.

// findArrayLines is FindDocument for arrays of which each line is a record.
func findArrayLines(head []byte, accept Accept) *Plan {
	if b := trim(head); len(b) == 0 || !startsArray(b) {
		return nil
	}
	l, lines, whole := layer{name: "array", peel: peelArrayLine}, linesOf(head), 0
	for _, line := range lines {
		if _, _, ok := l.peel(line); ok {
			whole++
		}
	}
	if inner := l.peelAll(lines); 2*whole > len(lines) && len(inner) > 1 {
		if accept(bytes.Join(inner, []byte{'\n'}), true) {
			return &Plan{layers: []layer{l}}
		}
		if rest, ok := find(inner, mostLayers-1, accept); ok {
			return &Plan{layers: append([]layer{l}, rest...)}
		}
	}
	return nil
}

// peelArrayLine takes what belongs to the array off a line.
func peelArrayLine(line []byte) (inner, at []byte, ok bool) {
	line = bytes.TrimLeft(line, jsonscan.Blanks+"[,")
	if len(line) == 0 || line[0] == ']' {
		return nil, nil, len(bytes.Trim(line, jsonscan.Blanks+"],")) == 0
	}
	n := 0
	if line[0] == '{' {
		n = jsonscan.Balanced(line)
	}
	if n == 0 || len(bytes.Trim(line[n:], jsonscan.Blanks+"],")) > 0 {
		return nil, nil, false
	}
	return line[:n], nil, true
}
