package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

const ms = int64(1e6)

var (
	call   = spans.Hop{Name: "web call stock", Service: "web", Operation: "call stock", Kind: spans.Client}
	served = spans.Hop{Name: "stock load", Service: "stock", Operation: "load", Kind: spans.Server}
	entry  = spans.Hop{Name: "web GET", Service: "web", Operation: "GET", Kind: spans.Server}
	links  = []neighbors.Pair{{Above: entry, Below: call, N: 100, Awaited: 100}, {Above: call, Below: served, N: 90, Awaited: 90}}
	conf   = quantile.MustP("0.95")
)

// hidden is a hop of 100 first attempts of which 10 timed out at 250 ms.
func hidden() buckets.Result {
	wall := 250 * ms
	tail := func(p string, rank uint64, status quantile.Status, value int64) buckets.Tail {
		return buckets.Tail{Tail: quantile.Tail{P: quantile.MustP(p), N: 100, Rank: rank, Status: status, Value: value, LowerRank: rank - 3, UpperRank: rank + 4}}
	}
	certifiable := 0.83
	var completed, cut, recorded buckets.Bucket
	completed.All.N, cut.All.N, recorded.All.N = 91, 10, 101
	return buckets.Result{
		Hop: call, Attempts: 101, FirstAttempts: 100, Retries: 1, Confidence: conf, Certifiable: &certifiable,
		Completed: completed, Truncated: buckets.Truncated{Bucket: cut, CutBy: buckets.CutCounts{{By: spans.Own, N: 10}}}, Recorded: recorded,
		TruncatedShare: buckets.Share{Count: 10, Of: 100, Value: .1, Lower: .055, Upper: .164},
		Walls:          []buckets.Wall{{Timeout: &wall, Source: buckets.Configured, Count: 10, From: wall, To: wall}},
		Tail: []buckets.Tail{
			tail("0.5", 50, quantile.Exact, 20*ms), tail("0.9", 90, quantile.AtLeast, wall), tail("0.95", 95, quantile.AtLeast, wall), tail("0.99", 99, quantile.AtLeast, wall),
		},
		Warnings: []note.Warning{{Code: "drift", Text: "it moved"}},
	}
}

func resultOf(t *testing.T, change func(q *Query, tail *buckets.Result)) *Result {
	t.Helper()
	tail := hidden()
	q := Query{Written: "stock", Pairs: links, Name: func(h spans.Hop) string { return h.Name }, Orphans: &orphans.Result{Reason: "no parent ids"}}
	if change != nil {
		change(&q, &tail)
	}
	q.Hops = []buckets.Result{{Hop: served, Confidence: conf}, tail, {Hop: entry, Confidence: conf}}
	r, err := Of(q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text is all sentences of a section.
func text(r *Result) string {
	s := r.Section(&report.View{Paths: []string{"in put.json"}})
	var all strings.Builder
	fmt.Fprintln(&all, strings.Join(s.Lines, "\n"))
	for _, t := range s.Tables {
		if t.Rows == 0 && (len(t.Columns) > 0 || len(t.Caption) == 0) {
			continue
		}
		fmt.Fprintln(&all, t.Title)
		for i := range t.Rows {
			for j := range t.Columns {
				_ = t.At(i, j)
			}
		}
		fmt.Fprintln(&all, strings.Join(t.Caption, "\n"))
	}
	return all.String()
}

func wants(t *testing.T, got string, list ...string) {
	t.Helper()
	for _, want := range list {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWhatHidesAQuantileIsSaidByHowSureItIs(t *testing.T) {
	wants(t, text(resultOf(t, nil)),
		"p95 and p99: surely longer than the timeout. More first attempts timed out (at least 5.5 %) than lie beyond p95 (5 %).",
		"p90: it is not decided at 95 % confidence",
		"The highest quantile that surely lies below the timeout is p83, as at most 17 % of the first attempts reach it",
		"It is web call stock (client) as its caller sees it, served by stock load (server).",
		"10 of 100, 10 %; one-sided 95 % limits 5.5 % and 16.4 %",
		"drift (latency): it moved.",
	)
	several := resultOf(t, func(_ *Query, b *buckets.Result) { b.Walls = append(b.Walls, b.Walls[0]) })
	wants(t, text(several), "p90, p95 and p99: the first timeout came before it")
	between := resultOf(t, func(_ *Query, b *buckets.Result) { b.Tail[1].AtMost = new(300*ms + 1) })
	wants(t, text(between), "p90 lies between 250 ms and 301 ms.")
}

func TestABiasedSampleHasNoSharesAndNoQuantiles(t *testing.T) {
	got := text(resultOf(t, func(_ *Query, b *buckets.Result) { b.Biased = true }))
	wants(t, got, "The traces were chosen by how they went")
	for _, not := range []string{"Latency of its", "What hides", "%"} {
		if strings.Contains(got, not) {
			t.Errorf("%q in\n%s", not, got)
		}
	}
}

func TestADesignEffectThatCountsIsExplained(t *testing.T) {
	effect := depend.Effect{Hundredths: 250, Minutes: 4}
	got := text(resultOf(t, func(_ *Query, b *buckets.Result) {
		b.TruncatedShare.Effect, b.TruncatedShare.Effective = effect, 40
		b.Tail[0].Effect, b.Tail[0].Effective = effect, 40
	}))
	wants(t, got, "those of 40 independent attempts. They come together by 4 minutes: design effect 2.5",
		"Beyond p50 slow attempts come together by 4 minutes: design effect 2.5, so that its limits are those of 40 independent attempts.")
}

func TestGatesThatAreTheSameForAllAreListedOnce(t *testing.T) {
	r := resultOf(t, func(_ *Query, b *buckets.Result) {
		for i, f := range []float64{2, 10} {
			b.Tail[i+2].Estimate = &fit.Estimate{F: f, Gates: []fit.Judgement{{Gate: fit.EnoughExceedances, Figure: 60, Limit: 50, Passed: true}, {Gate: fit.NotTooFar, Figure: f, Limit: 5, Passed: f < 5}}}
		}
		b.Tail[2].Estimate.Value, b.Tail[2].Estimate.Bound = new(400*ms), new(501*ms)
		b.Tail[2].Estimate.Models = []fit.Model{{Name: fit.Pareto, Value: new(400 * ms), Bound: new(501 * ms)}}
	})
	var got []string
	for _, j := range r.judged() {
		got = append(got, fmt.Sprint(j.Gate, j.of))
	}
	if want := "1all 2p95 2p99"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	wants(t, text(r), "p95: 400 ms, at most 501 ms by the most careful model; generalised pareto 400 ms (at most 501 ms).")
}

func TestTheArithmeticOfTheAdviceIsShown(t *testing.T) {
	settings := timeouts.Settings{FalseTimeout: must(timeouts.ParseShare("0.1%")), Headroom: must(timeouts.ParseFactor("1.33")), Allowance: 10 * ms, Floor: 10 * ms}
	advice := func(h timeouts.Hop) func(*Query, *buckets.Result) {
		return func(q *Query, _ *buckets.Result) {
			h.Hop = call
			q.Advice = &timeouts.Result{Settings: settings, Target: quantile.MustP("0.999"), Confidence: conf, Hops: []timeouts.Hop{h}}
		}
	}
	certified := resultOf(t, advice(timeouts.Hop{Evidence: timeouts.Certified, Bound: new(100 * ms), Timeout: new(150 * ms), Current: &timeouts.Current{Timeout: 250 * ms, Source: buckets.Configured}, SafeToLower: true}))
	wants(t, text(certified), "at most 0.1 % of the attempts time out needlessly", "Today: 250 ms (given).",
		"Timeout: 150 ms = the larger of 1.33 × 100 ms and 100 ms + 10 ms, rounded up to a round figure, and no less than 10 ms.", "safe to lower")
	sizes := []timeouts.Size{{P: quantile.MustP("0.95"), Attempts: 59}, {P: quantile.MustP("0.99"), Attempts: 299}, {P: quantile.MustP("0.999"), Attempts: 2995}}
	unknown := resultOf(t, advice(timeouts.Hop{Evidence: timeouts.NotIdentified, Canary: &timeouts.Canary{RaiseTo: 500 * ms, From: "twice today's timeout", Sizes: sizes}}))
	table := unknown.canary()
	for i, want := range []string{"0.95^59 = 4.85 %", "0.99^299 = 4.95 %", "0.999^2995 = 5 %"} {
		if got := fmt.Sprint(table.At(i, 2)); !strings.Contains(got, want) {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
	few := resultOf(t, advice(timeouts.Hop{Evidence: timeouts.TooFew, Missing: 2895, Allows: &timeouts.Allowed{Slowest: 90 * ms, Timeout: 120 * ms, FalseTimeout: .0295}}))
	wants(t, text(few), "2895 independent first attempts more would certify it.", "at most 2.95 % of the attempts would time out needlessly")
	wants(t, text(resultOf(t, nil)), "No timeout to set")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTheOwnerMayBeWhatServesTheCall(t *testing.T) {
	r := resultOf(t, func(q *Query, _ *buckets.Result) {
		whole := &attribution.Result{TailFrom: quantile.MustP("0.95"), Tail: attribution.Side{Traces: 5}, Body: attribution.Side{Traces: 50}, Interval: conf, Owner: &served}
		whole.EndToEnd.N = 100
		whole.Hops = []attribution.Hop{{Hop: served, TailMean: 90 * ms, BodyMean: 10 * ms, Share: new(1.02), Lower: new(.9), Upper: new(1.1), LargestIn: 5, Exemplars: []string{"7f"}}, {Hop: call}, {Hop: entry, Share: new(-.1)}}
		q.Owner = whole
	})
	wants(t, text(r), "stock load (server) owns the tail", "Shows it: tailscope trace 7f 'in put.json'", "Slow: 5 requests of 100")
	if len(r.Owner) != 2 {
		t.Errorf("%d rows", len(r.Owner))
	}
	share := fmt.Sprint(r.slow(&report.View{}).At(0, 3))
	if !strings.Contains(share, "100 %") {
		t.Errorf("share %s", share)
	}
}

func TestOrphansAndRetriesAreThoseOfTheCallAndItsServer(t *testing.T) {
	r := resultOf(t, func(q *Query, _ *buckets.Result) {
		q.Orphans = &orphans.Result{Checkable: true, Pairs: []orphans.Pair{{Parent: call, Child: served, Orphaned: 9, CutCallsWithChild: 10, Wasted: 80 * ms, Verdict: orphans.Queue}, {Parent: entry, Child: spans.Hop{Name: "x"}, Orphaned: 3}},
			WastedBy: []orphans.HopTime{{Hop: served, NS: 70 * ms, Doubtful: 5 * ms}}}
		q.Retries = &retries.Result{Hops: []retries.Hop{{Hop: call, Calls: 100, Attempts: 101, FirstCut: 10, Rescue: retries.Rescue{Count: retries.Count{N: 1, Of: 1}, Lower: .05, Upper: 1, Verdict: retries.TooFew}}}}
	})
	got := text(r)
	wants(t, got, "9 of 10 callees of calls that timed out ran on, for nobody 80 ms", "a queue or a pool", "worked 70 ms in all, and 5 ms more if the clocks are right",
		"10 calls timed out at first; 1 of them were retried, and 1 completed (one-sided limits 5 % and 100 %): too few to say whether retries help.")
	if len(r.Orphans.Pairs) != 1 {
		t.Errorf("%d pairs", len(r.Orphans.Pairs))
	}
}

func TestQueueOrSlowIsThatOfTheCall(t *testing.T) {
	r := resultOf(t, func(q *Query, _ *buckets.Result) {
		q.Calls = &calls.Result{Checkable: true, Pairs: []calls.Pair{
			{Call: call, Callee: "stock", N: 90, Verdict: calls.SlowWork, Gap: quantile.Summary{N: 90, Max: 5 * ms}, Work: quantile.Summary{N: 90, Max: 200 * ms}, Figures: calls.Figures{WorkP50: 20 * ms, WorkP50Slow: 90 * ms, Refutes: "a longer trace."}},
			{Call: entry, Callee: "x"},
		}, Callees: []calls.Callee{{Hop: "stock", Work: 900 * ms, Wasted: 80 * ms, OpenMax: new(3), ShareAtMax: new(.98)}, {Hop: "x"}}}
	})
	wants(t, text(r), "web call stock → stock (slow work): the work takes long", "What would refute it, or make it known: a longer trace.",
		"stock worked 900 ms in all, 80 ms of it for callers that had left; at most 3 calls were open at once, 98 % of the time that any was.")
	if len(r.Calls.Pairs) != 1 || len(r.Calls.Callees) != 1 {
		t.Errorf("%d pairs, %d callees", len(r.Calls.Pairs), len(r.Calls.Callees))
	}
}

func TestTheDocumentHasEveryPart(t *testing.T) {
	var m map[string]json.RawMessage
	b, err := json.Marshal(resultOf(t, nil))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"hop", "kind", "findings", "attempts", "served_by", "callers", "callees", "owner", "retries", "timeouts", "orphans", "calls"} {
		if _, ok := m[key]; !ok {
			t.Errorf("no %s in %s", key, b)
		}
	}
}

// retired are words that the page no longer has.
func TestNoRetiredWordIsUsed(t *testing.T) {
	got := " " + strings.ToLower(text(resultOf(t, nil))) + " "
	for _, word := range []string{"in vain", "fresh draw", "same slowness", "granted", " wall", " body", " cut", "the rest as in"} {
		if strings.Contains(got, word) {
			t.Errorf("%q in\n%s", word, got)
		}
	}
}
