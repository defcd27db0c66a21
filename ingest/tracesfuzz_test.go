package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	seeds = append(seeds, jaegerDocument(2), otlpLines(2))
	return append(seeds, twoTraces, exampleUI, otlpDoc, otlpDoc+"\n"+otlpDoc+"\n", "["+uiLone+","+uiTrace+"]", `{"result":`+otlpDoc+`}`,
		`{"data":{"spans":[]},"errors":[{"msg":"x"}]}}`, `[[`+uiLone+`],7,"x\"{",`+otlpDoc+`]`, `{"resourceMetrics":[]}`+otlpDoc, `{"data":[`+uiTrace[:90],
		otlpField(`"attributes":[{"key":"a","value":{"arrayValue":{"values":[{"kvlistValue":{}},{"stringValue":"\u0041"}]}}}]`))
}

// readsAlike checks what holds for any input of traces: it is accounted for, its
// rows are valid (the sink sees to it), and the sizes of the cutting change
// nothing.
func readsAlike(t *testing.T, format string, in []byte, size uint8) {
	h := traceHow{format: format, maxLine: 40 << (size % 8)}
	want := readTraces(t, h, string(in))
	if want.err != nil {
		return
	}
	h.general = true
	if plain := readTraces(t, h, string(in)); !reflect.DeepEqual(plain.parts(), want.parts()) {
		t.Fatalf("%q without shortcuts:\n%s", in, cmp.Diff(plain.parts(), want.parts()))
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
	if !reflect.DeepEqual(got.parts(), want.parts()) {
		t.Fatalf("%q with sizes %+v:\n%s", in, *h.sizes, cmp.Diff(want.parts(), got.parts()))
	}
	h.sizes.large = int(size) / 4
	apart := readTraces(t, h, string(in))
	if h.maxLine >= len(in) && json.Valid(in) && !reflect.DeepEqual(apart.parts(), want.parts()) {
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
		h.sizes = &sizes{oneByte: size&1 > 0, room: 1 + int(size), chunk: ChunkSize}
		got := readTraces(t, h, string(in))
		if !reflect.DeepEqual(got.parts(), want.parts()) {
			t.Fatalf("%q with sizes %+v:\n%s", in, *h.sizes, cmp.Diff(want.parts(), got.parts()))
		}
	})
}

// FuzzBalanceAgreesWithJSON: the end found by brackets is that of the value, in
// however many pieces it comes.
func FuzzBalanceAgreesWithJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,"]",{"a":"\\"}] x`, `{"a":"\"}"}`, `"x\\"`, `[{"a":[]}],`} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		if len(in) == 0 || in[0] != '{' && in[0] != '[' {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(in))
		var raw json.RawMessage
		if dec.Decode(&raw) == nil {
			same(t, "end", balanced(in), int(dec.InputOffset()))
		}
		n := balanced(in)
		var s balance
		at, done := 0, false
		for step := 1 + int(piece); at < len(in) && !done; {
			var k int
			k, done = s.scan(in[at:min(len(in), at+step)])
			at += k
		}
		if done != (n > 0) || done && at != n {
			t.Errorf("%q: %d in one piece, %d %v in pieces of %d", in, n, at, done, piece)
		}
	})
}

// elementsOf are the traces of valid JSON documents, found without any thought
// for memory: what a container holds, and each other value itself.
func elementsOf(raw json.RawMessage, resources bool) (out []string) {
	var list []json.RawMessage
	if raw[0] == '[' && !resources && json.Unmarshal(raw, &list) == nil {
		for _, e := range list {
			out = append(out, elementsOf(e, false)...)
		}
		return out
	}
	if raw[0] != '{' {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token()
	type member struct {
		key   string
		value json.RawMessage
	}
	var members []member
	for dec.More() {
		key, _ := dec.Token()
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil
		}
		members = append(members, member{fmt.Sprint(key), v})
	}
	for _, m := range members {
		if is, known := tells(m.key); known && is == itself {
			return []string{string(raw)}
		} else if known {
			for _, m := range members {
				switch m.key {
				case "data", "result":
					out = append(out, elementsOf(m.value, false)...)
				case "resourceSpans", "resource_spans":
					if json.Unmarshal(m.value, &list) == nil {
						for _, e := range list {
							if e[0] == '{' || e[0] == '[' {
								out = append(out, string(e))
							}
						}
					}
					list = nil
				}
			}
			return out
		}
	}
	return []string{string(raw)}
}

// FuzzSplitterAgreesWithJSON: the elements of valid documents are those that a
// plain decoder finds.
func FuzzSplitterAgreesWithJSON(f *testing.F) {
	for _, s := range traceSeeds(f) {
		f.Add([]byte(s), uint8(9))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		if bytes.Contains(in, ByteOrderMark) {
			return
		}
		var want []string
		dec := json.NewDecoder(bytes.NewReader(in))
		for {
			var raw json.RawMessage
			if err := dec.Decode(&raw); err != nil {
				if err.Error() != "EOF" {
					return
				}
				break
			}
			if raw[0] != '{' && raw[0] != '[' || strings.Count(string(raw), "[")+strings.Count(string(raw), "{") > maxNesting {
				return
			}
			want = append(want, elementsOf(raw, false)...)
		}
		file := &File{MaxLine: DefaultMaxLine, Sizes: Sizes{Window: 1 + int(size), Chunk: 1 + int(size), Element: 1 << 30}}
		file.SetContent(bytes.NewReader(in))
		d := newDocuments(file)
		var got []string
		for c, err := d.next(); err == nil; c, err = d.next() {
			if c.Offset > int64(len(in)) || !bytes.HasPrefix(in[c.Offset:], c.Data) {
				t.Fatalf("%q: a chunk that is not at its place %d", in, c.Offset)
			}
			located{c.Data, 0}.sequence(func(v located) int {
				got = append(got, string(v.whole().raw))
				return 0
			}, func(int) {})
		}
		same(t, string(in), got, want)
	})
}
