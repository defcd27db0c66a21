package attribution

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// line reads "hop 10-60" with "cut" or "failed" behind it, of chain c.
func lineOf(chain, s string) testLine {
	l := testLine{chain: chain}
	fields := strings.Fields(s)
	l.hop = fields[0]
	fmt.Sscanf(fields[1], "%d-%d", &l.start, &l.end)
	if len(fields) > 2 {
		l.outcome = map[string]spans.Outcome{"cut": cut, "failed": failed}[fields[2]]
	}
	return l
}

func linesOf(chain string, list ...string) (lines []testLine) {
	for _, s := range list {
		lines = append(lines, lineOf(chain, s))
	}
	return lines
}

func TestChainsOfHopLogs(t *testing.T) {
	for _, c := range []struct {
		name        string
		lines       []string
		times, fate string
	}{
		{"an inner attempt", []string{"a 0-100", "b 20-60"}, "a 60, b 40", "1 success"},
		{"an inner attempt is clipped", []string{"a 0-100 cut", "b 20-900"}, "a* 20, b* 80", "1 cut, fails by a 1, cut a 1"},
		{"gaps between attempts are named", []string{"a 0-100 cut", "a 120-200"}, "(gap) 20, a* 180", "1 success, cut a 1"},
		{"the last attempt decides", []string{"a 0-100 cut", "b 10-90 cut", "a 120-200 failed"}, "(gap) 20, a* 100, b* 80", "1 failed, fails by a 1, cut b 1"},
		{"hops one after the other", []string{"a 0-10", "b 10-210"}, "a 10, b 200", "1 success"},
		{"one of two steps is missing", []string{"a 0-10", "b 10-210 cut"}, "a 10, b* 200", "1 partial, fails by b 1, cut b 1"},
		// b's second attempt starts when a has ended: b is not outermost, as its first
		// lies in a, so the second is no part of the request.
		{"work after the end", []string{"a 0-100 cut", "b 10-90 cut", "b 110-500"}, "a* 20, b* 80", "1 cut, fails by b 1, cut b 1"},
		{"a retry rescued the inner one", []string{"a 0-100 cut", "b 10-30 cut", "b 40-60"}, "a* 60, b* 40", "1 cut, fails by a 1, cut b 1"},
		{"the second retry did", []string{"a 0-100 cut", "b 10-30 cut", "b 40-50 failed", "b 60-70"}, "a* 60, b* 40", "1 cut, fails by a 1, cut b 1"},
		{"what lies below a rescued one", []string{"a 0-100 cut", "b 10-30 cut", "c 12-28 failed", "b 40-60"}, "a* 60, b* 24, c 16", "1 cut, fails by a 1, cut b 1"},
		{"the retry was cut too", []string{"a 0-100 cut", "b 10-30 cut", "b 40-60 cut"}, "a* 60, b* 40", "1 cut, fails by b 1, cut b 1"},
		{"the retry came too late", []string{"a 0-100 cut", "b 10-30 cut", "b 40-160"}, "a* 20, b* 80", "1 cut, fails by b 1, cut b 1"},
		{"one beside it is no retry", []string{"a 0-100 cut", "b 10-50 cut", "b 12-40"}, "a* 60, b* 40", "1 cut, fails by b 1, cut b 1"},
		{"another hop's is no retry", []string{"a 0-100 cut", "b 10-30 cut", "c 40-60"}, "a* 60, b* 20, c 20", "1 cut, fails by b 1, cut b 1"},
		{"three deep", []string{"a 0-100", "b 10-90", "c 20-80"}, "a 20, b 20, c 60", "1 success"},
		{"of two that start together the longer one is outside", []string{"a 0-100", "b 10-60", "c 10-90"}, "a 20, b 50, c 30", "1 success"},
		{"what lies in no attempt of its caller is no part of the request", []string{"a 0-10", "b 5-9", "b 20-90", "a 30-40"}, "(gap) 20, a 16, b 4", "1 success"},
	} {
		w := logOf(t, linesOf("c", c.lines...)...)
		if got := timesOnPath(w); got != c.times {
			t.Errorf("%s: %s, want %s", c.name, got, c.times)
		}
		if got := fate(w); got != c.fate {
			t.Errorf("%s: %s, want %s", c.name, got, c.fate)
		}
		if got := w.Result(usual).Basis; got != Containment {
			t.Errorf("%s: basis %s", c.name, got)
		}
	}
}

func TestChainsWithoutTimesAddUp(t *testing.T) {
	for _, c := range []struct {
		name        string
		lines       []string
		times, fate string
	}{
		{"hops", []string{"a 0-100", "b 0-40"}, "a 100, b 40", "1 success"},
		{"a retry rescued it", []string{"a 0-100 cut", "a 0-40"}, "a* 140", "1 success, cut a 1"},
		{"none completed", []string{"a 0-100 cut", "a 0-40 failed", "b 0-5"}, "a* 140, b 5", "1 partial, fails by a 1, cut a 1"},
		{"the shortest that was cut is the deepest", []string{"a 0-300 cut", "b 0-200 cut"}, "a* 300, b* 200", "1 cut, fails by b 1, cut b 1"},
		{"all failed", []string{"a 0-100 failed"}, "a 100", "1 failed, fails by a 1"},
	} {
		lines := linesOf("c", c.lines...)
		for i := range lines {
			lines[i].untimed = true
		}
		w := logOf(t, lines...)
		if got := timesOnPath(w); got != c.times {
			t.Errorf("%s: %s, want %s", c.name, got, c.times)
		}
		if got := fate(w); got != c.fate {
			t.Errorf("%s: %s, want %s", c.name, got, c.fate)
		}
		if got := w.Result(usual).Basis; got != SerialSum {
			t.Errorf("%s: basis %s", c.name, got)
		}
	}
}

func TestMostTracesGiveTheBasis(t *testing.T) {
	lines := append(linesOf("c", "a 0-100", "b 0-40"), linesOf("d", "a 0-100")...)
	lines = append(lines, linesOf("e", "a 0-100")...)
	lines[0].untimed = true // one without a time is enough
	r := logOf(t, lines...).Result(usual)
	if r.Basis != Containment || !slices.Equal(codes(r.Warnings), []string{"mixed_basis"}) {
		t.Errorf("basis %s, warnings %v", r.Basis, r.Warnings)
	}
}

func TestLinesWithoutAChainAreSaid(t *testing.T) {
	r := logOf(t, append(linesOf("c", "a 0-100"), linesOf("", "a 0-100", "b 0-2")...)...).Result(usual)
	if r.EndToEnd.N != 1 || !slices.Equal(codes(r.Warnings), []string{"lines_without_chain"}) || !strings.HasPrefix(r.Warnings[0].Text, "2 of 3 lines") {
		t.Errorf("n %d, warnings %v", r.EndToEnd.N, r.Warnings)
	}
}

func TestChainsThatAreTooLongAreSaid(t *testing.T) {
	lines := slices.Repeat(linesOf("-1", "a 0-100"), spans.MostNested+1)
	for i := range lines {
		lines[i].start, lines[i].end = i, i+5
	}
	if r := logOf(t, append(lines, linesOf("c", "a 0-100")...)...).Result(usual); r.EndToEnd.N != 1 || !slices.Equal(codes(r.Warnings), []string{"chains_too_long"}) {
		t.Errorf("n %d, warnings %v", r.EndToEnd.N, r.Warnings)
	}
}

// steps makes 100 chains of A, then B: 10 ms each, but 200 ms in two chains, for
// B in the same ones or in others.
func steps(timed, coincide bool) (lines []testLine) {
	for i := range 100 {
		a, b := 10_000, 10_000
		if i < 2 {
			a = 200_000
		}
		if coincide && i < 2 || !coincide && i >= 98 {
			b = 200_000
		}
		chain := fmt.Sprint("request-", i)
		lines = append(lines,
			testLine{chain: chain, hop: "A", end: a, untimed: !timed}, testLine{chain: chain, hop: "B", start: a, end: a + b, untimed: !timed})
	}
	return lines
}

func TestQuantilesDoNotAdd(t *testing.T) {
	for _, timed := range []bool{true, false} {
		for coincide, want := range map[bool]int64{false: 210, true: 400} {
			r := logOf(t, steps(timed, coincide)...).Result(usual)
			if r.P99 != want*1000*us || r.EndToEnd.Max != want*1000*us || r.EndToEnd.Quantiles[1] != want*1000*us {
				t.Errorf("timed %v, coincide %v: p99 %d, largest %d, want %d ms", timed, coincide, r.P99, r.EndToEnd.Max, want)
			}
			if r.SumOfP99 != 400*1000*us {
				t.Errorf("timed %v, coincide %v: the hops' p99 add up to %d, want 400 ms", timed, coincide, r.SumOfP99)
			}
		}
	}
}

// A chain that was put together as a trace tells the same as its lines.
func TestAChainReadAsATraceTellsTheSame(t *testing.T) {
	lines := linesOf("00000000000000000000000000000001", "a 0-100 cut", "b 10-90 cut", "a 120-200 failed", "b 130-150")
	var list []testSpan
	for i, l := range lines {
		list = append(list, testSpan{id: i + 1, start: l.start, end: l.end, hop: l.hop, outcome: l.outcome, ties: spans.LogLine})
	}
	a, b := logOf(t, lines...), accumulatorOf(list...)
	if timesOnPath(a) != timesOnPath(b) || fate(a) != fate(b) {
		t.Errorf("%s, %s; as a trace %s, %s", timesOnPath(a), fate(a), timesOnPath(b), fate(b))
	}
}
