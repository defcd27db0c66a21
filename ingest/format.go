package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/spans"
)

// format is one kind of input: how to recognise it, where its chunks may end,
// and how a chunk is decoded.
type format struct {
	name  string
	sniff func(head []byte, f *Fields) sniffed
	// open prepares a file: it consumes what stands before the records and
	// returns the boundary of the chunks.
	open       func(f *File, fields *Fields) (boundary func([]byte) int, err error)
	newDecoder func(*Fields, spans.Columns) decoder
}

// decoder decodes the chunks of one format. It hands each attempt to emit,
// valid only during the call.
type decoder interface {
	decode(c *Chunk, t *Tally, emit func(rec *record, row *spans.Row, hop []byte))
}

// formats is the list of known formats, in the order in which they are tried.
var formats = []format{
	{
		name:       "ndjson",
		sniff:      sniffNDJSON,
		open:       func(*File, *Fields) (func([]byte) int, error) { return lastNewline, nil },
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newNDJSON(f, c) },
	},
	delimitedFormat("csv", ','),
	delimitedFormat("tsv", '\t'),
}

func delimitedFormat(name string, comma byte) format {
	return format{
		name:  name,
		sniff: sniffDelimited(comma),
		open: func(f *File, fields *Fields) (func([]byte) int, error) {
			c := newCutter(comma, f.maxLine)
			return c.boundary, f.takeHeader(c, fields)
		},
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newDelimited(f, c) },
	}
}

// FormatNames lists what --input-format takes.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

// sniffed is what a look at the head of a file told about one format.
type sniffed struct {
	mine     bool
	why      string     // why not
	unitless *UnitError // set if the unit of durations is not known
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

// UnitError says that a duration has no unit. The tool does not guess one.
type UnitError struct {
	Path, Key string
	Role      Role // of the field: Duration, Start or End
}

func (e *UnitError) Error() string {
	remedy := fmt.Sprintf("--field %s=%s:UNIT", e.Role, e.Key)
	if e.Role == Duration {
		remedy = "--unit ns|us|ms|s, or " + remedy
	} else {
		remedy += " with ns, us, ms or s"
	}
	return fmt.Sprintf("%s: the field %q holds bare numbers and its unit is not known: give %s", e.Path, e.Key, remedy)
}

// detect finds the format of a file from its first bytes. A format that the
// user named is not doubted, but its units are still looked at.
func detect(path string, head []byte, named string, fields *Fields) (*format, error) {
	unknown := &UnknownFormatError{Path: path}
	for i := range formats {
		f := &formats[i]
		if named != "" && named != f.name {
			continue
		}
		s := f.sniff(head, fields)
		switch {
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

// keyList shows the keys that were seen, for a message.
func keyList(seen map[string]*keyInfo) string {
	keys := make([]string, 0, len(seen))
	for k := range seen {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	const most = 12
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return strings.Join(keys, ", ")
}
