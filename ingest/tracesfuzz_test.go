package ingest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/ingest/format"
)

// traceSeeds are inputs of all trace formats: the fixtures, and what the tests
// are made of.
func traceSeeds(f *testing.F) (seeds []string) {
	for _, pattern := range []string{"jaeger/*", "jaeger-jsonpb/*", "otlp/*"} {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, string(b))
		}
	}
	seeds = append(seeds, realSeeds(f, ".json", ".jsonl", ".json.gz")...)
	seeds = append(seeds, jaegerDocument(2), otlpLines(2))
	return append(seeds, twoTraces, exampleUI, otlpDoc, otlpDoc+"\n"+otlpDoc+"\n", "["+uiLone+","+uiTrace+"]", `{"result":`+otlpDoc+`}`,
		`{"data":{"spans":[]},"errors":[{"msg":"x"}]}}`, `[[`+uiLone+`],7,"x\"{",`+otlpDoc+`]`, `{"resourceMetrics":[]}`+otlpDoc, `{"data":[`+uiTrace[:90],
		otlpField(`"attributes":[{"key":"a","value":{"arrayValue":{"values":[{"kvlistValue":{}},{"stringValue":"\u0041"}]}}}]`))
}

// readsAlike checks what holds for any input of traces: it is accounted for, its
// rows are valid (the sink sees to it), and the sizes of the cutting change
// nothing.
func readsAlike(t *testing.T, format string, in []byte, size uint8) {
	if len(in) > longestFuzzed {
		t.Skip("too long to be tried often")
	}
	h := traceHow{format: format, maxLine: 40 << (size % 8)}
	want := readTraces(t, h, string(in))
	if want.err != nil {
		return
	}
	h.general = true
	if plain := readTraces(t, h, string(in)); !reflect.DeepEqual(plain.parts(), want.parts()) {
		t.Fatalf("%q without fast paths:\n%s", in, cmp.Diff(plain.parts(), want.parts()))
	}
	h.general = false
	for _, r := range want.rejects {
		if r.Line < 1 || r.Offset < 0 || r.Detail == "" {
			t.Errorf("an invalid reject: %+v", r)
		}
	}
	if want.damage != nil && want.summary.Files[0].Complete {
		t.Errorf("complete in spite of %v", want.damage)
	}
	h.sizes = &sizes{oneByte: size&1 > 0, room: 1 + int(size), chunk: 1 + int(size)/2, large: 1 << 30}
	got := readTraces(t, h, string(in))
	fits := h.maxLine >= len(in) // else a broken line that is long is read further than a short one
	if fits && !reflect.DeepEqual(got.parts(), want.parts()) {
		t.Fatalf("%q with sizes %+v:\n%s", in, *h.sizes, cmp.Diff(want.parts(), got.parts()))
	}
	h.sizes.large = int(size) / 4
	apart := readTraces(t, h, string(in))
	if fits && json.Valid(in) && !reflect.DeepEqual(apart.parts(), want.parts()) {
		t.Fatalf("%q taken apart with sizes %+v:\n%s", in, *h.sizes, cmp.Diff(want.parts(), apart.parts()))
	}
}

func fuzzTraces(f *testing.F, format string) {
	for _, s := range traceSeeds(f) {
		f.Add([]byte(s), uint8(7))
		f.Add([]byte(s), uint8(250))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) { readsAlike(t, format, in, size) })
}

func FuzzJaegerJSON(f *testing.F)  { fuzzTraces(f, "jaeger") }
func FuzzOTLPJSON(f *testing.F)    { fuzzTraces(f, "otlp") }
func FuzzJaegerModel(f *testing.F) { fuzzTraces(f, "jaeger-jsonpb") }

func FuzzJaegerProto(f *testing.F) {
	plain, inline := marshalled(f, exampleTrace()), marshalled(f, inlined(exampleTrace()))
	for _, s := range []string{plain, inline, plain + inline, framed(0, plain) + framed(0, inline), framed(1, gzipped(f, inline)), plain[:300], framed(0, inline)[:200]} {
		f.Add([]byte(s), uint8(6))
		f.Add([]byte(s), uint8(255))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		h := traceHow{format: "jaeger-proto", maxLine: 40 << (size % 8)}
		want := readTraces(t, h, string(in))
		h.sizes = &sizes{oneByte: size&1 > 0, room: 1 + int(size), chunk: format.ChunkSize}
		got := readTraces(t, h, string(in))
		if !reflect.DeepEqual(got.parts(), want.parts()) {
			t.Fatalf("%q with sizes %+v:\n%s", in, *h.sizes, cmp.Diff(want.parts(), got.parts()))
		}
	})
}
