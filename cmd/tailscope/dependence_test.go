package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowMinutes is a hop log of forty minutes with forty calls each; in every tenth
// minute eight of hop a take long, and of these half are cut.
func slowMinutes() []string {
	var lines []string
	for i := range 1600 {
		end := time.Unix(1_760_000_040, 0).UTC().Add(time.Duration(i) * 1500 * time.Millisecond)
		hop, ms, cut := "a", 10+i%7, false
		if i%2 == 1 {
			hop = "b"
		} else if i/40%10 == 3 && i%40 < 16 {
			ms, cut = 900, i%4 == 0
		}
		lines = append(lines, fmt.Sprintf(`{"ts":%q,"chain":"c%d","hop":%q,"duration_ms":%d,"truncated":%t}`, end.Format(time.RFC3339Nano), i/2, hop, ms, cut))
	}
	return lines
}

// dependentHop is what the tests read of a hop.
type dependentHop struct {
	Hop   string
	Share struct {
		Effect *float64 `json:"design_effect"`
		Size   int      `json:"n_eff"`
	} `json:"truncated_share"`
	Tail []struct {
		P, Confidence string
		N             int
		Size          int      `json:"n_eff"`
		Effect        *float64 `json:"design_effect"`
		Upper         *int64   `json:"upper_ns"`
	}
	Warnings []struct{ Code, Text string }
}

func dependentHops(t *testing.T, in string, args ...string) []dependentHop {
	t.Helper()
	var r struct{ Hops []dependentHop }
	if err := json.Unmarshal([]byte(must(t, in, append(args, "--format", "json")...)), &r); err != nil {
		t.Fatal(err)
	}
	return r.Hops
}

func TestSlowMinutesLowerTheSizeOfALog(t *testing.T) {
	t.Parallel()
	hops := dependentHops(t, strings.Join(slowMinutes(), "\n")+"\n", "quantiles", "--quantiles", "0.5,0.95,0.99")
	a, b := hops[0], hops[1]
	// 32 of 800 are slow, eight in each of four minutes; all others are fast.
	if q := a.Tail[1]; q.Effect == nil || *q.Effect < 5 || q.Size != int(800/(*q.Effect)) {
		t.Errorf("a: %+v", a.Tail)
	}
	if a.Share.Effect == nil || a.Share.Size >= 800/2 {
		t.Errorf("a: %+v", a.Share)
	}
	if len(a.Warnings) == 0 || a.Warnings[0].Code != "dependent_attempts" || !strings.Contains(a.Warnings[0].Text, "minutes beyond p95") {
		t.Errorf("a: %+v", a.Warnings)
	}
	for _, q := range b.Tail {
		if q.Size != q.N {
			t.Errorf("b: %+v", q)
		}
	}
}

// The figures of a hop are the same from every command, any number of workers and
// any split into files.
func TestDesignEffectsDoNotDependOnHowALogIsRead(t *testing.T) {
	t.Parallel()
	lines := slowMinutes()
	log := strings.Join(lines, "\n") + "\n"
	want := hopsOf(t, log, "--jobs", "1")
	if got := hopsOf(t, log, "--jobs", "3"); got != want {
		t.Error("three workers: other figures")
	}
	dir := t.TempDir()
	var odd, even []string
	for i, l := range lines {
		if i%2 == 0 {
			even = append(even, l)
		} else {
			odd = append(odd, l)
		}
	}
	for name, part := range map[string][]string{"1.ndjson": odd, "2.ndjson": even} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(part, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := hopsOf(t, "", dir); got != want {
		t.Error("two files: other figures")
	}
	if got := hopSection(t, must(t, log, "quantiles", "--format", "json")); got != hopSection(t, must(t, log, "analyze", "--format", "json")) {
		t.Error("quantiles and analyze differ")
	}
}

// hopSection is the part of a report that both commands print.
func hopSection(t *testing.T, report string) string {
	t.Helper()
	var r struct{ Hops json.RawMessage }
	if err := json.Unmarshal([]byte(report), &r); err != nil || !strings.Contains(string(r.Hops), `"design_effect"`) {
		t.Fatalf("no design effect, %v", err)
	}
	return string(r.Hops)
}

// tenCallTraces are Jaeger traces of ten calls; in every twentieth all take long.
func tenCallTraces() string {
	var traces []string
	for i := range 300 {
		ms := 10 + i%7
		if i%20 == 0 {
			ms = 900
		}
		var spans []string
		for k := range 10 {
			spans = append(spans, fmt.Sprintf(`{"traceID":"%x","spanID":"%x","operationName":"get","references":[],"startTime":%d,"duration":%d,"tags":[],"processID":"p"}`,
				i+1, 10*i+k+1, 1_760_000_000_000_000+i*1000, ms*1000))
		}
		traces = append(traces, fmt.Sprintf(`{"traceID":"%x","spans":[%s],"processes":{"p":{"serviceName":"shop","tags":[]}}}`, i+1, strings.Join(spans, ",")))
	}
	return `{"data":[` + strings.Join(traces, ",") + `]}`
}

func TestCallsOfOneTraceLowerTheSize(t *testing.T) {
	t.Parallel()
	in := tenCallTraces()
	for _, command := range []string{"quantiles", "analyze"} {
		h := dependentHops(t, in, command, "--quantiles", "0.95")[0]
		if q := h.Tail[0]; q.N != 3000 || q.Effect == nil || *q.Effect != 10.09 || q.Size != 297 {
			t.Errorf("%s: %+v", command, h.Tail)
		}
	}
	if one, three := hopsOf(t, in, "--jobs", "1"), hopsOf(t, in, "--jobs", "3"); one != three {
		t.Error("three workers: other figures")
	}
}

func TestSimultaneousLimits(t *testing.T) {
	t.Parallel()
	log := strings.Join(slowMinutes(), "\n") + "\n"
	each := dependentHops(t, log, "quantiles", "--quantiles", "0.5,0.9")
	all := dependentHops(t, log, "quantiles", "--quantiles", "0.5,0.9", "--simultaneous")
	if c := all[0].Tail[0].Confidence; c != "0.9875" || each[0].Tail[0].Confidence != "0.95" {
		t.Errorf("confidence %s of two hops and two quantiles", c)
	}
	if a, e := all[1].Tail[1].Upper, each[1].Tail[1].Upper; a == nil || e == nil || *a < *e {
		t.Errorf("upper limits %v and %v", a, e)
	}
	if out := must(t, log, "analyze", "-v", "--simultaneous"); !strings.Contains(out, "limits hold for all hops and quantiles at once") {
		t.Error("the report does not say that limits hold at once")
	}
}

func TestDriftIsWarnedOf(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3600 {
		ms := 10
		if i%60 < i/600 {
			ms = 900
		}
		fmt.Fprintf(&b, `{"start":%d,"hop":"a","duration_ms":%d,"truncated":false}`+"\n", 1_760_000_040+i, ms)
	}
	if out := must(t, b.String(), "quantiles"); !strings.Contains(out, "the tail moved between the first and the last third") {
		t.Error(out)
	}
}

// chainsThatAgree is a hop log without times: in every tenth chain all ten calls are
// slow.
func chainsThatAgree() string {
	var b strings.Builder
	for i := range 3000 {
		ms := 10 + i%7
		if i/10%10 == 0 {
			ms = 900
		}
		fmt.Fprintf(&b, `{"chain_id":"c%d","hop":"a","duration_ms":%d,"truncated":false}`+"\n", i/10, ms)
	}
	return b.String()
}

// Limits that do not know of chains come with a warning, from the one command that
// does not put them together.
func TestQuantilesSaysThatItDoesNotSeeChains(t *testing.T) {
	t.Parallel()
	log := chainsThatAgree()
	if a := dependentHops(t, log, "analyze", "--quantiles", "0.9")[0].Tail[0]; a.Effect == nil || *a.Effect < 9 {
		t.Errorf("analyze: %+v", a)
	}
	for args, want := range map[string]int{
		"quantiles": 1, "quantiles --jobs 3": 1, "analyze": 0, "timeouts": 0, "owner": 0, "quantiles --infer-nesting": 0, "quantiles --field span=chain_id": 0,
	} {
		for _, format := range []string{"json", "text"} {
			out := must(t, log, append(strings.Fields(args), "--format", format)...)
			if n := strings.Count(out, "'tailscope analyze' sees that"); n != want {
				t.Errorf("%s as %s: said %d times, want %d", args, format, n, want)
			}
		}
	}
	without := must(t, strings.ReplaceAll(log, "chain_id", "other"), "quantiles", "--format", "json")
	if strings.Contains(without, "chains_not_seen") {
		t.Error("a log without chains is warned of")
	}
}
