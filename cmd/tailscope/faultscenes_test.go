package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// scene is a run whose calls may fail: a command and what it reads.
type scene struct {
	name    string
	command string
	args    []string
	files   map[string]string // under the folder of inputs
	reads   []string          // the arguments that name them, below that folder
	stdin   string
	plain   string // the content of the one file, or of stdin, without compression
	parts   int    // in which the input is read
	hidden  bool   // the file system has no files without names
	stdout  bool   // the report goes there
}

var commandNames = []string{"quantiles", "owner", "calls", "retries", "timeouts", "orphans", "analyze"}

// scenes are each format plain and compressed in one of the two ways; the ways to name an input; each command
// with lines, with spans, and with a memory that holds neither.
func scenes(t *testing.T) (list []scene) {
	one := func(name, command, file, text, compression string, args ...string) scene {
		return scene{name: name, command: command, args: args, plain: text, files: map[string]string{file: packed(t, text, compression)}, reads: []string{file}}
	}
	samples := formatSamples(t)
	for i, file := range slices.Sorted(maps.Keys(samples)) {
		text := samples[file]
		for _, compression := range []string{"plain", []string{"gzip", "zstd"}[i%2]} {
			s := one(file+" "+compression, "analyze", file, text, compression)
			if strings.HasSuffix(file, ".pb") {
				s.args = []string{"--input-format", "jaeger-proto"} // which has no marks
			}
			list = append(list, s)
		}
	}
	lines, spans := sampleLines(40), sampleSpans(30)
	for _, command := range commandNames {
		list = append(list, one(command+" of lines", command, "in", lines, "plain"), one(command+" of spans", command, "in", spans, "gzip"))
	}
	three := map[string]string{"a.ndjson": lines, "b/c.ndjson": sampleLines(10), "b/d.json": spans}
	list = append(list,
		scene{name: "folder", command: "analyze", files: three, reads: []string{"."}},
		scene{name: "glob", command: "analyze", files: three, reads: []string{"**/*.*json"}},
		scene{name: "files", command: "quantiles", files: three, reads: []string{"b/c.ndjson", "a.ndjson"}},
		scene{name: "stdin", command: "analyze", stdin: lines, plain: lines, reads: []string{"-"}},
		scene{name: "compressed stdin", command: "analyze", stdin: packed(t, spans, "zstd"), plain: spans, reads: []string{"-"}})
	hidden := one("hidden files", "analyze", "in", lines, "plain")
	hidden.hidden = true
	stdout := one("stdout", "analyze", "in", lines, "plain")
	stdout.stdout = true
	list = append(list, hidden, stdout)
	for i := range list {
		list[i].parts = 8
	}
	return list
}

// spillScenes are commands with a memory that holds nothing.
func spillScenes() (list []scene) {
	add := func(name, command, text, memory string) {
		list = append(list, scene{name: name, command: command, args: []string{"--memory", memory}, plain: text, files: map[string]string{"in": text}, reads: []string{"in"}, parts: 4})
	}
	spans := sampleSpans(20)
	for _, command := range commandNames {
		add("spans are spilled, "+command, command, spans, "16KiB")
	}
	add("durations and chains are spilled", "analyze", sampleLines(16_000), "1KiB")
	add("spans are spilled part by part", "quantiles", spans, "1KiB")
	add("spans are spilled to files with names", "quantiles", spans, "16KiB")
	list[len(list)-1].hidden = true
	return list
}

// formatSamples are the golden inputs of every format, and a record in each that is
// refused where lines can be.
func formatSamples(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"in.ndjson": sampleLines(12) + "{\"hop\":1\n", "in.csv": table(","), "in.tsv": table("\t")}
	for _, path := range []string{"jaeger/good.json", "jaeger-jsonpb/good.json", "jaeger-proto/good.pb", "otlp/good.jsonl"} {
		text, err := os.ReadFile(filepath.Join("../../ingest/testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		all[strings.ReplaceAll(path, "/", "-")] = string(text)
	}
	return all
}

func sampleLines(n int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 5))
	for i := range n {
		fmt.Fprintf(&b, `{"trace":"%032x","hop":"h%d","duration_ns":%d,"truncated":%t,"attempt":%d,"time":"2026-03-01T10:%02d:00Z"}`+"\n",
			i/4, i%3, r.Int64N(1e9), i%9 == 0, 1+i%2, i/4%60)
	}
	return b.String()
}

// table has the rows of some lines.
func table(comma string) string {
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join([]string{"chain_id", "service", "duration_us", "status", "retry_count"}, comma))
	for i := range 12 {
		fmt.Fprintln(&b, strings.Join([]string{fmt.Sprint("c", i/2), fmt.Sprint("h", i%3), fmt.Sprint(100_123 * (i + 1)), "200", fmt.Sprint(i % 2)}, comma))
	}
	fmt.Fprintln(&b, strings.Join([]string{"c", "", "1", "200", "0"}, comma)) // without a hop
	return b.String()
}

// sampleSpans is an export of traces in OTLP: a caller, a call that is cut, another try.
func sampleSpans(traces int) string {
	var b strings.Builder
	for i := range traces {
		span := func(id, parent, name string, kind, from, to int, attributes string) string {
			return fmt.Sprintf(`{"traceId":"%032x","spanId":"%016s","parentSpanId":"%s","name":"%s","kind":%d,"startTimeUnixNano":"15447126%02d%09d","endTimeUnixNano":"15447126%02d%09d","attributes":[%s],"status":{}}`,
				i+1, id, parent, name, kind, i%60, from, i%60, to, attributes)
		}
		caller := fmt.Sprintf("%016d", 1)
		fmt.Fprintf(&b, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"gateway"}}]},"scopeSpans":[{"spans":[%s,%s,%s]}]}]}`+"\n",
			span("1", "", "GET /", 2, 0, 700_000_000+i*1001, ""),
			span("2", caller, "call", 3, 1000, 300_000_000+i, `{"key":"error.type","value":{"stringValue":"timeout"}}`),
			span("3", caller, "call", 3, 310_000_000, 600_000_000+i*7, ""))
	}
	return b.String()
}

func packed(t *testing.T, text, compression string) string {
	t.Helper()
	var b bytes.Buffer
	switch compression {
	case "gzip":
		z := gzip.NewWriter(&b)
		half := len(text) / 2
		z.Write([]byte(text[:half]))
		z.Close()
		z.Reset(&b) // another member
		z.Write([]byte(text[half:]))
		z.Close()
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		z.Write([]byte(text))
		z.Close()
	default:
		return text
	}
	return b.String()
}
