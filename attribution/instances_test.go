package attribution

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// pods writes what is said of the owner's instances: "slow_node: a-7 26 of 100 %".
func pods(r Result) string {
	list := []string{}
	for _, i := range r.Instances {
		list = append(list, fmt.Sprintf("%s %d", i.Instance, i.N))
	}
	return strings.TrimSpace(string(r.InstancesOf) + ": " + strings.Join(list, ", "))
}

// callsOf adds 480 fast calls and 26 slow ones, no two alike; call returns the
// client span of one, and the server span below it unless its id is 0.
func callsOf(call func(i int, slow bool) (client, server testSpan)) Result {
	w := NewAccumulator()
	for i := range 506 {
		took := 1000 + i
		if i >= 480 {
			took += 50_000
		}
		client, server := call(i, i >= 480)
		client.id, client.parent, client.start, client.end, client.hop, client.kind = 2, 1, 5, took+5, "call", spans.Client
		list := []testSpan{{id: 1, end: took + 10, hop: "root", kind: spans.Server, host: "gateway-1"}, client}
		if server.id != 0 {
			server.parent, server.start, server.end, server.hop, server.kind = 2, 10, 20, "api", spans.Server
			list = append(list, server)
		}
		w.AddTrace(traceOf(i+1, list...))
	}
	return w.Result(usual)
}

func TestTheInstanceOfACallIsWhereItWent(t *testing.T) {
	where := func(i int, slow bool) string {
		if slow {
			return "n7"
		}
		return fmt.Sprint("n", i%4)
	}
	for _, c := range []struct {
		name string
		call func(i int, slow bool) (client, server testSpan)
		want string
	}{
		{"the peer", func(i int, slow bool) (testSpan, testSpan) {
			return testSpan{peer: where(i, slow), host: "gateway-1"}, testSpan{}
		}, "slow_node: n7 26"},
		{"the host of its server", func(i int, slow bool) (testSpan, testSpan) {
			return testSpan{host: "gateway-1"}, testSpan{id: 3, host: where(i, slow)}
		}, "slow_node: n7 26"},
		{"its server rather than a name that all share", func(i int, slow bool) (testSpan, testSpan) {
			return testSpan{peer: "api.svc"}, testSpan{id: 3, host: where(i, slow)}
		}, "slow_node: n7 26"},
		// Those that were cut have no server span. Under two kinds of name every slow
		// call would seem to have gone elsewhere.
		{"the peer where slow calls have no server", func(i int, slow bool) (testSpan, testSpan) {
			if slow {
				return testSpan{peer: "10.0.0." + where(i, false)}, testSpan{}
			}
			return testSpan{peer: "10.0.0." + where(i, false)}, testSpan{id: 3, host: where(i, false)}
		}, "slow_service: 10.0.0.n0 7, 10.0.0.n1 7, 10.0.0.n2 6, 10.0.0.n3 6"},
		{"nothing where slow calls name none", func(i int, slow bool) (testSpan, testSpan) {
			if slow {
				return testSpan{host: "gateway-1"}, testSpan{}
			}
			return testSpan{host: "gateway-1"}, testSpan{id: 3, host: where(i, false)}
		}, ":"},
		{"the caller where nothing else is known", func(i int, slow bool) (testSpan, testSpan) {
			return testSpan{host: where(i, slow)}, testSpan{}
		}, "slow_node: n7 26"},
	} {
		if got := pods(callsOf(c.call)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A server's peer is its caller, which the reader does not tell; what the record of
// a server names itself counts.
func TestTheInstanceOfAServerIsItsHostOrWhatItNames(t *testing.T) {
	for name, s := range map[string]testSpan{"host": {host: "n1"}, "named": {peer: "n1"}} {
		w := NewAccumulator()
		for i := range 506 {
			one := s
			one.id, one.parent, one.start, one.end, one.hop, one.kind = 2, 1, 5, 1000+i+i/480*50_000, "api", spans.Server
			w.AddTrace(traceOf(i+1, testSpan{id: 1, end: one.end + 5, hop: "root"}, one))
		}
		if got := pods(w.Result(usual)); got != "one_instance: n1 26" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// podLog makes chains of a gateway and its stock, of which the last 26 are slow.
func podLog(pod func(i int, slow bool) string) (lines []testLine) {
	for i := range 506 {
		slow := i >= 480
		took := 1000 + i
		if slow {
			took += 50_000
		}
		chain := fmt.Sprint("c-", i)
		lines = append(lines, testLine{chain: chain, hop: "gateway", start: 0, end: took + 20, pod: "gateway-1"},
			testLine{chain: chain, hop: "stock", start: 10, end: took + 10, pod: pod(i, slow)})
	}
	return lines
}

func onePod(i int, slow bool) string {
	if slow {
		return "stock-3"
	}
	return fmt.Sprint("stock-", i%4)
}

func TestSlowPodsOfAHopLog(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  func(i int, slow bool) string
		want string
	}{
		{"one pod", onePod, "slow_node: stock-3 26"},
		{"all pods", func(i int, _ bool) string { return fmt.Sprint("stock-", i%4) }, "slow_service: stock-0 7, stock-1 7, stock-2 6, stock-3 6"},
		{"no pods", func(int, bool) string { return "" }, ":"},
	} {
		lines := podLog(c.pod)
		for name, w := range map[string]*Accumulator{"times": logOf(t, lines...), "no times": logOf(t, untimed(lines)...), "nested": nestedLog(lines)} {
			if got := pods(w.Result(usual)); got != c.want {
				t.Errorf("%s, %s: %q, want %q", c.name, name, got, c.want)
			}
		}
	}
}

// untimed takes the starts away, and what the gateway waited for, since the times of
// the lines of a chain then add up.
func untimed(lines []testLine) []testLine {
	list := slices.Clone(lines)
	for i := range list {
		list[i].untimed = true
		if list[i].hop == "gateway" {
			list[i].end = 20
		}
	}
	return list
}

// nestedLog makes traces of chains of two lines, as where nesting is inferred.
func nestedLog(lines []testLine) *Accumulator {
	w := NewAccumulator()
	w.SetNesting(callsIn(lines, spans.Internal))
	for i := 0; i < len(lines); i += 2 {
		var list []testSpan
		for id, l := range lines[i : i+2] {
			list = append(list, testSpan{id: id + 1, start: l.start, end: l.end, hop: l.hop, peer: l.pod, ties: spans.LogLine})
		}
		w.AddTrace(traceOf(i+1, list...))
	}
	return w
}

// A place has another number in each accumulator, and its lines may wait in a file.
func TestPodsAreTheSameForAnySplit(t *testing.T) {
	lines := podLog(onePod)
	want := logOf(t, lines...).Result(usual)
	var accumulators []*Accumulator
	for range 3 {
		accumulators = append(accumulators, NewAccumulator())
	}
	slices.Reverse(lines)
	l := newLog(t, assembly.ChainConfig{Memory: 1500, TempDir: t.TempDir()}, accumulators...)
	for i := range lines {
		l.add(i%7%3, lines[i])
	}
	if d := cmp.Diff(want, l.merged().Result(usual), exactly); d != "" {
		t.Error(d)
	}
}

// Whether there are too many instances may not depend on who saw how many.
func TestInstancesThatAreTooManyAreNotTold(t *testing.T) {
	for _, c := range []struct {
		more int
		want string
	}{{0, "slow_node: stock-3 26"}, {1, ":"}} {
		l := newLog(t, assembly.ChainConfig{}, NewAccumulator(), NewAccumulator())
		l.add(0, podLog(onePod)...) // 5 names
		var more []testLine
		for i := range spans.MostInstances - 5 + c.more {
			more = append(more, testLine{hop: "other", end: 1, pod: fmt.Sprint("request-", i)})
		}
		l.add(1, more...)
		r := l.merged().Result(usual)
		if got := pods(r); got != c.want || slices.Contains(codes(r.Warnings), "too_many_instances") != (c.more > 0) {
			t.Errorf("%d more: %q, warnings %v", c.more, got, codes(r.Warnings))
		}
	}
}

// Of two that start and end together one has the time: the same one whoever was read
// first, or numbered first.
func TestLinesAlikeButForTheirPodsHaveOneOrder(t *testing.T) {
	for _, first := range []string{"a-1", "a-2"} {
		l := newLog(t, assembly.ChainConfig{}, NewAccumulator())
		l.add(0, testLine{hop: "a", end: 5, chain: "other", pod: first})
		list := []testLine{{chain: "c", hop: "a", end: 100, pod: "a-1"}, {chain: "c", hop: "a", end: 100, pod: "a-2"}}
		if first == "a-2" {
			slices.Reverse(list)
		}
		l.add(0, list...)
		w := l.merged()
		w.each(func(r *traceRecord) {
			p := w.table.parts[r.entries[0].part]
			if r.total == 100*us && (len(r.entries) != 1 || w.table.names[p.named] != "a-1") {
				t.Errorf("%s first: %d parts, %s", first, len(r.entries), w.table.names[p.named])
			}
		})
	}
}
