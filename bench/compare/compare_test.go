package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// built are the programs of a test run.
type built struct{ dir, tailscope, generate string }

func build(t *testing.T) built {
	t.Helper()
	b := built{dir: t.TempDir()}
	b.tailscope, b.generate = filepath.Join(b.dir, "tailscope"), filepath.Join(b.dir, "generate")
	for binary, from := range map[string]string{b.tailscope: "../../cmd/tailscope", b.generate: "../generate"} {
		if out, err := exec.Command("go", "build", "-o", binary, from).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Chdir("../..") // peers are named from there
	return b
}

func (b built) file(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out, err := exec.Command(b.generate, flags...).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEveryHopLogHasTheAnswerOfASortedSlice(t *testing.T) {
	b := build(t)
	for name, flags := range map[string][]string{
		"us.ndjson": {"-form", "hops"}, "ns.ndjson": {"-form", "hops", "-unit", "ns"},
		"us.csv": {"-form", "hops-csv"}, "ns.csv": {"-form", "hops-csv", "-unit", "ns", "-seed", "7"},
	} {
		file := b.file(t, name, append(flags, "-n", "20000")...)
		var out bytes.Buffer
		if err := run([]string{"-tailscope", b.tailscope, "-peers", "sorted", "-pairs", "0", file}, &out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := "tailscope and sorted: the same answer\n"; out.String() != want {
			t.Errorf("%s: %q", name, out.String())
		}
	}
}

// TestTheSameTracesInEveryFormGiveTheSameReport: whole, by line and mixed.
func TestTheSameTracesInEveryFormGiveTheSameReport(t *testing.T) {
	b := build(t)
	var first map[string]any
	for _, form := range []string{"jaeger", "otlp", "otlp-interleaved"} {
		out, err := exec.Command(b.tailscope, "analyze", "--format", "json", "--limit", "0", b.file(t, form, "-form", form, "-n", "1501")).Output()
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "input") // files and their sizes
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(got, first) {
			t.Errorf("%s differs from jaeger", form)
		}
	}
	if orphaned := first["orphans"].(map[string]any)["orphaned"].(float64); orphaned < 10 {
		t.Errorf("only %v orphans: the generator makes too few", orphaned)
	}
}

func TestFirstDifferenceIsNamed(t *testing.T) {
	say := func(name, text string) tool { return tool{name, []string{"printf", text}, lines} }
	for _, c := range []struct{ a, b, want string }{
		{"x,1 y,2", "y,2 x,1", ""},
		{"x,1 y,2", "x,1 y,3", "row 2 differs\n  a: y,2\n  b: y,3"},
		{"x,1", "x,1 y,3", "row 2 differs\n  a: none\n  b: y,3"},
		{"", "", "a has no rows"},
	} {
		err := sameAnswer(say("a", c.a), say("b", c.b))
		if got := errorText(err); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	if err := sameAnswer(tool{"a", []string{"false"}, lines}, say("b", "")); err == nil || !strings.HasPrefix(err.Error(), "false: ") {
		t.Errorf("a tool that fails: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRatioIsTheMedianOverPairs(t *testing.T) {
	of := func(seconds ...int) (r runs) {
		for _, s := range seconds {
			r = append(r, usage{wall: time.Duration(s) * time.Second})
		}
		return r
	}
	// Pairs of 2, 3 and 10 times: the medians alone would say 4.
	if got := medianRatio(of(1, 2, 1), of(2, 6, 10), measures[0].of); got != 3 {
		t.Errorf("%v, want 3", got)
	}
	if got := of(4, 1, 3, 2).median(measures[0].of); got != 2.5 {
		t.Errorf("%v, want 2.5", got)
	}
}
