package attribution

import (
	"fmt"
	"slices"
	"testing"
)

// manyLines are those of some chains, in an order that mixes them.
func manyLines(chains int) (lines []testLine) {
	for attempt := range 3 {
		for i := range chains {
			start := attempt * 1000
			lines = append(lines, testLine{chain: fmt.Sprint("chain ", i), hop: fmt.Sprint("hop-", attempt), start: start / 10, end: start/10 + 500 + i%50})
		}
	}
	return lines
}

func TestChainsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want uint64
	}{
		{[]string{"c-1", "c-2"}, 2},
		{[]string{"c-1", "c-1"}, 1},
		{[]string{"0A", "000a", "0xA"}, 1}, // one number
		{[]string{"0000000000000001ffffffffffffffff", "0000000000000002ffffffffffffffff"}, 2},
	} {
		var lines []testLine
		for i, id := range c.ids {
			lines = append(lines, testLine{chain: id, hop: "a", start: 10 * i, end: 10*i + 5})
		}
		if got := logOf(t, lines...).Result(usual).EndToEnd.N; got != c.want {
			t.Errorf("%q: %d chains, want %d", c.ids, got, c.want)
		}
	}
}

func TestTheNameOfAChainIsItsText(t *testing.T) {
	var lines []testLine
	for i := range 40 {
		lines = append(lines, linesOf(fmt.Sprint("order ", i), "a 0-100", "b 10-20")...)
	}
	lines = append(lines, linesOf("the slow one", "a 0-9000", "b 10-20")...)
	for _, h := range logOf(t, lines...).Result(usual).Hops {
		if h.Name == "a" && h.Exemplars[0] != "the slow one" {
			t.Errorf("exemplars %v", h.Exemplars)
		}
	}
}

func TestAChainIsNamedAsItWasWritten(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"1029"}, "1029"},
		{[]string{"007"}, "007"},
		{[]string{"0af7651916cd43dd8448eb211c80319c"}, "0af7651916cd43dd8448eb211c80319c"},
		{[]string{"0AF7651916CD43DD8448EB211C80319C"}, "0AF7651916CD43DD8448EB211C80319C"},
		{[]string{"0x1f"}, "0000000000000000000000000000001f"},
		{[]string{"aB"}, "000000000000000000000000000000ab"},
		{[]string{"1f", "0001f", "1F", "0x1f"}, "1F"},
	} {
		var lines []testLine
		for i, id := range c.ids {
			lines = append(lines, testLine{chain: id, hop: "a", start: 10 * i, end: 10*i + 10})
		}
		for range 2 {
			if got := logOf(t, lines...).Result(usual).Hops[0].Exemplars; len(got) != 1 || got[0] != c.want {
				t.Errorf("%q: %v, want %s", c.ids, got, c.want)
			}
			slices.Reverse(lines)
		}
	}
}
