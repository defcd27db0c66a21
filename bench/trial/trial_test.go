package trial

import (
	"strings"
	"testing"
	"time"
)

func TestFirstDifferenceIsNamed(t *testing.T) {
	say := func(name, text string) Tool { return Tool{Name: name, Command: []string{"printf", text}, Rows: lines} }
	for _, c := range []struct{ a, b, want string }{
		{`x y,1\ny,2`, `y,2\nx y,1`, ""},
		{`x,1\ny,2`, `x,1\ny,3`, "row 2 differs\n  a: y,2\n  b: y,3"},
		{`x,1`, `x,1\ny,3`, "row 2 differs\n  a: none\n  b: y,3"},
		{"", "", "a has no rows"},
	} {
		err := Same(say("a", c.a), say("b", c.b))
		if got := errorText(err); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	if err := Same(Tool{Name: "a", Command: []string{"false"}, Rows: lines}, say("b", "")); err == nil || !strings.HasPrefix(err.Error(), "false: ") {
		t.Errorf("a tool that fails: %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestToolReadsWhatItsInputWrites(t *testing.T) {
	fed := Tool{Name: "cat", Command: []string{"cat"}, Rows: lines, Input: []string{"printf", `b\na`}}
	if got, err := fed.Answer(); err != nil || strings.Join(got, " ") != "a b" {
		t.Errorf("%q, %v", got, err)
	}
	fed.Input = []string{"false"}
	if _, err := fed.Answer(); err == nil {
		t.Error("an input that fails is no error")
	}
}

// TestInputOfToolThatReadsNoneOfItEnds: it would wait for ever for a reader.
func TestInputOfToolThatReadsNoneOfItEnds(t *testing.T) {
	deaf := Tool{Name: "false", Command: []string{"false"}, Rows: lines, Input: []string{"yes"}}
	if _, err := deaf.Run(); err == nil || !strings.HasPrefix(err.Error(), "false: ") {
		t.Errorf("%v", err)
	}
}

func TestRatioIsTheMedianOverPairs(t *testing.T) {
	of := func(seconds ...int) (r Runs) {
		for _, s := range seconds {
			r = append(r, Usage{Wall: time.Duration(s) * time.Second})
		}
		return r
	}
	// Pairs of 2, 3 and 10 times: the medians alone would say 4.
	if got := Ratio(of(1, 2, 1), of(2, 6, 10), Wall); got != 3 {
		t.Errorf("%v, want 3", got)
	}
	if got := of(4, 1, 3, 2).Median(Wall); got != 2.5 {
		t.Errorf("%v, want 2.5", got)
	}
}

func TestPairsAreRunInTurn(t *testing.T) {
	say := func(name string) Tool { return Tool{Name: name, Command: []string{"printf", "x,1"}, Rows: lines} }
	first, second, err := Pairs(say("a"), say("b"), 3)
	if err != nil || len(first) != 3 || len(second) != 3 || first[0].Wall <= 0 || second[2].Peak <= 0 {
		t.Errorf("%v and %v, %v", first, second, err)
	}
}

func TestPeersThatCannotBeAskedSayWhy(t *testing.T) {
	for name, want := range map[string]string{
		"perl": `peer "perl": one of duckdb, jq, python, sorted`,
	} {
		if _, err := Peer(name, "x"); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
