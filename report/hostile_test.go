package report_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// everywhere puts a name into every text that may stem from a log.
func everywhere(name string) *run {
	r := kaplanMeierWorld()
	h := &r.Hops[0]
	h.Hop = spans.Hop{Name: name, Service: name, Operation: name, Kind: spans.Client}
	h.Warnings = []note.Warning{{Code: "some_code", Text: name}}
	h.Tail[0].Reason = name
	r.Input.Files[0].Path, r.Input.Files[0].Complete = name, false
	r.Input.Files[0].Fields = map[string]string{name: name}
	r.Input.Sampling = ingest.Sampling{Kind: "biased", Evidence: name}
	r.Input.Rejects = []ingest.RejectCount{{Reason: format.BadMark, Count: 1, First: ingest.Reject{File: name, Detail: name}}}
	r.Input.Warnings = h.Warnings
	return r
}

// obeyed is the first character that a terminal would obey or hide.
func obeyed(s string) (rune, bool) {
	before := ' '
	for _, r := range s {
		joins := strings.ContainsRune("\u200c\u200d\ufe0e\ufe0f", r) && before > '~'
		if r != '\n' && report.Hidden(r) && !joins {
			return r, true
		}
		before = r
	}
	return 0, !utf8.ValidString(s)
}

func checkHarmless(t interface{ Errorf(string, ...any) }, f report.Named, out string) {
	if r, found := obeyed(out); found {
		t.Errorf("%s passes %U through, or bytes that are not UTF-8", f.Name, r)
	}
}

func TestHostileNamesReachNoTerminal(t *testing.T) {
	for _, name := range hostileNames {
		for _, f := range report.Formats {
			checkHarmless(t, f, write(t, f.Write, everywhere(name), report.Options{Width: 60}))
		}
	}
}

func TestAnyNameIsHarmless(t *testing.T) {
	lines := map[string]int{}
	for _, f := range report.Formats {
		lines[f.Name] = strings.Count(write(t, f.Write, everywhere("plain"), report.Options{}), "\n")
	}
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.OneOf(
			rapid.Byte(), rapid.SampledFrom([]byte("\x1b\x9b\n\r\t|`<>&*_[]\\=+-@\"',;")),
		)).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for _, f := range report.Formats {
			var b bytes.Buffer
			if err := f.Write(&b, everywhere(name).report(), report.Options{}); err != nil {
				t.Fatal(err)
			}
			checkHarmless(t, f, b.String())
			if got := strings.Count(b.String(), "\n"); f.Name != "csv" && name != "" && got > lines[f.Name]+3 {
				t.Errorf("%s has %d lines, %d with a plain name", f.Name, got, lines[f.Name])
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name, uint8(40))
	}
	f.Fuzz(func(t *testing.T, name string, width uint8) {
		out := write(t, report.Text, everywhere(name), report.Options{Width: int(width)})
		if strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%q leaves a control character in\n%q", name, out)
		}
	})
}

func TestColorOnlyIfAskedFor(t *testing.T) {
	if out := write(t, report.Text, cutTail(), report.Options{}); strings.Contains(out, "\x1b") {
		t.Error("escapes without Color")
	}
	out := write(t, report.Text, cutTail(), report.Options{Color: true})
	if !strings.Contains(out, report.Yellow+"≥ 2.026 s"+report.Plain) || !strings.Contains(out, report.Bold+"Notes"+report.Plain) {
		t.Error("Color colours no bound or no title")
	}
	stripped := regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(out, "")
	if stripped != write(t, report.Text, cutTail(), report.Options{}) {
		t.Error("Color changes more than colours")
	}
}

func TestCSVFormulas(t *testing.T) {
	for _, first := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"} {
		name := first + "cmd|' /C calc'!A0"
		for _, row := range records(t, everywhere(name))[1:] {
			for _, column := range []string{"hop", "service", "operation"} {
				if !strings.HasPrefix(row[column], "'") {
					t.Errorf("%s of %q is %q", column, name, row[column])
				}
			}
		}
	}
	for _, name := range []string{"GET /x", "a=b", "", "数据"} {
		if got := report.Defused(name); got != name {
			t.Errorf("defused(%q) = %q", name, got)
		}
	}
}

// A row has as many cells as the head whatever the name, and no character of a
// name is left that Markdown or HTML would take for its own.
func TestMarkdownHolds(t *testing.T) {
	markup := regexp.MustCompile("[<>`*_\\[\\]|]")
	escapedMarkup := regexp.MustCompile(`\\[\\` + "`" + `*_\[\]~#!$]|&[a-z]+;|&#124;`)
	for _, name := range hostileNames {
		for line := range strings.SplitSeq(write(t, report.Markdown, everywhere(name), report.Options{}), "\n") {
			line = escapedMarkup.ReplaceAllString(line, "")
			if cells, isRow := strings.CutPrefix(line, "| "); isRow {
				line = strings.ReplaceAll(strings.TrimSuffix(cells, " |"), " | ", "")
			}
			line = strings.TrimPrefix(line, "**Warning:** ")
			if markup.MatchString(line) {
				t.Errorf("%q leaves markup in %q", name, line)
			}
		}
	}
}

func TestMarkdownTablesAreEven(t *testing.T) {
	for _, w := range worlds {
		cells := 0
		for line := range strings.SplitSeq(write(t, report.Markdown, w.run(), report.Options{}), "\n") {
			n := strings.Count(line, "|")
			if n > 0 && cells > 0 && n != cells {
				t.Errorf("%s: %d bars, %d in the line above: %s", w.name, n, cells, line)
			}
			cells = n
		}
	}
}

// The names come back from JSON as they were, invalid bytes apart.
func TestJSONNames(t *testing.T) {
	for _, name := range hostileNames {
		got := decode(t, everywhere(name))["hops"].([]any)[0].(map[string]any)["hop"]
		if want := strings.ToValidUTF8(name, "\ufffd"); got != want {
			t.Errorf("hop %q became %q", want, got)
		}
	}
	if out := write(t, report.JSON, everywhere("<a&b>"), report.Options{}); !strings.Contains(out, `"<a&b>"`) {
		t.Error("JSON escapes HTML")
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                "plain",
		"\x1b[0m":              `\x1b[0m`,
		"a\tb\r\n":             `a\tb\r\n`,
		"\x00\x7f":             `\x00\x7f`,
		"\u0085\u009b":         `\x85\x9b`,
		"\u202a\u202e":         `\u202a\u202e`,
		"a\u034f\u2800\u3164":  `a\u034f\u2800\u3164`,
		"\u2066\u2069":         `\u2066\u2069`,
		"a\u00a0b\u3000\u2003": `a\xa0b\u3000\u2003`,
		"a\u200db a\ufe0f":     `a\u200db a\ufe0f`,
		"\U0001d159\u115f":     `\U0001d159\u115f`,
		"❤\ufe0f":              "❤\ufe0f",
		"\U000e0041":           `\U000e0041`,
		"\xff\xfe ok":          "\ufffd ok",
		"👩\u200d👩 क्\u200dष":   "👩\u200d👩 क्\u200dष",
	} {
		if got := report.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteErrorsAreReported(t *testing.T) {
	for _, f := range report.Formats {
		if err := f.Write(brokenPipe{}, simple().report(), report.Options{}); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}

// Results that do not fit together are a fault elsewhere; a page is still
// better than a crash in the night.
func TestUnevenResults(t *testing.T) {
	r := simple()
	r.Quantiles = append(r.Quantiles, quantile.MustP("1"))
	r.Hops = append(r.Hops, buckets.Result{Hop: spans.Hop{Name: "bare"}, Completed: first(quantile.Summary{N: 1})})
	few := simple()
	few.Quantiles = few.Quantiles[:1]
	for _, f := range report.Formats {
		write(t, f.Write, r, report.Options{})
		write(t, f.Write, few, report.Options{})
		write(t, f.Write, &run{}, report.Options{})
	}
}
