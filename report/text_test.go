package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/tailscope/tailscope/report"
)

// The mistake the project exists to end: a quantile made of timed-out requests
// that stands as if it were true. 5737 ms is the recorded p95 of batch 1.
func TestCutValuesStandOnMarkedLinesOnly(t *testing.T) {
	cutValue := regexp.MustCompile(`5[.]?7[0-9][0-9] m?s`)
	marked := regexp.MustCompile(`\b(timed out|recorded)\b`)
	for _, r := range []*run{cutTail(), configured()} {
		for _, f := range []report.Format{report.Text, report.Markdown} {
			for _, width := range []int{0, 1, 40, 50, 60, 80, 120} {
				seen := 0
				for line := range strings.SplitSeq(tables(write(t, f, r, report.Options{Width: width})), "\n") {
					if cutValue.MatchString(line) {
						seen++
						if !marked.MatchString(line) {
							t.Errorf("width %d: a cut attempt's duration without the word:\n%s", width, line)
						}
					}
				}
				if seen == 0 {
					t.Error("the recorded values are missing")
				}
			}
		}
	}
}

// tables is the page without its notes, which are sentences and may wrap.
func tables(page string) string {
	page, _, _ = strings.Cut(page, "Notes\n")
	return page
}

func TestBatch1Reads(t *testing.T) {
	out := write(t, report.Text, configured(), report.Options{})
	for _, want := range []string{"16.5 %", "12.3–21.5 %", "1.079 s", "≥ 5 s [1]", "5 s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing from\n%s", want, out)
		}
	}
	if strings.Contains(strings.Split(out, "Durations")[0], "5.737") {
		t.Error("the recorded p95 stands in the tail table")
	}
}

func TestFootnotesAreShared(t *testing.T) {
	out := write(t, report.Text, configured(), report.Options{})
	if strings.Count(out, "timed out at 5 s") != 1 || strings.Count(out, "[1]") != 5 {
		t.Errorf("four quantiles of one reason do not share a footnote:\n%s", out)
	}
}

// The warning is left out only where its value is tagged.
func TestIsMaximumIsSaidOnce(t *testing.T) {
	r := simple()
	if out := write(t, report.Text, r, report.Options{}); strings.Contains(out, "is their maximum") || !strings.Contains(out, "(max of 4)") {
		t.Errorf("tag missing or warning repeated:\n%s", out)
	}
	r.Hops[0].Tail[2].IsMaximum = false
	if out := write(t, report.Text, r, report.Options{}); !strings.Contains(out, "is their maximum") {
		t.Errorf("warning lost:\n%s", out)
	}
}

func TestWidthIsKept(t *testing.T) {
	for _, w := range worlds {
		for _, width := range []int{80, 100, 140} {
			for line := range strings.SplitSeq(write(t, report.Text, w.run(), report.Options{Width: width}), "\n") {
				if got := text.StringWidthWithoutEscSequences(line); got > width {
					t.Errorf("%s: %d columns, %d allowed: %s", w.name, got, width, line)
				}
			}
		}
	}
}

// Numbers end in one column however wide the names before them are.
func TestColumnsAlign(t *testing.T) {
	for _, color := range []bool{false, true} {
		want := -1
		for line := range strings.SplitSeq(write(t, report.Text, manyHops(), report.Options{Color: color}), "\n") {
			if !strings.Contains(line, "0 %") {
				continue
			}
			got := text.StringWidthWithoutEscSequences(line[:strings.LastIndex(line, "0 %")])
			if want < 0 {
				want = got
			}
			if got != want {
				t.Errorf("column %d, want %d: %s", got, want, line)
			}
		}
	}
}

func TestNoBlanksAtLineEnds(t *testing.T) {
	for _, w := range worlds {
		for line := range strings.SplitSeq(write(t, report.Text, w.run(), report.Options{}), "\n") {
			if strings.HasSuffix(line, " ") {
				t.Errorf("%s: %q", w.name, line)
			}
		}
	}
}

// The page keeps a bound a bound: 4.9999 s is not "≥ 5 s".
func TestLowerBoundsAreRoundedDown(t *testing.T) {
	r := configured()
	r.Hops[0].Tail[2].Value = 4999999999
	if out := write(t, report.Text, r, report.Options{}); !strings.Contains(out, "≥ 4.999 s") {
		t.Errorf("no ≥ 4.999 s in\n%s", out)
	}
}

// Every hop appears in the text, so that none is silently missing.
func TestEveryHopIsShown(t *testing.T) {
	r := manyHops()
	out := write(t, report.Text, r, report.Options{})
	for _, h := range r.Hops {
		if name := report.Shorten(report.Visible(h.Name), report.LongestName); !strings.Contains(out, name) {
			t.Errorf("%q is missing", name)
		}
	}
}

// An attempt without an end is in no bucket: the page must not lose it.
func TestUnfinishedIsSaid(t *testing.T) {
	if out := write(t, report.Text, nothing(), report.Options{}); !strings.Contains(out, "1 attempt without an end") {
		t.Errorf("unfinished attempts are not mentioned:\n%s", out)
	}
}

// A split table repeats what its rows are about.
func TestSplitTablesRepeatKeys(t *testing.T) {
	page := write(t, report.Text, cutTail(), report.Options{Width: 50})
	for line := range strings.SplitSeq(tables(page), "\n") {
		if strings.Contains(line, "5.770 s") && !regexp.MustCompile(`^  (generate +completed|generate +timed out| +timed out| +recorded)`).MatchString(line) {
			t.Errorf("a row without its bucket: %s", line)
		}
	}
	if strings.Count(page, "ended") < 3 {
		t.Errorf("the table was not split:\n%s", page)
	}
}

func TestAListUnderATableHangsOnItsDashes(t *testing.T) {
	var b strings.Builder
	page := &report.Report{Sections: []report.Section{{Tables: []report.Table{{Title: "Why", Caption: []string{"First.", "- " + strings.Repeat("word ", 12) + "end"}}}}}}
	if err := report.Text(&b, page, report.Options{Width: 40}); err != nil {
		t.Fatal(err)
	}
	want := "\nWhy\n\n  First.\n  - word word word word word word word\n    word word word word word end\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestADrawingStandsAsItIs(t *testing.T) {
	page := &report.Report{Sections: []report.Section{{Lines: []string{"Of a *trace*."}, Drawings: []report.Drawing{func(o report.Options) []string { return []string{"  a  b", fmt.Sprint("  ", o.Width, " ``` ")} }}}}}
	for _, c := range []struct {
		write report.Format
		want  string
	}{
		{report.Text, "Of a *trace*.\n\n  a  b\n  50 ``` \n"},
		{report.Markdown, "Of a \\*trace\\*.\n\n````text\n  a  b\n  0 ``` \n````\n"},
	} {
		var b strings.Builder
		if err := c.write(&b, page, report.Options{Width: 50}); err != nil || b.String() != c.want {
			t.Errorf("got %q (%v), want %q", b.String(), err, c.want)
		}
	}
}
