package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const threeHops = "../../testdata/seed/three-hops.ndjson"

// worth is what the tests read of a row of the section.
type worth struct {
	Hop           string
	Calls         int
	Attempts      int
	FirstCut      int `json:"first_cut"`
	AfterCut      int `json:"retries_after_cut"`
	Completed     int `json:"retries_completed"`
	Rescue        struct{ Rate, Lower, Upper *float64 }
	Verdict       string
	ExecutedTwice *struct{ N, Of int } `json:"executed_twice"`
	Finished      *struct {
		N, Of       int
		MedianAfter *int64 `json:"median_after_ns"`
	} `json:"finished_anyway"`
	Near struct {
		Threshold float64
		Share     *float64
	} `json:"near_timeout"`
	Backoff struct {
		N      int
		Min    int64 `json:"gap_min_ns"`
		P50    int64 `json:"gap_p50_ns"`
		Max    int64 `json:"gap_max_ns"`
		Jitter string
	}
	Wall struct {
		Verdict   string
		Timeout   *int64 `json:"timeout_ns"`
		Share     *float64
		Histogram []struct {
			From int64 `json:"from_ns"`
			N    int
		}
	}
}

// retriesPage is what the tests read of the section.
type retriesPage struct {
	Hops          []worth
	All           worth
	Amplification struct {
		Max      *int `json:"observed_max"`
		Possible int
		Layers   []struct{ Hop string }
	}
	Ratio struct {
		Mean  *float64
		Worst *float64 `json:"worst_minute"`
		At    *string
	} `json:"retry_ratio"`
	ExecutedTwice []struct{ Trace, Severity string } `json:"executed_twice"`
	Warnings      []struct{ Code, Text string }
}

func (p retriesPage) says(code string) bool {
	return slices.ContainsFunc(p.Warnings, func(w struct{ Code, Text string }) bool { return w.Code == code })
}

func retriesOf(t *testing.T, stdin string, args ...string) retriesPage {
	t.Helper()
	var page struct{ Retries retriesPage }
	if err := json.Unmarshal([]byte(must(t, stdin, append([]string{"retries", "--format", "json"}, args...)...)), &page); err != nil {
		t.Fatal(err)
	}
	return page.Retries
}

// summary writes the figures that were counted by another program.
func (w worth) summary() string {
	twice := "not known"
	if w.ExecutedTwice != nil {
		twice = fmt.Sprintf("%d of %d", w.ExecutedTwice.N, w.ExecutedTwice.Of)
	}
	return fmt.Sprintf("%s: %d calls, %d attempts, cut %d, rescued %d of %d %s, twice %s, gaps %d %s, %s", w.Hop, w.Calls, w.Attempts,
		w.FirstCut, w.Completed, w.AfterCut, w.Verdict, twice, w.Backoff.N, w.Backoff.Jitter, w.Wall.Verdict)
}

func TestRetriesOfTheChain(t *testing.T) {
	t.Parallel()
	traced := []string{
		"gateway call orders: 1500 calls, 1572 attempts, cut 72, rescued 65 of 72 fresh_draw, twice 67 of 72, gaps 72 none, at_the_wall",
		"orders call stock: 1572 calls, 1645 attempts, cut 73, rescued 68 of 73 fresh_draw, twice 73 of 73, gaps 73 none, at_the_wall",
	}
	logged := []string{
		"orders: 1500 calls, 1572 attempts, cut 72, rescued 65 of 72 fresh_draw, twice not known, gaps 72 none, at_the_wall",
		"stock: 1572 calls, 1645 attempts, cut 73, rescued 68 of 73 fresh_draw, twice not known, gaps 73 none, at_the_wall",
	}
	for _, c := range []struct {
		args []string
		want []string
		seen int // attempts under one call, 0 where not known
	}{
		{[]string{jaegerRaw}, traced, 4}, {[]string{jaegerAdjusted}, traced, 4}, {[]string{jaegerV3}, traced, 4},
		{[]string{chain}, logged, 0}, {[]string{"--timeout", "orders=300ms", "--timeout", "stock=400ms", chain}, logged, 0}, {[]string{"--infer-nesting", chain}, logged, 4},
	} {
		p := retriesOf(t, "", c.args...)
		var got []string
		for _, h := range p.Hops {
			got = append(got, h.summary())
			if b := h.Backoff; b.Min < 20e6 || b.P50 > 21e6 || b.Max > 22.3e6 {
				t.Errorf("%v: %s: gaps %+v", c.args, h.Hop, b)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v: %s", c.args, d)
		}
		a := p.Amplification
		if a.Possible != 4 || len(a.Layers) != 2 || !p.says("several_layers_retry") || (a.Max != nil) != (c.seen > 0) || a.Max != nil && *a.Max != c.seen {
			t.Errorf("%v: %+v %v", c.args, a, p.Warnings)
		}
		if p.All.Completed != 133 || p.All.AfterCut != 145 || p.All.Verdict != "fresh_draw" {
			t.Errorf("%v: %s", c.args, p.All.summary())
		}
	}
}

// The order of lines, the workers and the split into files change nothing.
func TestRetriesDoNotDependOnHowTheInputComes(t *testing.T) {
	t.Parallel()
	lines := slices.Collect(strings.Lines(string(chainLines(t))))
	want := retriesOf(t, strings.Join(lines, ""), "-j", "1", "-")
	folder := scattered(t, lines)
	for _, jobs := range []string{"1", "2", "7"} {
		if d := cmp.Diff(want, retriesOf(t, "", "-j", jobs, folder)); d != "" {
			t.Errorf("-j %s: %s", jobs, d)
		}
	}
	temp := t.TempDir()
	if d := cmp.Diff(want, retriesOf(t, "", "-j", "2", "--memory", "32KiB", "--temp-dir", temp, folder)); d != "" {
		t.Errorf("with little memory: %s", d)
	}
	if files, _ := os.ReadDir(temp); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	traces := retriesOf(t, "", "-j", "1", jaegerRaw)
	if d := cmp.Diff(traces, retriesOf(t, "", "-j", "3", "--memory", "1MiB", jaegerRaw)); d != "" {
		t.Error(d)
	}
}

// played writes the attempts of the seed's 200 chains under 3 s a hop, two retries
// that meet the same latency again, and 100 and 200 ms between them. What a failing
// attempt takes is told by lasts.
func played(t *testing.T, lasts func(latency int) int) string {
	t.Helper()
	text, err := os.ReadFile(threeHops)
	if err != nil {
		t.Fatal(err)
	}
	clocks, over := map[string]time.Time{}, map[string]bool{}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		var l struct {
			Chain   string `json:"chain_id"`
			Hop     string
			Latency int `json:"duration_ms"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		at, begun := clocks[l.Chain]
		if !begun {
			at = time.Date(2026, 1, 1, 0, 0, 10*len(clocks), 0, time.UTC)
		}
		for try := 0; try < 3 && !over[l.Chain]; try++ {
			ms, cut := l.Latency, l.Latency > 3000
			if cut {
				ms = lasts(l.Latency)
			}
			fmt.Fprintf(&out, "{\"chain_id\":%q,\"hop\":%q,\"duration_ms\":%d,\"truncated\":%v,\"retry\":%v,\"start\":%q}\n", l.Chain, l.Hop, ms, cut, try > 0, at.Format(time.RFC3339Nano))
			at = at.Add(time.Duration(ms+100<<try) * time.Millisecond)
			over[l.Chain] = cut && try == 2
			if !cut {
				break
			}
		}
		clocks[l.Chain] = at
	}
	return out.String()
}

func TestTheSeedUnderThreeSecondsMeetsTheSameSlowness(t *testing.T) {
	t.Parallel()
	p := retriesOf(t, played(t, func(int) int { return 3000 }), "-")
	if a := p.All; a.FirstCut != 19 || a.AfterCut != 19 || a.Completed != 0 || a.Verdict != "same_slowness" || a.Backoff.Jitter != "none" {
		t.Errorf("%s", a.summary())
	}
	w := p.All.Wall
	if w.Verdict != "at_the_wall" || *w.Timeout != 3e9 || *w.Share != 1 || len(w.Histogram) != 1 || w.Histogram[0].From != 9e9 || w.Histogram[0].N != 19 {
		t.Errorf("%+v", w)
	}
	text := must(t, played(t, func(int) int { return 3000 }), "retries", "-")
	for _, want := range []string{"Retries do not help: 0 of 19 calls", "3 × 3 s"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTheSeedWithFailingDurationsAtRandomIsScattered(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	log := played(t, func(int) int { return 200 + r.IntN(5800) })
	args := []string{"--timeout", "forward=3s", "--timeout", "retrieve=3s", "--timeout", "generate=3s", "-"}
	if w := retriesOf(t, log, args...).All.Wall; w.Verdict != "scattered" || *w.Timeout != 3e9 {
		t.Errorf("%+v", w)
	}
}

func TestCompletedSpikesAreNoWallInALog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for k := range 300 {
		fmt.Fprintf(&log, "{\"chain_id\":\"c%d\",\"hop\":\"a\",\"duration_ms\":%d,\"truncated\":false,\"retry\":false}\n", k, 100*(1+k%5))
	}
	p := retriesOf(t, log.String(), "--timeout", "a=600ms", "-")
	if p.All.Wall.Verdict != "too_few" || len(p.All.Wall.Histogram) != 0 || len(p.Hops) != 1 || p.Hops[0].Near.Share == nil || *p.Hops[0].Near.Share != .2 {
		t.Errorf("%+v", p)
	}
	if text := must(t, log.String(), "retries", "-"); !strings.Contains(text, "Retries: none.\n") {
		t.Error(text)
	}
}

func TestWritesThatAreNamedAreErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{jaegerRaw}, "warning"}, {[]string{"--write-hop", "orders call stock", "--limit", "3", jaegerRaw}, "error"}} {
		p := retriesOf(t, "", c.args...)
		if len(p.ExecutedTwice) == 0 || p.ExecutedTwice[0].Severity != c.want || p.says("write_executed_twice") != (c.want == "error") {
			t.Errorf("%v: %+v", c.args, p.ExecutedTwice)
		}
	}
	if n := len(retriesOf(t, "", "--limit", "0", jaegerRaw).ExecutedTwice); n != 0 {
		t.Errorf("%d are listed", n)
	}
}

func TestRetriesAreASectionOfAnalyze(t *testing.T) {
	t.Parallel()
	for _, file := range []string{chain, jaegerRaw} {
		text := must(t, "", "analyze", "--format", "json", file)
		if !strings.Contains(text, `"retries": {`) || !strings.Contains(text, `"verdict": "fresh_draw"`) {
			t.Errorf("%s: no section", file)
		}
		if text := must(t, "", "analyze", "-v", file); !strings.Contains(text, "Retries help: 133 of 145 calls") || !strings.Contains(text, "What retries are worth") {
			t.Errorf("%s", text)
		}
	}
	if p := retriesOf(t, "", "--sampling", "biased", jaegerRaw); p.All.Verdict != "too_few" || p.Ratio.Mean != nil || !p.says("biased_sample") {
		t.Errorf("biased: %+v", p.All)
	}
	var page map[string]json.RawMessage
	if err := json.Unmarshal([]byte(must(t, "", "quantiles", "--format", "json", chain)), &page); err != nil || page["retries"] != nil {
		t.Errorf("quantiles has the section, or %v", err)
	}
}

// The section counts as cut what the hop table counts as cut.
func TestFirstCutsAreThoseOfTheHopTable(t *testing.T) {
	t.Parallel()
	var plain, failing strings.Builder
	for k := range 100 {
		fmt.Fprintf(&plain, "{\"chain_id\":\"c%d\",\"hop\":\"a\",\"duration_ms\":%d}\n", k, 50+k)
		fmt.Fprintf(&failing, "{\"chain_id\":\"c%d\",\"hop\":\"a\",\"duration_ms\":%d,\"error\":%v,\"start\":\"2026-01-01T00:00:00.001Z\"}\n", k, 50+k, k%2 == 0)
		fmt.Fprintf(&failing, "{\"chain_id\":\"c%d\",\"hop\":\"b\",\"duration_ms\":%d,\"timed_out\":%v,\"start\":\"2026-01-01T00:00:00.011Z\"}\n", k, 40+k%40, k%3 == 0)
	}
	for _, c := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{chain}}, {"", []string{jaegerRaw}}, {"", []string{seed}},
		{plain.String(), []string{"--timeout", "a=100ms", "-"}},
		{failing.String(), []string{"-"}}, {failing.String(), []string{"--timeout", "a=100ms", "-"}}, {failing.String(), []string{"--timeout", "a=100ms", "--not-rule", "configured-wall", "-"}},
	} {
		var page struct {
			Hops []struct {
				Hop       string
				Kind      *string
				Attempts  int
				Truncated struct{ First *struct{ N int } }
			}
			Retries struct {
				Hops []struct {
					worth
					Kind *string
				}
			}
		}
		if err := json.Unmarshal([]byte(must(t, c.stdin, append([]string{"analyze", "--format", "json"}, c.args...)...)), &page); err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Retries.Hops {
			for _, o := range page.Hops {
				if o.Hop != h.Hop || (o.Kind == nil) != (h.Kind == nil) || o.Kind != nil && *o.Kind != *h.Kind {
					continue
				}
				cut := 0
				if o.Truncated.First != nil {
					cut = o.Truncated.First.N
				}
				if h.FirstCut != cut || h.Attempts != o.Attempts {
					t.Errorf("%v: %s has %d attempts and %d first cuts, the hop table %d and %d", c.args, h.Hop, h.Attempts, h.FirstCut, o.Attempts, cut)
				}
			}
		}
	}
}

// A rule that is switched off is so in every section.
func TestCutsAreNotPassedUpWhereTheRuleIsOff(t *testing.T) {
	t.Parallel()
	log := `{"chain_id":"1","hop":"a","start":"2026-01-15T00:00:00Z","duration_ms":90,"status":"error","truncated":false}
{"chain_id":"1","hop":"b","start":"2026-01-15T00:00:00.010Z","duration_ms":70,"truncated":true}
`
	for _, c := range []struct {
		args string
		want int
	}{{"retries", 0}, {"retries --not-rule cut-below", 1}} {
		out := must(t, log, append(strings.Fields(c.args), "--format", "json")...)
		if n := strings.Count(out, `"first_cut": 0`); n != c.want {
			t.Errorf("%s: %d hops without a cut, want %d", c.args, n, c.want)
		}
	}
}
