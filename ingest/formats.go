package ingest

import (
	"fmt"
	"slices"
	"strings"
)

// formats are the known formats, in the order in which they are tried. Traces
// come first: their keys are exact, those of hop logs are not.
var formats = slices.Concat(traceFormats(), hopLogFormats())

// isBinary reports whether the format of that name is binary.
func isBinary(name string) bool {
	return slices.ContainsFunc(formats, func(f *format) bool { return f.name == name && f.binary })
}

func formatNamed(name string) *format {
	return formats[slices.IndexFunc(formats, func(f *format) bool { return f.name == name })]
}

// FormatNames lists what --input-format takes.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// UnknownFormatError says per format why a file is not of it.
type UnknownFormatError struct {
	Path string
	Whys []string // "ndjson: no line is a JSON object"
}

func (e *UnknownFormatError) Error() string {
	return fmt.Sprintf("%s: not recognised\n  %s\nname the format with --input-format, or the fields with --field NAME=KEY",
		e.Path, strings.Join(e.Whys, "\n  "))
}

// detect finds the format of a file from its first bytes. A format that the
// user named is not doubted, but its units are still looked at.
func detect(path string, head []byte, named string, fields *Settings) (*format, error) {
	unknown := &UnknownFormatError{Path: path}
	for _, f := range formats {
		if named != "" && named != f.name {
			continue
		}
		s := f.sniff(head, fields)
		switch {
		case s.refused != nil:
			s.refused.Path = path
			return nil, s.refused
		case s.unitless != nil:
			s.unitless.Path = path
			return nil, s.unitless
		case s.mine || named != "":
			return f, nil
		}
		unknown.Whys = append(unknown.Whys, f.name+": "+s.why)
	}
	return nil, unknown
}
