package retries

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// retriedCall is a call of a server at 300 ms and its retry, with what the servers
// of both made of it.
func retriedCall(name string, first, second spans.Outcome) []testSpan {
	return []testSpan{
		{id: 1, hop: "root", kind: spans.Server, start: 0, end: 700},
		{id: 2, parent: 1, hop: name, kind: spans.Client, start: 0, end: 300, outcome: cut},
		{id: 3, parent: 2, hop: "served", kind: spans.Server, start: 5, end: 600, outcome: first},
		{id: 4, parent: 1, hop: name, kind: spans.Client, start: 320, end: 400},
		{id: 5, parent: 4, hop: "served", kind: spans.Server, start: 325, end: 390, outcome: second},
	}
}

func TestWorkDoneTwice(t *testing.T) {
	for _, c := range []struct {
		name          string
		spans         []testSpan
		want          string
		finished      string
		severeOrLight string
	}{
		{"both ended well", retriedCall("call", spans.Completed, spans.Completed), "1 of 1 of 1", "1 of 1 after 300000000", "light"},
		{"a write", retriedCall("POST /orders", spans.Completed, spans.Completed), "1 of 1 of 1", "1 of 1 after 300000000", "severe"},
		{"the first stopped", retriedCall("call", cut, spans.Completed), "0 of 1 of 1", "0 of 1", ""},
		{"the first has no server", slices.Delete(retriedCall("call", cut, spans.Completed), 2, 3), "none", "none", ""},
	} {
		r := watchOf(c.spans...).Result(usual(nil))
		h := r.Hops[0]
		got, finished := "none", "none"
		if t := h.ExecutedTwice; t != nil {
			got = fmt.Sprint(t.N, " of ", t.Of, " of ", t.Retried)
		}
		if f := h.FinishedAnyway; f != nil {
			finished = fmt.Sprint(f.N, " of ", f.Of)
			if f.MedianAfter != nil {
				finished += fmt.Sprint(" after ", *f.MedianAfter)
			}
		}
		if got != c.want || finished != c.finished {
			t.Errorf("%s: twice %s, want %s; finished %s, want %s", c.name, got, c.want, finished, c.finished)
		}
		if listed := len(r.ExecutedTwice) == 1; listed != (c.severeOrLight != "") || listed && r.ExecutedTwice[0].Write != (c.severeOrLight == "severe") {
			t.Errorf("%s: %+v", c.name, r.ExecutedTwice)
		}
		if says(r, "write_executed_twice") != (c.severeOrLight == "severe") {
			t.Errorf("%s: %v", c.name, codes(r))
		}
	}
}

func TestAServerOfAWriteMakesItsCallOne(t *testing.T) {
	list := retriedCall("call", spans.Completed, spans.Completed)
	list[2].hop = "CreateOrder"
	if r := watchOf(list...).Result(usual(nil)); !r.ExecutedTwice[0].Write {
		t.Errorf("%+v", r.ExecutedTwice)
	}
}

func TestWhatLooksLikeAWrite(t *testing.T) {
	for name, want := range map[string]bool{
		"POST /orders": true, "orders PATCH": true, "shop.Orders/CreateOrder": true, "create_order": true, "creates": true,
		"GET /post/1": false, "PUT /orders": false, "recreate": false, "COMPOST": false, "": false,
	} {
		if got := looksLikeWrite(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	w := NewAccumulator(Config{WriteHops: []string{"orders", "charge"}})
	for _, h := range []spans.Hop{{Name: "orders"}, {Name: "billing charge", Operation: "charge"}} {
		if !w.writes(&hop{Hop: h}) {
			t.Errorf("%v was named as a write", h)
		}
	}
	if w.writes(&hop{Hop: spans.Hop{Name: "stock"}}) {
		t.Error("stock was not")
	}
	w.AddTrace(traceOf(1, testSpan{id: 1, hop: "orders", kind: spans.Client, end: 1}))
	if r := w.Result(usual(nil)); len(r.Warnings) != 1 || r.Warnings[0].Text != "no hop and no operation is called charge" {
		t.Errorf("%v", r.Warnings)
	}
}

// The list holds the first of all calls, writes before others, whoever saw them.
func TestTheListOfCallsDoesNotDependOnTheWorkers(t *testing.T) {
	var traces []*spans.Trace
	for k := range 40 {
		name := "call"
		if k%8 == 7 {
			name = "POST"
		}
		list := retriedCall(name, spans.Completed, spans.Completed)
		for i := range list {
			list[i].start, list[i].end = list[i].start+k%13*1000, list[i].end+k%13*1000
		}
		traces = append(traces, traceOf(k+1, list...))
	}
	result := func(workers int) []Case {
		var accumulators []*Accumulator
		for range workers {
			accumulators = append(accumulators, NewAccumulator(Config{Limit: 7}))
		}
		for k, trace := range traces {
			accumulators[k*7%workers].AddTrace(trace)
		}
		for _, o := range accumulators[1:] {
			accumulators[0].Merge(o)
		}
		return accumulators[0].Result(usual(nil)).ExecutedTwice
	}
	want := result(1)
	if len(want) != 7 || !want[4].Write || want[5].Write {
		t.Fatalf("%+v", want)
	}
	for workers := 2; workers < 6; workers++ {
		if got := result(workers); !slices.Equal(got, want) {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want)
		}
	}
}

// A server is no layer that retries because its caller tries again.
func TestServersAreNotCalls(t *testing.T) {
	r := watchOf(retriedCall("call", spans.Completed, spans.Completed)...).Result(usual(nil))
	if len(r.Hops) != 1 || r.All.Calls != 1 || r.All.Attempts != 2 || len(r.Amplification.Layers) != 1 || r.Ratio.All != (Count{1, 1}) {
		t.Errorf("%+v", r)
	}
	marked := watchOf(
		testSpan{id: 1, hop: "root", kind: spans.Consumer, start: 0, end: 100, outcome: failed},
		testSpan{id: 2, hop: "root", kind: spans.Consumer, start: 200, end: 300, retry: true},
	).Result(usual(nil))
	if len(marked.Hops) != 1 || marked.Hops[0].Attempts != 2 {
		t.Errorf("a message delivered again: %+v", marked.Hops)
	}
}

// pyramid calls layers deep, each layer making tries attempts of which the last
// completes if it is told to.
func pyramid(layers, tries int) []testSpan {
	list := []testSpan{{id: 1, hop: "root", kind: spans.Server, start: 0, end: 1 << 30}}
	var grow func(parent, layer, start, length int)
	grow = func(parent, layer, start, length int) {
		if layer == layers {
			return
		}
		for k := range tries {
			id := len(list) + 1
			from := start + k*length/tries
			to := from + length/tries - 1
			list = append(list, testSpan{id: id, parent: parent, hop: fmt.Sprint("call-", layer), kind: spans.Client, start: from, end: to, outcome: cut})
			grow(id, layer+1, from, length/tries-1)
		}
	}
	grow(1, 0, 0, 1<<30)
	return list
}

// Retries multiply down the chain: N = prod(1 + r).
func TestRetriesMultiplyDownTheChain(t *testing.T) {
	for _, c := range []struct {
		layers, tries int
		want          uint64
	}{{1, 2, 2}, {3, 2, 8}, {1, 4, 4}, {2, 4, 16}, {3, 4, 64}, {4, 4, 256}, {3, 3, 27}, {5, 3, 243}} {
		r := watchOf(pyramid(c.layers, c.tries)...).Result(usual(nil))
		a := r.Amplification
		if a.Possible != c.want || *a.ObservedMax != c.want || len(a.Layers) != c.layers {
			t.Errorf("%d attempts in %d layers: possible %d, seen %d, %d layers, want %d", c.tries, c.layers, a.Possible, *a.ObservedMax, len(a.Layers), c.want)
		}
		if says(r, "amplification_over_10") != (c.want > 10) || says(r, "several_layers_retry") != (c.layers > 1) {
			t.Errorf("%d attempts in %d layers: %v", c.tries, c.layers, codes(r))
		}
	}
}

// A path is known also where one trace shows its hops and others their retries.
func TestQuietTracesShowThePaths(t *testing.T) {
	retried := func(name string) []testSpan {
		return []testSpan{
			{id: 1, hop: "root" + name, kind: spans.Server, end: 1000},
			{id: 2, parent: 1, hop: name, kind: spans.Client, start: 0, end: 100, outcome: cut},
			{id: 3, parent: 1, hop: name, kind: spans.Client, start: 200, end: 300},
		}
	}
	w := watchOf(retried("a")...)
	w.Merge(watchOf(retried("b")...))
	w.Merge(watchOf(
		testSpan{id: 1, hop: "a", kind: spans.Client, end: 100},
		testSpan{id: 2, parent: 1, hop: "b", kind: spans.Client, start: 10, end: 90}))
	if got := w.Result(usual(nil)).Amplification.Possible; got != 4 {
		t.Errorf("possible %d, want 4", got)
	}
}

// Many calls side by side are no amplification, and hops beside each other are on
// no path.
func TestOnlyRetriesAmplify(t *testing.T) {
	list := []testSpan{{id: 1, hop: "root", kind: spans.Server, end: 100_000}}
	for k := range 20 {
		list = append(list, testSpan{id: len(list) + 1, parent: 1, hop: "a", kind: spans.Client, start: 10 * k, end: 10*k + 1000})
	}
	for _, name := range []string{"b", "c"} {
		list = append(list,
			testSpan{id: len(list) + 1, parent: 1, hop: name, kind: spans.Client, start: 10, end: 1000, outcome: cut},
			testSpan{id: len(list) + 2, parent: 1, hop: name, kind: spans.Client, start: 1020, end: 2000})
	}
	r := watchOf(list...).Result(usual(nil))
	if a := r.Amplification; *a.ObservedMax != 2 || a.Possible != 2 || len(a.Layers) != 2 || says(r, "several_layers_retry") {
		t.Errorf("possible %d, seen %d: %v", a.Possible, *a.ObservedMax, codes(r))
	}
}

// What serves a call is not tried again by itself, whatever its mark says.
func TestServersAreNoLayer(t *testing.T) {
	var list []testSpan
	for k := range 3 {
		list = append(list, testSpan{id: k + 2, parent: 1, hop: "served", kind: spans.Server, start: 100 * k, end: 100*k + 50, outcome: failed, retry: k > 0})
	}
	list = append(list, testSpan{id: 1, hop: "call", kind: spans.Client, end: 1000})
	r := watchOf(list...).Result(usual(nil))
	if a := r.Amplification; a.Possible != 1 || len(a.Layers) != 0 || says(r, "several_layers_retry") {
		t.Errorf("%+v: %v", a, codes(r))
	}
}

func TestALogsLayersCountAsOnePath(t *testing.T) {
	var lines []testLine
	for _, hop := range []string{"a", "b", "c", "d"} {
		lines = append(lines, testLine{chain: "1", hop: hop, end: 10, outcome: cut}, testLine{chain: "1", hop: hop, start: 20, end: 30, retry: true})
	}
	r := logOf(t, lines...).Result(usual(nil))
	if a := r.Amplification; a.Possible != 16 || a.ObservedMax != nil || !a.OnePath || !strings.Contains(fmt.Sprint(r.Warnings), "taken for one path") {
		t.Errorf("%+v: %v", a, r.Warnings)
	}
}

func TestPathsGoRoundNoCycle(t *testing.T) {
	w := NewAccumulator(Config{})
	for _, name := range []string{"a", "b", "c"} {
		w.table.hops[w.table.at([]spans.Hop{{Name: name, Kind: spans.Client}}, 0)].mostAttempts = 3
	}
	for _, e := range [][2]int32{{0, 1}, {1, 2}, {2, 0}, {1, 0}} {
		w.edges[e] = struct{}{}
	}
	if got := w.possible(); got != 27 {
		t.Errorf("%d, want 27", got)
	}
	for name, c := range map[string]struct {
		attempts []uint64
		edges    [][2]int32
		want     uint64
	}{
		"below a cycle":      {[]uint64{2, 3, 5}, [][2]int32{{1, 0}, {0, 2}, {0, 1}}, 30},
		"two ways":           {[]uint64{2, 3, 5, 7}, [][2]int32{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 70},
		"above a cycle":      {[]uint64{4, 2, 2}, [][2]int32{{0, 1}, {1, 2}, {2, 1}}, 16},
		"no calls":           {[]uint64{4, 9}, nil, 9},
		"from two to a pair": {[]uint64{4, 6, 2, 2}, [][2]int32{{0, 2}, {1, 3}, {2, 3}, {3, 2}}, 24},
	} {
		w := NewAccumulator(Config{})
		for i, n := range c.attempts {
			w.table.hops[w.table.at([]spans.Hop{{Name: fmt.Sprint(i), Kind: spans.Client}}, 0)].mostAttempts = n
		}
		for _, e := range c.edges {
			w.edges[e] = struct{}{}
		}
		if got := w.possible(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if times(1<<63, 3) != 1<<64-1 {
		t.Error("a product runs over")
	}
}

// A retry must fit into what its caller waits.
func TestRetriesThatNoLongerFit(t *testing.T) {
	list := []testSpan{
		{id: 1, hop: "outer", kind: spans.Client, start: 0, end: 900},
		{id: 2, parent: 1, hop: "served", kind: spans.Server, start: 5, end: 900},
		{id: 3, parent: 2, hop: "inner", kind: spans.Client, start: 10, end: 410, outcome: cut},
		{id: 4, parent: 2, hop: "inner", kind: spans.Client, start: 500, end: 600},
	}
	for _, c := range []struct {
		outer int
		want  string
	}{{900, "0 of 1"}, {899, "1 of 1"}, {300, "1 of 1"}} {
		r := watchOf(list...).Result(usual(map[string]int{"outer": c.outer, "inner": 400}))
		late := hopOf(t, r, "inner").TooLate
		if got := fmt.Sprint(late.N, " of ", late.Of); got != c.want || says(r, "retries_too_late") != (late.N > 0) {
			t.Errorf("outer waits %d: %s, want %s: %v", c.outer, got, c.want, codes(r))
		}
	}
	if late := hopOf(t, watchOf(list...).Result(usual(map[string]int{"inner": 400})), "inner").TooLate; late != nil {
		t.Errorf("nobody knows what the caller waits: %+v", late)
	}
}
