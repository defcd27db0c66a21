package report

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/durations"
	"pgregory.net/rapid"
)

// The mistake the project exists to end: a quantile made of timed-out requests
// that stands as if it were true. 5737 ms is the recorded p95 of batch 1.
func TestCutValuesStandOnMarkedLinesOnly(t *testing.T) {
	cutValue := regexp.MustCompile(`5[.]?7[0-9][0-9] m?s`)
	marked := regexp.MustCompile(`\b(cut|recorded)\b`)
	for _, report := range []*Report{cutTail(), configured()} {
		for _, f := range []Format{Text, Markdown} {
			for _, width := range []int{0, 1, 40, 50, 60, 80, 120} {
				seen := 0
				for line := range strings.SplitSeq(tables(write(t, f, report, Options{Width: width})), "\n") {
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
	out := write(t, Text, configured(), Options{})
	for _, want := range []string{"16.5 %", "12.3–21.4 %", "1.079 s", "≥ 5 s [1]", "5 s"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing from\n%s", want, out)
		}
	}
	if strings.Contains(strings.Split(out, "Durations")[0], "5.737") {
		t.Error("the recorded p95 stands in the tail table")
	}
}

func TestFootnotesAreShared(t *testing.T) {
	out := write(t, Text, configured(), Options{})
	if strings.Count(out, "were cut at 5 s") != 1 || strings.Count(out, "[1]") != 5 {
		t.Errorf("four quantiles of one reason do not share a footnote:\n%s", out)
	}
}

// The warning is left out only where its value is tagged.
func TestIsMaximumIsSaidOnce(t *testing.T) {
	r := simple()
	if out := write(t, Text, r, Options{}); strings.Contains(out, "is their maximum") || !strings.Contains(out, "(max of 4)") {
		t.Errorf("tag missing or warning repeated:\n%s", out)
	}
	r.Hops[0].Tail[2].IsMaximum = false
	if out := write(t, Text, r, Options{}); !strings.Contains(out, "is their maximum") {
		t.Errorf("warning lost:\n%s", out)
	}
}

func TestWidthIsKept(t *testing.T) {
	for _, w := range worlds {
		for _, width := range []int{80, 100, 140} {
			for line := range strings.SplitSeq(write(t, Text, w.report(), Options{Width: width}), "\n") {
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
		for line := range strings.SplitSeq(write(t, Text, manyHops(), Options{Color: color}), "\n") {
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
		for line := range strings.SplitSeq(write(t, Text, w.report(), Options{}), "\n") {
			if strings.HasSuffix(line, " ") {
				t.Errorf("%s: %q", w.name, line)
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 5, "short"},
		{"abcdefgh", 5, "ab…gh"},
		{"abcdefgh", 6, "abc…gh"},
		{"数据库查询语句", 8, "数据…句"},
		{"", 3, ""},
	} {
		if got := shorten(c.in, c.columns); got != c.want {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, columns := Visible(rapid.String().Draw(t, "s")), rapid.IntRange(1, 80).Draw(t, "columns")
		if got := text.StringWidthWithoutEscSequences(shorten(s, columns)); got > columns {
			t.Errorf("%d columns", got)
		}
	})
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"one two three", 7, "one two/three"},
		{"one two three", 3, "one/two/three"},
		{"数据 库查 询", 9, "数据 库查/询"},
		{"a-word-that-is-too-long b", 5, "a-word-that-is-too-long/b"},
		{"", 5, ""},
	} {
		if got := strings.Join(wrapped(c.in, c.columns, true), "/"); got != c.want {
			t.Errorf("wrapped(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   string // each value rounded half up
	}{
		{nil, ""},
		{[]int64{0}, "0 ns"},
		{[]int64{5 * s}, "5 s"},
		{[]int64{0, 5 * s}, "0 s, 5 s"},
		{[]int64{1079 * ms, 5 * s}, "1.079 s, 5.000 s"},
		{[]int64{999 * ms, 5 * s}, "999 ms, 5000 ms"},
		{[]int64{1 * ms, 1*ms + 1}, "1.000 ms, 1.000 ms"},
		{[]int64{1500499999, 1500500000}, "1.500 s, 1.501 s"},
		{[]int64{1 * us, 2*us + 5}, "1.000 µs, 2.005 µs"},
		{[]int64{1, 3 * s}, "1 ns, 3000000000 ns"},
		{[]int64{1500 * ms}, "1.5 s"},
		{[]int64{-1500 * ms, 2 * s}, "-1.5 s, 2.0 s"},
		{[]int64{math.MaxInt64}, "9223372036.855 s"},
	} {
		var got []string
		for _, v := range c.values {
			got = append(got, scaleOf(c.values).nearest(v))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v read %q, want %q", c.values, got, c.want)
		}
	}
}

func TestRoundingOfBounds(t *testing.T) {
	three := scale{unit: durations.Units[3], decimals: 3}
	for _, c := range []struct {
		ns                int64
		down, nearest, up string
	}{
		{5 * s, "5.000 s", "5.000 s", "5.000 s"},
		{5*s + 1, "5.000 s", "5.000 s", "5.001 s"},
		{4999999999, "4.999 s", "5.000 s", "5.000 s"},
		{4999500000, "4.999 s", "5.000 s", "5.000 s"},
		{4999499999, "4.999 s", "4.999 s", "5.000 s"},
		{0, "0.000 s", "0.000 s", "0.000 s"},
		{-1, "-0.001 s", "0.000 s", "0.000 s"},
	} {
		if d, n, u := three.down(c.ns), three.nearest(c.ns), three.up(c.ns); d != c.down || n != c.nearest || u != c.up {
			t.Errorf("%d ns: %s, %s, %s; want %s, %s, %s", c.ns, d, n, u, c.down, c.nearest, c.up)
		}
	}
}

// The page keeps a bound a bound: 4.9999 s is not "≥ 5 s".
func TestLowerBoundsAreRoundedDown(t *testing.T) {
	r := configured()
	r.Hops[0].Tail[2].Value = 4999999999
	if out := write(t, Text, r, Options{}); !strings.Contains(out, "≥ 4.999 s") {
		t.Errorf("no ≥ 4.999 s in\n%s", out)
	}
}

func TestWallText(t *testing.T) {
	sc := scaleOf([]int64{2026 * ms})
	for want, w := range map[string]buckets.Wall{
		"between 2.026 s and 5.704 s": {From: 2026*ms + 1, To: 5703*ms + 1},
		"at most 4.001 s":             {To: 4001 * ms},
	} {
		if got := wallText(w, sc); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := wallSource("measured"); got != "measured" {
		t.Errorf("an unknown source reads %q", got)
	}
}

// Every hop appears in the text, so that none is silently missing.
func TestEveryHopIsShown(t *testing.T) {
	r := manyHops()
	out := write(t, Text, r, Options{})
	for _, h := range r.Hops {
		if name := shorten(Visible(h.Hop), longestName); !strings.Contains(out, name) {
			t.Errorf("%q is missing", name)
		}
	}
}

// A share of nothing is no share.
func TestSharesOfNothing(t *testing.T) {
	none := &buckets.Result{}
	if cutShare(none) != dash || cutLimits(none) != dash || failedShare(none) != dash {
		t.Errorf("shares of no attempts: %s, %s, %s", cutShare(none), cutLimits(none), failedShare(none))
	}
}

// An attempt without an end is in no bucket: the page must not lose it.
func TestUnfinishedIsSaid(t *testing.T) {
	if out := write(t, Text, nothing(), Options{}); !strings.Contains(out, "1 attempt without an end") {
		t.Errorf("unfinished attempts are not mentioned:\n%s", out)
	}
}

// A split table repeats what its rows are about.
func TestSplitTablesRepeatKeys(t *testing.T) {
	page := write(t, Text, cutTail(), Options{Width: 50})
	for line := range strings.SplitSeq(tables(page), "\n") {
		if strings.Contains(line, "5.770 s") && !regexp.MustCompile(`^  (generate +completed|generate +cut| +cut| +recorded)`).MatchString(line) {
			t.Errorf("a row without its bucket: %s", line)
		}
	}
	if strings.Count(page, "ended") < 3 {
		t.Errorf("the table was not split:\n%s", page)
	}
}

func TestFootnotesSayTheRestOnce(t *testing.T) {
	rest := " (5 %; of 200); wall between 2 s and 5 s; a canary with a raised timeout needs 59 first attempts"
	var notes footnotes
	for _, text := range []string{"p90 is cut" + rest, "short; one", "p95 is cut" + rest, "other; one", "p90 is cut" + rest} {
		notes.cite(text)
	}
	want := []string{"p90 is cut" + rest, "short; one", "p95 is cut (5 %; of 200); the rest as in [1]", "other; one"}
	if diff := cmp.Diff(want, notes.lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
