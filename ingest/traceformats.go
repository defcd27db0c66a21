package ingest

import "github.com/tailscope/tailscope/spans"

// traceFormats are the formats of traces, in the order in which they are tried.
func traceFormats() []*format {
	return []*format{
		traceFormat("jaeger"),
		traceFormat("jaeger-jsonpb"),
		traceFormat("otlp"),
		{
			name: "jaeger-proto",
			sniff: func([]byte, *Settings) sniffed {
				return sniffed{why: "protobuf has no marks: it is read with --input-format jaeger-proto only"}
			},
			open:       func(f *File, _ *Settings) (chunker, error) { return newMessages(f), nil },
			newDecoder: func(s *Settings, _ spans.Columns) decoder { return newProtoDecoder(s) },
			binary:     true,
		},
	}
}

func traceFormat(name string) *format {
	return &format{
		name:       name,
		sniff:      sniffTraces(name),
		open:       func(f *File, _ *Settings) (chunker, error) { return newTraceChunker(f) },
		newDecoder: func(f *Settings, _ spans.Columns) decoder { return newTraceDecoder(f) },
	}
}
