package main

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAKillAtAnyMomentLeavesNothing in the temporary folder, nor beside the outputs, and
// what stood under their names stands there still: a run that is killed before its
// input has ended has put nothing in its place.
func TestAKillAtAnyMomentLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files without a name are for Linux only")
	}
	moments := 10
	if testing.Short() {
		moments = 2
	}
	inputs := map[string]string{"lines": sampleLines(8000), "spans": sampleSpans(400)}
	for _, command := range commandNames {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(command))))
			for i := range moments {
				in := inputs[[]string{"lines", "spans"}[i%2]]
				killed(t, command, in[:r.IntN(len(in))], i%4 < 2)
			}
		})
	}
}

// killed kills a run that has read the given input and waits for more; old says that its
// outputs replace files.
func killed(t *testing.T, command, in string, old bool) {
	t.Helper()
	temp, results := t.TempDir(), t.TempDir()
	names := []string{"report", "rejects"}
	if old {
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(results, name), []byte(oldContent), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	run := exec.Command("tailscope", command, "--memory", "1KiB", "--temp-dir", temp, "--jobs", "2",
		"-o", filepath.Join(results, "report"), "--rejects", filepath.Join(results, "rejects"))
	pipe, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(pipe, in); err != nil {
		t.Error(err)
	}
	if err := run.Process.Kill(); err != nil {
		t.Error(err)
	}
	run.Wait()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%s after %d bytes: left %v, %v", command, len(in), left, err)
	}
	left, err := os.ReadDir(results)
	if err != nil || old != (len(left) == len(names)) || !old && len(left) > 0 {
		t.Errorf("%s after %d bytes: %v, %v", command, len(in), left, err)
	}
	for _, e := range left {
		if text, err := os.ReadFile(filepath.Join(results, e.Name())); string(text) != oldContent {
			t.Errorf("%s after %d bytes: %s holds %.30q, %v", command, len(in), e.Name(), text, err)
		}
	}
}
