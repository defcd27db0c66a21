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
	// returns what cuts the rest into chunks.
	open       func(f *File, fields *Fields) (chunker, error)
	newDecoder func(*Fields, spans.Columns) decoder
	// binary tells that there are no lines, and that no byte is white space.
	binary bool
}

// isBinary reports whether the format of that name is binary.
func isBinary(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.name == name && f.binary })
}

// chunker cuts a file into chunks of whole records.
type chunker interface {
	// next returns the next chunk, io.EOF after the last one.
	next() (*Chunk, error)
	// count returns how many chunks there were so far.
	count() int
}

// decoder decodes the chunks of one format. It hands each attempt to the sink.
type decoder interface {
	decode(c *Chunk, t *Tally, s sink)
}

// sink takes what a decoder reads. What the arguments point to is valid only
// during the call.
type sink interface {
	// attempt takes a line of a hop log.
	attempt(rec *record, row *spans.Row, hop []byte)
	// plain takes an attempt whose hop is what its record calls it, and whose
	// instance may be nil.
	plain(row *spans.Row, hop, instance []byte)
	// span takes a span of a trace.
	span(row *spans.Row, service, operation []byte, kind spans.Kind)
	// host, stratum and peer return the index of a name, for rows of spans.
	host(name []byte) int32
	stratum(name []byte) int32
	peer(name []byte) int32
}

// formats is the list of known formats, in the order in which they are tried.
// Traces come first: their keys are exact, those of hop logs are not.
var formats = []format{
	traceFormat("jaeger"),
	traceFormat("jaeger-jsonpb"),
	traceFormat("otlp"),
	{
		name: "jaeger-proto",
		sniff: func([]byte, *Fields) sniffed {
			return sniffed{why: "protobuf has no marks: it is read with --input-format jaeger-proto only"}
		},
		open:       func(f *File, _ *Fields) (chunker, error) { return newMessages(f), nil },
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newProtoDecoder(f, c) },
		binary:     true,
	},
	{
		name:       "ndjson",
		sniff:      sniffNDJSON,
		open:       func(f *File, _ *Fields) (chunker, error) { return newSplitter(f, lastNewline), nil },
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newNDJSON(f, c) },
	},
	delimitedFormat("csv", ','),
	delimitedFormat("tsv", '\t'),
}

func delimitedFormat(name string, comma byte) format {
	return format{
		name:  name,
		sniff: sniffDelimited(comma),
		open: func(f *File, fields *Fields) (chunker, error) {
			c := newCutter(comma, f.maxLine)
			if err := f.takeHeader(c, fields); err != nil {
				return nil, err
			}
			s := newSplitter(f, c.boundary)
			s.line += f.header.lines
			s.offset += f.header.bytes
			return s, nil
		},
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newDelimited(f, c) },
	}
}

func traceFormat(name string) format {
	return format{
		name:       name,
		sniff:      sniffTraces(name),
		open:       func(f *File, _ *Fields) (chunker, error) { return newTraceChunker(f) },
		newDecoder: func(f *Fields, c spans.Columns) decoder { return newTraceDecoder(f, c) },
	}
}

func formatNamed(name string) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == name })]
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
	why      string        // why not
	refused  *RefusedError // set if the input is recognised, but cannot be used
	unitless *UnitError    // set if the unit of durations is not known
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
