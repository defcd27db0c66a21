package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nanosecondLog is a hop log of 40 000 durations that no page counts.
func nanosecondLog() string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 40_000 {
		fmt.Fprintf(&b, `{"hop":"h%d","duration_ns":%d,"truncated":%t}`+"\n", i%3, r.Int64N(1e9), i%50 == 0)
	}
	return b.String()
}

func TestDurationsBeyondTheMemoryGoToAFile(t *testing.T) {
	t.Parallel()
	log, folder := nanosecondLog(), t.TempDir()
	want := must(t, log, "quantiles", "--format", "json")
	for _, jobs := range []string{"1", "3"} {
		if got := must(t, log, "quantiles", "--format", "json", "--memory", "32KiB", "--temp-dir", folder, "--jobs", jobs); got != want {
			t.Errorf("%s jobs: the report differs", jobs)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

func TestRunFailsWhereDurationsCannotBeWritten(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	r := tailscope(nanosecondLog(), "quantiles", "--memory", "32KiB", "--temp-dir", absent)
	if r.code != exitFailed || r.out != "" || !strings.Contains(r.stderr, absent) {
		t.Errorf("exit code %d, %d bytes of output, %s", r.code, len(r.out), r.stderr)
	}
}

// A trace that is too large to hold needs a file: where none can be made the run has
// failed, and the input is not to blame, nor is there a report of what came before.
func TestFolderThatIsNotThereIsNamedForALargeTrace(t *testing.T) {
	t.Parallel()
	span := func(trace, i int) string {
		return fmt.Sprintf(`{"traceID":"%x","spanID":"%x","operationName":"op","references":[],"startTime":1768442400000000,"duration":5,"processID":"p","tags":[]}`, trace, i+1)
	}
	large := strings.Repeat(span(2, 7)+",", 9<<20/100)
	in := `{"data":[{"traceID":"1","spans":[` + span(1, 0) + `],"processes":{"p":{"serviceName":"s"}}},{"traceID":"2","spans":[` + strings.TrimSuffix(large, ",") + `],"processes":{"p":{"serviceName":"s"}}}]}`
	absent := filepath.Join(t.TempDir(), "absent")
	r := tailscope("", "quantiles", "--temp-dir", absent, write(t, "large.json", []byte(in)))
	if r.code != exitFailed || r.out != "" || !strings.Contains(r.stderr, "temporary file of spans in "+absent) || strings.Contains(r.stderr, "breaks off") {
		t.Errorf("exit code %d, %q\n%s", r.code, r.stderr, r.out)
	}
}
