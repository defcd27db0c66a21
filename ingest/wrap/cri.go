package wrap

import "bytes"

// The lines of container runtimes: "TIME stdout F RECORD", or P for a part of one.

func proposeCRI(lines [][]byte) []layer {
	for _, line := range lines {
		if _, _, _, ok := cutCRI(line); !ok {
			return nil
		}
	}
	return []layer{{name: "CRI", peel: peelCRI, partial: partialCRI}}
}

func peelCRI(line []byte) (inner, at []byte, ok bool) {
	at, _, rest, ok := cutCRI(line)
	if !ok {
		return nil, nil, false
	}
	_, inner, _ = bytes.Cut(rest, []byte{' '})
	return inner, at, true
}

// cutCRI cuts a line into its time, its stream and the rest, from the tag on.
func cutCRI(line []byte) (at []byte, stream int, rest []byte, ok bool) {
	at, rest, ok = bytes.Cut(line, []byte{' '})
	if !ok || len(at) < len("2024-05-01T10:00:00Z") || at[10] != 'T' || stamp(at) == nil {
		return nil, 0, nil, false
	}
	for i, name := range [...]string{"stdout ", "stderr "} {
		if after, found := bytes.CutPrefix(rest, []byte(name)); found && len(after) > 0 && (after[0] == 'P' || after[0] == 'F') && (len(after) == 1 || after[1] == ' ' || after[1] == ':') {
			return at, i, after, true
		}
	}
	return nil, 0, nil, false
}

// partialCRI: a part of text is no part of a record, so it stands for itself.
func partialCRI(line []byte, pending bool) (stream int, yes bool) {
	_, stream, rest, ok := cutCRI(line)
	if !ok || rest[0] != 'P' {
		return stream, false
	}
	_, inner, _ := bytes.Cut(rest, []byte{' '})
	return stream, pending || len(inner) > 0 && inner[0] == '{'
}
