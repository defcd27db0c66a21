package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/report"
)

var update = flag.Bool("update", false, "write the golden files")

func write(t testing.TB, f report.Format, r *run, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r.report(), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); go test ./report -update writes it:\n%s", path, diff)
	}
}

// Every world in every format.
func TestGolden(t *testing.T) {
	for _, w := range worlds {
		for _, f := range report.Formats {
			t.Run(w.name+"/"+f.Name, func(t *testing.T) {
				golden(t, w.name+"."+f.Name, write(t, f.Write, w.run(), report.Options{}))
			})
		}
	}
}

// The same page for terminals: narrow, so that tables are split, and coloured.
func TestGoldenTerminal(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			golden(t, w.name+".text80", write(t, report.Text, w.run(), report.Options{Width: 80}))
		})
	}
	golden(t, "cut_tail.color", write(t, report.Text, cutTail(), report.Options{Color: true, Width: 100}))
}

// Every golden file belongs to a test.
func TestGoldenFilesAreUsed(t *testing.T) {
	used := map[string]bool{"cut_tail.color": true}
	for _, w := range worlds {
		used[w.name+".text80"] = true
		for _, f := range report.Formats {
			used[w.name+"."+f.Name] = true
		}
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.IsDir() || used[f.Name()] {
			continue
		}
		t.Errorf("testdata/%s is not used", f.Name())
	}
}
