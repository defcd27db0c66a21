package attribution

import (
	"slices"
	"strings"
	"testing"
)

func TestNestingThatTimesDoNotTellIsSaid(t *testing.T) {
	const told = "which one called the other is not known where two attempts start and end alike, so one may have the other's time: "
	for _, c := range []struct {
		name  string
		lines []testLine
		want  string
	}{
		{"alike", linesOf("c", "web 0-100", "api 0-100"), "api and web (1 times)"},
		{"apart a little, each sticks out", linesOf("c", "web 200-5300", "api 0-5000"), "api and web (1 times)"},
		{"1 ms apart", linesOf("c", "web 0-5000", "api 1000-5001"), "api and web (1 times)"},
		{"farther apart", linesOf("c", "web 0-5000", "api 1001-5001"), ""},
		{"one holds the other", linesOf("c", "web 0-100", "api 0-99"), ""},
		{"what its caller left runs on", linesOf("c", "web 0-100 cut", "api 10-900"), ""},
		{"either way round", slices.Concat(linesOf("c", "web 0-5000", "api 200-5300"), linesOf("d", "web 200-5300", "api 0-5000")), "api and web (2 times)"},
		{"many pairs", linesOf("c", "a 0-9", "b 0-9", "c 0-9", "d 0-9", "e 0-9"), "a and b (1 times), b and c (1 times), c and d (1 times), 1 more"},
	} {
		got := ""
		for _, w := range logOf(t, c.lines...).Result(usual).Warnings {
			if w.Code == "nesting_unsure" {
				got = strings.TrimPrefix(w.Text, told)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNestingThatIsSeldomUnsureIsNotSaid(t *testing.T) {
	for chains, want := range map[int]bool{199: true, 200: false} {
		lines := linesOf("0", "web 0-100", "api 0-100")
		for i := 1; i < chains; i++ {
			lines = append(lines, linesOf("c-"+string(rune('a'+i)), "web 0-100", "api 10-90")...)
		}
		if got := codes(logOf(t, lines...).Result(usual).Warnings); slices.Contains(got, "nesting_unsure") != want {
			t.Errorf("1 of %d: %v", chains, got)
		}
	}
}
