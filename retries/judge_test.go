package retries

import (
	"fmt"
	"testing"

	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// judged looks at lines whose hops have a timeout of 100 ms, by one accumulator or two.
func judged(t *testing.T, split bool, list ...testLine) string {
	t.Helper()
	c := Config{Timeouts: map[string]int64{"a": 100 * ms}}
	log := newLog(t, assembly.ChainConfig{Timeouts: c.Timeouts}, NewAccumulator(c), NewAccumulator(c))
	for i, l := range list {
		at := 0
		if split {
			at = i % 2
		}
		log.add(at, l)
	}
	r := log.merged().Result(usual(map[string]int{"a": 100}))
	h := hopOf(t, r, "a")
	failedFirst := uint64(0)
	for _, f := range h.AfterFailure {
		failedFirst += f.First
	}
	return fmt.Sprintf("cut %d, failed %d, completed %.2f, rescued %d of %d, at the wall %d of %d", h.FirstCut, failedFirst, *h.Completion, h.Rescue.N, h.Rescue.Of, h.Wall.N, h.Wall.Of)
}

// An attempt counts as cut where it does in the hop table.
func TestAttemptsCountAsCutWhereBucketsSaySo(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []testLine
		want  string
	}{
		{"a log without marks", []testLine{{chain: "1", end: 100}, {chain: "1", start: 120, end: 150, retry: true}, {chain: "2", end: 99}},
			"cut 1, failed 0, completed 0.50, rescued 1 of 1, at the wall 0 of 0"},
		{"without marks, without chains", []testLine{{end: 100}, {end: 101}, {end: 50}},
			"cut 2, failed 0, completed 0.33, rescued 0 of 0, at the wall 0 of 0"},
		{"a log with marks", []testLine{{chain: "1", end: 100}, {chain: "3", end: 20, marked: true}},
			"cut 0, failed 0, completed 1.00, rescued 0 of 0, at the wall 0 of 0"},
		{"marks in the other half", []testLine{{chain: "1", end: 100}, {chain: "3", end: 20, marked: true}, {end: 100}, {chain: "1", start: 120, end: 220, retry: true}},
			"cut 0, failed 0, completed 1.00, rescued 0 of 0, at the wall 0 of 0"},
		{"failed at the wall", []testLine{{chain: "1", end: 101, outcome: failed, failure: spans.OtherFailure}, {chain: "1", start: 120, end: 221, outcome: failed, failure: spans.FailureUnknown, retry: true}},
			"cut 1, failed 0, completed 0.00, rescued 0 of 1, at the wall 1 of 1"},
		{"failed at the wall without a chain", []testLine{{end: 101, outcome: failed, failure: spans.OtherFailure}},
			"cut 1, failed 0, completed 0.00, rescued 0 of 0, at the wall 0 of 0"},
		{"reset at the wall", []testLine{{chain: "1", end: 101, outcome: failed}},
			"cut 1, failed 0, completed 0.00, rescued 0 of 0, at the wall 1 of 1"},
		{"failed over a cut", []testLine{{chain: "1", end: 90, outcome: failed}, {chain: "1", hop: "b", start: 10, end: 80, outcome: cut}, {chain: "1", start: 95, end: 99, retry: true}},
			"cut 1, failed 0, completed 0.00, rescued 1 of 1, at the wall 0 of 0"},
		{"failed before a cut", []testLine{{chain: "1", start: 1, end: 91, outcome: failed}, {chain: "1", hop: "b", start: 101, end: 181, outcome: cut}},
			"cut 0, failed 1, completed 0.00, rescued 0 of 0, at the wall 0 of 1"},
	} {
		for i := range c.lines {
			if c.lines[i].hop == "" {
				c.lines[i].hop = "a"
			}
		}
		for _, split := range []bool{false, true} {
			if got := judged(t, split, c.lines...); got != c.want {
				t.Errorf("%s, split %v: %s, want %s", c.name, split, got, c.want)
			}
		}
	}
}

// Thousands of cuts under one id are no request.
func TestManyCutsUnderOneIDSayNothingOfAFailure(t *testing.T) {
	for _, c := range []struct {
		cuts int
		want uint64
	}{{1000, 1}, {1001, 0}} {
		lines := []testLine{{chain: "1", hop: "a", end: 5000, outcome: failed}}
		for k := range c.cuts {
			lines = append(lines, testLine{chain: "1", hop: "b", start: k, end: k + 10, outcome: cut})
		}
		if got := hopOf(t, logOf(t, lines...).Result(usual(nil)), "a").FirstCut; got != c.want {
			t.Errorf("%d cuts: %d, want %d", c.cuts, got, c.want)
		}
	}
}
