package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

// Each file has two records of a hop "a", of 5 and 7 ms, and some have other lines.
func TestRecordsAreTakenOutOfWhatTheyLieIn(t *testing.T) {
	for _, file := range wrappedFiles(t) {
		name, text := filepath.Base(file), readFile(t, file)
		d := decodeAnyhow(t, how{}, text)
		if d.err != nil {
			t.Errorf("%s: %v", name, d.err)
			continue
		}
		byDuration := map[string]int{}
		for _, r := range d.rows {
			byDuration[r.Hop+" "+r.Duration.String()]++
		}
		same(t, name, fmt.Sprint(byDuration), "map[a 5ms:1 a 7ms:1]")
		same(t, name+": other lines", d.summary.Rejected, d.summary.OtherLines)
		bare := strings.HasPrefix(name, "byte-order") || strings.HasPrefix(name, "rotated")
		same(t, name+": wrapper", d.summary.Files[0].Wrapper == "", bare)
	}
}

// The time of the wrapper serves where the record has none: that of the logger before
// that of what carries its lines.
func TestTheTimeOfTheWrapperServesWhereTheRecordHasNone(t *testing.T) {
	for _, name := range []string{"kubectl-timestamps.log", "aws-logs-tail.log", "heroku.log", "pm2.log", "pm2-json.log", "syslog-rfc5424.log", "logger-text.log", "zap-console.log", "logcli-default.log", "text-in-docker.log",
		"docker-json-file.log", "cri.log", "logcli-jsonl.jsonl", "loki-answer.json", "journald.json", "cloudwatch-get-log-events.json", "cloudwatch-filter-log-events.json", "cloudwatch-subscription.json",
		"cloudwatch-insights.json", "google-cloud-logging.json", "fluent-bit.log", "fluent-bit-merged.log", "kafka.ndjson", "splunk-export.json", "rust-tracing.ndjson"} {
		d := decode(t, how{timeIs: "start"}, readFile(t, filepath.Join("testdata", "wrapped", name)))
		same(t, name, strings.Join(pick(d.rows, func(a attempt) string { return a.Start }), " "), "2024-05-01T10:00:00.5Z 2024-05-01T10:00:01.5Z")
	}
	own := decode(t, how{}, `2024-05-01T10:00:00Z {"hop":"a","duration_ms":5,"time":"2024-05-01T09:00:00.005Z"}`+"\n")
	same(t, "its own counts", own.rows[0].Start, "2024-05-01T09:00:00Z")
}

// A reject, and an attempt, is found where it stands in the file.
func TestWhatLiesInSomethingHasItsPlaceInTheFile(t *testing.T) {
	for in, want := range map[string]string{
		"x {\"hop\":\"a\",\"duration_ms\":5}\nx {\"hop\":\"a\",\"duration_ms\":\"?\"}\nx {\"hop\":\"a\",\"duration_ms\":6}\n": "1 0,3 62; 2 30",
		"[\n{\"hop\":\"a\",\"duration_ms\":5},\n{\"hop\":\"a\",\"duration_ms\":\"?\"}]":                                       "2 2; 3 31",
		"{\"events\": [\n {\"hop\":\"a\",\n \"duration_ms\":5},\n {\"hop\":\"a\",\"duration_ms\":\"?\"}]}":                    "2 14; 4 46",
	} {
		d := decodeAnyhow(t, how{}, in)
		got := strings.Join(pick(d.rows, func(a attempt) string { return fmt.Sprint(a.Line, " ", a.Offset) }), ",") + "; " +
			strings.Join(pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, " ", r.Offset) }), ",")
		same(t, in, got, want)
	}
}

// An array with a record a line, or pretty-printed, has all of them, and a broken line
// costs itself.
func TestArraysOfAnySizeAreReadWhole(t *testing.T) {
	arraysAreReadWhole(t, 300, decodeAnyhow)
	arraysAreReadWhole(t, 10000, decode) // beyond the head of a file
}

func arraysAreReadWhole(t *testing.T, n int, read func(testing.TB, how, string) decoded) {
	t.Helper()
	var lines, pretty strings.Builder
	lines.WriteString("[")
	pretty.WriteString("{\n  \"took\": 3,\n  \"records\": [")
	for i := range n {
		comma := ","
		if i == 0 {
			comma = ""
		}
		fmt.Fprintf(&lines, "%s\n{\"hop\":\"a\",\"duration_ms\":%d}", comma, i)
		fmt.Fprintf(&pretty, "%s\n    {\n      \"hop\": \"a\",\n      \"duration_ms\": %d\n    }", comma, i)
	}
	for _, in := range []string{lines.String() + "\n]\n", pretty.String() + "\n  ]\n}\n"} {
		d := read(t, how{}, in)
		same(t, "accepted", len(d.rows), n)
		same(t, "rejected", len(d.rejects), 0)
		same(t, "the last", int64(d.rows[n-1].Duration), int64(n-1)*1e6)
	}
	broken := strings.Replace(lines.String()+"\n]", fmt.Sprintf(`,"duration_ms":%d}`, n/2), `,"dura`, 1)
	d := decode(t, how{}, broken)
	same(t, "beside a broken line", fmt.Sprint(len(d.rows), len(d.rejects)), fmt.Sprint(n-1, 1))
	cut := decode(t, how{}, pretty.String())
	same(t, "cut off between records", fmt.Sprint(len(cut.rows), cut.summary.Files[0].Complete), fmt.Sprint(n, false))
	cut = decode(t, how{}, pretty.String()[:pretty.Len()-8])
	same(t, "cut off in a record", fmt.Sprint(len(cut.rows), cut.summary.Files[0].Complete), fmt.Sprint(n-1, false))
}

func TestRecordsBehindALongPreambleAreRead(t *testing.T) {
	for _, line := range []string{`{"hop":"a","duration_ms":5}`, `2024-05-01T10:00:00Z INFO {"hop":"a","duration_ms":5}`} {
		for _, n := range []int{10, 3000, 30000} {
			in := strings.Repeat("2024-05-01 09:00:00 INFO  Mapped {[/orders],methods=[GET]} onto public void some.long.name.of.a.Controller\n", n) + strings.Repeat(line+"\n", 1000)
			d := decode(t, how{}, in)
			same(t, fmt.Sprint(n, line), fmt.Sprint(len(d.rows), d.summary.OtherLines, d.err), fmt.Sprint(1000, n, nil))
		}
	}
}

// What a file is lies in its bytes: neither its name nor how it is given matters.
func TestAFileIsReadAlikeByNameGlobAndFolder(t *testing.T) {
	for _, file := range wrappedFiles(t) {
		dir := t.TempDir()
		for _, ext := range []string{"log", "json", "csv", "gz", ""} {
			if err := os.WriteFile(filepath.Join(dir, strings.TrimSuffix("x."+ext, ".")), []byte(readFile(t, file)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := decode(t, how{}, readFile(t, file))
		for _, arg := range []string{filepath.Join(dir, "x.log"), filepath.Join(dir, "x*"), dir} {
			sources, err := Resolve([]string{arg}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sources {
				d := decodeSource(t, how{}, s)
				same(t, s.Path, fmt.Sprint(d.summary.Accepted, d.summary.Rejected, d.summary.Files[0].Wrapper), fmt.Sprint(want.summary.Accepted, want.summary.Rejected, want.summary.Files[0].Wrapper))
			}
		}
	}
}

// What lies in something, but has no keys that are known, is told by its keys.
func TestTheMessageOfAnUnknownFileTellsOfTheRecordsInIt(t *testing.T) {
	in := `{"log":"{\"step\":\"a\",\"dauer\":5}\n","stream":"stdout","time":"2024-05-01T10:00:00Z"}` + "\n"
	if d := decode(t, how{}, in); d.err == nil || !strings.Contains(d.err.Error(), "ndjson inside other lines: records without a hop and a duration that is known by name (keys: dauer, step): name it with --field") {
		t.Errorf("%v", d.err)
	}
	d := decode(t, how{fields: []string{"hop=step", "duration=dauer:ms"}}, in)
	same(t, "named", fmt.Sprint(len(d.rows), d.err), "1 <nil>")
	if d = decode(t, how{fields: []string{"hop=step", "duration=dauer"}}, in); d.err == nil || !strings.Contains(d.err.Error(), "its unit is not known") {
		t.Errorf("without a unit: %v", d.err)
	}
}

// An answer of another API has its records under "data" as Jaeger's has its traces.
func TestAnAnswerOfAnotherAPIIsNoJaeger(t *testing.T) {
	for _, in := range []string{
		`{"data":[{"id":"1","attributes":{"timestamp":"2024-05-01T10:00:00Z","message":"{\"hop\":\"a\",\"duration_ms\":5}"}}]}`,
		`{"data":{"result":[{"stream":{"app":"x"},"values":[["1714557600500000000","{\"hop\":\"a\",\"duration_ms\":5}"]]}]}}`,
	} {
		same(t, in, fmt.Sprint(pick(decode(t, how{}, in).rows, hopOf)), "[a]")
	}
}

// Text that only looks like a wrapper is none.
func TestRecordsThatStandAsTheyAreAreNotPeeled(t *testing.T) {
	for _, in := range []string{
		`{"hop":"a","duration_ms":5,"log":"{\"hop\":\"b\",\"duration_ms\":9}"}`,
		`{"hop":"a","duration_ms":5,"message":{"hop":"b","duration_ms":9}}`,
		`{"hop":"a","duration_ms":5}` + "\n" + `note {"hop":"b","duration_ms":9}`,
		"hop,duration_ms,note\na,5,\"{\"\"hop\"\":\"\"b\"\",\"\"duration_ms\"\":9}\"",
	} {
		d := decode(t, how{}, in+"\n")
		same(t, in, fmt.Sprint(pick(d.rows, hopOf))+d.summary.Files[0].Wrapper, "[a]")
	}
}

// Lines of traces lie in the same things.
func TestLinesOfTracesAreTakenOutToo(t *testing.T) {
	otlp := `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"op","startTimeUnixNano":"1714557600000000000","endTimeUnixNano":"1714557600005000000"}]}]}]}`
	for _, in := range []string{"api-1  | " + otlp, `{"log":` + fmt.Sprintf("%q", otlp+"\n") + `,"stream":"stdout","time":"2024-05-01T10:00:00Z"}`} {
		d := decode(t, how{}, in+"\n")
		same(t, in[:8], fmt.Sprint(d.summary.Accepted, d.summary.Rejected, d.summary.Files[0].Format), "1 0otlp")
	}
}

// Every wrapper that docs/formats.md names has a file here, and every file a row there.
func TestEveryWrapperOfTheDocsHasItsFixture(t *testing.T) {
	docs := readFile(t, filepath.Join("..", "docs", "formats.md"))
	for _, file := range wrappedFiles(t) {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if !strings.Contains(docs, "| `"+name+"` |") {
			t.Errorf("docs/formats.md has no row for %s", name)
		}
	}
	_, docs, _ = strings.Cut(docs, "## What records may lie in")
	docs, _, _ = strings.Cut(docs, "## Fields of hop logs")
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| ").FindAllStringSubmatch(docs, -1) {
		if found, _ := filepath.Glob(filepath.Join("testdata", "wrapped", row[1]+".*")); len(found) != 1 {
			t.Errorf("%s has no fixture", row[1])
		}
	}
}

func FuzzNothingIsTakenOutTwice(f *testing.F) {
	for _, file := range wrappedFiles(f) {
		if text := readFile(f, file); len(text) < 4<<10 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, in string) {
		c := how{chunk: 64}.config(t)
		file, err := Open(Source{Path: "in", Stdin: strings.NewReader(in)}, c, new(atomic.Int64))
		if err != nil {
			return
		}
		_ = file.Close()
		a, b := decode(t, how{}, in), decode(t, how{chunk: 64}, in)
		same(t, "records", fmt.Sprint(a.summary.Records, a.summary.Accepted, a.summary.OtherLines), fmt.Sprint(b.summary.Records, b.summary.Accepted, b.summary.OtherLines))
		if n := strings.Count(in, "{") + strings.Count(in, "123,"); a.err == nil && a.summary.Files[0].Format == "ndjson" && len(a.rows) > n {
			t.Errorf("%d records in %d objects", len(a.rows), n)
		}
		seen := map[int64]bool{}
		for _, r := range a.rows {
			if a.summary.Files[0].Format == "ndjson" && seen[r.Offset] {
				t.Errorf("byte %d has two records", r.Offset)
			}
			seen[r.Offset] = true
		}
	})
}

func wrappedFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "wrapped", "*"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
