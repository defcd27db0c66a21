package findings

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

const ms = 1_000_000

var (
	p95    = quantile.MustP("0.95")
	shop   = spans.Hop{Name: "shop call stock", Service: "shop", Operation: "call stock", Kind: spans.Client}
	stock  = spans.Hop{Name: "stock GET", Service: "stock", Operation: "GET", Kind: spans.Server}
	orders = spans.Hop{Name: "orders"}
)

// row is a hop of which some first attempts timed out and some failed.
func row(h spans.Hop, n, cut, failed uint64) buckets.Result {
	r := buckets.Result{Hop: h, Attempts: n, FirstAttempts: n, Confidence: p95}
	r.Truncated.All.N, r.Truncated.First.N = cut, cut
	r.Failed.First.N, r.FailedShare = failed, jsontype.Number(float64(failed)/float64(n))
	r.Truncated.CutBy = buckets.CutCounts{{By: spans.Own, N: cut}}
	r.Recorded.All.N, r.Recorded.All.Mean = n, 20*ms
	lower, upper := quantile.ClopperPearson(cut, n-failed, p95)
	r.TruncatedShare = buckets.Share{Count: cut, Of: n - failed, Value: float64(cut) / float64(n-failed), Lower: lower, Upper: upper}
	return r
}

func warning(r buckets.Result, code, text string) buckets.Result {
	r.Warnings = append(r.Warnings, note.Warning{Code: code, Text: text})
	return r
}

func owner(total, fails uint64, at string) *attribution.Result {
	o := &attribution.Result{Outcomes: jsontype.List[attribution.OutcomeCount]{{Outcome: attribution.Success, N: total - fails}, {Outcome: attribution.Cut, N: fails}}}
	if fails > 0 {
		o.Failures.N = fails
		o.Failures.ByHop = jsontype.List[attribution.HopCount]{{Hop: at, N: fails}}
	}
	return o
}

// spreadOver has 1000 requests, of which some fail, each at a hop of its own.
func spreadOver(fails uint64) *attribution.Result {
	o := owner(1000, fails, "")
	o.Failures.ByHop = nil
	for i := range fails {
		o.Failures.ByHop = append(o.Failures.ByHop, attribution.HopCount{Hop: "hop " + string(rune('a'+i)), N: 1})
	}
	return o
}

func pointer[T any](v T) *T { return &v }

// worlds is what each code finds, and the severity and text of the finding.
var worlds = []struct {
	name string
	in   Input
	want string // of the finding of that code
	code Code
}{
	{"a file broke off", Input{Incomplete: []string{"a.json is incomplete"}}, "fail: A.json is incomplete.", InputIncomplete},
	{"one request in ten fails", Input{Hops: []buckets.Result{row(orders, 200, 0, 20)}, Owner: owner(200, 20, "orders")},
		"fail: 10 % of requests fail (20 of 200), all at orders.", RequestsFail},
	{"few requests fail", Input{Hops: []buckets.Result{row(orders, 2000, 0, 10)}, Owner: owner(2000, 10, "orders")},
		"warn: 0.5 % of requests fail (10 of 2000), all at orders.", RequestsFail},
	{"hardly a request fails", Input{Hops: []buckets.Result{row(orders, 9000, 0, 1)}, Owner: owner(9000, 1, "orders")},
		"info: <0.1 % of requests fail (1 of 9000), at orders.", RequestsFail},
	{"requests fail at many hops", Input{Owner: spreadOver(20)}, "fail: 2 % of requests fail (20 of 1000), spread over 20 hops.", RequestsFail},
	{"calls fail that name no request", Input{Hops: []buckets.Result{row(orders, 100, 20, 10)}},
		"fail: 30 % of calls (30 of 100; 95 % limits 22.4 % to 38.5 %) time out or fail at orders.", RequestsFail},
	{"p95 is surely hidden", Input{Hops: []buckets.Result{row(orders, 200, 33, 0)}}, "fail: orders: your p95 is the timeout, not the latency.", QuantileHidden},
	{"only p99 is", Input{Hops: []buckets.Result{row(orders, 1000, 30, 0)}}, "warn: orders: your p99 is the timeout, not the latency.", QuantileHidden},
	{"only p99.9 is", Input{Hops: []buckets.Result{row(orders, 10000, 30, 0)}}, "info: orders: your p99.9 is the timeout, not the latency.", QuantileHidden},
	{"no quantile surely is", Input{Hops: []buckets.Result{row(orders, 10000, 3, 0)}}, "", QuantileHidden},
	{"a hop owns the tail", Input{Owner: &attribution.Result{Owner: &orders, Tail: attribution.Side{Traces: 30},
		Hops: []attribution.Hop{{Hop: orders, Share: pointer(.97), Lower: pointer(.9456), Upper: pointer(1.02)}}}},
		"info: orders owns the tail: at least 94.5 % of the extra time of slow requests.", TailOwner},
	{"no hop surely does", Input{Owner: &attribution.Result{Excess: 5, Hops: []attribution.Hop{
		{Hop: orders, Excess: 4, Share: pointer(.658), Lower: pointer(.3712), Upper: pointer(.931)}, {Hop: stock, Excess: 1, Share: pointer(.3)}}}},
		"info: Slow requests: no single owner (orders 65.8 % of the extra time, 37.1 % to 93.1 %).", OwnerUnsure},
	{"a queue before workers", called(calls.Pair{Verdict: calls.PoolFull, Side: calls.CalleeSide, N: 100, Figures: calls.Figures{Waited: 90, GapP50: 129 * ms, WorkP50: 12 * ms, Size: pointer(3), ForSeventy: pointer(5)}}),
		"warn: The 3 workers of stock are all taken: 90 of 100 calls wait, 129 ms (p50) for 12 ms of work.", PoolFull},
	{"work that takes long", called(calls.Pair{Verdict: calls.SlowWork, Figures: calls.Figures{Slow: 9, WorkP50: 12 * ms, WorkP50Slow: 90 * ms}}),
		"warn: The work of stock takes long: 90 ms in slow calls (p50), 12 ms in all.", SlowWork},
	{"time between the two sides", called(calls.Pair{Verdict: calls.NetworkOrClock, Figures: calls.Figures{Slow: 9, WorkP50: 12 * ms, GapP50: 90 * ms}}),
		"warn: The time of shop → stock is between the two sides, and nothing queues: 90 ms there (p50), 12 ms at work.", NetworkOrClock},
	{"time before the request", called(calls.Pair{Verdict: calls.CallerSide, Figures: calls.Figures{Slow: 9, WorkP50: 12 * ms, GapP50: 90 * ms}}),
		"warn: The time of shop → stock is spent before the request is sent: 90 ms (p50), while stock works 12 ms.", CallerSide},
	{"one instance works longer", called(calls.Pair{Verdict: calls.SlowInstance, Figures: calls.Figures{Slow: 9, Instance: pointer("b"), InstanceRatio: pointer(4.25), InstanceSlow: pointer(.9)}}),
		"warn: One instance of stock is slow, b: its work takes 4.25 times that of the others (p50), and it has 90 % of the slow calls.", SlowInstance},
	{"one instance is slow", Input{Owner: &attribution.Result{Owner: &orders, InstancesOf: attribution.SlowNode,
		Instances: jsontype.List[attribution.Instance]{{Instance: "a", N: 3, Share: .1}, {Instance: "b", N: 27, Share: .9, BodyShare: .5}}}},
		"warn: orders is slow on one instance, b: it has 90 % of the slow requests and 50 % of the typical ones.", SlowInstance},
	{"as many fail as lie beyond a quantile", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 10), "failures_exceed_p", "text")}},
		"warn: orders: 10 % of the calls fail, and the tail is that of the others.", FailuresHide},
	{"attempts pile up", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 0), "suspected_unmarked_wall", "9 lie at 5 s")}},
		"warn: orders: 9 lie at 5 s.", SuspectedTimeout},
	{"messages speak of timeouts where none is marked", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 9), "timeouts_in_messages", "9 have")}},
		"warn: orders: 9 have.", SuspectedTimeout},
	{"messages beside marked timeouts", Input{Hops: []buckets.Result{warning(row(stock, 100, 0, 9), "timeouts_in_messages", "9 have"), row(shop, 100, 9, 0)}},
		"info: stock GET: 9 have.", SuspectedTimeout},
	{"nothing is marked", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 0), "cut_marks_missing", "text")}},
		"warn: Nothing in the input says which calls timed out: they would stand here as completed.", MarksMissing},
	{"one hop is not marked", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 0), "cut_marks_missing", "text"), row(shop, 100, 9, 0)}},
		"warn: Nothing says which calls of orders timed out: they would stand here as completed.", MarksMissing},
	{"marks are wrong", Input{Hops: []buckets.Result{warning(row(orders, 100, 5, 0), "wrong_marks", "5 are marked")}}, "warn: orders: 5 are marked.", WrongMarks},
	{"work is orphaned", Input{Hops: []buckets.Result{row(shop, 100, 10, 0), row(stock, 100, 0, 0)}, Orphans: orphaned(orphans.Pair{Orphaned: 10, Wasted: 500 * ms}),
		Names: NewNames([]spans.Hop{shop, stock}, []neighbors.Pair{{Above: shop, Below: stock, N: 100}})},
		"warn: 25 % of the work of stock (500 ms of 2 s) is for callers that have gone: 10 orphans.", OrphanedWork},
	{"a little work is", Input{Hops: []buckets.Result{row(shop, 100, 10, 0), row(stock, 100, 0, 0)}, Orphans: orphaned(orphans.Pair{Orphaned: 1, Wasted: 50 * ms})},
		"info: 2.5 % of the work of stock GET (50 ms of 2 s) is for callers that have gone: 1 orphan.", OrphanedWork},
	{"callees do not stop", Input{Orphans: orphaned(orphans.Pair{Cancellation: orphans.Cancellation{Honours: orphans.HonoursNo, RanOn: 77, Upper: .03816}})},
		"warn: 0 of 77 that were at work when the caller gave up stopped within 50 ms (at most 3.82 % do).", CancelIgnored},
	{"timeouts are inverted", Input{Timeouts: &timeouts.Result{Inversions: jsontype.List[timeouts.Inversion]{{Parent: shop, Child: orders, ParentNS: 300 * ms, ChildNS: 400 * ms}}}},
		"warn: shop call stock waits 300 ms for a call that may take longer: orders, 400 ms.", TimeoutsInverted},
	{"calls come near the timeout", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, NearTimeout: retries.Near{Count: retries.Count{N: 10, Of: 100}}}}}},
		"warn: orders: 10 % of the completed calls use more than 80 % of the timeout (10 of 100).", NearTimeout},
	{"five in a hundred are none too many", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, NearTimeout: retries.Near{Count: retries.Count{N: 5, Of: 100}}}}}}, "", NearTimeout},
	{"a timeout is certified", Input{Timeouts: &timeouts.Result{Settings: timeouts.Settings{FalseTimeout: 1_000_000}, Hops: jsontype.List[timeouts.Hop]{{Hop: orders, Evidence: timeouts.Certified, Timeout: pointer(int64(150 * ms))}}}},
		"info: orders: a timeout of 150 ms would needlessly time out at most 0.1 % of the calls.", TimeoutAdvice},
	{"retries do not help", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, Rescue: retries.Rescue{Count: retries.Count{N: 1, Of: 50}, Upper: .0913, Verdict: retries.SameSlowness}}}}},
		"warn: Retries of orders do not help: 1 of 50 calls that timed out completed then (at most 9.13 %).", RetriesNoHelp},
	{"a request becomes many attempts", Input{Retries: &retries.Result{Amplification: retries.Amplification{Possible: 27, Layers: jsontype.List[retries.Layer]{{Hop: shop}, {Hop: orders}}}}},
		"fail: One request may become 27 attempts: shop call stock and orders retry.", RetriesAmplify},
	{"two layers retry", Input{Retries: &retries.Result{Warnings: jsontype.List[note.Warning]{{Code: "several_layers_retry", Text: "text"}}, Amplification: retries.Amplification{Possible: 4, Layers: jsontype.List[retries.Layer]{{Hop: shop}, {Hop: orders}}}}},
		"warn: One request may become 4 attempts: shop call stock and orders retry.", RetriesAmplify},
	{"a minute is full of retries", Input{Retries: &retries.Result{Ratio: retries.Ratio{Worst: retries.Count{N: 60, Of: 200}}}},
		"warn: In the minute from 1970-01-01T00:00:00Z, 60 retries came to 200 first attempts.", RetryStorm},
	{"a minute has some", Input{Retries: &retries.Result{Ratio: retries.Ratio{Worst: retries.Count{N: 22, Of: 200}}}}, "", RetryStorm},
	{"retries wait the same", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, Backoff: retries.Backoff{N: 30, P50: pointer(int64(20 * ms)), Jitter: retries.NoJitter}}}}},
		"warn: Retries of orders all wait the same 20 ms: clients that fail together come back together.", RetriesInStep},
	{"retries come in pulses", Input{Retries: &retries.Result{InStep: []retries.InStep{{Traces: 40}, {Traces: 9}}, Period: pointer(int64(2e9))}},
		"warn: Retries come in pulses 2 s apart: those of up to 40 requests began within 10 ms.", RetriesInStep},
	{"a write runs twice", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, ExecutedTwice: &retries.Twice{Count: retries.Count{N: 5, Of: 9}, Writes: 4}}}}},
		"fail: 5 of 9 retried calls of orders ran on the server more than once, and 4 look like writes.", ExecutedTwice},
	{"a read runs twice", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, ExecutedTwice: &retries.Twice{Count: retries.Count{N: 5, Of: 9}}}}}},
		"info: 5 of 9 retried calls of orders ran on the server more than once.", ExecutedTwice},
	{"retries come too late", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, TooLate: &retries.Count{N: 7, Of: 9}}}}},
		"warn: 7 of 9 retries of orders began too late to end before the caller gives up.", RetriesTooLate},
	{"a 4xx is retried", Input{Retries: &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: orders, Permanent: 7}}}},
		"warn: 7 retries of orders came after a 4xx, which fails again.", PermanentRetried},
	{"the tail moved", Input{Hops: []buckets.Result{warning(row(orders, 100, 0, 0), "drift", "text")}},
		"warn: The tail moved while this was logged: orders. Its values hold for all of that time together.", Drift},
	{"calls share a connection", Input{Owner: &attribution.Result{Observations: jsontype.List[note.Warning]{{Code: "one_connection", Text: "calls run one after the other"}}}},
		"warn: Calls run one after the other.", OneConnection},
	{"clocks do not tell", Input{Orphans: &orphans.Result{Checkable: true, Counts: orphans.Counts{Orphaned: 1, Doubtful: 5}}},
		"warn: Clocks differ: besides 1 orphan, 5 more are orphans only if the clocks are right.", ClocksDiffer},
	{"traces were chosen", Input{Read: &ingest.Summary{Sampling: ingest.Sampling{Kind: "biased"}}},
		"warn: The traces were chosen by how they went: they say nothing of how often anything happens.", SampleChosen},
	{"parents are missing", Input{Orphans: &orphans.Result{Checkable: true, Counts: orphans.Counts{SpansWithParent: 95, MissingParents: 5}}},
		"warn: 5 % of the spans name a parent that is not in the input (5 of 100): calls and their callers are not put together there.", MissingParents},
	{"one in a hundred is none too many", Input{Orphans: &orphans.Result{Checkable: true, Counts: orphans.Counts{SpansWithParent: 99, MissingParents: 1}}}, "", MissingParents},
	{"a file was given twice", Input{Read: &ingest.Summary{Warnings: jsontype.List[note.Warning]{{Code: "repeated_lines", Text: "a and b share lines"}}}},
		"warn: A and b share lines.", DoubleInput},
	{"names were folded", Input{Read: &ingest.Summary{Warnings: jsontype.List[note.Warning]{{Code: "ids_folded", Text: "ids were folded"}}}},
		"warn: Ids were folded.", NamesFolded},
	{"two calls only", Input{Hops: []buckets.Result{row(orders, 2, 0, 0)}},
		"info: Fewer than 20 calls: orders. These are facts about them, not about the service.", TooFew},
}

// called is a call that owns the tail, with a verdict.
func called(p calls.Pair) Input {
	p.Call, p.Callee = shop, "stock"
	return Input{
		Owner: &attribution.Result{Owner: &shop}, Calls: &calls.Result{Checkable: true, Pairs: []calls.Pair{p}}, Hops: []buckets.Result{row(shop, 100, 0, 0), row(stock, 100, 0, 0)},
		Names: NewNames([]spans.Hop{shop, stock}, []neighbors.Pair{{Above: shop, Below: stock, N: 100}}),
	}
}

// Where another call owns the tail, how the work of this one is slow does not matter; a
// full pool does.
func TestOnlyTheOwnersWorkMatters(t *testing.T) {
	for verdict, want := range map[calls.Verdict]int{calls.PoolFull: 1, calls.SlowWork: 0, calls.NetworkOrClock: 0, calls.CallerSide: 0} {
		in := called(calls.Pair{Verdict: verdict})
		in.Owner.Owner = &orders
		if got := len(List(in)); got != want {
			t.Errorf("%s: %d findings, want %d", verdict, got, want)
		}
	}
}

func orphaned(p orphans.Pair) *orphans.Result {
	p.Parent, p.Child = shop, stock
	return &orphans.Result{Checkable: true, Counts: orphans.Counts{SpansWithParent: 100}, Pairs: jsontype.List[orphans.Pair]{p}}
}

// all are the findings and those joined under them.
func all(list []Finding) (flat []Finding) {
	for _, f := range list {
		flat = append(append(flat, f), f.Joined...)
	}
	return flat
}

func TestEachCodeFindsItsWorld(t *testing.T) {
	for _, w := range worlds {
		w.in.Confidence = p95
		got := ""
		for _, f := range all(List(w.in)) {
			if f.Code == w.code && (got == "" || f.Severity == Fail) {
				got = fmt.Sprintf("%s: %s", f.Severity, f.Text)
			}
		}
		if got != w.want {
			t.Errorf("%s:\n got %s\nwant %s", w.name, got, w.want)
		}
	}
}

func TestEachCodeHasAWorld(t *testing.T) {
	for _, code := range Codes() {
		found := false
		for _, w := range worlds {
			found = found || w.code == code && w.want != ""
		}
		if !found {
			t.Errorf("no world in which %s is found", code)
		}
	}
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// A figure of a sentence is one of Figures, or one of the few that are part of the rule.
func TestFiguresOfSentencesAreInFigures(t *testing.T) {
	ofRules := []string{"80", "70", "50", "10", "95", "20", "1.2", "100", "4", "429", "502", "503", "504", "99", "99.9", "0.1"}
	for _, w := range worlds {
		w.in.Confidence = p95
		for _, f := range List(w.in) {
			known := string(must(json.Marshal(f.Figures)))
			for _, j := range f.Joined {
				known += string(must(json.Marshal(j.Figures)))
			}
			for _, n := range number.FindAllString(strings.Join(slices.Concat([]string{f.Text}, f.Why, f.Cost, f.Do), " "), -1) {
				digits := strings.Trim(strings.ReplaceAll(n, ".", ""), "0")
				if !slices.Contains(ofRules, n) && !near(known, digits) && !fromText(w.in, n) {
					t.Errorf("%s: %s of %q is not in %s", w.name, n, f.Text, known)
				}
			}
		}
	}
}

// near reports whether a figure in JSON begins with these digits, or with others that
// round to them.
func near(figures, digits string) bool {
	for _, n := range number.FindAllString(figures, -1) {
		n = strings.Trim(strings.ReplaceAll(n, ".", ""), "0")
		if strings.HasPrefix(n, digits) {
			return true
		}
		var a, b float64
		fmt.Sscan("0."+n, &a)
		fmt.Sscan("0."+digits, &b)
		if a > 0 && b > 0 && (a/b > .99 && a/b < 1.01) {
			return true
		}
	}
	return false
}

// fromText reports whether a figure is in the text of a warning, which is taken over.
func fromText(in Input, n string) bool {
	text := strings.Join(in.Incomplete, " ")
	for i := range in.Hops {
		for _, w := range in.Hops[i].Warnings {
			text += w.Text
		}
	}
	return strings.Contains(text, n) || n == "1970" || n == "01" || n == "00"
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// A longer timeout is not advised where calls wait for a full pool.
func TestNoCanaryBeforeAFullPool(t *testing.T) {
	for verdict, want := range map[calls.Verdict]bool{calls.PoolFull: false, calls.SlowWork: true} {
		in := called(calls.Pair{Verdict: verdict})
		in.Confidence = p95
		in.Hops = []buckets.Result{row(shop, 100, 20, 0), row(stock, 100, 0, 0)}
		in.Timeouts = &timeouts.Result{Hops: jsontype.List[timeouts.Hop]{{Hop: shop, Canary: &timeouts.Canary{RaiseTo: 400 * ms}}}}
		got := strings.Contains(strings.Join(List(in)[0].Do, " "), "raise its timeout to 400 ms")
		if got != want {
			t.Errorf("%s: advised %v, want %v", verdict, got, want)
		}
	}
}

// What belongs to one call is one finding, headed by the worst.
func TestFindingsOfOneCallAreJoined(t *testing.T) {
	names := NewNames([]spans.Hop{shop, stock}, []neighbors.Pair{{Above: shop, Below: stock, N: 100}})
	in := Input{
		Confidence: p95, Names: names, Hops: []buckets.Result{row(shop, 100, 20, 0), row(stock, 100, 0, 0)}, Owner: owner(100, 20, shop.Name),
		Orphans: orphaned(orphans.Pair{Orphaned: 10, LateStarts: 4, Wasted: 500 * ms, Verdict: orphans.Queue}),
	}
	in.Owner.Owner, in.Owner.Hops = &stock, []attribution.Hop{{Hop: stock, Share: pointer(.99), Lower: pointer(.9), Upper: pointer(1.)}}
	list := List(in)
	if len(list) != 1 {
		t.Fatalf("%d findings: %v", len(list), list)
	}
	f := list[0]
	got := []string{string(f.Code), string(f.Severity), string(f.Hop), f.Text}
	for _, j := range f.Joined {
		got = append(got, string(j.Code))
	}
	want := []string{"requests_fail", "fail", "shop call stock", "20 % of requests fail (20 of 100), all at one call: shop → stock.", "tail_owner", "quantile_is_timeout", "orphaned_work"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(jsontype.List[string]{"shop → stock owns the tail: at least 90 % of the extra time of slow requests.", "shop → stock: your p95 is the timeout, not the latency."}, f.Why); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(jsontype.List[string]{"25 % of the work of stock (500 ms of 2 s) is for callers that have gone: 10 orphans.", "4 of 10 began after the caller had given up."}, f.Cost); d != "" {
		t.Error(d)
	}
	if f.Do[0] != "Give stock more workers, or let it drop calls whose deadline has passed." {
		t.Error(f.Do)
	}
}

// What is built wrong stands before what a timeout hides; late retries are a reason.
func TestCausesStandBeforeWhatTheyCause(t *testing.T) {
	in := Input{
		Confidence: p95, Hops: []buckets.Result{row(shop, 1000, 30, 0), row(stock, 1000, 0, 0)}, Owner: owner(1000, 0, ""),
		Timeouts: &timeouts.Result{Inversions: jsontype.List[timeouts.Inversion]{{Parent: shop, Child: orders, ParentNS: 300 * ms, ChildNS: 400 * ms}}},
		Retries:  &retries.Result{Hops: jsontype.List[retries.Hop]{{Hop: shop, TooLate: &retries.Count{N: 3, Of: 4}}}},
	}
	f := List(in)[0]
	if f.Code != TimeoutsInverted || f.Harmed != 30 {
		t.Errorf("%s harms %d", f.Code, f.Harmed)
	}
	want := jsontype.List[string]{"3 of 4 retries of shop call stock began too late to end before the caller gives up.", "shop call stock: your p99 is the timeout, not the latency."}
	if d := cmp.Diff(want, f.Why); d != "" {
		t.Error(d)
	}
}

// A headline counts all requests that fail where most do at one call.
func TestFailuresAtOneCallAreToldOfAll(t *testing.T) {
	for _, c := range []struct {
		at   [2]uint64
		want []string
	}{
		{[2]uint64{6, 1}, []string{"0.47 % of requests fail (7 of 1500), 6 of them at one call: shop call stock.", "<0.1 % of requests fail (1 of 1500), at orders."}},
		{[2]uint64{7, 0}, []string{"0.47 % of requests fail (7 of 1500), all at one call: shop call stock."}},
		{[2]uint64{30, 30}, []string{"2 % of requests fail (30 of 1500), at one call: shop call stock.", "2 % of requests fail (30 of 1500), at orders."}},
	} {
		in := Input{Confidence: p95, Hops: []buckets.Result{row(shop, 1500, 0, 0), row(orders, 1500, 0, 0)}, Owner: owner(1500, c.at[0]+c.at[1], shop.Name)}
		in.Owner.Failures.ByHop[0].N = c.at[0]
		if c.at[1] > 0 {
			in.Owner.Failures.ByHop = append(in.Owner.Failures.ByHop, attribution.HopCount{Hop: orders.Name, N: c.at[1]})
		}
		var got []string
		for _, f := range List(in) {
			if f.Code == RequestsFail && f.Hop != "" {
				got = append(got, f.Text)
			}
		}
		if d := cmp.Diff(sorted(c.want), sorted(got)); d != "" {
			t.Error(d)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// Whoever stops when told, or of whom that is not known and who wastes little, needs no
// advice to stop.
func TestAdviceToStopIsForThoseWhoDoNot(t *testing.T) {
	for _, c := range []struct {
		honours orphans.Honours
		wasted  int64
		want    bool
	}{
		{orphans.HonoursYes, 500 * ms, false},
		{orphans.HonoursNo, ms, true},
		{orphans.HonoursUnknown, 500 * ms, true},
		{orphans.HonoursUnknown, ms, false},
	} {
		in := Input{Confidence: p95, Hops: []buckets.Result{row(shop, 100, 0, 0), row(stock, 100, 0, 0)},
			Orphans: orphaned(orphans.Pair{Orphaned: 10, Wasted: c.wasted, Cancellation: orphans.Cancellation{Honours: c.honours}})}
		got := false
		for _, f := range all(List(in)) {
			got = got || strings.Contains(strings.Join(f.Do, " "), "Pass the deadline on")
		}
		if got != c.want {
			t.Errorf("%+v: advised %v", c, got)
		}
	}
}

func TestTimeoutThatTheCallsContradictIsToldWithWhatWasSeen(t *testing.T) {
	given := int64(10 * ms)
	r := row(shop, 100, 20, 0)
	r.Truncated.All.Min = 249_800_000
	wall := buckets.Wall{Timeout: &given, Source: buckets.Configured, From: given, To: given}
	if got := Timeout(&r, wall); got != "10 ms" { // clean-up takes time too
		t.Error(got)
	}
	r = warning(r, "wall_does_not_bound", "x")
	if got := Timeout(&r, wall); got != "250 ms seen, 10 ms given" {
		t.Error(got)
	}
}

func TestFindingsAreSorted(t *testing.T) {
	in := Input{
		Confidence: p95, Incomplete: []string{"it is incomplete"}, Hops: []buckets.Result{row(orders, 1000, 0, 30), row(shop, 1000, 0, 20), row(stock, 3, 0, 0)},
		Read:   &ingest.Summary{Sampling: ingest.Sampling{Kind: "unknown"}, Warnings: jsontype.List[note.Warning]{{Code: "ids_folded", Text: "x"}}},
		Others: []Finding{{Code: "pool_full", Severity: Fail, Call: orders, Text: "its pool is full", Harmed: 7}},
	}
	var got []string
	for _, f := range List(in) {
		got = append(got, fmt.Sprintf("%s %s %s %v", f.Severity, f.Code, f.Hop, len(f.Joined)))
	}
	want := []string{"fail input_incomplete  0", "fail requests_fail orders 1", "fail requests_fail shop call stock 0", "warn names_folded  0", "info too_few  0"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNamesOfCalls(t *testing.T) {
	hop := func(name, service string, kind spans.Kind) spans.Hop {
		return spans.Hop{Name: name, Service: service, Kind: kind}
	}
	a1, a2, b1, b2, c := hop("a GET x", "a", spans.Client), hop("a GET y", "a", spans.Client), hop("b x", "b", spans.Server), hop("b y", "b", spans.Server), hop("c", "c", spans.Server)
	for _, w := range []struct {
		name  string
		links []neighbors.Pair
		want  []string
	}{
		{"nothing is known", nil, []string{"a GET x", "a GET y", "b x", "b y", "c"}},
		{"one call of a service", []neighbors.Pair{{Above: a1, Below: b1, N: 9}}, []string{"a → b", "a GET y", "b x", "b y", "c"}},
		{"two calls of one service", []neighbors.Pair{{Above: a1, Below: b1, N: 9}, {Above: a2, Below: b2, N: 9}}, []string{"a → b x", "a → b y", "b x", "b y", "c"}},
		{"two calls of one operation", []neighbors.Pair{{Above: a1, Below: b1, N: 9}, {Above: a2, Below: b1, N: 9}}, []string{"a GET x", "a GET y", "b x", "b y", "c"}},
		{"most go to one", []neighbors.Pair{{Above: a1, Below: b1, N: 1}, {Above: a1, Below: c, N: 9}}, []string{"a → c", "a GET y", "b x", "b y", "c"}},
	} {
		hops := []spans.Hop{a1, a2, b1, b2, c}
		n := NewNames(hops, w.links)
		var got []string
		for _, h := range hops {
			got = append(got, n.Of(h))
		}
		if d := cmp.Diff(w.want, got); d != "" {
			t.Errorf("%s: %s", w.name, d)
		}
	}
}

// docs/findings.md explains every code and no other, each with its four parts.
func TestPageOfFindingsExplainsEveryCode(t *testing.T) {
	text, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []Code
	for section := range strings.SplitSeq(string(text), "\n## ") {
		code, rest, _ := strings.Cut(section, "\n")
		if !strings.HasPrefix(code, "`") {
			continue
		}
		got = append(got, Code(strings.Trim(code, "`")))
		for _, part := range []string{"**Means:**", "**Matters:**", "**Do:**", "**Wrong when:**"} {
			if !strings.Contains(rest, part) {
				t.Errorf("%s has no %s", code, part)
			}
		}
	}
	if d := cmp.Diff(Codes(), got); d != "" {
		t.Errorf("codes of docs/findings.md (-want +got):\n%s", d)
	}
}
