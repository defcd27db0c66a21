package gates

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReadsWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]string{
		"orphans>0":                               "orphans  () > 0 number",
		"orphans > 0":                             "orphans  () > 0 number",
		"timed_out(orders) > 1%":                  "timed_out orders () > 1/100 share",
		"timed_out(orders).upper >= 0.5 %":        "timed_out orders (upper) >= 1/200 share",
		"timed_out > 20":                          "timed_out  () > 20 number",
		"p99(checkout) > 2s":                      "quantile 0.99 checkout () > 2000000000 ns",
		"p99.9(checkout).lower>1m30s":             "quantile 0.999 checkout (lower) > 90000000000 ns",
		"0.5(a) <= 300 ms":                        "quantile 0.5 a () <= 300000000 ns",
		"99%(a) != 1us":                           "quantile 0.99 a () != 1000 ns",
		"wasted(search -> catalog) > 5s":          "wasted search -> catalog () > 5000000000 ns",
		"p90(GET /a?b=c (x)) < 10ms":              "quantile 0.9 GET /a?b=c (x) () < 10000000 ns",
		"rejects == 18446744073709551616":         "rejects  () == 18446744073709551616 number",
		"failed(a)=0.000000000000000000000000001": "failed a () = 1/1000000000000000000000000000 number",
	} {
		r, err := Parse(text)
		name := r.Name
		if name == Quantile {
			name += " " + r.P.String()
		}
		if got := fmt.Sprintf("%s %s (%s) %s %s %s", name, r.Hop, r.Limit, r.operator, r.value.RatString(), [...]string{"number", "share", "ns"}[r.Unit]); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"orphans":             "write NAME>VALUE",
		"":                    "write NAME>VALUE",
		"orphans => 3":        "not by =>",
		"orphan > 0":          "did you mean orphans?",
		"timedout(a) > 1%":    "did you mean timed_out?",
		"orphans(a) > 0":      "not of a hop",
		"timed_out() > 0":     "no hop stands",
		"timed_out a) > 0":    "nothing opened",
		"wasted(a).lower>1s":  "only quantiles and timed_out have limits",
		"p99(a) > 2":          "a duration, such as 2s",
		"wasted(a) > 1%":      "a duration",
		"rejects > 1%":        "a number, such as 0",
		"timed_out(a) > 1s":   "a share or a number",
		"timed_out(a) > x":    "is no number",
		"timed_out(a) > 1.2.": "is no number",
		"timed_out(a) > -1":   "is no number",
		"p101(a) > 1s":        `"p101" is none of`,
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func mustParse(t *testing.T, text string) Rule {
	t.Helper()
	r, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func figure(hop, said string, low, high int64) Figure {
	f := Figure{Hop: hop, Said: said}
	if low >= 0 {
		f.Low = big.NewRat(low, 1)
	}
	if high >= 0 {
		f.High = big.NewRat(high, 1)
	}
	return f
}

func TestHiddenFiguresLeaveRulesUndecided(t *testing.T) {
	for _, c := range []struct {
		rule      string
		low, high int64
		want      string
	}{
		{"p99(a) > 2s", 3e9, -1, "failed"},
		{"p99(a) > 2s", 2e9, -1, "undecided"},
		{"p99(a) > 2s", 1e9, 2e9, ""},
		{"p99(a) > 2s", 1e9, 3e9, "undecided"},
		{"p99(a) < 2s", 2e9, -1, ""},
		{"p99(a) < 2s", 1e9, 1.5e9, "failed"},
		{"p99(a) <= 2s", 2e9, 2e9, "failed"},
		{"p99(a) >= 2s", 2e9, 2e9, "failed"},
		{"p99(a) == 2s", 1e9, -1, "undecided"},
		{"p99(a) == 2s", 3e9, -1, ""},
		{"p99(a) != 2s", 3e9, -1, "failed"},
		{"p99(a) != 2s", 2e9, 2e9, ""},
		{"p99(a) > 2s", -1, -1, "undecided"},
	} {
		v, err := Decide([]Rule{mustParse(t, c.rule)}, func(*Rule) ([]Figure, error) { return []Figure{figure("a", "", c.low, c.high)}, nil })
		got := ""
		switch {
		case len(v.Failed) > 0:
			got = "failed"
		case len(v.Undecided) > 0:
			got = "undecided"
		}
		if err != nil || got != c.want || (v.Err() == nil) != (c.want == "") {
			t.Errorf("%s, from %d to %d: %q, %v; want %q", c.rule, c.low, c.high, got, err, c.want)
		}
	}
}

func TestARuleOfEachHopFailsWithOneAndNamesThree(t *testing.T) {
	list := []Figure{figure("a", "is 1", 1, 1), figure("b", "is 5", 5, 5), figure("c", "is 6", 6, 6), figure("d", "is 7", 7, 7), figure("e", "is 8", 8, 8)}
	v, err := Decide([]Rule{mustParse(t, "timed_out > 4"), mustParse(t, "timed_out > 9")}, func(*Rule) ([]Figure, error) { return list, nil })
	if want := `--fail-on "timed_out > 4": b is 5, c is 6, d is 7 and 1 more`; err != nil || v.Undecided != nil || v.Err().Error() != want {
		t.Errorf("%v, %v; want %s", v, err, want)
	}
}

func TestWhatTheInputDoesNotTellIsAnErrorOfItsRule(t *testing.T) {
	_, err := Decide([]Rule{mustParse(t, "orphans > 0")}, func(*Rule) ([]Figure, error) { return nil, fmt.Errorf("not told") })
	if err == nil || err.Error() != `--fail-on "orphans > 0": not told` {
		t.Error(err)
	}
}

// Each operator says of an interval what it says of every value in it.
func TestComparisonsAgreeWithEveryValueOfTheInterval(t *testing.T) {
	holds := map[string]func(a, b int64) bool{
		">": func(a, b int64) bool { return a > b }, ">=": func(a, b int64) bool { return a >= b },
		"<": func(a, b int64) bool { return a < b }, "<=": func(a, b int64) bool { return a <= b },
		"==": func(a, b int64) bool { return a == b }, "=": func(a, b int64) bool { return a == b }, "!=": func(a, b int64) bool { return a != b },
	}
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(0, 6).Draw(t, "low")
		high := rapid.Int64Range(low, 6).Draw(t, "high")
		value := rapid.Int64Range(0, 6).Draw(t, "value")
		for operator, compare := range comparisons {
			all, none := true, true
			for n := low; n <= high; n++ {
				if holds[operator](n, value) {
					none = false
				} else {
					all = false
				}
			}
			want := maybe
			if all {
				want = yes
			} else if none {
				want = no
			}
			if got := compare(big.NewRat(low, 1), big.NewRat(high, 1), big.NewRat(value, 1)); got != want {
				t.Fatalf("[%d, %d] %s %d: %d, want %d", low, high, operator, value, got, want)
			}
		}
	})
}

func TestSharesAreExact(t *testing.T) {
	for _, c := range []struct {
		n, of uint64
		rule  string
		fails bool
	}{{1, 100, "failed > 1%", false}, {100_000_001, 10_000_000_000, "failed > 1%", true}, {1, 3, "failed >= 33.333333333%", true}} {
		v, err := Decide([]Rule{mustParse(t, c.rule)}, func(*Rule) ([]Figure, error) { return []Figure{ShareOf(c.n, c.of)}, nil })
		if err != nil || (v.Failed != nil) != c.fails {
			t.Errorf("%d of %d, %s: %v, %v", c.n, c.of, c.rule, v, err)
		}
	}
	if f := ShareOf(0, 0); f.Low != nil || f.High != nil {
		t.Error("a share of nothing is known")
	}
}
