package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/tailscope/tailscope/internal/durations"
	"pgregory.net/rapid"
)

const (
	us = int64(1000)
	ms = 1000 * us
	s  = 1000 * ms
)

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

// Names of one column that differ do so after they were shortened, in no more columns.
func TestNamesThatDifferInTheirMiddleStayApart(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"GET /a/very/long/path", "GET /b"}, []string{"GET /a…g/path", "GET /b"}},
		{[]string{"GET /orders/A/items/list", "GET /orders/B/items/list", "GET /orders/A/items/list"}, []string{"GE…st~e8793d0", "GE…st~4a6ff7b", "GE…st~e8793d0"}},
		{[]string{"", "", "x"}, []string{"", "", "x"}},
	} {
		if got := shortenAll(c.in, 13); !slices.Equal(got, c.want) {
			t.Errorf("shortenAll(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for _, middle := range rapid.SliceOfN(rapid.IntRange(0, 500), 1, 50).Draw(t, "middles") {
			names = append(names, fmt.Sprintf("GET /orders/of/customer/%d/items/and/more", middle))
		}
		whole := map[string]string{}
		for i, short := range shortenAll(names, 20) {
			if other, taken := whole[short]; taken && other != names[i] || len([]rune(short)) > 20 {
				t.Errorf("%q and %q are %q", other, names[i], short)
			}
			whole[short] = names[i]
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
			got = append(got, ScaleOf(c.values).Nearest(v))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v read %q, want %q", c.values, got, c.want)
		}
	}
}

func TestRoundingOfBounds(t *testing.T) {
	three := Scale{unit: durations.Units[3], decimals: 3}
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
		if d, n, u := three.Down(c.ns), three.Nearest(c.ns), three.Up(c.ns); d != c.down || n != c.nearest || u != c.up {
			t.Errorf("%d ns: %s, %s, %s; want %s, %s, %s", c.ns, d, n, u, c.down, c.nearest, c.up)
		}
	}
}

func TestFootnotesSayTheRestOnce(t *testing.T) {
	rest := " (5 %; of 200); timeout between 2 s and 5 s; a canary with a raised timeout needs 59 first attempts"
	notes := footnotes{number: map[string]int{}}
	for _, text := range []string{"p90 is hidden" + rest, "short; one", "p95 is hidden" + rest, "other; one", "p90 is hidden" + rest} {
		notes.cite(text)
	}
	want := []string{"p90 is hidden (5 %; of 200); see [5]", "short; one", "p95 is hidden (5 %; of 200); see [5]", "other; one", strings.TrimPrefix(rest, " (5 %; of 200); ")}
	if diff := cmp.Diff(want, notes.lines()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
