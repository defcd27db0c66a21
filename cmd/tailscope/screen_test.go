package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/report"
)

// screens are the inputs of which the first page is kept.
var screens = []struct{ name, file string }{
	{"mesh", "../../testdata/mesh/jaeger-raw.json.gz"},
	{"mesh-hops", "../../testdata/mesh/hops.ndjson.gz"},
	{"chain", "../../testdata/chain/jaeger-raw.json.gz"},
	{"chain-hops", "../../testdata/chain/hops.ndjson.gz"},
	{"seed", "../../testdata/seed/truncated-5s.ndjson"},
	{"three-hops", "../../testdata/seed/three-hops.ndjson"},
}

// screenOf writes the first page of a run as text.
func screenOf(t testing.TB, o report.Options, args ...string) string {
	t.Helper()
	page := pageOf(t, args...)
	var b bytes.Buffer
	if err := report.Text(&b, page, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pageOf is the report of a run of analyze.
func pageOf(t testing.TB, args ...string) *report.Report {
	t.Helper()
	page, err := readPage(t, args...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return page
}

// readPage is the report of a run of analyze, or why there is none.
func readPage(t testing.TB, args ...string) (page *report.Report, err error) {
	t.Helper()
	var errs bytes.Buffer
	o := &options{streams: streams{in: strings.NewReader(""), out: new(bytes.Buffer), err: &errs, memory: memory.DefaultAllocator}}
	cmd := declared(o, analyze, namesOf(commanded())...)
	cmd.SetOut(&errs)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	p, err := o.plan(cmd.Flags().Args())
	if err != nil {
		return nil, err
	}
	p.write = func(_ io.Writer, r *report.Report, _ report.Options) error {
		page = r
		return nil
	}
	if err = p.run(t.Context()); page != nil {
		err = nil // which says that the input was incomplete
	}
	return page, err
}

// allLooks are the widths of terminals, and what kinds of them show.
var allLooks = map[string]report.Options{
	"": {}, "60": {Width: 60}, "80": {Width: 80}, "100": {Width: 100}, "120": {Width: 120}, "200": {Width: 200},
	"terminal": {Width: 100, Color: true, Closing: true}, "dumb": {Width: 100, Closing: true},
}

func TestFirstPages(t *testing.T) {
	t.Parallel()
	for _, s := range screens {
		page := pageOf(t, s.file)
		looks := map[string]report.Options{"": {}}
		if slices.Contains([]string{"mesh", "chain", "seed"}, s.name) {
			looks = allLooks
		}
		for name, o := range looks {
			var b bytes.Buffer
			if err := report.Text(&b, page, o); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix("screen-"+s.name+"-"+name, "-")+".txt", b.String())
		}
		var b bytes.Buffer
		if err := report.Markdown(&b, page, report.Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, "screen-"+s.name+".md", b.String())
	}
}

// Colors change nothing but colors.
func TestColorsOfTheFirstPageCarryNothingAlone(t *testing.T) {
	t.Parallel()
	codes := regexp.MustCompile("\x1b\\[[0-9]+m|\x1b\\[m")
	for _, s := range screens {
		colored := screenOf(t, report.Options{Width: 100, Color: true}, s.file)
		if !strings.Contains(colored, "\x1b[") {
			t.Errorf("%s has no color", s.name)
		}
		if d := cmp.Diff(screenOf(t, report.Options{Width: 100}, s.file), codes.ReplaceAllString(colored, "")); d != "" {
			t.Errorf("%s: %s", s.name, d)
		}
	}
}

// rulesOfThePage are what every first page keeps to, whatever the input.
func rulesOfThePage(t *testing.T, name string, page *report.Report) {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, page, report.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	rows := 0
	for i := range page.Screen.Blocks {
		if k := &page.Screen.Blocks[i]; len(k.Columns) > 0 {
			if rows == 0 {
				rows = len(k.Rows)
			}
			tableKeepsRules(t, name, k)
		}
	}
	if lines := strings.Count(text, "\n"); lines > 40+max(0, rows-10) {
		t.Errorf("%s: %d lines for %d rows\n%s", name, lines, rows, text)
	}
	saysNothingTwice(t, name, page.Screen)
	for _, word := range retired(text) {
		t.Errorf("%s: the page says %q:\n%s", name, word, text)
	}
	for _, width := range []int{60, 80, 100, 120, 200} {
		b.Reset()
		if err := report.Text(&b, page, report.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width && !hasLongWord(line, width) {
				t.Errorf("%s at %d columns has a line of %d: %s", name, width, n, line)
			}
		}
	}
}

// hasLongWord reports whether a line holds a path or a name that cannot be broken.
func hasLongWord(line string, width int) bool {
	return slices.ContainsFunc(strings.Fields(line), func(w string) bool { return utf8.RuneCountInString(w) > width/3 })
}

var (
	figure = regexp.MustCompile(`^(≥ |≤ |<)?([0-9]+)(\.([0-9]+))?( %)?$`)
	units  = regexp.MustCompile(`[0-9] (ns|µs|ms|s)\b`)
)

// tableKeepsRules: cells of figures have no unit of their own, three digits and one mark a
// row.
func tableKeepsRules(t *testing.T, name string, k *report.Block) {
	t.Helper()
	for _, row := range k.Rows {
		marks := 0
		for i, c := range row {
			if c.Mark != "" {
				marks++
			}
			if i == 0 || k.Columns[i].Text || k.Columns[i].Head == "n" {
				continue
			}
			m := figure.FindStringSubmatch(c.Text)
			if m == nil {
				if c.Text != report.Dash && c.Text != "" {
					t.Errorf("%s: the cell %q is no figure", name, c.Text)
				}
				continue
			}
			if digits := strings.TrimLeft(m[2]+m[4], "0"); len(strings.TrimRight(digits, "0")) > 3 {
				t.Errorf("%s: %q has more than three digits", name, c.Text)
			}
			if units.MatchString(c.Text) {
				t.Errorf("%s: the cell %q has a unit", name, c.Text)
			}
		}
		if marks > 1 {
			t.Errorf("%s: a row has %d marks: %v", name, marks, row)
		}
	}
}

// saysNothingTwice: no sentence stands on the page twice.
func saysNothingTwice(t *testing.T, name string, s *report.Screen) {
	t.Helper()
	all := append([]string{s.Read, s.More}, s.Caveats...)
	for _, v := range s.Verdicts {
		all = append(all, v.Text)
		for _, p := range v.Points {
			all = append(all, p.Lines...)
		}
	}
	for i := range s.Blocks {
		all = append(all, s.Blocks[i].Lines...)
	}
	seen := map[string]bool{}
	for _, text := range all {
		text = strings.TrimSuffix(text, ".")
		if text != "" && seen[text] {
			t.Errorf("%s: said twice: %s", name, text)
		}
		seen[text] = true
	}
}

func TestFirstPagesKeepTheirRules(t *testing.T) {
	t.Parallel()
	for _, s := range screens {
		rulesOfThePage(t, s.name, pageOf(t, "--top", "all", s.file))
	}
	for _, world := range [][]string{
		{"--timeout", "generate=5s"}, {"--quantiles", "0.5"}, {"--quantiles", "0.5,0.75,0.9,0.95,0.99,0.999,0.9999"}, {"--sampling", "biased"}, {"--sort", "name"},
	} {
		for _, s := range screens {
			rulesOfThePage(t, s.name+" "+strings.Join(world, " "), pageOf(t, append(world, s.file)...))
		}
	}
}

// Of every file of the corpus that can be read, where it is there.
func TestFirstPagesOfTheCorpusKeepTheirRules(t *testing.T) {
	t.Parallel()
	const corpus = "../../../shared/corpus"
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("there is no " + corpus)
	}
	read := 0
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".json", ".jsonl", ".ndjson", ".csv", ".gz"}, filepath.Ext(path)) {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<20 || testing.Short() && info.Size() > 1<<16 {
			return err
		}
		t.Run(path, func(t *testing.T) {
			if page, err := readPage(t, "--top", "all", path); err == nil {
				read++
				rulesOfThePage(t, path, page)
			}
		})
		return nil
	})
	if err != nil || read == 0 {
		t.Errorf("%d files read: %v", read, err)
	}
}

// Each figure of the table is that of the JSON: a known one the nearest, a bound not above
// it.
func TestFiguresOfTheFirstPageAreThoseOfTheJSON(t *testing.T) {
	t.Parallel()
	for _, s := range screens {
		page := pageOf(t, "--sort", "name", "--top", "all", s.file)
		k := &page.Screen.Blocks[0]
		if strings.Contains(k.Title, "generate in") {
			continue // a table of one hop, whose rows are readings
		}
		scale := map[string]float64{"ms": 1e6, "seconds": 1e9, "µs": 1e3}[strings.Fields(k.Title)[2]]
		hops := tailsOf(t, s.file)
		for _, row := range k.Rows {
			checkRow(t, s.name, k, row, hops, scale)
		}
	}
}

type jsonTail struct {
	Status string
	Value  *int64 `json:"value_ns"`
}

// tailsOf are the quantiles of each hop in the JSON, by label.
func tailsOf(t *testing.T, file string) map[string]map[string]jsonTail {
	t.Helper()
	var doc struct {
		Hops []struct {
			Hop  string
			Tail []struct {
				P string
				jsonTail
			}
		}
	}
	if err := json.Unmarshal([]byte(must(t, "", "analyze", "--format", "json", file)), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]jsonTail{}
	for _, h := range doc.Hops {
		all[h.Hop] = map[string]jsonTail{}
		for _, q := range h.Tail {
			f, err := strconv.ParseFloat(q.P, 64)
			if err != nil {
				t.Fatal(err)
			}
			all[h.Hop][fmt.Sprintf("p%g", math.Round(f*1e6)/1e4)] = q.jsonTail
		}
	}
	return all
}

func checkRow(t *testing.T, name string, k *report.Block, row []report.Cell, hops map[string]map[string]jsonTail, scale float64) {
	t.Helper()
	// "search → catalog" is the hop "search call catalog".
	tails := hops[strings.ReplaceAll(row[0].Text, " → ", " call ")]
	if tails == nil {
		tails = hops[strings.TrimSuffix(row[0].Text, " (async)")]
	}
	if tails == nil {
		t.Errorf("%s: no hop is %q", name, row[0].Text)
		return
	}
	for i, c := range row {
		q, isQuantile := tails[k.Columns[i].Head]
		if !isQuantile || strings.HasPrefix(c.Text, "<") {
			continue
		}
		text, bound := strings.CutPrefix(c.Text, "≥ ")
		got, err := strconv.ParseFloat(text, 64)
		if err != nil || q.Value == nil || bound != (q.Status == "at_least") {
			t.Errorf("%s, %s of %s: %q for %+v", name, k.Columns[i].Head, row[0].Text, c.Text, q)
			continue
		}
		want := float64(*q.Value) / scale
		if off := math.Abs(got - want); off > want/100 || bound && got > want {
			t.Errorf("%s, %s of %s: %q for %v", name, k.Columns[i].Head, row[0].Text, c.Text, want)
		}
	}
}

// The rest of the table is counted, and the callers of what is kept stay.
func TestTopKeepsTheCallers(t *testing.T) {
	t.Parallel()
	text := screenOf(t, report.Options{Width: 100}, "--top", "1", screens[0].file)
	if !strings.Contains(text, "      └ catalog") || strings.Contains(text, "├ price") || !strings.Contains(text, "  and 2 more: --top all\n") {
		t.Error(text)
	}
}

// What the page names to see the rest can be copied.
func TestCommandForMoreRuns(t *testing.T) {
	t.Parallel()
	for _, s := range screens {
		command, _, _ := strings.Cut(pageOf(t, s.file).Screen.More, "   (")
		args, ok := commandLine("$ " + command)
		if !ok || !strings.HasSuffix(command, s.file) {
			t.Errorf("%s: %q", s.name, command)
			continue
		}
		must(t, "", args...)
	}
}
