package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestACutIsFoundByAFailureThatAnotherWorkerSaw: the lines of a chain lie in files of
// their own, so that mostly several workers read them.
func TestACutIsFoundByAFailureThatAnotherWorkerSaw(t *testing.T) {
	t.Parallel()
	const chains = 20000
	var outer, inner strings.Builder
	for i := range chains {
		start := 1768442400000 + int64(i)*10
		fmt.Fprintf(&outer, `{"hop":"outer","start_ms":%d,"duration_ms":50,"trace_id":"%x","status":"error"}`+"\n", start, i+1)
		fmt.Fprintf(&inner, `{"hop":"inner","start_ms":%d,"duration_ms":20,"trace_id":"%x","status":"timeout"}`+"\n", start+5, i+1)
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"a.ndjson": outer.String(), "b.ndjson": inner.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(t, "", "quantiles", "--format", "json", "--jobs", "1", folder)
	if !strings.Contains(want, fmt.Sprintf(`"below": %d`, chains)) {
		t.Fatalf("not every failure was cut from below:\n%s", want)
	}
	for _, jobs := range []string{"2", "5"} {
		if got := must(t, "", "quantiles", "--format", "json", "--jobs", jobs, folder); got != want {
			t.Errorf("%s jobs print another report", jobs)
		}
	}
}
