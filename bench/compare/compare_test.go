package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tailscope/tailscope/bench/trial"
)

// built are the programs of a test run; each test has a folder for its files.
type built struct{ dir, tailscope, generate string }

var programs built

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		panic(err)
	}
	programs = built{tailscope: filepath.Join(dir, "tailscope"), generate: filepath.Join(dir, "generate")}
	for binary, from := range map[string]string{programs.tailscope: "../../cmd/tailscope", programs.generate: "../generate"} {
		if out, err := exec.Command("go", "build", "-o", binary, from).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%v\n%s", err, out))
		}
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(t *testing.T) built {
	t.Helper()
	t.Chdir("../..") // peers are named from there
	b := programs
	b.dir = t.TempDir()
	return b
}

func (b built) file(t *testing.T, name string, flags ...string) string {
	t.Helper()
	out, err := exec.Command(b.generate, flags...).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, compressed(t, name, out), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func compressed(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		w, _ = zstd.NewWriter(&out)
	default:
		return data
	}
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var inputs = []struct{ name, flags string }{
	{"us.ndjson", "-form hops -n 5000"}, {"ns.ndjson", "-form hops -n 5000 -unit ns"},
	{"us.csv", "-form hops-csv -n 5000"}, {"ns.csv", "-form hops-csv -n 5000 -unit ns -seed 7"},
	{"us.ndjson.gz", "-form hops -n 5000"}, {"us.ndjson.zst", "-form hops -n 5000"}, {"us.csv.gz", "-form hops-csv -n 5000"},
	{"jaeger.json", "-form jaeger -n 500"}, {"otlp.ndjson", "-form otlp -n 500"}, {"mixed.ndjson", "-form otlp-interleaved -n 500"},
}

// TestEveryToolGivesTheSameAnswer: the sorted slice always, the other peers where
// they are installed and read such a file.
func TestEveryToolGivesTheSameAnswer(t *testing.T) {
	b := build(t)
	list := inputs
	if testing.Short() {
		list = list[:3]
	}
	for _, in := range list {
		file := b.file(t, in.name, strings.Fields(in.flags)...)
		for _, peer := range append(trial.Peers, "one-worker", "analyze", b.tailscope) {
			t.Run(in.name+" "+filepath.Base(peer), func(t *testing.T) { hasTheAnswerOf(t, b.tailscope, peer, file) })
		}
	}
}

func hasTheAnswerOf(t *testing.T, tailscope, peer, file string) {
	var out bytes.Buffer
	err := run([]string{"-tailscope", tailscope, "-peers", peer, "-pairs", "0", file}, &out)
	if absent := (trial.Absent{}); errors.As(err, &absent) && peer != "sorted" {
		t.Skip(err)
	}
	if want := "quantiles and " + peer + ": the same answer\n"; err != nil || out.String() != want {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestTimesArePrintedAfterTheAnswers(t *testing.T) {
	b := build(t)
	var out bytes.Buffer
	if err := run([]string{"-tailscope", b.tailscope, "-peers", "one-worker", "-pairs", "2", b.file(t, "x.ndjson", "-n", "1000")}, &out); err != nil {
		t.Fatal(err)
	}
	for i, begin := range []string{"quantiles and one-worker: the same answer", "  wall, s ", "  CPU, s ", "  memory, MiB ", "  MB/s ", ""} {
		if line := strings.Split(out.String(), "\n")[i]; !strings.HasPrefix(line, begin) {
			t.Errorf("line %d is %q", i+1, line)
		}
	}
}

func TestFilesOfOtherOriginAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-peers", "sorted", path}, new(bytes.Buffer)); err == nil || !strings.HasSuffix(err.Error(), ": no file of bench/generate") {
		t.Errorf("%v", err)
	}
	if err := run(nil, new(bytes.Buffer)); err == nil {
		t.Error("no file is no error")
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
