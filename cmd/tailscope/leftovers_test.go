package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
)

// spilling are commands with inputs and a memory that holds neither.
func spilling(t *testing.T) map[string][]string {
	return map[string][]string{
		"quantiles": {chainedLog(), "quantiles"},
		"owner":     {chainedLog(), "owner"},
		"retries":   {chainedLog(), "retries"},
		"timeouts":  {chainedLog(), "timeouts"},
		"analyze":   {chainedLog(), "analyze"},
		"traces":    {strings.Repeat(plainText(t, jaegerRaw)+"\n", 6), "analyze"},
	}
}

// chainedLog is a hop log of chains whose durations no page counts.
func chainedLog() string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(1, 3))
	for i := range 40_000 {
		fmt.Fprintf(&b, `{"trace":"%032x","hop":"h%d","duration_ns":%d,"truncated":%t,"attempt":%d}`+"\n", i/4, i%4, r.Int64N(1e9), i%9 == 0, 1+i%2)
	}
	return b.String()
}

// trickle gives a text, and calls a function before it says that it ends.
type trickle struct {
	text *strings.Reader
	end  func()
}

func (r *trickle) Read(p []byte) (int, error) {
	if n, err := r.text.Read(p); err == nil {
		return n, nil
	}
	r.end()
	return 0, io.EOF
}

// eventually waits until something is so.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Error("it does not come about")
			return
		}
	}
}

// TestWhatCannotBeReadBackEndsTheRun with one line that says where and what.
func TestWhatCannotBeReadBackEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range spilling(t) {
		for kind, damage := range map[string]func(string) error{"cut": spilltest.Cut, "overwritten": spilltest.Overwrite} {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				args := []string{c[1], "--memory", "32KiB", "--temp-dir", folder, "--jobs", "2"}
				r := damaged(t, folder, damage, c[0], args...)
				for tries := 0; r.code == exitFine && tries < 20; tries++ {
					// A worker had read back in time what was damaged, to merge it: nothing is lost.
					if want := must(t, c[0], args...); r.out != want {
						t.Fatalf("nothing was noticed, and the report differs: %s", cmp.Diff(want, r.out))
					}
					r = damaged(t, folder, damage, c[0], args...)
				}
				line := regexp.MustCompile(`^tailscope: temporary file of (durations|chains|retries|spans) in ` + regexp.QuoteMeta(folder) + `: it[^\n]+; --temp-dir names another folder\n$`)
				if r.code != exitFailed || r.out != "" || !line.MatchString(r.stderr) {
					t.Errorf("exit code %d, %d bytes of output, %q", r.code, len(r.out), r.stderr)
				}
			})
		}
	}
}

// damaged runs the tool, and damages its temporary files once there are some.
func damaged(t *testing.T, folder string, damage func(string) error, stdin string, args ...string) ran {
	t.Helper()
	in := &trickle{strings.NewReader(stdin), func() {
		eventually(t, func() bool { return spilltest.Bytes(t, folder) > 0 })
		spilltest.Damage(t, folder, damage)
	}}
	var out, errs bytes.Buffer
	code := Main(args, in, &out, &errs)
	return ran{code, out.String(), errs.String()}
}

// TestAnEndFromOutsideLeavesNothing in the temporary folder, and nothing beside the
// report and the rejects.
func TestAnEndFromOutsideLeavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("files without a name are for Linux only")
	}
	for name, c := range spilling(t) {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				temp, results := t.TempDir(), t.TempDir()
				run := exec.Command("tailscope", c[1], "--memory", "32KiB", "--temp-dir", temp, "--jobs", "2",
					"-o", filepath.Join(results, "report"), "--rejects", filepath.Join(results, "rejects"))
				in, err := run.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := run.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(in, c[0]); err != nil {
					t.Error(err)
				}
				eventually(t, func() bool { return len(spilltest.OpenBy(t, run.Process.Pid, temp)) > 0 })
				if err := run.Process.Signal(signal); err != nil {
					t.Error(err)
				}
				run.Wait()
				if code := run.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != 143 {
					t.Errorf("exit code %d", code)
				}
				for _, folder := range []string{temp, results} {
					if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
						t.Errorf("left: %v, %v", left, err)
					}
				}
			})
		}
	}
}

// TestAFailedRunLeavesTheReportAsItWas, and no file beside it.
func TestAFailedRunLeavesTheReportAsItWas(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	report := filepath.Join(folder, "report")
	if err := os.WriteFile(report, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(in, want string, code int) {
		t.Helper()
		r := tailscope(in, "quantiles", "--format", "csv", "-o", report)
		text, err := os.ReadFile(report)
		info, statErr := os.Stat(report)
		if r.code != code || err != nil || !strings.HasPrefix(string(text), want) || statErr != nil || info.Mode() != 0o600 {
			t.Errorf("exit code %d, %.20q, %v, mode %v, %v", r.code, text, err, info.Mode(), statErr)
		}
		if names, _ := os.ReadDir(folder); len(names) != 1 {
			t.Errorf("%v, want the report only", names)
		}
	}
	check(`{"hop":1`, "before", exitFailed)
	check(`{"hop":"h","duration_ms":1}`+"\n", "hop,", exitFine)
}
