package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/bench/trial"
)

func TestVerdictHoldsTheFigureAgainstBothDemands(t *testing.T) {
	for _, c := range []struct {
		must, aim float64
		unit      unit
		value     float64
		want      string
	}{
		{1.6, 3, times, 3.2, "aim met"}, {1.6, 3, times, 3, "aim met"}, {1.6, 3, times, 2, "met"}, {1.6, 3, times, 1.59, "**missed**"},
		{100, 64, mebibytes, 64, "aim met"}, {100, 64, mebibytes, 65, "met"}, {100, 64, mebibytes, 101, "**missed**"},
		{96, 0, mebibytes, 10, "met"}, {2.5, 1.5, atMost, 2.51, "**missed**"},
	} {
		if got := (row{must: c.must, aim: c.aim, unit: c.unit}).verdict(c.value); got != c.want {
			t.Errorf("%v of %v, %v: %s, want %s", c.value, c.must, c.aim, got, c.want)
		}
	}
}

func TestRowSaysFigureDemandsAndSource(t *testing.T) {
	r := row{what: "memory", must: 96, unit: mebibytes, measured: measured{figure: outcome.peak}}
	for want, got := range map[string]string{
		"| memory | ≤ 96 |  | 97 MiB | **missed** | CPU 1.00 s |": r.markdown(outcome{ours: trial.Runs{{CPU: time.Second, Peak: 97 << 20}}}),
		"| memory | ≤ 96 |  | | not measured | jq is late |":      r.markdown(outcome{err: errors.New("jq is late")}),
		"| memory | ≤ 96 |  | | not timed | |":                    r.markdown(outcome{}),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFiguresAreOfMedians(t *testing.T) {
	of := func(seconds ...int) (r trial.Runs) {
		for _, s := range seconds {
			r = append(r, trial.Usage{Wall: time.Duration(s) * time.Second, CPU: time.Duration(2*s) * time.Second, Peak: int64(s) << 20})
		}
		return r
	}
	o := outcome{ours: of(1, 2, 4), theirs: of(3, 6, 8)}
	if got, from := o.ratio("DuckDB", "tailscope", trial.CPU); got != 3 || from != "DuckDB 12.00 s, tailscope 4.00 s" {
		t.Errorf("%v, %s", got, from)
	}
	if got, from := o.peak(); got != 2 || from != "CPU 4.00 s" {
		t.Errorf("%v, %s", got, from)
	}
	if got, want := o.cells(), "3.0 | 3.0 | 3.0 | 6.00 s, CPU 12.00 s, 6 MiB | 2.00 s, CPU 4.00 s, 2 MiB"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTableGoesIntoThePage(t *testing.T) {
	t.Chdir("../..")
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("<!-- measured: machine -->\n<!-- end of machine -->"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-dir", t.TempDir(), "-only", "machine", "-into", page}, new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(page); !strings.Contains(string(text), " cores (") {
		t.Errorf("%s", text)
	}
	if err := run([]string{"-dir", t.TempDir(), "-only", "growht"}, new(bytes.Buffer)); err == nil {
		t.Error("a table that is none is no error")
	}
}

// TestEveryRowHasAFigureOrSaysWhyNot runs everything on small inputs, on a machine
// without any peer: it is the same on all, and needs no minute.
func TestEveryRowHasAFigureOrSaysWhyNot(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every row")
	}
	t.Chdir("../..")
	l := lab{dir: t.TempDir(), lines: 1000, traces: 20, pairs: 1}
	if err := l.build(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct {
		write          func(*lab, io.Writer) error
		rows, absences int
	}{{writeRows, 19, 5}, {writePeers, 21, 21}, {writeGrowth, 18, 0}} {
		var text bytes.Buffer
		if err := c.write(&l, &text); err != nil {
			t.Error(err)
		}
		rows, absences := strings.Count(text.String(), "\n| "), strings.Count(text.String(), "is not installed")
		if rows != c.rows || absences != c.absences || strings.Contains(text.String(), "not timed") {
			t.Errorf("%d rows and %d absences, want %d and %d:\n%s", rows, absences, c.rows, c.absences, &text)
		}
	}
}

func TestInputThatCannotBeMadeIsNamed(t *testing.T) {
	l := lab{dir: t.TempDir(), generate: "false"}
	if _, err := l.file(input{"hops", 3, "us", ""}); err == nil || !strings.HasPrefix(err.Error(), "false -form hops -n 3 -unit us: ") {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(l.dir); len(left) != 1 || !strings.HasSuffix(left[0].Name(), ".part") {
		t.Errorf("half an input stands as a whole one: %v", left)
	}
}
