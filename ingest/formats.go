package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/ingest/trace"
)

// formats are the known formats, in the order in which they are tried. Traces
// come first: their keys are exact, those of hop logs are not.
var (
	ofTraces = trace.Formats()
	formats  = slices.Concat(ofTraces, hoplog.Formats)
)

// FieldError is a --field that the format of a file cannot use.
type FieldError struct {
	Path, Format string
	Flag         field.Flag
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("--field %s=%s: %s is %s, where the %s of a span is in its own place; of spans --field names truncated, retry, attempt, timeout, error, success and instance",
		e.Flag.Role, e.Flag.Key, e.Path, e.Format, e.Flag.Role)
}

// unusable returns a --field that a format cannot use, nil where it can use all.
func unusable(path string, as *format.Format, fields []field.Flag) error {
	for _, f := range fields {
		if slices.Contains(ofTraces, as) && !f.Role.OfSpans() {
			return &FieldError{path, as.Name, f}
		}
	}
	return nil
}

// isBinary reports whether the format of that name is binary.
func isBinary(name string) bool {
	return slices.ContainsFunc(formats, func(f *format.Format) bool { return f.Name == name && f.Binary })
}

// FormatNames lists what --input-format takes.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// UnknownFormatError says per format why a file is not of it.
type UnknownFormatError struct {
	Path    string
	Whys    []string // "ndjson: no line is a JSON object"
	Nearest string   // what is nearest to a format, "" for nothing
}

func (e *UnknownFormatError) Error() string {
	text := fmt.Sprintf("%s: not recognised\n  %s\nname the format with --input-format, or the fields with --field NAME=KEY",
		e.Path, strings.Join(e.Whys, "\n  "))
	if e.Nearest != "" {
		text += "\nnearest: " + e.Nearest
	}
	return text
}

// detect finds the format of a file from its first bytes. A format that the
// user named is not doubted, but its units are still looked at.
func (f opener) detect(head []byte) (*format.Format, *format.Settings, error) {
	path, named := f.Path, f.config.Format
	unknown, look := &UnknownFormatError{Path: path}, &format.Head{Bytes: head}
	var refused *format.RefusedError
	own := f.config.settings(head)
	for _, f := range formats {
		if named != "" && named != f.Name {
			continue
		}
		s, fields := own.sniff(f, look)
		switch {
		case s.Refused != nil && f.Lines && named == "":
			if refused == nil { // another kind of lines may fit
				refused = s.Refused
			}
			continue
		case s.Refused != nil:
			s.Refused.Path = path
			return nil, nil, s.Refused
		case s.Unitless != nil:
			s.Unitless.Path = path
			return nil, nil, s.Unitless
		case s.Mine || named != "":
			return f, fields, nil
		}
		unknown.Whys = append(unknown.Whys, f.Name+": "+s.Why)
	}
	if refused != nil {
		refused.Path = path
		return nil, nil, refused
	}
	unknown.Nearest = nearestTo(head)
	return nil, nil, unknown
}
