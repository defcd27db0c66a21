package ingest

import "github.com/tailscope/tailscope/spans"

// hopLogFormats are the formats of hop logs, in the order in which they are tried.
func hopLogFormats() []*format {
	return []*format{
		{
			name:       "ndjson",
			sniff:      sniffNDJSON,
			open:       func(f *File, _ *Settings) (chunker, error) { return newSplitter(f, lastNewline), nil },
			newDecoder: func(s *Settings, c spans.Columns) decoder { return newNDJSON(s, c) },
		},
		delimitedFormat("csv", ','),
		delimitedFormat("tsv", '\t'),
	}
}

func delimitedFormat(name string, comma byte) *format {
	return &format{
		name:       name,
		sniff:      sniffDelimited(comma),
		open:       func(f *File, s *Settings) (chunker, error) { return takeHeader(f, newCutter(comma, f.MaxLine), s) },
		newDecoder: func(s *Settings, c spans.Columns) decoder { return newDelimited(s, c) },
	}
}
