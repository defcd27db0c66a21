package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
)

func whole(n int64) *int64 { return &n }

func rescueOf(n, of uint64, v retries.Verdict) retries.Rescue {
	r := retries.Rescue{Count: retries.Count{N: n, Of: of}, Verdict: v}
	r.Lower, r.Upper = quantile.ClopperPearson(n, of, quantile.MustP("0.95"))
	return r
}

// retrying is the section in full: every table and every kind of cell.
func retrying() *run {
	seen := uint64(12)
	orders := retries.Hop{
		Hop: spans.Hop{Name: "=POST orders|<b>", Kind: spans.Client}, Calls: 1500, Attempts: 1574, FirstCut: 72, Rescue: rescueOf(65, 72, retries.FreshDraw),
		Completion: fraction(.952), MostAttempts: 3, Permanent: 1, TooLate: &retries.Count{N: 7, Of: 72},
		AfterFailure:   []retries.AfterFailure{{Kind: spans.Throttled, First: 3, Rescue: rescueOf(1, 2, retries.TooFew)}, {Kind: spans.ClientError, First: 1, Rescue: rescueOf(0, 0, retries.TooFew)}},
		ExecutedTwice:  &retries.Twice{Count: retries.Count{N: 67, Of: 70}, Retried: 72, Writes: 67},
		FinishedAnyway: &retries.Finished{Count: retries.Count{N: 67, Of: 72}, MedianAfter: whole(140 * ms)},
		NearTimeout:    retries.Near{Count: retries.Count{N: 30, Of: 1493}},
		Backoff:        retries.Backoff{N: 74, Min: whole(20 * ms), P50: whole(20*ms + 500*us), Max: whole(44 * ms), Base: whole(20 * ms), Growth: fraction(2), Jitter: retries.NoJitter},
		Wall: retries.Wall{Verdict: retries.AtTheWall, Timeout: whole(299*ms + 993*us), Count: retries.Count{N: 7, Of: 7}, Width: 100 * ms,
			Histogram: []retries.Bin{{From: 300 * ms, N: 1}, {From: 600 * ms, N: 6}}},
	}
	stock := retries.Hop{Hop: stockGet, Calls: 2, Attempts: 3, Completion: fraction(1), Unmatched: 1, MostAttempts: 1, Rescue: rescueOf(0, 0, retries.TooFew), Backoff: retries.Backoff{Jitter: retries.JitterUnknown}, Wall: retries.Wall{Verdict: retries.WallTooFew, Histogram: []retries.Bin{}}}
	all := orders
	all.Hop, all.Calls, all.Attempts, all.Unmatched, all.Wall.Timeout = spans.Hop{}, 1502, 1577, 1, nil
	return &run{
		Input: inputOf(1577), Quantiles: probabilities("0.5"), InFull: true, TraceURL: "https://traces.example.com/{trace}",
		Retries: &retries.Result{
			Hops: []retries.Hop{orders, stock}, All: all, Traced: true, Confidence: quantile.MustP("0.95"),
			Amplification: retries.Amplification{ObservedMax: &seen, Possible: 12, Layers: []retries.Layer{{Hop: orders.Hop, Retries: 74, MostAttempts: 3}, {Hop: stockGet, Retries: 1, MostAttempts: 4}}},
			Ratio:         retries.Ratio{All: retries.Count{N: 75, Of: 1502}, Worst: retries.Count{N: 40, Of: 100}, At: 1_767_225_600_000_000_000},
			InStep:        []retries.InStep{{Traces: 20, At: 1_767_225_600_000_000_000}, {Traces: 31, At: 1_767_225_720_000_000_000}, {Traces: 21, At: 1_767_225_840_000_000_000}}, Period: whole(120_000 * ms),
			ExecutedTwice: []retries.Case{{Trace: "trace-\x1b[31m", Span: "0a", Hop: orders.Hop, Executions: 2, Write: true}, {Trace: "0b", Span: "0c", Hop: stockGet, Executions: 3}},
			Warnings: []note.Warning{
				{Code: "amplification_over_10", Text: "one request may become 12 attempts: the product of the most attempts seen along a path"},
				{Code: "no_jitter", Text: "retries wait the same time"},
			},
		},
	}
}

// hopeless is the section beside the others: retries that meet the same wall.
func hopeless() *run {
	r := simple()
	h := retries.Hop{
		Hop: spans.Hop{Name: "generate"}, Calls: 200, Attempts: 238, FirstCut: 19, Rescue: rescueOf(0, 19, retries.SameSlowness), Completion: fraction(.905), MostAttempts: 3,
		Backoff: retries.Backoff{N: 38, Min: whole(100 * ms), P50: whole(100 * ms), Max: whole(200 * ms), Base: whole(100 * ms), Jitter: retries.SomeJitter},
		Wall:    retries.Wall{Verdict: retries.AtTheWall, Timeout: whole(3000 * ms), Count: retries.Count{N: 19, Of: 19}, Width: 1000 * ms, Histogram: []retries.Bin{{From: 9000 * ms, N: 19}}},
	}
	all := h
	all.Hop = spans.Hop{}
	r.Retries = &retries.Result{Hops: []retries.Hop{h}, All: all, Confidence: quantile.MustP("0.95"), Amplification: retries.Amplification{Possible: 3}, Ratio: retries.Ratio{All: retries.Count{N: 38, Of: 200}}}
	return r
}

// unretried: nothing was tried again, and too few were to say anything.
func unretried() *run {
	r := simple()
	r.Retries = &retries.Result{All: retries.Hop{Calls: 3, Attempts: 3}, Amplification: retries.Amplification{Possible: 1}}
	return r
}

// retriesContract is the shape of the section. What the issue of its making asks
// for is here, and what came to it.
var retriesContract = func() object {
	rescue := object{"rate": "number?", "lower": "number?", "upper": "number?"}
	worth := func() object {
		return object{
			"calls": "int", "attempts": "int", "first_cut": "int", "retries_after_cut": "int", "retries_completed": "int", "rescue": rescue, "verdict": "string",
			"near_timeout": object{"threshold": "number", "share": "number?"}, "first_completion": "number?", "permanent_errors_retried": "int", "unmatched_retries": "int",
			"after_failure": list1{object{"kind": "string", "first_failed": "int", "retries_after_failure": "int", "retries_completed": "int", "rescue": rescue, "verdict": "string"}},
			"backoff":       object{"n": "int", "gap_min_ns": "int?", "gap_p50_ns": "int?", "gap_max_ns": "int?", "base_ns": "int?", "growth": "number?", "jitter": "string"},
			"wall":          object{"verdict": "string", "timeout_ns": "int?", "share": "number?", "n": "int", "of": "int", "bin_ns": "int", "histogram": list1{object{"from_ns": "int", "n": "int"}}},
			"most_attempts": "int",
		}
	}
	hop := worth()
	hop["hop"], hop["kind"] = "string", "string?"
	return object{
		"hops": list1{hop}, "all": worth(),
		"amplification":  object{"observed_max": "int?", "possible": "int", "layers": list1{object{"hop": "string", "kind": "string?", "retries": "int", "most_attempts": "int"}}},
		"retry_ratio":    object{"mean": "number?", "worst_minute": "number?", "at": "string?", "minutes": "number?"},
		"in_step":        object{"moments": "int", "most_traces": "int", "at": "string?", "period_ns": "int?"},
		"executed_twice": list1{object{"trace": "string", "span": "string", "hop": "string", "kind": "string?", "executions": "int", "severity": "string"}},
		"confidence":     "decimal", "warnings": list1{object{"code": "string", "text": "string"}},
	}
}()

// rows of the section with what may be null taken out, once it is as it must be.
func sound(t *testing.T, row map[string]any) {
	t.Helper()
	for key, shape := range map[string]object{
		"executed_twice":   {"n": "int", "of": "int", "retried_calls": "int", "writes": "int"},
		"finished_anyway":  {"n": "int", "of": "int", "median_after_ns": "int?"},
		"retries_too_late": {"n": "int", "of": "int"},
	} {
		value, there := row[key]
		if !there {
			t.Errorf("no %s", key)
		}
		if value != nil {
			conforms(t, key, shape, value)
		}
		delete(row, key)
	}
}

func TestJSONRetriesKeepTheContract(t *testing.T) {
	for _, r := range []*run{retrying(), hopeless()} {
		section := decode(t, r)["retries"].(map[string]any)
		sound(t, section["all"].(map[string]any))
		for _, h := range section["hops"].([]any) {
			sound(t, h.(map[string]any))
		}
		conforms(t, "retries", retriesContract, section)
	}
	section := decode(t, retrying())["retries"].(map[string]any)
	step := section["in_step"].(map[string]any)
	if section["retry_ratio"].(map[string]any)["at"] != "2026-01-01T00:00:00Z" || step["at"] != "2026-01-01T00:02:00Z" || step["most_traces"] != json.Number("31") {
		t.Errorf("%v", section)
	}
	if _, ok := decode(t, simple())["retries"]; ok {
		t.Error("a section that was not asked for is in the document")
	}
}

func TestCSVOfRetriesHasARowAHop(t *testing.T) {
	rows := records(t, retrying())
	if len(rows) != 3 {
		t.Fatalf("%d rows, want a header and 2", len(rows))
	}
	got := map[string]string{}
	for _, k := range []string{"hop", "kind", "retries_completed", "verdict", "executed_twice", "executed_twice_of", "finished_median_after_ns", "gap_p50_ns", "wall_timeout_ns"} {
		got[k] = rows[1][k]
	}
	want := map[string]string{
		"hop": "'=POST orders|<b>", "kind": "client", "retries_completed": "65", "verdict": "fresh_draw", "executed_twice": "67", "executed_twice_of": "70",
		"finished_median_after_ns": "140000000", "gap_p50_ns": "20500000", "wall_timeout_ns": "299993000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, k := range []string{"rescue", "executed_twice", "finished_anyway", "finished_anyway_of", "finished_median_after_ns", "gap_min_ns", "near_timeout", "wall_share"} {
		if rows[2][k] != "" {
			t.Errorf("%s is %q where it is not known", k, rows[2][k])
		}
	}
}

func TestWithoutRetriesThereIsNoTable(t *testing.T) {
	page := write(t, report.Text, unretried(), report.Options{})
	if !strings.Contains(page, "Retries: none.\n") || strings.Contains(page, "What retries are worth") {
		t.Error(page)
	}
}

func TestHostileNamesOfRetriesReachNoTerminal(t *testing.T) {
	for _, name := range hostileNames {
		r := retrying()
		for i := range r.Retries.Hops {
			r.Retries.Hops[i].Name = name
			r.Retries.Amplification.Layers[i].Name = name
			r.Retries.ExecutedTwice[i].Trace, r.Retries.ExecutedTwice[i].Hop.Name = name, name
		}
		r.Retries.Warnings[0].Text = name
		for _, f := range report.Formats {
			checkHarmless(t, f, write(t, f.Write, r, report.Options{Width: 60}))
		}
	}
}
