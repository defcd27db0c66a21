package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// A program built with -race otherwise waits a second before it ends.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=10"))
	testscript.Main(m, map[string]func(){
		"tailscope": func() {
			boundGarbage()
			code := Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			keepStatus()
			os.Exit(code)
		},
	})
}

// TestScripts runs the archives of testdata/script: input, command, stdout,
// stderr and exit code in one file each.
func TestScripts(t *testing.T) {
	t.Parallel()
	testdata, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TESTDATA", testdata)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a command and checks its exit code: exits 4 tailscope analyze f.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := err.(interface{ ExitCode() int }); ok {
		code = e.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got := args[0]; got != itoa(code) {
		ts.Fatalf("exit code %d, want %s", code, got)
	}
}

// ran is what one run of the tool gave.
type ran struct {
	code        int
	out, stderr string
}

// tailscope runs the tool inside the test.
func tailscope(stdin string, args ...string) ran {
	var out, errs bytes.Buffer
	code := Main(args, strings.NewReader(stdin), &out, &errs)
	return ran{code, out.String(), errs.String()}
}

// must runs the tool and fails the test unless it exits with 0.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	r := tailscope(stdin, args...)
	if r.code != exitFine {
		t.Fatalf("tailscope %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.out
}

// scattered writes lines in another order into files of a folder.
func scattered(t *testing.T, lines []string) string {
	t.Helper()
	lines, folder := slices.Clone(lines), t.TempDir()
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	for i, part := range slices.Collect(slices.Chunk(lines, 1000)) {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("part-%d.ndjson", i)), []byte(strings.Join(part, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
