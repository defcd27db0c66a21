package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/spans"
)

const (
	jaegerRaw      = "../../testdata/chain/jaeger-raw.json.gz"
	jaegerAdjusted = "../../testdata/chain/jaeger-adjusted.json.gz"
	jaegerV3       = "../../testdata/chain/jaeger-api-v3.json.gz"
)

// traceHop is what the tests read of one row of the report.
type traceHop struct {
	Hop, Kind string
	Attempts  int
	Retries   int
	Completed part
	Truncated struct {
		part
		CutBy map[string]int `json:"cut_by"`
	}
	Tail []struct {
		P, Status string
		N         int
		Value     int64 `json:"value_ns"`
	}
}

type part struct {
	N         int
	Min       int64 `json:"min_ns"`
	Max       int64 `json:"max_ns"`
	Quantiles []struct {
		P     string
		Value int64 `json:"value_ns"`
	}
}

func traceHops(t *testing.T, args ...string) []traceHop {
	t.Helper()
	var hops []traceHop
	if err := json.Unmarshal([]byte(hopsOf(t, "", append([]string{"--quantiles", "0.5,0.9,0.95,0.99"}, args...)...)), &hops); err != nil {
		t.Fatal(err)
	}
	return hops
}

const us = 1000

// lines writes the figures of each hop in microseconds, as they were counted
// independently: attempts, cuts and who cut, the completed ones, the tail.
func lines(hops []traceHop) []string {
	var all []string
	for _, h := range hops {
		all = append(all, fmt.Sprintf("%s %s: %d attempts, %d cut %d..%d by %s; completed %s; tail %s",
			h.Hop, h.Kind, h.Attempts, h.Truncated.N, h.Truncated.Min/us, h.Truncated.Max/us, cutBy(h.Truncated.CutBy), completed(h.Completed), tail(h)))
	}
	return all
}

func cutBy(counts map[string]int) string {
	for _, by := range []string{"own", "below", "caller", "unknown"} {
		if counts[by] > 0 {
			return by
		}
	}
	return "none"
}

func completed(p part) string {
	return fmt.Sprint(p.Quantiles[0].Value/us, " ", p.Quantiles[2].Value/us, " ", p.Quantiles[3].Value/us, " ", p.Max/us)
}

func tail(h traceHop) string {
	var cells []string
	for _, q := range h.Tail {
		sign := ""
		if q.Status == "at_least" {
			sign = "≥"
		}
		cells = append(cells, sign+fmt.Sprint(q.Value/us))
	}
	return fmt.Sprint(h.Tail[0].N, ": ", strings.Join(cells, " "))
}

// chainFigures are those of testdata/chain, counted by another program.
var chainFigures = []string{
	"gateway GET /checkout server: 1500 attempts, 0 cut 0..0 by none; completed 27788 262035 380563 623765; tail 1500: 27788 111498 262035 380563",
	"gateway call orders client: 1572 attempts, 79 cut 299993..303351 by own; completed 26123 115257 206431 284843; tail 1500: 27762 111457 262011 ≥284843",
	"orders GET / server: 1572 attempts, 5 cut 820618..822909 by below; completed 27316 254423 470982 642670; tail 1572: 27367 112660 329978 473822",
	"orders call stock client: 1645 attempts, 78 cut 400061..412671 by own; completed 25671 118114 226804 389222; tail 1572: 27271 112632 329936 ≥389222",
	"stock GET / server: 1645 attempts, 0 cut 0..0 by none; completed 26660 331480 1376586 1496960; tail 1645: 26660 113826 331480 1376586",
}

func TestTracesGiveTheFiguresOfTheChain(t *testing.T) {
	t.Parallel()
	for _, file := range []string{jaegerRaw, jaegerAdjusted, jaegerV3} {
		if diff := cmp.Diff(chainFigures, lines(traceHops(t, file))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		var p struct {
			Input struct{ Traces, Spans, Accepted int }
		}
		if err := json.Unmarshal([]byte(must(t, "", "quantiles", "--format", "json", file)), &p); err != nil {
			t.Fatal(err)
		}
		if p.Input.Traces != 1500 || p.Input.Spans != 7934 || p.Input.Accepted != 7934 {
			t.Errorf("%s: %+v", file, p.Input)
		}
	}
}

// The hop log and the traces of one run agree on what was cut.
func TestHopLogAndTracesAgreeOnCuts(t *testing.T) {
	t.Parallel()
	for _, h := range traceHops(t, chain) {
		want := map[string]int{"orders": 79, "stock": 78}[h.Hop]
		if h.Truncated.N != want {
			t.Errorf("%s: %d cut, want %d", h.Hop, h.Truncated.N, want)
		}
	}
}

func plainText(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shifted moves every span of one service by 40 ms and says so, as an exporter
// that adjusts clocks does.
func shifted(t *testing.T, text, service string) string {
	t.Helper()
	type object = map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var document struct {
		Data []struct {
			TraceID   string            `json:"traceID"`
			Spans     []object          `json:"spans"`
			Processes map[string]object `json:"processes"`
		} `json:"data"`
	}
	if err := d.Decode(&document); err != nil {
		t.Fatal(err)
	}
	for _, trace := range document.Data {
		for _, span := range trace.Spans {
			if trace.Processes[span["processID"].(string)]["serviceName"] == service {
				start, err := span["startTime"].(json.Number).Int64()
				if err != nil {
					t.Fatal(err)
				}
				span["startTime"] = start + 40_000
				span["warnings"] = []string{"This span's timestamps were adjusted by 40ms"}
			}
		}
	}
	out, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestAShiftThatIsStatedIsUndone(t *testing.T) {
	t.Parallel()
	want := hopsOf(t, "", jaegerRaw)
	if diff := cmp.Diff(want, hopsOf(t, shifted(t, plainText(t, jaegerRaw), "orders"), "-")); diff != "" {
		t.Error(diff)
	}
}

// Traces that come twice, in pieces, over several files, with little memory or
// many workers, are the same traces.
func TestTracesDoNotDependOnHowTheyCome(t *testing.T) {
	t.Parallel()
	want := hopsOf(t, "", jaegerRaw)
	plain := plainText(t, jaegerRaw)
	var halves [2]strings.Builder
	var document struct {
		Data []struct {
			TraceID   string            `json:"traceID"`
			Spans     []json.RawMessage `json:"spans"`
			Processes json.RawMessage   `json:"processes"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(plain), &document); err != nil {
		t.Fatal(err)
	}
	for _, trace := range document.Data {
		for i, span := range trace.Spans {
			fmt.Fprintf(&halves[i%2], "{\"traceID\":%q,\"spans\":[%s],\"processes\":%s}\n", strings.ToUpper(trace.TraceID), span, trace.Processes)
		}
	}
	a, b := write(t, "a.jsonl", []byte(halves[0].String())), write(t, "b.jsonl", []byte(halves[1].String()))
	for name, args := range map[string][]string{
		"adjusted":      {jaegerAdjusted},
		"twice":         {jaegerRaw, jaegerAdjusted},
		"pieces":        {a, b},
		"little memory": {"--memory", "64KiB", "--temp-dir", t.TempDir(), b, a},
		"one job":       {"--jobs", "1", jaegerRaw},
		"eight jobs":    {"--jobs", "8", a, b},
	} {
		if diff := cmp.Diff(want, hopsOf(t, "", args...)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestSpillFilesAreGoneAfterTheRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, "", "quantiles", "--memory", "16KiB", "--temp-dir", folder, jaegerRaw)
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestNestingIsInferredUpToALimit: one attempt more, and the chain is left as it
// is, and that is said.
func TestNestingIsInferredUpToALimit(t *testing.T) {
	t.Parallel()
	for n, nested := range map[int]bool{spans.MostNested: true, spans.MostNested + 1: false} {
		list := make([]spans.Span, n)
		for i := range list {
			list[i] = spans.Span{ID: spans.SpanID(i + 1), Hop: int32(i % 2), Start: int64(i / 2 * 10), Duration: int64(9 - i%2), Ties: spans.LogLine, Flags: spans.HasStart | spans.HasDuration}
		}
		trace := spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{{Name: "a"}, {Name: "b"}}, []string{""})
		a := worker{placer: nesting.Known(0, [2]spans.Hop{trace.Hops[0], trace.Hops[1]}).Sure().NewPlacer()}
		a.nest(trace)
		if got := len(trace.Roots) < n; got != nested || a.nested+a.unnested != 1 || (a.unnested == 0) != nested {
			t.Errorf("%d attempts: %d roots, %d nested, %d not", n, len(trace.Roots), a.nested, a.unnested)
		}
	}
}
