package hoplog

import (
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// Formats are the formats of hop logs, in the order in which they are tried.
func Formats() []*format.Format {
	return []*format.Format{
		{
			Name:  "ndjson",
			Sniff: sniffNDJSON,
			Open: func(f *format.File, _ *format.Settings) (format.Chunker, error) {
				return format.NewSplitter(f, format.LastNewline), nil
			},
			NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newNDJSON(s, c) },
		},
		delimitedFormat("csv", ','),
		delimitedFormat("tsv", '\t'),
	}
}

func delimitedFormat(name string, comma byte) *format.Format {
	return &format.Format{
		Name:  name,
		Sniff: sniffDelimited(comma),
		Open: func(f *format.File, s *format.Settings) (format.Chunker, error) {
			return takeHeader(f, newCutter(comma, f.MaxLine), s)
		},
		NewDecoder: func(s *format.Settings, c spans.Columns) format.Decoder { return newDelimited(s, c) },
	}
}
