package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

const aSpan = `{"traceID":"1a","spanID":"2b","operationName":"op","startTime":1,"duration":2,"processID":"p1"}`

const (
	aTrace    = `{"traceID":"1a","spans":[` + aSpan + `,` + aSpan + `],"processes":{"p1":{"serviceName":"a\"}"}}}`
	aResource = `{"resource":{"attributes":[]},"scopeSpans":[{"spans":[{"traceId":"1a","spanId":"2b"}]}]}`
)

var documentSeeds = []string{
	`{"data":[` + aTrace + `,` + aTrace + `],"total":0,"errors":null}`, aTrace + "\n" + aTrace, `{"resourceSpans":[` + aResource + `, ` + aResource + `]}`, `{"result":{"resource_spans":[` + aResource + `]}}`,
	"[" + aSpan + "," + aTrace + "]", `{"data":{"spans":[]},"errors":[{"msg":"x"}]}`, `[[` + aSpan + `],7,"x\"{",{"resourceSpans":[]}]`, `{"resourceMetrics":[]}{"data":[` + aTrace + `]}`,
	`{"a":[{"data":[]}],"data":[{"b":{}},{}]}`, `{"resourceSpans":[[],{},7,{"x":"]"}],"data":[[[]]]}`,
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
		if means, known := meanings[m.key]; known && means.content == itself {
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
	for _, s := range documentSeeds {
		f.Add([]byte(s), uint8(9))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		if bytes.Contains(in, format.ByteOrderMark) {
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
		file := &format.File{MaxLine: format.DefaultMaxLine, Sizes: format.Sizes{Window: 1 + int(size), Chunk: 1 + int(size), Element: 1 << 30}}
		file.SetContent(bytes.NewReader(in))
		d := newDocuments(file, file.Head)
		var got []string
		for c, err := d.Next(); err == nil; c, err = d.Next() {
			if c.Offset > int64(len(in)) || !bytes.HasPrefix(in[c.Offset:], c.Data) {
				t.Fatalf("%q: a chunk that is not at its place %d", in, c.Offset)
			}
			located{c.Data, 0}.sequence(func(v located) int {
				got = append(got, string(v.whole().raw))
				return 0
			}, func(int) {})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	})
}

// TestLinesOrDocument tells JSON lines from a document by the first two lines.
func TestLinesOrDocument(t *testing.T) {
	resource := `{"resourceSpans":[` + aResource + `]}`
	for in, lines := range map[string]bool{
		resource: false, resource + "\n": false, resource + "\n" + resource: true, resource + "\n" + resource + resource: true, resource[:40] + "\n" + resource + "\n": true,
		"{\"data\":[\n" + aTrace + "\n]}\n": false, "{\n\"data\":\n[" + aTrace + "]\n}\n": false, "[\n" + aTrace + "\n]\n": false,
	} {
		f := &format.File{MaxLine: format.DefaultMaxLine}
		f.SetContent(strings.NewReader(in))
		c, err := newChunker(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := c.(*lineDocuments); got != lines {
			t.Errorf("%q: lines %v", in, got)
		}
	}
}
