package waterfall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

func resultOf(t testing.TB, c Config, traces ...*spans.Trace) *Result {
	t.Helper()
	r, err := newSeen(c, traces...).result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestADrawingTellsWaitingWorkingAndWorkForNobodyApart(t *testing.T) {
	got := strings.Join(resultOf(t, Config{}, shop()).lines(report.Options{Width: 100}, 0), "\n")
	want := `
  call            0 ms        50          100         150              took    wait  ended
  web GET         ██─────███────────────────────────███───────█████     200
   ├ call price     ██████                                               20          failed: refused
   ├ audit write      ███████████                                        40          async
   ├ stock load            ░░░░░░░░░░░░░░░░█████████│▒▒▒▒▒▒▒▒▒▒▒▒       100      60  timed out, ▒ 50
   │ └ query                                          ▒▒▒▒▒▒             20
   └ stock load                                       ░░█████░░          30       5  retry
  ▒ working for nobody: the caller gave up   █ working   ░ waiting for the callee (queue, network)
  ─ waiting for calls below   │ gave up`
	if got != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, want[1:])
	}
}

func TestTheStoryNamesWhatWentWrong(t *testing.T) {
	got := strings.Join(resultOf(t, Config{}, shop()).story(), "\n")
	want := strings.Join([]string{
		"web call price failed: refused after 20 ms. No span of its callee is there: whether that ran on is not known.",
		"web → stock timed out after 100 ms. stock began 60 ms after the call and ran 90 ms, 50 ms of it for nobody.",
		"1 retry, of which 1 completed.",
		"Orphaned work: 1 span ran on after the caller had given up, 50 ms added up.",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// many is a request with n calls that look alike, one of which timed out.
func many(n int) *spans.Trace {
	list := []testSpan{{id: 1, end: 10 * n, hop: "web/GET", kind: server}}
	for i := range n {
		s := testSpan{id: 10 + 2*i, parent: 1, start: 10 * i, end: 10*i + 8, hop: "web/call stock", kind: client}
		if i == n/2 {
			s.outcome, s.by = cut, spans.Own
		}
		list = append(list, s, testSpan{id: 11 + 2*i, parent: s.id, start: 10*i + 1, end: 10*i + 7, hop: "stock/load", kind: server})
	}
	return traceOf(1, list...)
}

func TestSiblingsAlikeAreFoldedAndWhatTimedOutIsNot(t *testing.T) {
	lines := resultOf(t, Config{}, many(1000)).lines(report.Options{Width: 100}, 10)
	text := strings.Join(lines, "\n")
	for _, want := range []string{"… 995 more like it", "timed out", "1990 of 2001 spans are folded"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(lines) > 12 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	if all := resultOf(t, Config{}, many(1000)).lines(report.Options{Width: 100}, 0); len(all) < 1000 {
		t.Errorf("%d lines where all were asked for", len(all))
	}
}

// deep is a request of calls in each other.
func deep(n int) *spans.Trace {
	var list []testSpan
	for i := range n {
		list = append(list, testSpan{id: i + 1, parent: i, start: i, end: 2*n - i, hop: fmt.Sprintf("s%d/do", i), kind: spans.Internal})
	}
	return traceOf(1, list...)
}

func TestADeepRequestIsDrawnInTheWidthOfThePage(t *testing.T) {
	for _, line := range resultOf(t, Config{}, deep(20_000)).lines(report.Options{Width: 80}, 40) {
		if report.Columns(line) > 80 {
			t.Errorf("%d columns: %s", report.Columns(line), line)
		}
	}
}

func TestNothingIsWiderThanThePageNorAnythingThatATerminalObeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []testSpan
		for i := range rapid.IntRange(1, 30).Draw(t, "spans") {
			start := rapid.IntRange(0, 1000).Draw(t, "start")
			list = append(list, testSpan{
				id: i + 1, parent: rapid.IntRange(0, i).Draw(t, "parent"), start: start, end: start + rapid.IntRange(0, 1000).Draw(t, "took"),
				hop:  rapid.SampledFrom([]string{"web/GET", "a\x1b[31mb/\u202eevil", "日本語日本語日本語日本語/読む", "x/" + strings.Repeat("long", 40)}).Draw(t, "hop"),
				kind: rapid.SampledFrom([]spans.Kind{client, server, spans.Internal, spans.Consumer}).Draw(t, "kind"), noEnd: rapid.Bool().Draw(t, "no end"),
				outcome: rapid.SampledFrom([]spans.Outcome{spans.Completed, cut, spans.Failed}).Draw(t, "outcome"),
			})
			if s := &list[i]; s.outcome == cut {
				s.by = rapid.SampledFrom(spans.CutBys[:]).Draw(t, "by")
			}
			if list[i].noEnd {
				list[i].outcome = spans.Unfinished
			}
		}
		s := newSeen(Config{ID: "1"}, traceOf(1, list...))
		r, err := s.result()
		if err != nil {
			t.Fatal(err)
		}
		width, most := rapid.IntRange(60, 200).Draw(t, "width"), rapid.IntRange(0, 40).Draw(t, "most")
		lines := r.lines(report.Options{Width: width}, most)
		for _, line := range lines {
			if report.Columns(line) > width || strings.ContainsFunc(line, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }) {
				t.Fatalf("width %d, got %d: %q", width, report.Columns(line), line)
			}
		}
		if most == 0 || most >= len(list) {
			for i := range list {
				if !slices.ContainsFunc(r.Spans, func(s Span) bool { return s.ID == spans.SpanID(i+1).String() }) {
					t.Fatalf("span %d is lost", i+1)
				}
			}
		}
	})
}

func TestACallIsNamedByItsServerOrByTheCallerThatSaysMore(t *testing.T) {
	tr := traceOf(1, testSpan{id: 1, end: 100, hop: "web/GET", kind: server},
		testSpan{id: 2, parent: 1, start: 1, end: 20, hop: "web/SELECT users", kind: client}, testSpan{id: 3, parent: 2, start: 2, end: 19, hop: "db/SELECT", kind: server},
		testSpan{id: 4, parent: 1, start: 21, end: 40, hop: "web/call stock", kind: client}, testSpan{id: 5, parent: 4, start: 22, end: 39, hop: "stock/load", kind: server},
		testSpan{id: 6, parent: 1, start: 41, end: 60, hop: "web/render", kind: spans.Internal},
	)
	lines := strings.Join(resultOf(t, Config{}, tr).lines(report.Options{Width: 100}, 0), "\n")
	for _, want := range []string{"├ db SELECT users ", "├ stock load ", "└ render "} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
}

func TestColorsChangeNothingButColors(t *testing.T) {
	plain := strings.Join(resultOf(t, Config{}, shop()).lines(report.Options{Width: 90}, 0), "\n")
	colored := strings.Join(resultOf(t, Config{}, shop()).lines(report.Options{Width: 90, Color: true}, 0), "\n")
	if !strings.Contains(colored, "\x1b[31mtimed out") || !strings.Contains(colored, "\x1b[33m▒") {
		t.Errorf("no colors in %q", colored)
	}
	for _, code := range []string{"\x1b[31m", "\x1b[33m", "\x1b[0m"} {
		colored = strings.ReplaceAll(colored, code, "")
	}
	if colored != plain {
		t.Errorf("got\n%s\nwant\n%s", colored, plain)
	}
}
