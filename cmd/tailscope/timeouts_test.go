package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// timeoutsOf returns the section, without the input.
func timeoutsOf(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var page struct{ Timeouts json.RawMessage }
	if err := json.Unmarshal([]byte(must(t, stdin, append([]string{"timeouts", "--format", "json"}, args...)...)), &page); err != nil {
		t.Fatal(err)
	}
	return string(page.Timeouts)
}

// The order of lines, the workers, the split into files and the memory change
// nothing.
func TestTimeoutsDoNotDependOnHowTheInputComes(t *testing.T) {
	lines := slices.Collect(strings.Lines(string(chainLines(t))))
	args := []string{"--false-timeout", "10%", "--entry-budget", "2s"}
	want := timeoutsOf(t, strings.Join(lines, ""), append(args, "-j", "1", "-")...)
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	folder := t.TempDir()
	for i, part := range slices.Collect(slices.Chunk(lines, 1000)) {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.ndjson", i)), []byte(strings.Join(part, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, jobs := range []string{"1", "2", "7"} {
		if d := cmp.Diff(want, timeoutsOf(t, "", append(args, "-j", jobs, folder)...)); d != "" {
			t.Errorf("-j %s: %s", jobs, d)
		}
	}
	temp := t.TempDir()
	if d := cmp.Diff(want, timeoutsOf(t, "", append(args, "-j", "2", "--memory", "32KiB", "--temp-dir", temp, folder)...)); d != "" {
		t.Errorf("with little memory: %s", d)
	}
	if files, _ := os.ReadDir(temp); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	traces := timeoutsOf(t, "", append(args, "-j", "1", jaegerRaw)...)
	for _, file := range []string{jaegerRaw, jaegerAdjusted} {
		if d := cmp.Diff(traces, timeoutsOf(t, "", append(args, "-j", "3", "--memory", "1MiB", file)...)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// Lines that are nested as traces give the advice of those nested by chain.
func TestTimeoutsOfANestedLogAreThoseOfItsTraces(t *testing.T) {
	plain, nested := timeoutsOf(t, "", chain), timeoutsOf(t, "", "--infer-nesting", chain)
	if d := cmp.Diff(plain, nested); d != "" {
		t.Error(d)
	}
}

// analyze and timeouts say the same.
func TestTimeoutsAreASectionOfAnalyze(t *testing.T) {
	for _, file := range []string{chain, jaegerRaw, seed} {
		var page struct{ Timeouts json.RawMessage }
		if err := json.Unmarshal([]byte(must(t, "", "analyze", "--format", "json", "--quantiles", "0.95", file)), &page); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(timeoutsOf(t, "", file), string(page.Timeouts)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// A target beside the quantiles asked for leaves the hop table as it is.
func TestTheTargetIsNoQuantileOfTheHopTable(t *testing.T) {
	hops := func(command string) string {
		var page struct{ Hops json.RawMessage }
		if err := json.Unmarshal([]byte(must(t, "", command, "--format", "json", "--quantiles", "0.9,0.25", chain)), &page); err != nil {
			t.Fatal(err)
		}
		return string(page.Hops)
	}
	if d := cmp.Diff(hops("quantiles"), hops("analyze")); d != "" {
		t.Error(d)
	}
}
