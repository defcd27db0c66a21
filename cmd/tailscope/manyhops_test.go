package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/tailscope/tailscope/internal/racing"
	"github.com/tailscope/tailscope/spans"
)

// TestManyHopsTakeLittleMemory measures what each of as many hops as there may be adds to
// the most memory that a run has at once, and that the report is the same whoever saw them.
func TestManyHopsTakeLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" || racing.Enabled {
		t.Skip("the kernel says what a run took, and the race detector takes more")
	}
	dir := t.TempDir()
	few, many := filepath.Join(dir, "few"), filepath.Join(dir, "many")
	writeHops(t, few, 10)
	writeHops(t, many, spans.MostHops)
	for command, most := range map[string]int64{"quantiles": 3600, "analyze": 7600} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var reports [2]string
			for i := range reports {
				jobs := strconv.Itoa(i + 1)
				_, base := peakOf(t, command, "--jobs", jobs, "--format", "json", few)
				report, peak := peakOf(t, command, "--jobs", jobs, "--format", "json", many)
				if each := (peak - base) / spans.MostHops; each > most {
					t.Errorf("--jobs %s: %d bytes a hop, at most %d", jobs, each, most)
				}
				reports[i] = report
			}
			if reports[0] != reports[1] || !json.Valid([]byte(reports[0])) {
				t.Error("the report depends on --jobs, or is no JSON")
			}
		})
	}
}

// writeHops writes a log in which each of n hops has ten attempts, in chains of ten hops.
func writeHops(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	start := int64(1768442400000)
	for i := range 10 * n {
		if i%10 == 0 {
			start++
		}
		ms := i * 7919 % 500
		fmt.Fprintf(w, `{"chain_id":"c%d","hop":"/x%s","start_ms":%d,"duration_ms":%d}`+"\n", i/10, letters(i%n), start, ms)
		start += int64(ms)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// letters writes a number in letters, which nobody takes for an id.
func letters(n int) (s string) {
	for range 4 {
		s = string(rune('a'+n%26)) + s
		n /= 26
	}
	return s
}

// TestALargeTraceTakesLittleMemory measures what each span of one very large trace adds to
// the most memory that a run has at once. Of what analyses make of it only one's is there.
func TestALargeTraceTakesLittleMemory(t *testing.T) {
	if runtime.GOOS != "linux" || racing.Enabled {
		t.Skip("the kernel says what a run took, and the race detector takes more")
	}
	if testing.Short() {
		t.Skip("a long trace is read")
	}
	t.Parallel()
	const n = 2 * spans.LargeTrace
	dir := t.TempDir()
	few, many := filepath.Join(dir, "few"), filepath.Join(dir, "many")
	writeOneTrace(t, few, 10)
	writeOneTrace(t, many, n)
	for command, most := range map[string]int64{"owner": 380, "analyze": 390} {
		_, base := peakOf(t, command, "--jobs", "1", "--format", "json", few)
		each := most + 1
		for range 3 { // garbage is collected sooner or later: the least counts
			if each > most {
				_, peak := peakOf(t, command, "--jobs", "1", "--format", "json", many)
				each = min(each, (peak-base)/n)
			}
		}
		if each > most {
			t.Errorf("%s: more than %d bytes a span", command, most)
		}
	}
}

// writeOneTrace writes a trace of a span and n others that it calls.
func writeOneTrace(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	_, _ = w.WriteString(`{"data":[{"traceID":"abc","processes":{"p":{"serviceName":"s"}},"spans":[{"traceID":"abc","spanID":"1","operationName":"top","startTime":1700000000000000,"duration":1000000000,"processID":"p"}`)
	for i := range n {
		fmt.Fprintf(w, ",\n"+`{"traceID":"abc","spanID":"%x","operationName":"op","references":[{"refType":"CHILD_OF","traceID":"abc","spanID":"1"}],"startTime":%d,"duration":%d,"processID":"p"}`, i+2, 1700000000000000+i, 500+i%1000)
	}
	_, _ = w.WriteString("]}]}\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
