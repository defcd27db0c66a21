package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// timeoutsOf returns the section, without the input.
func timeoutsOf(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var page struct{ Timeouts json.RawMessage }
	if err := json.Unmarshal([]byte(must(t, stdin, append([]string{"timeouts", "--format", "json"}, args...)...)), &page); err != nil {
		t.Fatal(err)
	}
	return string(page.Timeouts)
}

// The order of lines, the workers, the split into files and the memory change
// nothing.
func TestTimeoutsDoNotDependOnHowTheInputComes(t *testing.T) {
	t.Parallel()
	lines := slices.Collect(strings.Lines(string(chainLines(t))))
	args := []string{"--false-timeout", "10%", "--entry-budget", "2s"}
	want := timeoutsOf(t, strings.Join(lines, ""), append(args, "-j", "1", "-")...)
	folder := scattered(t, lines)
	for _, jobs := range []string{"1", "2", "7"} {
		if d := cmp.Diff(want, timeoutsOf(t, "", append(args, "-j", jobs, folder)...)); d != "" {
			t.Errorf("-j %s: %s", jobs, d)
		}
	}
	temp := t.TempDir()
	if d := cmp.Diff(want, timeoutsOf(t, "", append(args, "-j", "2", "--memory", "32KiB", "--temp-dir", temp, folder)...)); d != "" {
		t.Errorf("with little memory: %s", d)
	}
	if files, _ := os.ReadDir(temp); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	traces := timeoutsOf(t, "", append(args, "-j", "1", jaegerRaw)...)
	for _, file := range []string{jaegerRaw, jaegerAdjusted} {
		if d := cmp.Diff(traces, timeoutsOf(t, "", append(args, "-j", "3", "--memory", "1MiB", file)...)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// Lines that are nested as traces give the advice of those nested by chain.
func TestTimeoutsOfANestedLogAreThoseOfItsTraces(t *testing.T) {
	t.Parallel()
	plain, nested := timeoutsOf(t, "", chain), timeoutsOf(t, "", "--infer-nesting", chain)
	if d := cmp.Diff(plain, nested); d != "" {
		t.Error(d)
	}
}

// analyze and timeouts say the same.
func TestTimeoutsAreASectionOfAnalyze(t *testing.T) {
	t.Parallel()
	for _, file := range []string{chain, jaegerRaw, seed} {
		var page struct{ Timeouts json.RawMessage }
		if err := json.Unmarshal([]byte(must(t, "", "analyze", "--format", "json", "--quantiles", "0.95", file)), &page); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(timeoutsOf(t, "", file), string(page.Timeouts)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
}

// A target beside the quantiles asked for leaves the hop table as it is. Only
// analyze puts chains together: how their attempts depend on each other is its own.
func TestTheTargetIsNoQuantileOfTheHopTable(t *testing.T) {
	t.Parallel()
	effects := regexp.MustCompile(`"design_effect": [0-9.]+`)
	hops := func(command string) string {
		var page struct{ Hops json.RawMessage }
		if err := json.Unmarshal([]byte(must(t, "", command, "--format", "json", "--quantiles", "0.9,0.25", chain)), &page); err != nil {
			t.Fatal(err)
		}
		return effects.ReplaceAllString(string(page.Hops), `"design_effect": null`)
	}
	if d := cmp.Diff(hops("quantiles"), hops("analyze")); d != "" {
		t.Error(d)
	}
}

// Hops that are named by their service alone are as many, and each has its own advice.
func TestTimeoutsOfHopsThatShareAName(t *testing.T) {
	t.Parallel()
	var spans []string
	add := func(id, parent, operation, kind string, start, us int) {
		spans = append(spans, fmt.Sprintf(`{"traceID":"1","spanID":"%s","operationName":"%s","startTime":%d,"duration":%d,"processID":"p","references":[%s],
			"tags":[{"key":"span.kind","value":"%s"},{"key":"http.status_code","value":200}]}`, id, operation, start, us, parent, kind))
	}
	below := `{"refType":"CHILD_OF","traceID":"1","spanID":"a"}`
	add("a", "", "GET /", "server", 1e15, 600_000)
	add("b", below, "short", "client", 1e15, 20_000)
	add("c", below, "long", "client", 1e15+50_000, 500_000)
	doc := fmt.Sprintf(`{"data":[{"traceID":"1","spans":[%s],"processes":{"p":{"serviceName":"gateway"}}}]}`, strings.Join(spans, ","))
	type advice struct {
		Operation string
		Timeout   int64            `json:"timeout_ns"`
		Under     struct{ Of int } `json:"cut_under_advice"`
	}
	var one, other struct {
		Hops  []advice
		Total struct {
			Budget int64 `json:"budget_ns"`
		}
	}
	for _, c := range []struct {
		name string
		into any
	}{{"service-operation", &one}, {"service", &other}} {
		if err := json.Unmarshal([]byte(timeoutsOf(t, doc, "--false-timeout", "99%", "--hop-name", c.name, "-")), c.into); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(one, other); d != "" || len(one.Hops) != 2 || one.Hops[0].Timeout == one.Hops[1].Timeout || one.Hops[0].Under.Of != 1 || one.Total.Budget == 0 {
		t.Errorf("%s %+v", d, one)
	}
}

// Ten calls a chain that go the same way tell less than as many independent ones,
// whoever reads which line.
func TestCallsOfOneChainDependOnEachOther(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	var lines []string
	for i := range 300 {
		shared := r.NormFloat64()
		for range 10 {
			lines = append(lines, fmt.Sprintf(`{"chain_id":"c%d","hop":"h","duration_us":%d,"truncated":false,"retry":false}`+"\n", i, int64(1e5*math.Exp(.7*shared+.7*r.NormFloat64()))))
		}
		lines = append(lines, fmt.Sprintf(`{"chain_id":"c%d","hop":"alone","duration_us":%d,"truncated":false,"retry":false}`+"\n", i, 1000+r.IntN(1000)))
	}
	type tail struct {
		Effect *float64 `json:"design_effect"`
		N      uint64   `json:"n_eff"`
	}
	tails := func(command string, args ...string) (list []tail) {
		var page struct{ Hops []struct{ Tail []tail } }
		args = append([]string{command, "--format", "json", "--quantiles", "0.95"}, args...)
		if err := json.Unmarshal([]byte(must(t, strings.Join(lines, ""), append(args, "-")...)), &page); err != nil {
			t.Fatal(err)
		}
		return append(page.Hops[0].Tail, page.Hops[1].Tail...)
	}
	want := tails("analyze", "-j", "1")
	if alone, h := want[0], want[1]; alone.N != 300 || h.Effect == nil || *h.Effect < 2 || h.N > 1500 {
		t.Errorf("%+v", want)
	}
	if d := cmp.Diff(want, tails("analyze", "--infer-nesting")); d != "" {
		t.Error(d)
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	if d := cmp.Diff(want, tails("analyze", "-j", "3", "--memory", "64KiB")); d != "" {
		t.Error(d)
	}
	if one := tails("quantiles"); one[1].Effect != nil || one[1].N != 3000 {
		t.Errorf("quantiles: %+v", one)
	}
}

// A retry is no first attempt, also where chains are put together from a file.
func TestARetryIsNoSecondCallOfItsChain(t *testing.T) {
	t.Parallel()
	for mark, known := range map[string]bool{"true": false, "false": true} {
		var log strings.Builder
		for i := range 60 {
			fmt.Fprintf(&log, `{"chain_id":"c%d","hop":"h","duration_ms":%d,"truncated":true,"retry":false}`+"\n", i, 500)
			fmt.Fprintf(&log, `{"chain_id":"c%d","hop":"h","duration_ms":%d,"truncated":false,"retry":%s}`+"\n", i, 10+i, mark)
		}
		for _, memory := range []string{"64MiB", "1KiB"} {
			var page struct {
				Hops []struct {
					Tail []struct {
						Effect *float64 `json:"design_effect"`
					}
				}
			}
			if err := json.Unmarshal([]byte(must(t, log.String(), "analyze", "--format", "json", "--quantiles", "0.5", "--memory", memory, "-")), &page); err != nil {
				t.Fatal(err)
			}
			if got := page.Hops[0].Tail[0].Effect != nil; got != known {
				t.Errorf("retry %s, %s: an effect is known: %v", mark, memory, got)
			}
		}
	}
}
