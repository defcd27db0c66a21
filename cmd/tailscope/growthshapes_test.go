package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// shape is an input that may cost more than its size: n says how many there are of what
// is odd in it.
type shape struct {
	name  string
	n     int
	write func(w *writing, n int)
	// files writes it where it is more than text: it returns what to read.
	files func(t *testing.T, n int) string
}

func (s shape) input(t *testing.T, n int) string {
	t.Helper()
	if s.files != nil {
		return s.files(t, n)
	}
	w := new(writing)
	s.write(w, n)
	return write(t, fmt.Sprint("in", n), w.Bytes())
}

// writing is a text under way.
type writing struct{ bytes.Buffer }

func (w *writing) f(format string, args ...any) { fmt.Fprintf(&w.Buffer, format, args...) }

// list writes n things with commas between.
func (w *writing) list(n int, one func(i int)) {
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		one(i)
	}
}

// line writes a line of a hop log that starts at a millisecond and lasts some.
func (w *writing) line(chain, hop string, start, lasts int, more string) {
	w.f(`{"chain_id":"%s","hop":"%s","start_ns":%d,"duration_ms":%d%s}`+"\n", chain, hop, 1768442400000000000+int64(start)*1e6, lasts, more)
}

// jaeger writes a document of one trace with n spans. of gives each its parent, 0 for
// none, its start and how long it takes, in microseconds, and how it is called.
func (w *writing) jaeger(n int, of func(i int) (id, parent, start, lasts int, name string), tags string) {
	w.f(`{"data":[{"traceID":"a","spans":[`)
	w.list(n, func(i int) {
		id, parent, start, lasts, name := of(i)
		refs := ""
		if parent != 0 {
			refs = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"a","spanID":"%x"}`, parent)
		}
		w.f(`{"traceID":"a","spanID":"%x","operationName":"%s","references":[%s],"startTime":%d,"duration":%d,"processID":"p","tags":[%s]}`,
			id, name, refs, 1768442400000000+start, lasts, tags)
	})
	w.f(`],"processes":{"p":{"serviceName":"s"}}}]}`)
}

// root is a parent of n spans, each of which of tells of, from 1.
func root(lasts int, of func(i int) (start, lasts int, name string)) func(i int) (id, parent, start, lasts int, name string) {
	return func(i int) (int, int, int, int, string) {
		if i == 0 {
			return 1, 0, 0, lasts, "root"
		}
		start, lasts, name := of(i)
		return i + 1, 1, start, lasts, name
	}
}

const failedTag = `{"key":"error","type":"bool","value":true}`

// few is how many records have very much in them, where that is the shape.
const few = 4

// growing are the shapes, and how large the smallest of them are.
var growing = []shape{
	{name: "a poll loop", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, root(2000*n, func(i int) (int, int, string) { return 2000 * i, 900, "poll" }), failedTag)
	}},
	{name: "a trace of that depth", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(i int) (int, int, int, int, string) { return i + 1, i, i, 3*n - 2*i, fmt.Sprint("op", i%50) }, "")
	}},
	{name: "a trace of that depth of failed spans", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(i int) (int, int, int, int, string) { return i + 1, i, i, 3*n - 2*i, "op" }, failedTag)
	}},
	{name: "children of one parent", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, root(2000*n, func(i int) (int, int, string) { return 2000 * i, 900, fmt.Sprint("c", i%50) }), "")
	}},
	{name: "a cycle", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(i int) (int, int, int, int, string) { return i + 1, (i+1)%n + 1, i, 10, "op" }, "")
	}},
	{name: "siblings that overlap", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, root(9000*n, func(i int) (int, int, string) { return 2 * i, 1000 * n, fmt.Sprint("c", i%50) }), "")
	}},
	{name: "failed siblings one in the other", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, root(9000*n, func(i int) (int, int, string) { return i, 3*n - 2*i, "c" }), failedTag)
	}},
	{name: "a span again and again", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(int) (int, int, int, int, string) { return 1, 0, 0, 9, "op" }, "")
	}},
	{name: "spans of one id", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(i int) (int, int, int, int, string) { return 1 + i%2*i, 1, i, 9, "op" }, "")
	}},
	{name: "orphans", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, func(i int) (int, int, int, int, string) { return i + 1, n + i + 1, 2000 * i, 900, "op" }, "")
	}},
	{name: "work after the caller gave up", n: 1000, write: func(w *writing, n int) {
		w.jaeger(n, root(100, func(i int) (int, int, string) { return i % 100, 9000 + i, "op" }), "")
	}},
	{name: "trace ids of one span", n: 1000, write: func(w *writing, n int) {
		w.f(`{"data":[{"traceID":"a","spans":[`)
		w.list(n, func(i int) {
			w.f(`{"traceID":"%x","spanID":"1","operationName":"op","references":[],"startTime":1768442400000000,"duration":9,"processID":"p"}`, i+1)
		})
		w.f(`],"processes":{"p":{"serviceName":"s"}}}]}`)
	}},
	{name: "services", n: 500, write: func(w *writing, n int) {
		w.f(`{"data":[{"traceID":"a","spans":[`)
		w.list(n, func(i int) {
			w.f(`{"traceID":"a","spanID":"%x","operationName":"op","references":[],"startTime":1768442400000000,"duration":9,"processID":"p%d"}`, i+1, i)
		})
		w.f(`],"processes":{`)
		w.list(n, func(i int) { w.f(`"p%d":{"serviceName":"s%d"}`, i, i) })
		w.f(`}}]}`)
	}},
	{name: "tags of a span", n: 1000, write: func(w *writing, n int) {
		w.spanWith("tags", n, func(i int) { w.f(`{"key":"k%d","type":"string","value":"v"}`, i) })
	}},
	{name: "references of a span", n: 1000, write: func(w *writing, n int) {
		w.spanWith("references", n, func(i int) { w.f(`{"refType":"CHILD_OF","traceID":"a","spanID":"%x"}`, i+9) })
	}},
	{name: "logs of a span", n: 1000, write: func(w *writing, n int) {
		w.spanWith("logs", n, func(i int) {
			w.f(`{"timestamp":1768442400000000,"fields":[{"key":"event","type":"string","value":"e%d"}]}`, i)
		})
	}},
	{name: "resources of OTLP", n: 500, write: func(w *writing, n int) {
		w.f(`{"resourceSpans":[`)
		w.list(n, func(i int) { w.resource(fmt.Sprint("s", i), i+1, "events", 0, nil) })
		w.f(`]}`)
	}},
	{name: "lines of OTLP", n: 500, write: func(w *writing, n int) {
		for i := range n {
			w.f(`{"resourceSpans":[`)
			w.resource(fmt.Sprint("s", i), i+1, "events", 0, nil)
			w.f("]}\n")
		}
	}},
	{name: "events of a span", n: 1000, write: func(w *writing, n int) {
		w.f(`{"resourceSpans":[`)
		w.list(few, func(i int) {
			w.resource("s", i+1, "events", n, func(k int) { w.f(`{"name":"e%d","timeUnixNano":"1768442400000000000"}`, k) })
		})
		w.f(`]}`)
	}},
	{name: "attributes of a span", n: 1000, write: func(w *writing, n int) {
		w.f(`{"resourceSpans":[`)
		w.list(few, func(i int) {
			w.resource("s", i+1, "attributes", n, func(k int) { w.f(`{"key":"k%d","value":{"stringValue":"v"}}`, k) })
		})
		w.f(`]}`)
	}},
	{name: "attempts of a chain", n: 1000, write: func(w *writing, n int) {
		for i := range n {
			w.line("c", fmt.Sprint("h", i%7), i, 5, "")
		}
	}},
	{name: "retries of a chain", n: 1000, write: func(w *writing, n int) {
		for i := range n {
			w.line("c", "h", 6*i, 5, `,"truncated":true`)
		}
	}},
	{name: "attempts of a chain of which half run at a time", n: 1000, write: func(w *writing, n int) {
		for i := range 200 { // by which it is known that a calls b
			w.line(fmt.Sprint("c", i), "a", 100*i, 50, "")
			w.line(fmt.Sprint("c", i), "b", 100*i+1, 20, "")
		}
		for i := range n {
			w.line("c", "a", i, n, "")
			w.line("c", "b", i, 2*n, "")
		}
	}},
	{name: "attempts of a chain that start together", n: 1000, write: func(w *writing, n int) {
		for i := range 200 {
			w.line(fmt.Sprint("c", i), "a", 100*i, 50, "")
			w.line(fmt.Sprint("c", i), "b", 100*i+1, 20, "")
		}
		for i := range n {
			w.line("c", "a", 0, 20, "")
			w.line("c", "b", 0, 50+i, "")
		}
	}},
	{name: "hops that call each other", n: 500, write: func(w *writing, n int) {
		for i := range n {
			w.line(fmt.Sprint("c", i), fmt.Sprint("h", i), 100*i, 50, "")
			w.line(fmt.Sprint("c", i), fmt.Sprint("h", (i+1)%n), 100*i+1, 20, "")
		}
	}},
	{name: "brackets in brackets", n: 2000, write: func(w *writing, n int) {
		for range few {
			w.line("c", "h", 0, 5, `,"x":`+strings.Repeat("[", n)+strings.Repeat("]", n))
		}
		w.line("c", "h", 0, 5, "")
	}},
	{name: "brackets that do not close", n: 2000, write: func(w *writing, n int) {
		w.line("c", "h", 0, 5, "")
		w.f("%s\n%s\n", strings.Repeat("[", n), strings.Repeat(`{"a":`, n))
		for range n / 2 {
			w.f(`{"hop":"h","duration_ms":5,"x":[{` + "\n")
		}
	}},
	{name: "a span that does not close", n: 2000, write: func(w *writing, n int) {
		w.f(`{"data":[`+jaegerOne+`,{"traceID":"a2","spans":[`+jaegerSpan+`,{"x":%s`, strings.Repeat(`[{"y":`, n))
	}},
	{name: "rejected lines", n: 1000, write: func(w *writing, n int) {
		w.line("c", "h", 0, 5, "")
		for i := range n {
			w.f(`{"hop":"h","duration_ms":"x%d"}`+"\nno line %d\n", i, i)
		}
	}},
	{name: "keys of an object", n: 1000, write: func(w *writing, n int) {
		for range few {
			w.f(`{"hop":"h","duration_ms":5,"x":{`)
			w.list(n, func(i int) { w.f(`"k%d":%d`, i, i) })
			w.f("}}\n")
		}
	}},
	{name: "fields of a line", n: 1000, write: func(w *writing, n int) {
		for line := range few {
			w.f(`{"hop":"h","duration_ms":5`)
			for i := range n {
				w.f(`,"k%d_%d":%d`, line, i, i)
			}
			w.f("}\n")
		}
	}},
	{name: "a field again and again", n: 1000, write: func(w *writing, n int) {
		for range few {
			w.f(`{"hop":"h","duration_ms":5%s}`+"\n", strings.Repeat(`,"k":1`, n))
		}
	}},
	{name: "keys of a log", n: 1000, write: func(w *writing, n int) {
		for i := range n {
			w.line("c", "h", i, 5, fmt.Sprintf(`,"k%d":1`, i))
		}
	}},
	{name: "columns", n: 1000, write: func(w *writing, n int) {
		w.f("hop,duration_ms")
		for i := range n {
			w.f(",c%d", i)
		}
		w.f("\n%s", strings.Repeat("h,5"+strings.Repeat(",x", n)+"\n", few))
	}},
	{name: "quotes that do not close", n: 1000, write: func(w *writing, n int) {
		w.f("hop,duration_ms,text\nh,5,x\n%s", strings.Repeat("h,5,\"x\n", n))
	}},
	{name: "parts of a line", n: 1000, write: func(w *writing, n int) {
		const stamp = "2026-01-15T02:00:00.000000000Z stdout "
		for range 5 {
			w.f(stamp + `F {"hop":"h","duration_ms":5}` + "\n")
		}
		w.f("%s", stamp+`P {"hop":"h","duration_ms":5,"x":"`+"\n"+strings.Repeat(stamp+"P "+strings.Repeat("x", 60)+"\n", n)+stamp+`F "}`+"\n")
	}},
	{name: "elements of an array", n: 1000, write: func(w *writing, n int) {
		w.f("[")
		w.list(n, func(i int) { w.f(`{"hop":"h","duration_ms":%d}`, i) })
		w.f("]")
	}},
	{name: "members of gzip", n: 1000, files: func(t *testing.T, n int) string { return write(t, "in.gz", bytes.Repeat(gzipMember(t), n)) }},
	{name: "frames of zstd", n: 1000, files: func(t *testing.T, n int) string {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return write(t, "in.zst", bytes.Repeat(z.EncodeAll([]byte(hopLine), nil), n))
	}},
	{name: "files", n: 200, files: func(t *testing.T, n int) string {
		folder := t.TempDir()
		for i := range n {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i)), []byte(hopLine), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}},
}

// spanWith writes spans of Jaeger that have a list of n things.
func (w *writing) spanWith(key string, n int, one func(i int)) {
	w.f(`{"data":[{"traceID":"a","spans":[`)
	w.list(few, func(i int) {
		w.f(`{"traceID":"a","spanID":"%x","operationName":"op","startTime":1768442400000000,"duration":9,"processID":"p","%s":[`, i+1, key)
		w.list(n, one)
		w.f(`]}`)
	})
	w.f(`],` + processes + `}]}`)
}

// resource writes one of OTLP with a span that has a list of n things.
func (w *writing) resource(service string, id int, key string, n int, one func(i int)) {
	w.f(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"spans":[`, service)
	w.f(`{"traceId":"%032x","spanId":"%016x","name":"op","startTimeUnixNano":"1768442400000000000","endTimeUnixNano":"1768442400001000000","%s":[`, id, id, key)
	w.list(n, one)
	w.f(`]}]}]}`)
}

func gzipMember(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(hopLine)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
