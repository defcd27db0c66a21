package orphans

import "testing"

// What a cut call would have taken, by what tells it.
func TestServerSideFromTheStartOfTheCall(t *testing.T) {
	call := func(host string) testSpan {
		return testSpan{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut, host: host}
	}
	served := func(start, end int, host string) testSpan {
		return testSpan{id: 2, parent: 1, start: start, end: end, hop: "b/get", kind: server, host: host}
	}
	// usually is a call that completed in 60 ms, with its server from one moment to another.
	usually := func(from, to int) []testSpan {
		return []testSpan{{id: 11, start: 1000, end: 1060, hop: "a/call", kind: client}, {id: 12, parent: 11, start: 1000 + from, end: 1000 + to, hop: "b/get", kind: server}}
	}
	for name, c := range map[string]struct {
		spans []testSpan
		want  string
	}{
		"one clock, with a queue":            {[]testSpan{call("x"), served(90, 120, "x")}, "p50 120, 1 of 1"},
		"one clock, ended before the cut":    {[]testSpan{call("x"), served(1, 90, "x")}, "p50 100, 1 of 1"},
		"nothing known of the clocks":        {[]testSpan{call(""), served(90, 220, "")}, "p50 130, 1 of 1"},
		"nothing known, no less than it ran": {[]testSpan{call(""), served(90, 120, "")}, "p50 100, 1 of 1"},
		"clocks that agree, with a queue":    {append(usually(1, 58), call(""), served(90, 120, "")), "p50 120, 1 of 1"},
		"clocks that may be far apart":       {append(usually(10, 40), call(""), served(90, 220, "")), "p50 160, 1 of 1"}, // a call adds 30 ms
		"clocks that are apart":              {append(usually(-20, 37), call(""), served(90, 220, "")), "p50 133, 1 of 1"},
		"without a start":                    {[]testSpan{{id: 1, end: 100, hop: "a/call", kind: client, outcome: cut, noStart: true}, served(90, 220, "")}, "p50 130, 1 of 1"},
	} {
		w := watchOf(usual, c.spans...)
		if got := serverSideText(w.ServerSide(call("").hopValue(), nil, median)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
