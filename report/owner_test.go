package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

func fraction(f float64) *float64 { return &f }

// owned is the section in full: every table and every kind of cell.
func owned() *run {
	ps := probabilities("0.5", "0.99")
	return &run{
		Input: inputOf(1500), Quantiles: ps, InFull: true, TraceURL: "https://traces.example.com/{trace}",
		Owner: &attribution.Result{
			Basis: attribution.CriticalPath, TailFrom: quantile.MustP("0.95"), Interval: quantile.MustP("0.95"),
			Tail: attribution.Side{Traces: 19, Limit: 262 * ms, Mean: 380 * ms}, Body: attribution.Side{Traces: 750, Limit: 28 * ms, Mean: 15 * ms},
			EndToEnd: summary(ps, 15*ms, 380*ms, 400*ms), SumOfP99: 700 * ms, P99: 400 * ms, Excess: 365 * ms,
			Hops: []attribution.Hop{
				{Hop: spans.Hop{Name: "(gap)"}, Gap: true, TailMean: 20 * ms, Excess: 20 * ms, Share: fraction(.0548), Lower: fraction(-.01), Upper: fraction(.09)},
				{Hop: spans.Hop{Name: "=orders|<b>", Kind: spans.Client}, TailMean: 4 * ms, BodyMean: 5 * ms, Excess: -ms, Share: fraction(-.0027)},
				{Hop: stockGet, TailMean: 356*ms + 400*us, BodyMean: 10 * ms, Excess: 346*ms + 400*us, Share: fraction(.949), Lower: fraction(.93), Upper: fraction(1.01),
					LowerBound: true, LargestIn: 19, Exemplars: []string{"trace-\x1b[31m", "0b"}, Failures: 6, AnyCut: 68},
			},
			Owner: &stockGet, Verdict: "stock GET / (server): 94.9 % of the tail's excess",
			Failures: attribution.Failures{
				Blame:  attribution.Blame{N: 7, ByHop: []attribution.HopCount{{Hop: "stock GET /", N: 6}, {Hop: "orders", N: 1}}, Verdict: attribution.TooFew},
				AnyCut: attribution.Blame{N: 72, ByHop: []attribution.HopCount{{Hop: "stock GET /", N: 68}, {Hop: "gateway", N: 4}}, Verdict: attribution.OneHop},
			},
			Instances:    []attribution.Instance{{Hop: "stock GET /", Instance: "node-1", N: 18, Share: 18. / 19, BodyShare: .25}, {Hop: "stock GET /", Instance: "=node-2", N: 1, Share: 1. / 19, BodyShare: .75}},
			InstancesOf:  attribution.SlowNode,
			Outcomes:     []attribution.OutcomeCount{{Outcome: attribution.Success, N: 1493}, {Outcome: attribution.Partial, N: 7}, {Outcome: attribution.Failed}, {Outcome: attribution.Cut}},
			Warnings:     []note.Warning{{Code: "few_tail_traces", Text: "the owner rests on 19 tail traces, fewer than 20"}},
			Observations: []note.Warning{{Code: "one_connection", Text: "gateway made calls that started together 20 times, and never did their callees run together: one connection, or a pool of one"}},
		},
	}
}

// unowned is the section beside the others, and nobody to name.
func unowned() *run {
	r := simple()
	r.Owner = &attribution.Result{
		Basis: attribution.SerialSum, TailFrom: quantile.MustP("0.99"), Interval: quantile.MustP("0.95"),
		Tail: attribution.Side{Traces: 5, Limit: 9 * ms, Mean: 12 * ms}, Body: attribution.Side{Traces: 250, Limit: 3 * ms, Mean: 12 * ms},
		EndToEnd: summary(r.Quantiles, 3*ms, 9*ms), P99: 9 * ms, SumOfP99: 9 * ms,
		Hops:    []attribution.Hop{{Hop: spans.Hop{Name: "a"}, TailMean: 6 * ms, BodyMean: 6 * ms, LargestIn: 5}, {Hop: spans.Hop{Name: "b"}, TailMean: 6 * ms, BodyMean: 6 * ms}},
		Verdict: "no owner: the tail takes no longer than typical traces (means 12 ms and 12 ms)",
		Failures: attribution.Failures{
			Blame:  attribution.Blame{N: 30, ByHop: []attribution.HopCount{{Hop: "a", N: 15}, {Hop: "b", N: 15}}, Verdict: attribution.Spread},
			AnyCut: attribution.Blame{Verdict: attribution.TooFew},
		},
		Outcomes: []attribution.OutcomeCount{{Outcome: attribution.Success, N: 470}, {Outcome: attribution.Failed, N: 30}},
	}
	return r
}

// unmeasured: no trace has a time from end to end.
func unmeasured() *run {
	return &run{Input: inputOf(1), InFull: true, Quantiles: probabilities("0.5"), Owner: &attribution.Result{
		TailFrom: quantile.MustP("0.95"), Interval: quantile.MustP("0.95"), Verdict: "no owner: no trace and no chain has a time from end to end",
		Failures: attribution.Failures{Blame: attribution.Blame{Verdict: attribution.TooFew}, AnyCut: attribution.Blame{N: 1, ByHop: []attribution.HopCount{{Hop: "a", N: 1}}, Verdict: attribution.TooFew}},
		Hops:     []attribution.Hop{{Hop: spans.Hop{Name: "a"}, AnyCut: 1}},
		Warnings: []note.Warning{{Code: "traces_without_root", Text: "traces without a root that has a start and an end: 1"}},
	}}
}

// ownerContract is the shape of the section.
var ownerContract = func() object {
	byHop := list1{object{"hop": "string", "n": "int"}}
	notes := list1{object{"code": "string", "text": "string"}}
	why := optional{object{"verdict": "string", "text": "string"}}
	return object{
		"basis": "string?", "tail_from": "decimal", "tail_from_ns": "int?", "tail_traces": "int", "body_traces": "int",
		"end_to_end": object{"n": "int", "quantiles": list1{object{"p": "decimal", "value_ns": "int"}}, "p99_ns": "int?", "sum_of_hops_p99_ns": "int?"},
		"hops": list1{object{
			"hop": "string", "kind": "string?", "tail_mean_ns": "int", "body_mean_ns": "int", "excess_ns": "int", "share": "number?",
			"share_lower": "number?", "share_upper": "number?", "lower_bound": "bool", "largest_in": "int", "exemplars": list1{"string"},
		}},
		"owner": "string?", "owner_kind": "string?", "verdict": "string", "confidence": "decimal",
		"failures": object{
			"n": "int", "by_hop": byHop, "verdict": "string", "why": why, "any_cut": object{"n": "int", "by_hop": byHop, "verdict": "string", "why": why},
		},
		"outcomes":  list1{object{"outcome": "string", "n": "int"}},
		"instances": list1{object{"hop": "string", "instance": "string", "n": "int", "share": "number", "body_share": "number"}},
		"nesting": optional{object{
			"step_ns": "int", "readings": "int", "readings_agree": "bool", "callers": "string?", "late": list1{"string"},
			"pairs": list1{object{
				"caller": "string", "callee": "string", "verdict": "string", "stated": "bool", "in": "int", "out": "int", "early": "int",
				"around": "int", "outlasting": "int", "outlasting_by_chance": "int",
			}},
		}},
		"instances_verdict": "string?", "why": why, "observations": notes, "warnings": notes,
	}
}()

func TestJSONOwnerKeepsTheContract(t *testing.T) {
	for _, r := range []*run{owned(), unowned(), unmeasured()} {
		conforms(t, "owner", ownerContract, decode(t, r)["owner"])
	}
	o := decode(t, owned())["owner"].(map[string]any)
	gap := o["hops"].([]any)[0].(map[string]any)
	if gap["kind"] != "gap" || o["owner"] != "stock GET /" || o["owner_kind"] != "server" || o["tail_from_ns"] != json.Number("262000000") {
		t.Errorf("%v", o)
	}
	if o := decode(t, unmeasured())["owner"].(map[string]any); o["owner"] != nil || o["basis"] != nil || o["tail_from_ns"] != nil {
		t.Errorf("%v", o)
	}
	if _, ok := decode(t, simple())["owner"]; ok {
		t.Error("a section that was not asked for is in the document")
	}
}

func TestCSVOfTheOwnerHasARowAHop(t *testing.T) {
	rows := records(t, owned())
	if len(rows) != 4 {
		t.Fatalf("%d rows, want a header and 3", len(rows))
	}
	got := map[string]string{}
	for _, k := range []string{"hop", "kind", "excess_ns", "share", "share_lower", "lower_bound", "owner", "failures", "any_cut", "tail_from", "exemplars"} {
		got[k] = rows[3][k]
	}
	want := map[string]string{
		"hop": "stock GET /", "kind": "server", "excess_ns": "346400000", "share": "0.949", "share_lower": "0.93", "lower_bound": "true", "owner": "true",
		"failures": "6", "any_cut": "68", "tail_from": "0.95", "exemplars": `trace-\x1b[31m 0b`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rows[1]["kind"] != "gap" || rows[2]["hop"] != "'=orders|<b>" || rows[2]["share_lower"] != "" {
		t.Errorf("%v", rows[1:])
	}
}

func TestOneHopNeedsNoTableBesideOthers(t *testing.T) {
	r := simple()
	r.Owner = &attribution.Result{Verdict: "one hop only: the chain's time cannot be attributed", Hops: []attribution.Hop{{Hop: spans.Hop{Name: "a"}}}}
	page := write(t, report.Text, r, report.Options{})
	if !strings.Contains(page, "No owner of the tail: one hop only: the chain's time cannot be attributed.\n") || strings.Contains(page, "Who owns the tail") {
		t.Error(page)
	}
}
