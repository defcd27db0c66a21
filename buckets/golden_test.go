package buckets

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// logged reads hop logs of the project's own data.
func logged(t testing.TB, path string) rows {
	t.Helper()
	f, err := os.Open("../testdata/" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var list rows
	for lines := bufio.NewScanner(in); lines.Scan(); {
		list = append(list, parsed(t, lines.Bytes()))
	}
	return list
}

func parsed(t testing.TB, line []byte) row {
	t.Helper()
	var v struct {
		Chain     string  `json:"chain_id"`
		Hop       string  `json:"hop"`
		MS        float64 `json:"duration_ms"`
		Truncated bool    `json:"truncated"`
		Retry     bool    `json:"retry"`
		Start     string  `json:"start"`
	}
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	one := row{hop: v.Hop, Row: spans.Row{
		Duration: int64(math.Round(v.MS*1e3)) * us, HasDuration: true, Retry: v.Retry, Marked: true, Trace: []byte(v.Chain),
	}}
	if v.Truncated {
		one.Outcome, one.CutBy = spans.Truncated, spans.Own
	}
	if start, err := time.Parse(time.RFC3339Nano, v.Start); err == nil {
		one.Start, one.HasStart = start.UnixNano(), true
	}
	return one
}

func generate(t *testing.T, c Config) Result {
	t.Helper()
	return results(t, c, asked(), logged(t, "seed/truncated-5s.ndjson"))["generate"]
}

// The batch that was published with a p95 of 5737 ms, which is a timeout.
func TestThePublishedBatch(t *testing.T) {
	r := generate(t, NewConfig(nil))
	rec := r.Recorded.First
	if rec.N != 200 || rec.Mean != 1810*ms || rec.Quantiles[0] != 1079*ms || rec.Quantiles[1] != 5737*ms {
		t.Errorf("recorded %+v", rec)
	}
	if r.Completed.First.N != 167 || r.Truncated.First.N != 33 || r.Truncated.CutBy[0] != (CutCount{spans.Own, 33}) || r.Completed.First.Max != 2026*ms {
		t.Errorf("completed %d, truncated %d, %v", r.Completed.First.N, r.Truncated.First.N, r.Truncated.CutBy)
	}
	if d := same([]string{"exact 1079 upper 1245", "at_least 2026", "at_least 2026"}, tailTexts(r)); d != "" {
		t.Error(d)
	}
	if d := same([]Wall{{Source: Inferred, Count: 33, From: 2026 * ms, To: 5703 * ms}}, []Wall(r.Walls)); d != "" {
		t.Error(d)
	}
	want := "33 of 200 first attempts timed out (16.5 %; one-sided 95 % limits 12.3 % and 21.4 %), more than the 5 % beyond p95: it lies beyond the timeout at 95 % confidence; " +
		"timeout between 2.026 and 5.703 s (set --timeout generate=T); highest certifiable quantile p78; " +
		"a canary with a raised timeout needs first attempts: 59 for p95, 299 for p99"
	if got := r.Tail[1].Reason; got != want {
		t.Errorf("reason of p95\n got %s\nwant %s", got, want)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
}

func TestThePublishedBatchWithItsTimeout(t *testing.T) {
	r := generate(t, timeouts(map[string]int64{"generate": 5000}))
	if d := same([]string{"exact 1079 upper 1245", "at_least 5000", "at_least 5000"}, tailTexts(r)); d != "" {
		t.Error(d)
	}
	wall := 5 * s
	if d := same([]Wall{{Timeout: &wall, Source: Configured, Count: 33, From: wall, To: wall}}, []Wall(r.Walls)); d != "" {
		t.Error(d)
	}
	if d := same([]string{"duration_covers_more_than_the_call"}, codes(r)); d != "" {
		t.Error(d)
	}
	if !strings.Contains(r.Tail[1].Reason, "; timeout 5 s; ") {
		t.Errorf("reason %q", r.Tail[1].Reason)
	}
}

// One real run, counted independently: testdata of the project's own chain.
func TestTheRealChain(t *testing.T) {
	log := logged(t, "chain/hops.ndjson.gz")
	byHop := results(t, NewConfig(nil), asked(), log)
	orders, stock := byHop["orders"], byHop["stock"]
	for _, c := range []struct {
		name                string
		completed, cut      quantile.Summary
		n, cutN             uint64
		cutMin, cutMax      int64 // us
		p50, p95, p99, most int64 // us, of the completed
	}{
		{"orders", orders.Completed.First, orders.Truncated.First, 1500, 72, 300_068, 303_363, 26_162, 117_830, 206_440, 284_851},
		{"orders, retries", orders.Completed.Retries, orders.Truncated.Retries, 72, 7, 300_102, 301_225, 25_912, 84_750, 128_619, 128_619},
		{"stock", stock.Completed.First, stock.Truncated.First, 1572, 73, 400_067, 412_679, 25_798, 119_153, 232_878, 389_238},
		{"stock, retries", stock.Completed.Retries, stock.Truncated.Retries, 73, 5, 400_078, 401_286, 22_173, 106_978, 222_009, 222_009},
	} {
		if c.completed.N+c.cut.N != c.n || c.cut.N != c.cutN || c.cut.Min != c.cutMin*us || c.cut.Max != c.cutMax*us {
			t.Errorf("%s: %d completed, cut %+v", c.name, c.completed.N, c.cut)
		}
		got := append(c.completed.Quantiles, c.completed.Max)
		if d := same([]int64{c.p50 * us, c.p95 * us, c.p99 * us, c.most * us}, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestTheTailOfTheRealChain(t *testing.T) {
	log := logged(t, "chain/hops.ndjson.gz")
	q := asked("0.5", "0.9", "0.95", "0.99")
	for _, c := range []struct {
		config                  Config
		ordersBound, stockBound int64
	}{
		{NewConfig(nil), 284_851 * us, 389_238 * us},
		{timeouts(map[string]int64{"orders": 300, "stock": 400}), 300 * ms, 400 * ms},
	} {
		byHop := results(t, c.config, q, log)
		for hop, want := range map[string][]int64{
			"orders": {27_773 * us, 111_483 * us, 262_019 * us, c.ordersBound},
			"stock":  {27_276 * us, 112_637 * us, 329_940 * us, c.stockBound},
		} {
			for i, one := range byHop[hop].Tail {
				if status := [...]string{"exact", "exact", "exact", "at_least"}[i]; one.Value != want[i] || one.Status.String() != status {
					t.Errorf("%s %s: %s, want %s %d", hop, one.P.Label(), tailText(one), status, want[i])
				}
			}
			if len(byHop[hop].Warnings) > 0 {
				t.Errorf("%s: %v", hop, byHop[hop].Warnings)
			}
		}
		stock := byHop["stock"]
		if got := stock.Tail[2].Reason; got != "no certified upper limit: it would be rank 1508, and 1499 are known from above" {
			t.Errorf("p95 of stock: %q", got)
		}
		const share = "73 of 1572 first attempts timed out (4.64 %; one-sided 95 % limits 3.8 % and 5.61 %)"
		if got := stock.Tail[3].Reason; !strings.HasPrefix(got, share+", more than the 1 % beyond p99: it lies beyond the timeout") {
			t.Errorf("p99 of stock: %q", got)
		}
	}
}
