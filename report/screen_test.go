package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func screenFull(rows, sentences, caveats int) *Screen {
	s := &Screen{Read: "read", More: "more"}
	v := Verdict{Mood: Bad, Text: "it fails"}
	for _, label := range []string{"Why", "Cost", "Do"} {
		p := Point{Label: label, Numbered: label == "Do"}
		for i := range sentences {
			p.Lines = append(p.Lines, fmt.Sprintf("%s %d", label, i))
		}
		v.Points = append(v.Points, p)
	}
	s.Verdicts = append(s.Verdicts, v)
	k := Block{Title: "Latency in ms", Columns: []Pillar{{Head: "hop", Text: true}, {Head: "p50"}}}
	for i := range rows {
		k.Rows = append(k.Rows, []Cell{{Text: fmt.Sprintf("hop %d", i)}, {Text: "1"}})
	}
	s.Blocks = append(s.Blocks, k)
	for i := range caveats {
		s.Caveats = append(s.Caveats, fmt.Sprintf("caveat %d", i))
	}
	return s
}

func TestFitKeepsWhatMattersMost(t *testing.T) {
	for _, c := range []struct {
		rows, sentences, caveats int
		kept, said               int // sentences of each part, caveats
	}{
		{10, 3, 3, 3, 3},
		{10, 9, 9, 3, 5},  // four and that there is more
		{30, 9, 9, 3, 5},  // 20 rows more are 20 lines more
		{10, 4, 12, 3, 5}, // the least sentences first
	} {
		s := screenFull(c.rows, c.sentences, c.caveats)
		s.Fit()
		if n := s.height(100); n > 40+max(0, c.rows-10) {
			t.Errorf("%+v: %d lines", c, n)
		}
		if got := [2]int{len(s.Verdicts[0].Points[0].Lines), len(s.Caveats)}; got != [2]int{c.kept, c.said} {
			t.Errorf("%+v: %v kept", c, got)
		}
		if s.Verdicts[0].Points[0].Lines[0] != "Why 0" || s.Caveats[0] != "caveat 0" {
			t.Errorf("%+v: not the first are kept", c)
		}
	}
}

// Findings that take much room leave a sentence of each part, and rows of what has a
// command of its own go first.
func TestFitKeepsASentenceOfEachPart(t *testing.T) {
	s := screenFull(10, 9, 9)
	advice := Block{Title: "Timeouts", Columns: []Pillar{{Head: "call", Text: true}}, More: "tailscope timeouts", Left: 4, Lines: []string{"note"}}
	for i := range 5 {
		advice.Rows = append(advice.Rows, []Cell{{Text: fmt.Sprint("call ", i)}})
	}
	s.Blocks = append(s.Blocks, advice, Block{Label: "Retries", Lines: make([]string, 20)})
	s.Fit()
	for _, p := range s.Verdicts[0].Points {
		if len(p.Lines) != 1 {
			t.Errorf("%s: %q", p.Label, p.Lines)
		}
	}
	if k := s.Blocks[1]; len(k.Rows) != 2 || k.Rows[1][0].Text != "call 1" || !slices.Equal(k.Lines, []string{"and 7 more: tailscope timeouts", "note"}) {
		t.Errorf("%d rows, %q", len(k.Rows), k.Lines)
	}
	if n := len(s.Blocks[0].Rows); n != 10 {
		t.Errorf("%d rows of the first table", n)
	}
}

func TestRemarksStandBelowATableWithoutRoomForThem(t *testing.T) {
	s := &Screen{Blocks: []Block{{Columns: []Pillar{{Text: true}, {Head: "p50"}, {Text: true, Drop: 20}}, Rows: [][]Cell{
		{{Text: "latency"}, {Text: "1"}, {}}, {{Text: "as logged"}, {Text: "2"}, {Text: "timeouts taken for latencies"}},
	}}}}
	for width, want := range map[int]string{
		60: "             p50\n  latency      1\n  as logged    2  timeouts taken for latencies\n",
		42: "             p50\n  latency      1\n  as logged    2\n  as logged: timeouts taken for latencies\n",
	} {
		if got := textAt(s, Options{Width: width}); !strings.HasSuffix(got, want) {
			t.Errorf("width %d:\n%s", width, got)
		}
	}
}

func textAt(s *Screen, o Options) string { return string(screenText(s, o)) }

func TestColumnsAreLeftOutByTheirNumber(t *testing.T) {
	s := &Screen{Blocks: []Block{{Columns: []Pillar{{Head: "hop", Text: true}, {Head: "first", Drop: 1}, {Head: "n"}, {Head: "second", Drop: 2}, {Head: "third", Drop: 3}},
		Rows: [][]Cell{{{Text: strings.Repeat("name", 6)}, {Text: "1111111"}, {Text: "2222222"}, {Text: "3333333"}, {Text: "4444444"}}}}}}
	for width, want := range map[int]string{
		80: "  hop                         first        n   second    third\n  namenamenamenamenamename  1111111  2222222  3333333  4444444\n",
		57: "  hop                    first        n   second    third\n  namenamen…enamename  1111111  2222222  3333333  4444444\n",
		46: "  hop                  first        n   second\n  namename…namename  1111111  2222222  3333333\n  Left out for want of room: third.\n",
		30: "  hop                        n\n  namenamen…enamename  2222222\n  Left out for want of room:\n  third, second, first.\n",
	} {
		if d := cmp.Diff("\n\n"+want, textAt(s, Options{Width: width})); d != "" {
			t.Errorf("%d columns: %s", width, d)
		}
	}
}

func TestLastTextOfATableIsWrapped(t *testing.T) {
	s := &Screen{Blocks: []Block{{Columns: []Pillar{{Head: "call", Text: true}, {Head: "advice", Text: true}},
		Rows: [][]Cell{{{Text: "a"}, {Text: "unknown; a canary of 2995 calls would tell"}}, {{Text: "b"}, {Text: "5 s"}}}}}}
	want := "\n\n  call  advice\n  a     unknown; a canary of 2995\n        calls would tell\n  b     5 s\n"
	if d := cmp.Diff(want, textAt(s, Options{Width: 36})); d != "" {
		t.Error(d)
	}
}

func TestFiguresStayWithTheirUnits(t *testing.T) {
	s := &Screen{Read: "it takes 12 ms and 30 % of 5 s"}
	if d := cmp.Diff("it takes\n12 ms and\n30 % of\n5 s\n\n", textAt(s, Options{Width: 10})); d != "" {
		t.Error(d)
	}
}

// Names come from logs: they break no line, no table and no terminal.
func TestScreenMakesNamesHarmless(t *testing.T) {
	evil := "a|b\n\x1b[31m*c*\x00"
	s := &Screen{Read: evil, Verdicts: []Verdict{{Text: evil, Points: []Point{{Label: "Why", Lines: []string{evil}}}}}, Caveats: []string{evil}, More: evil,
		Blocks: []Block{{Title: evil, Columns: []Pillar{{Head: "hop", Text: true}}, Rows: [][]Cell{{{Text: evil, Branch: " └ "}}}, Lines: []string{evil}}, {Label: "Retries", Lines: []string{evil}}}}
	text, markdown := textAt(s, Options{Width: 200}), string(screenMarkdown(s))
	if strings.ContainsAny(text, "\x1b\x00") || strings.Count(text, `a|b\n\x1b[31m*c*\x00`) != 9 {
		t.Errorf("text: %q", text)
	}
	if strings.ContainsAny(markdown, "\x1b\x00") || strings.Contains(markdown, "a|b") || strings.Contains(markdown, "*c*") {
		t.Errorf("markdown: %q", markdown)
	}
}

func TestClosingLineRepeatsTheVerdict(t *testing.T) {
	s := screenFull(1, 1, 0)
	text := textAt(s, Options{Width: 100, Closing: true})
	if !strings.HasSuffix(text, "\nMore: more\n\n✗ it fails\n") {
		t.Errorf("%q", text)
	}
	if colored := textAt(s, Options{Width: 100, Closing: true, Color: true}); !strings.HasSuffix(colored, "\n"+red+"✗ it fails"+reset+"\n") {
		t.Errorf("%q", colored)
	}
}

func TestAReportWithAScreenIsThatForPeople(t *testing.T) {
	r := &Report{Screen: screenFull(1, 1, 1), Sections: []Section{{Key: "hops", Lines: []string{"a section"}, JSON: func() any { return 1 }}}}
	for _, f := range Formats {
		var b bytes.Buffer
		if err := f.Write(&b, r, Options{}); err != nil {
			t.Fatal(err)
		}
		if people := f.Name == "text" || f.Name == "markdown"; people != strings.Contains(b.String(), "it fails") || strings.Contains(b.String(), "a section") {
			t.Errorf("%s: %s", f.Name, b.String())
		}
	}
}
