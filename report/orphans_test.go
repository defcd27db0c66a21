package report_test

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

var (
	callStock = spans.Hop{Name: "orders call stock", Service: "orders", Operation: "call stock", Kind: spans.Client}
	stockGet  = spans.Hop{Name: "stock GET /", Service: "stock", Operation: "GET /", Kind: spans.Server}
)

func summed(values ...int64) quantile.Summary {
	var s quantile.Sample
	for _, v := range values {
		s.Add(v * ms)
	}
	return quantile.Summarize(quantile.Union{&s}, probabilities("0.5", "0.99"))
}

// orphaned is the section in full: every table, both kinds, each degree of
// certainty.
func orphaned() *run {
	end := func(h spans.Hop, span string, start, duration int64, host string, o spans.Outcome, by spans.CutBy) orphans.End {
		return orphans.End{Hop: h, Span: span, Start: start * ms, Duration: duration * ms, Host: jsontype.Text(host), Outcome: o, CutBy: by}
	}
	in := inputOf(7)
	return &run{
		Input: in, Quantiles: probabilities("0.5", "0.99"), InFull: true, Paths: []string{"traces/a.json"},
		Orphans: &orphans.Result{
			Checkable: true, Tolerance: ms,
			Counts: orphans.Counts{
				SpansWithParent: 5, MissingParents: 1, Unfinished: 2, OutlivedAsync: 3, OutlivedCompleted: 4, OutlivedFailed: 8, OutlivedNotAwaited: 9, WithinTolerance: 5,
				StartedAfterRootEnd: 6, Orphaned: 3, Overruns: 2, LateStarts: 1, Wasted: 1800 * ms, WastedUnion: 1500 * ms,
				Doubtful: 7, WastedDoubtful: 70 * ms, WastedUnionDoubtful: 60 * ms,
			},
			WastedBy:   []orphans.HopTime{{Hop: stockGet, NS: 1500 * ms, Doubtful: 60 * ms}},
			NotAwaited: []orphans.NotAwaited{{Parent: stockGet, Child: callStock, Outlived: 285, Of: 285, Lower: .98954, Upper: 1, Spared: 9}},
			Pairs: []orphans.Pair{
				{Parent: callStock, Child: stockGet, Orphaned: 2, Doubtful: 7, WastedDoubtful: 70 * ms, CutCalls: 3, CutCallsWithChild: 2, Wasted: 1700 * ms,
					Overrun: summed(600, 1100), StartLag: summed(1, 2), Work: summed(1000, 1500), Early: orphans.Early{Stopped: 1, StoppedOf: 2},
					Cancellation: orphans.Cancellation{Honours: orphans.HonoursUnknown, Stopped: 1, RanOn: 1, Lower: .025, Upper: .975}, Verdict: orphans.Slow},
				{Parent: callStock, Child: callStock, Orphaned: 1, CutCalls: 3, CutCallsWithChild: 1, Wasted: 100 * ms,
					Overrun: summed(100), StartLag: summed(900), Work: summed(100), Early: orphans.Early{StoppedOf: 1},
					Cancellation: orphans.Cancellation{Honours: orphans.HonoursUnknown, Completed: 1, Upper: 1}, Verdict: orphans.Queue},
				{Parent: stockGet, Child: callStock, CutCalls: 1, Verdict: orphans.TooFew},
				{Parent: stockGet, Child: stockGet, Orphaned: 9, Overrun: summed(5), StartLag: summed(5), Work: summed(9), Verdict: orphans.Mixed},
			},
			Inversions: []orphans.Inversion{{Parent: callStock, Child: stockGet, ParentWall: 300 * ms, ChildWall: 400 * ms, Seen: 12}},
			CutOrder:   []orphans.CutOrder{{Outer: callStock, Inner: stockGet, Order: orphans.Order{OuterFirst: 1, Together: 2, InnerFirst: 3, Doubtful: 4}}},
			Items: []orphans.Case{
				{Trace: "00000000000000000000000000000001", Kind: orphans.Overrun, Overrun: 1100 * ms, Wasted: 1100 * ms,
					Parent: end(callStock, "0a", 0, 400, "n1", spans.Truncated, spans.Own), Child: end(stockGet, "0b", 1, 1499, "n2", spans.Completed, spans.NotCut),
					Sure: orphans.Certain, Evidence: "the child alone lasted longer than its parent", Position: orphans.Position{Line: 1, Offset: 77}},
				{Trace: "trace-\x1b[31m|<b>", Kind: orphans.LateStart, Overrun: 700 * ms, Wasted: 100 * ms,
					Parent: end(callStock, "0c", 0, 400, "", spans.Failed, spans.NotCut), Child: end(spans.Hop{Name: "=stock"}, "0d", 1000, 100, "", spans.Completed, spans.NotCut),
					Sure: orphans.Doubtful, Evidence: "within the skew", File: 9, Position: orphans.Position{Line: 2, Offset: 99}},
			},
		},
	}
}

// uncheckable is a hop log in the same section.
func uncheckable() *run {
	r := orphaned()
	r.Orphans = &orphans.Result{Reason: "no parent ids", Tolerance: ms}
	return r
}

// orphanContract is the section in JSON; figures are null where it is not
// checkable.
var orphanContract = func() object {
	five := object{"n": "int", "mean_ns": "int?", "min_ns": "int?", "max_ns": "int?", "quantiles": list1{object{"p": "decimal", "value_ns": "int"}}}
	end := object{"span": "string", "hop": "string", "kind": "string?", "start_ns": "int", "duration_ns": "int", "host": "string?", "outcome": "string", "cut_by": "string?"}
	o := object{
		"checkable": "bool", "reason": "string?", "inferred": "bool", "tolerance_ns": "int",
		"wasted_by_hop": list1{object{"hop": "string", "kind": "string?", "wasted_ns": "int", "wasted_doubtful_ns": "int"}},
		"pairs": list1{object{
			"parent_hop": "string", "parent_kind": "string?", "child_hop": "string", "child_kind": "string?", "orphaned": "int", "doubtful": "int", "wasted_doubtful_ns": "int",
			"late_starts": "int", "cut_calls": "int", "cut_calls_with_child": "int", "wasted_ns": "int", "overrun": five, "start_lag": five, "work": five,
			"stopped_within_50ms": object{"n": "int", "of": "int"}, "verdict": "string",
			"cancellation": object{"honoured": "string", "stopped": "int", "ran_on": "int", "completed": "int", "lower": "number", "upper": "number"},
		}},
		"not_awaited": list1{object{
			"parent_hop": "string", "parent_kind": "string?", "child_hop": "string", "child_kind": "string?",
			"outlived": "int", "of": "int", "lower": "number", "upper": "number", "spared": "int",
		}},
		"inversions": list1{object{"parent_hop": "string", "parent_wall_ns": "int", "child_hop": "string", "child_wall_ns": "int", "seen": "int"}},
		"cut_order":  list1{object{"outer_hop": "string", "inner_hop": "string", "outer_first": "int", "together": "int", "inner_first": "int", "doubtful": "int"}},
		"items": list1{object{
			"trace": "string", "url": "string?", "kind": "string", "parent": end, "child": end, "overrun_ns": "int", "wasted_ns": "int",
			"sure": "string", "evidence": "string", "file": "string", "position": object{"line": "int", "offset": "int"},
		}},
	}
	for _, figure := range []string{
		"spans_with_parent", "missing_parents", "unfinished", "outlived_async", "outlived_completed", "outlived_failed", "outlived_not_awaited", "within_tolerance",
		"started_after_root_end", "orphaned", "overruns", "late_starts", "wasted_ns", "wasted_union_ns", "doubtful", "wasted_doubtful_ns", "wasted_union_doubtful_ns",
	} {
		o[figure] = "int?"
	}
	return o
}()

func TestJSONOrphansKeepTheContract(t *testing.T) {
	for _, r := range []*run{orphaned(), uncheckable()} {
		doc := decode(t, r)
		conforms(t, "orphans", orphanContract, doc["orphans"])
		if _, there := doc["hops"]; there {
			t.Error("the section of hops was not asked for and is there")
		}
	}
	got := decode(t, uncheckable())["orphans"].(map[string]any)
	if got["orphaned"] != nil || got["checkable"] != false {
		t.Errorf("not checkable reads %v", got)
	}
}

func TestTraceURLStandsInEachItem(t *testing.T) {
	r := orphaned()
	r.TraceURL = "https://t.example.com/{trace}?x={trace}"
	if out := write(t, report.Text, r, report.Options{}); !strings.Contains(out, "https://t.example.com/00000000000000000000000000000001?x=00000000000000000000000000000001") {
		t.Errorf("no address in\n%s", out)
	}
	if got, want := (&report.View{TraceURL: r.TraceURL}).TraceAddress("a b/c&d?e#f+g"), "https://t.example.com/a%20b%2Fc%26d%3Fe%23f%2Bg?x=a%20b%2Fc%26d%3Fe%23f%2Bg"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOrphansOfABiasedSampleSaySo(t *testing.T) {
	r := orphaned()
	const says = "of the traces that were kept"
	if out := write(t, report.Text, r, report.Options{}); strings.Contains(out, says) {
		t.Errorf("unasked:\n%s", out)
	}
	r.Input.Sampling.Kind = "biased"
	if out := write(t, report.Text, r, report.Options{}); !strings.Contains(out, says) {
		t.Errorf("not said:\n%s", out)
	}
}

func TestOnlyTheFullPageListsCases(t *testing.T) {
	r := orphaned()
	r.InFull = false
	if out := write(t, report.Text, r, report.Options{}); strings.Contains(out, "Worst orphans") || !strings.Contains(out, "Work for callers that had left") {
		t.Errorf("the page reads\n%s", out)
	}
}

func TestJSONServerSide(t *testing.T) {
	r := chain()
	value := 5 * ms
	r.Hops[0].SetServerSide(r.Quantiles[0], buckets.ServerSide{Value: &value, Coverage: buckets.Coverage{N: 3, Of: 4}, Selected: true})
	tail := decode(t, r)["hops"].([]any)[0].(map[string]any)["tail"].([]any)
	conforms(t, "server_side", object{"value_ns": "int?", "coverage": object{"n": "int", "of": "int"}, "selected_sample": "bool"}, tail[0].(map[string]any)["server_side"])
	if tail[1].(map[string]any)["server_side"] != nil {
		t.Error("a quantile without one has one")
	}
}
