package attribution

import (
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestCriticalPath(t *testing.T) {
	for _, c := range []struct {
		name  string
		spans []testSpan
		want  string
	}{
		// From 100 back: A's own 90-100, B3 60-90, own 50-60, B2 40-50, own 30-40,
		// B1 10-30, own 0-10. A: 10+10+10+10.
		{"children one after the other", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 10, end: 30, hop: "B1"},
			{id: 3, parent: 1, start: 40, end: 50, hop: "B2"}, {id: 4, parent: 1, start: 60, end: 90, hop: "B3"},
		}, "A 40, B1 20, B2 10, B3 30"},
		// A's own 608-1000, D 308-608, C clipped to 209-308, B clipped to 10-209, A's
		// own 0-10.
		{"a small overlap still forms a chain", []testSpan{
			{id: 1, end: 1000, hop: "A"}, {id: 2, parent: 1, start: 10, end: 210, hop: "B"},
			{id: 3, parent: 1, start: 209, end: 309, hop: "C"}, {id: 4, parent: 1, start: 308, end: 608, hop: "D"},
		}, "A 402, B 199, C 99, D 300"},
		// The child lies wholly after its parent: nothing of it is on the path.
		{"a child longer than its parent that starts after it", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 110, end: 300, hop: "B"},
		}, "A 100"},
		// C 40-80, then B clipped to 20-40: their union is 60.
		{"overlapping children count their union", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 20, end: 60, hop: "B"}, {id: 3, parent: 1, start: 40, end: 80, hop: "C"},
		}, "A 40, B 20, C 40"},
		{"a child that covers all", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 0, end: 100, hop: "B"},
		}, "B 100"},
		{"siblings that touch are sequential", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 0, end: 50, hop: "B"}, {id: 3, parent: 1, start: 50, end: 100, hop: "C"},
		}, "B 50, C 50"},
		{"a child that ended beside a longer one is off the path", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 10, end: 90, hop: "B"}, {id: 3, parent: 1, start: 20, end: 80, hop: "C"},
		}, "A 20, B 80"},
		{"children that end together: the first to start", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 30, end: 90, hop: "B"}, {id: 3, parent: 1, start: 20, end: 90, hop: "C"},
		}, "A 30, C 70"},
		{"children that are equal: the smaller id", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 3, parent: 1, start: 20, end: 90, hop: "C"}, {id: 2, parent: 1, start: 20, end: 90, hop: "B"},
		}, "A 30, B 70"},
		{"children that outlast their parent end together", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 30, end: 900, hop: "B"}, {id: 3, parent: 1, start: 20, end: 200, hop: "C"},
		}, "A 20, C 80"},
		{"a child that starts before its parent is clipped", []testSpan{
			{id: 1, start: 50, end: 100, hop: "A"}, {id: 2, parent: 1, start: 20, end: 80, hop: "B"},
		}, "A 20, B 30"},
		{"work that nobody waits for is off the path", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 10, end: 90, hop: "B", ties: spans.Async},
			{id: 3, parent: 1, start: 10, end: 90, hop: "C", kind: spans.Consumer},
		}, "A 100"},
		{"what a consumer calls itself is on the path", []testSpan{
			{id: 1, end: 100, hop: "A", kind: spans.Consumer}, {id: 2, parent: 1, start: 10, end: 90, hop: "B", kind: spans.Client},
			{id: 3, parent: 2, start: 20, end: 80, hop: "C", kind: spans.Server}, {id: 4, parent: 1, start: 0, end: 10, hop: "D"},
		}, "A 10, B 20, C 60, D 10"},
		{"a message is on the path until it is sent", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 10, end: 40, hop: "send", kind: spans.Producer},
			{id: 3, parent: 2, start: 20, end: 90, hop: "C", kind: spans.Consumer}, {id: 4, parent: 2, start: 15, end: 25, hop: "D"},
		}, "A 70, D 10, send 20"},
		{"a span without an end is off the path", []testSpan{
			{id: 1, end: 100, hop: "A"}, {id: 2, parent: 1, start: 10, noEnd: true, hop: "B"}, {id: 3, parent: 1, noStart: true, end: 40, hop: "C"},
		}, "A 100"},
		{"of several roots the longest", []testSpan{
			{id: 1, end: 10, hop: "A"}, {id: 2, start: 20, end: 90, hop: "B"}, {id: 3, start: 30, end: 40, hop: "C"},
		}, "B 70"},
		{"a cut call's waiting goes to the child that ran", []testSpan{
			{id: 1, end: 350, hop: "A"}, {id: 2, parent: 1, start: 10, end: 310, hop: "call", outcome: cut},
			{id: 3, parent: 2, start: 20, end: 1500, hop: "B"},
		}, "A 50, B* 290, call* 10"},
		{"a cut call without a child waits itself", []testSpan{
			{id: 1, end: 350, hop: "A"}, {id: 2, parent: 1, start: 10, end: 310, hop: "call", outcome: cut},
		}, "A 50, call* 300"},
		{"what ended before the cut was not ended by it", []testSpan{
			{id: 1, end: 350, hop: "A"}, {id: 2, parent: 1, start: 10, end: 310, hop: "call", outcome: cut},
			{id: 3, parent: 2, start: 20, end: 200, hop: "B"},
		}, "A 50, B 180, call* 120"},
	} {
		if got := timesOnPath(accumulatorOf(c.spans...)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// crisp are test cases of Uber's CRISP, rebuilt; their times have no unit.
var crisp = map[string]struct {
	spans []testSpan
	want  string
}{
	// A alone.
	"1": {[]testSpan{{id: 1, end: 100, hop: "S1 O1"}}, "S1 O1 100"},
	// A 60-100, B 10-60, A 0-10.
	"2": {[]testSpan{{id: 1, end: 100, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 60, hop: "S2 O2"}}, "S1 O1 50, S2 O2 50"},
	// A 60-100, B 30-60, C 20-30, B 10-20, A 0-10.
	"4": {[]testSpan{
		{id: 1, end: 100, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 60, hop: "S2 O2"}, {id: 3, parent: 2, start: 20, end: 30, hop: "S3 O3"},
	}, "S1 O1 50, S2 O2 40, S3 O3 10"},
	// A 90-100, B3 60-90, A 50-60, B2 40-50, A 30-40, B1 10-30, A 0-10: one hop for
	// all three calls.
	"5": {[]testSpan{
		{id: 1, end: 100, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 30, hop: "S2 O2"},
		{id: 3, parent: 1, start: 40, end: 50, hop: "S2 O2"}, {id: 4, parent: 1, start: 60, end: 90, hop: "S2 O2"},
	}, "S1 O1 40, S2 O2 60"},
	// A 608-1000, D 308-608, C 209-308, B 10-209, A 0-10.
	"10": {[]testSpan{
		{id: 1, end: 1000, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 210, hop: "S2 O2"},
		{id: 3, parent: 1, start: 209, end: 309, hop: "S3 O3"}, {id: 4, parent: 1, start: 308, end: 608, hop: "S4 O4"},
	}, "S1 O1 402, S2 O2 199, S3 O3 99, S4 O4 300"},
	// A 60-100, B 30-60, A 0-30; B failed, which takes as long.
	"11": {[]testSpan{{id: 1, end: 100, hop: "S1 O1"}, {id: 2, parent: 1, start: 30, end: 60, hop: "S2 O2", outcome: failed}}, "S1 O1 70, S2 O2 30"},
	// A 70-100, B 50-70, D 30-50, C clipped to 25-30, B 10-25, A 0-10.
	"13": {[]testSpan{
		{id: 1, end: 100, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 70, hop: "S2 O2"},
		{id: 3, parent: 2, start: 25, end: 45, hop: "S3 O3"}, {id: 4, parent: 2, start: 30, end: 50, hop: "S4 O4", outcome: failed},
	}, "S1 O1 40, S2 O2 35, S3 O3 5, S4 O4 20"},
	// A 65-80, D 40-65, C clipped to 20-40, B clipped to 10-20, A 0-10.
	"14": {[]testSpan{
		{id: 1, end: 80, hop: "S1 O1"}, {id: 2, parent: 1, start: 10, end: 30, hop: "S2 O2"},
		{id: 3, parent: 1, start: 20, end: 45, hop: "S3 O3"}, {id: 4, parent: 1, start: 40, end: 65, hop: "S4 O4", outcome: failed},
	}, "S1 O1 25, S2 O2 10, S3 O3 20, S4 O4 25"},
}

func TestCriticalPathOfCRISPsCases(t *testing.T) {
	for name, c := range crisp {
		if got := timesOnPath(accumulatorOf(c.spans...)); got != c.want {
			t.Errorf("case %s: %s, want %s", name, got, c.want)
		}
	}
}

// TestADeepChainThatIsCutAtOneWallBlamesTheDeepest: twelve hops nested in each
// other, all cut at 30 s, the outer ones 4 ms later each: 30045 … 30001 ms.
func TestADeepChainThatIsCutAtOneWallBlamesTheDeepest(t *testing.T) {
	const depth = 12
	var list []testSpan
	var log []testLine
	for i := range depth {
		hop := string(rune('a' + i))
		start, end := i*1000, i*1000+30_001_000+(depth-1-i)*4000
		list = append(list, testSpan{id: i + 1, parent: i, start: start, end: end, hop: hop, outcome: cut})
		log = append(log, testLine{chain: "c", hop: hop, start: start, end: end, outcome: cut, by: spans.Own})
	}
	for name, w := range map[string]*Accumulator{"spans": accumulatorOf(list...), "lines": logOf(t, log...)} {
		if got := fate(w); got != "1 cut, fails by l 1, cut l 1" {
			t.Errorf("%s: %s", name, got)
		}
		r := w.Result(usual)
		for _, h := range r.Hops {
			if (h.LargestIn == 1) != (h.Name == "l") || h.Name == "l" && h.TailMean != 30_001_000*us {
				t.Errorf("%s: %s has %d ns, largest in %d", name, h.Name, h.TailMean, h.LargestIn)
			}
		}
	}
	for i := range log {
		log[i].untimed = true
	}
	if got := fate(logOf(t, log...)); got != "1 cut, fails by l 1, cut l 1" {
		t.Errorf("without times: %s", got)
	}
}
