package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

const (
	seed  = "../../testdata/seed/truncated-5s.ndjson"
	chain = "../../testdata/chain/hops.ndjson.gz"
)

// page is what the tests read of the JSON report.
type page struct {
	Input struct {
		Files []struct {
			Path     string
			Complete bool
			Rejected int
		}
		Records, Accepted, Rejected, Blank int
		Rejects                            []struct {
			Reason string
			Count  int
			First  struct {
				File         string
				Line, Offset int
			}
		}
		Warnings []struct{ Code string }
	}
	Hops json.RawMessage
}

func parsePage(t *testing.T, text string) page {
	t.Helper()
	var p page
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v in\n%.500s", err, text)
	}
	return p
}

// hopsOf is the part of the report that may not depend on how the input came.
func hopsOf(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	return string(parsePage(t, must(t, stdin, append([]string{"analyze", "--format", "json"}, args...)...)).Hops)
}

func chainLines(t *testing.T) []byte { return []byte(plainText(t, chain)) }

// chainCSV writes the chain's log as CSV, with a name that needs quotes.
func chainCSV(t *testing.T, lines []byte) string {
	t.Helper()
	var out strings.Builder
	w := csv.NewWriter(&out)
	keys := []string{"chain_id", "hop", "duration_ms", "truncated", "retry", "start"}
	w.Write(append(keys, "a \"note\""))
	for line := range bytes.Lines(lines) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var record map[string]any
		if err := d.Decode(&record); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, k := range keys {
			row = append(row, fmt.Sprint(record[k]))
		}
		w.Write(append(row, "two\nlines, \"quoted\""))
	}
	w.Flush()
	return out.String()
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func zstandard(t *testing.T, plain []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll(plain, nil)
}

// The report says the same however the input comes.
func TestHopsDoNotDependOnHowTheInputComes(t *testing.T) {
	t.Parallel()
	plain := chainLines(t)
	half := bytes.LastIndexByte(plain[:len(plain)/2], '\n') + 1
	shuffled := slices.Collect(bytes.Lines(plain))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })

	first, second := write(t, "b.ndjson", plain[:half]), write(t, "a.ndjson", plain[half:])
	for _, timeouts := range [][]string{nil, {"--timeout", "orders=300ms", "--timeout", "stock=400ms"}} {
		want := hopsOf(t, "", append(timeouts, chain)...)
		for name, args := range map[string][]string{
			"plain":         {write(t, "c.ndjson", plain)},
			"zstd":          {write(t, "c.zst", zstandard(t, plain))},
			"csv":           {write(t, "c.csv", []byte(chainCSV(t, plain)))},
			"tsv":           {write(t, "c.tsv", []byte(tabbed(t, chainCSV(t, plain))))},
			"two files":     {first, second},
			"other order":   {second, first},
			"folder":        {filepath.Dir(first), filepath.Dir(second)},
			"glob":          {filepath.Dir(first) + "/*.ndjson", filepath.Dir(second) + "/**/*.ndjson"},
			"shuffled":      {write(t, "s.ndjson", bytes.Join(shuffled, nil))},
			"one job":       {"--jobs", "1", chain},
			"eight jobs":    {"--jobs", "8", first, second},
			"named":         {"--input-format", "ndjson", chain},
			"no last break": {write(t, "n.ndjson", bytes.TrimRight(plain, "\n"))},
		} {
			if diff := cmp.Diff(want, hopsOf(t, "", append(timeouts, args...)...)); diff != "" {
				t.Errorf("%s, timeouts %v:\n%s", name, timeouts, diff)
			}
		}
		if diff := cmp.Diff(want, hopsOf(t, string(plain), append(timeouts, "-")...)); diff != "" {
			t.Errorf("stdin, timeouts %v:\n%s", timeouts, diff)
		}
	}
}

func tabbed(t *testing.T, text string) string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.Comma = '\t'
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every format is the same for any number of workers, to the byte.
func TestBytesDoNotDependOnJobs(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "csv", "markdown"} {
		want := must(t, "", "analyze", "--format", format, "-j", "1", chain, seed)
		for _, jobs := range []string{"2", "8"} {
			if got := must(t, "", "analyze", "--format", format, "-j", jobs, chain, seed); got != want {
				t.Errorf("%s with %s jobs: %s", format, jobs, cmp.Diff(want, got))
			}
		}
	}
}

// brokenLines are ten kinds of line that are rejected, each for its reason.
var brokenLines = [...]struct{ line, reason string }{
	{`{"chain_id":"x","hop":"a","duration_ms"`, "malformed"},
	{`{"chain_id":"x","hop":"a","duration_ms":NaN}`, "malformed"},
	{`["chain_id","x"]`, "not_a_record"},
	{`{"chain_id":"x","hop":"","duration_ms":5}`, "no_hop"},
	{`{"chain_id":"x","hop":"a"}`, "no_duration"},
	{`{"chain_id":"x","hop":"a","duration_ms":"+Inf"}`, "bad_duration"},
	{`{"chain_id":"x","hop":"a","duration_ms":-3}`, "negative_duration"},
	{`{"chain_id":"x","hop":"a","duration_us":18446744073709550616}`, "negative_duration"},
	{`{"chain_id":"x","hop":"a","duration_ms":5,"truncated":"maybe"}`, "bad_mark"},
	{`{"chain_id":"x","hop":"a","duration_ms":5,"attempt":"second"}`, "bad_attempt"},
}

// A million good lines with a thousand broken ones: exactly those are rejected,
// each with its line and offset.
func TestEveryBrokenLineIsFoundAndNoOther(t *testing.T) {
	t.Parallel()
	const good, broken = 1_000_000, 1000
	path, rejects := filepath.Join(t.TempDir(), "big.ndjson"), filepath.Join(t.TempDir(), "rejects.ndjson")
	want := writeBroken(t, path, good, broken)
	r := tailscope("", "quantiles", "--format", "json", "--rejects", rejects, path)
	if r.code != exitFine {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	p := parsePage(t, r.out)
	if p.Input.Records != good+broken || p.Input.Accepted != good || p.Input.Rejected != broken {
		t.Errorf("records %d, accepted %d, rejected %d", p.Input.Records, p.Input.Accepted, p.Input.Rejected)
	}
	got, err := os.ReadFile(rejects)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range bytes.Lines(got) {
		var r struct {
			Line, Offset int64
			Reason       string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d %d %s", r.Line, r.Offset, r.Reason))
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("rejects (-want +got):\n%.2000s", diff)
	}
}

// writeBroken writes good lines with broken ones spread over them and returns
// "line offset reason" of each.
func writeBroken(t *testing.T, path string, good, broken int) (want []string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	line, offset := int64(1), int64(0)
	put := func(s string) {
		out.WriteString(s)
		out.WriteByte('\n')
		line++
		offset += int64(len(s)) + 1
		if out.Len() > 1<<20 {
			if _, err := out.WriteTo(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	at := random.Perm(good)[:broken]
	slices.Sort(at)
	for i := range good {
		for len(at) > 0 && at[0] == i {
			b := brokenLines[len(at)%len(brokenLines)]
			want = append(want, fmt.Sprintf("%d %d %s", line, offset, b.reason))
			put(b.line)
			at = at[1:]
		}
		put(fmt.Sprintf(`{"chain_id":"%d","hop":"h%d","duration_us":%d,"truncated":false}`, i, i%12, 1000+random.IntN(1e6)))
	}
	if _, err := out.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	return want
}

// A log that ends anywhere in its last 2000 bytes (400 with -short): no whole line is
// lost.
func TestCutLogKeepsEveryWholeLine(t *testing.T) {
	t.Parallel()
	plain := chainLines(t)
	plain = plain[bytes.LastIndexByte(plain[:len(plain)-10_000], '\n')+1:]
	last := 2000
	if testing.Short() {
		last = 400
	}
	for n := len(plain) - last; n <= len(plain); n++ {
		cut := plain[:n]
		whole := bytes.Count(cut, []byte("\n"))
		rest := cut[bytes.LastIndexByte(cut, '\n')+1:]
		code, rejected := exitFine, 0
		if len(rest) > 0 && json.Valid(rest) {
			whole++
		} else if len(rest) > 0 {
			code, rejected = exitIncomplete, 1
		}
		r := tailscope(string(cut), "quantiles", "--format", "json", "--quantiles", "0.5")
		p := parsePage(t, r.out)
		if r.code != code || p.Input.Accepted != whole || p.Input.Rejected != rejected || p.Input.Files[0].Complete != (code == exitFine) {
			t.Fatalf("cut at %d: exit code %d (want %d), %d accepted (want %d), %d rejected (want %d)\n%s",
				n, r.code, code, p.Input.Accepted, whole, p.Input.Rejected, rejected, r.stderr)
		}
	}
}

// A file that ends inside a record is named, and the report stands.
func TestFileThatEndsInsideARecordIsNamed(t *testing.T) {
	t.Parallel()
	path := write(t, "half.ndjson", []byte("{\"hop\":\"a\",\"duration_ms\":5,\"truncated\":false}\n{\"hop\":\"a\",\"durat"))
	r := tailscope("", "analyze", path)
	if r.code != exitIncomplete || !strings.Contains(r.out, "Latency in ms (first attempts)") || !strings.Contains(r.out, "✗ "+path+" is incomplete") {
		t.Errorf("exit code %d, stdout\n%s", r.code, r.out)
	}
	for _, want := range []string{
		"half.ndjson:2: incomplete: the input ends inside the record: string without an end at byte 18 (byte 46)",
		"half.ndjson is incomplete: what was whole is in the report",
	} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q is missing from stderr:\n%s", want, r.stderr)
		}
	}
}

// 100 requests, two of them slow in each of two stages: each p99 is the slow
// value.
func TestRareSlowStageShowsInItsP99(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 100 {
		a, b := 10, 10
		if i < 2 {
			a = 200
		} else if i < 4 {
			b = 200
		}
		fmt.Fprintf(&log, "{\"chain_id\":\"%d\",\"hop\":\"A\",\"duration_ms\":%d,\"truncated\":false}\n", i, a)
		fmt.Fprintf(&log, "{\"chain_id\":\"%d\",\"hop\":\"B\",\"duration_ms\":%d,\"truncated\":false}\n", i, b)
	}
	var hops []struct {
		Tail []struct {
			P      string
			Value  int64 `json:"value_ns"`
			Status string
		}
	}
	if err := json.Unmarshal([]byte(hopsOf(t, log.String(), "--quantiles", "0.99")), &hops); err != nil {
		t.Fatal(err)
	}
	for _, h := range hops {
		if got := h.Tail[0]; got.Value != 200e6 || got.Status != "exact" {
			t.Errorf("p99 = %d %s, want 200 ms exact", got.Value, got.Status)
		}
	}
}

// 5737 ms is the p95 of all 200 recorded durations: it describes the timeout,
// and stands only on lines that say so.
func TestTimedOutP95NeverStandsAsAPlainValue(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "markdown"} {
		for line := range strings.Lines(must(t, "", "analyze", "--format", format, seed)) {
			if strings.Contains(line, "5.74") && !strings.Contains(line, "as logged") {
				t.Errorf("%s: the timed-out p95 stands on: %s", format, line)
			}
		}
		out := must(t, "", "analyze", "-v", "--format", format, seed)
		seen := false
		for line := range strings.Lines(out) {
			if strings.Contains(line, "5.737") || strings.Contains(line, "5737") {
				seen = true
				if !strings.Contains(line, "recorded") && !strings.Contains(line, "timed out") {
					t.Errorf("%s: the timed-out p95 stands on: %s", format, line)
				}
			}
		}
		if !seen {
			t.Errorf("%s: the recorded p95 is missing", format)
		}
	}
}
