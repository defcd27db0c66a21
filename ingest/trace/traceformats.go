package trace

import (
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// traceFormats are the formats of traces, in the order in which they are tried.
func Formats() []*format.Format {
	return []*format.Format{
		traceFormat("jaeger"),
		traceFormat("jaeger-jsonpb"),
		traceFormat("otlp"),
		{
			Name: "jaeger-proto",
			Sniff: func([]byte, *format.Settings) format.Sniffed {
				return format.Sniffed{Why: "protobuf has no marks: it is read with --input-format jaeger-proto only"}
			},
			Open:       func(f *format.File, _ *format.Settings) (format.Chunker, error) { return newMessages(f), nil },
			NewDecoder: func(s *format.Settings, _ spans.Columns) format.Decoder { return newProtoDecoder(s) },
			Binary:     true,
		},
	}
}

func traceFormat(name string) *format.Format {
	return &format.Format{
		Name:       name,
		Sniff:      sniffTraces(name),
		Open:       func(f *format.File, _ *format.Settings) (format.Chunker, error) { return newTraceChunker(f) },
		NewDecoder: func(f *format.Settings, _ spans.Columns) format.Decoder { return newTraceDecoder(f) },
	}
}
