package report_test

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

const (
	us = int64(1000)
	ms = 1000 * us
	s  = 1000 * ms
)

// run is what one run found; sections that were not asked for are nil.
type run struct {
	Input     ingest.Summary
	Quantiles []quantile.P
	Hops      []buckets.Result
	Orphans   *orphans.Result
	Owner     *attribution.Result
	Retries   *retries.Result
	Timeouts  *timeouts.Result

	Paths    []string
	TraceURL string
	InFull   bool
}

// report puts the sections together as the command does.
func (r *run) report() *report.Report {
	v := &report.View{Quantiles: r.Quantiles, InFull: r.InFull, Sampling: r.Input.Sampling.Kind, Paths: r.Paths, TraceURL: r.TraceURL}
	out := &report.Report{Sections: []report.Section{r.Input.Section()}}
	add := func(asked bool, section func() report.Section) {
		if asked {
			out.Sections = append(out.Sections, section())
		}
	}
	add(r.Hops != nil, func() report.Section { return buckets.Section(r.Hops, v) })
	add(r.Owner != nil, func() report.Section { return r.Owner.Section(v) })
	add(r.Retries != nil, func() report.Section { return r.Retries.Section(v) })
	add(r.Orphans != nil, func() report.Section { return r.Orphans.Section(v) })
	add(r.Timeouts != nil, func() report.Section { return r.Timeouts.Section(v) })
	return out
}

// worlds are the runs of the golden files.
var worlds = []struct {
	name string
	run  func() *run
}{
	{"simple", simple},
	{"cut_tail", cutTail},
	{"configured", configured},
	{"many_hops", manyHops},
	{"all_cut", allCut},
	{"nothing", nothing},
	{"scales", scales},
	{"failures", failures},
	{"retries", retried},
	{"kaplan_meier", kaplanMeierWorld},
	{"estimated", estimated},
	{"rejects", rejects},
	{"traces", traces},
	{"chain", chain},
	{"unknown", unknownSample},
	{"weighted", weightedSample},
	{"biased", biasedSample},
	{"orphaned", orphaned},
	{"uncheckable", uncheckable},
	{"owned", owned},
	{"unowned", unowned},
	{"unmeasured", unmeasured},
	{"retrying", retrying},
	{"hopeless", hopeless},
	{"unretried", unretried},
}

func probabilities(texts ...string) []quantile.P {
	var ps []quantile.P
	for _, text := range texts {
		ps = append(ps, quantile.MustP(text))
	}
	return ps
}

func inputOf(records int64) ingest.Summary {
	return ingest.Summary{
		Files: []ingest.FileSummary{{
			Path: "logs/calls.ndjson", Format: "ndjson", Compression: "none", Bytes: records * 97,
			Records: records, Accepted: records, Complete: true,
			Fields: map[string]string{"hop": "hop", "duration": "duration_ms", "truncated": "truncated"},
		}},
		Records: records, Accepted: records, TimeBasis: "none", Unit: "ms", TruncationMarks: "field",
		Sampling: ingest.Sampling{Kind: "none"},
	}
}

// summary is the description of a few values by sorting them.
func summary(ps []quantile.P, values ...int64) quantile.Summary {
	n := uint64(len(values))
	if n == 0 {
		return quantile.Summary{}
	}
	slices.Sort(values)
	sum := quantile.Summary{Asked: ps, N: n, Min: values[0], Max: values[n-1]}
	total := int64(0)
	for _, v := range values {
		total += v
	}
	sum.Mean = (total + int64(n)/2) / int64(n)
	for _, p := range ps {
		sum.Quantiles = append(sum.Quantiles, values[p.Rank(n)-1])
	}
	return sum
}

func first(s quantile.Summary) buckets.Bucket { return buckets.Bucket{All: s, First: s} }

func exact(p quantile.P, n uint64, value int64) buckets.Tail {
	return buckets.Tail{Tail: quantile.Tail{P: p, N: n, Rank: p.Rank(n), Status: quantile.Exact, Value: value}}
}

func atLeastTail(p quantile.P, n uint64, value int64, reason string) buckets.Tail {
	t := exact(p, n, value)
	t.Status, t.Reason = quantile.AtLeast, reason
	return t
}

func noValueTail(p quantile.P, n uint64, reason string) buckets.Tail {
	t := atLeastTail(p, n, 0, reason)
	t.Status = quantile.NoValue
	return t
}

// hop is one whose attempts all completed, at these values.
func hop(name string, ps []quantile.P, values ...int64) buckets.Result {
	n := uint64(len(values))
	sum := summary(ps, values...)
	h := buckets.Result{
		Hop: spans.Hop{Name: name}, Attempts: n, FirstAttempts: n, Completed: first(sum), Recorded: first(sum),
		Truncated: cutOnly(cuts(0, 0, 0, 0)), Confidence: quantile.MustP("0.95"),
		TruncatedShare: buckets.Share{Of: n, Upper: 0.0149},
	}
	for i, p := range ps {
		h.Tail = append(h.Tail, exact(p, n, sum.Quantiles[i]))
	}
	return h
}

func cutOnly(by buckets.CutCounts) buckets.Truncated { return buckets.Truncated{CutBy: by} }

func cuts(own, below, caller, unknown uint64) []buckets.CutCount {
	return []buckets.CutCount{{By: spans.Own, N: own}, {By: spans.Below, N: below}, {By: spans.Caller, N: caller}, {By: spans.CutUnknown, N: unknown}}
}

func simple() *run {
	ps := probabilities("0.5", "0.95", "0.99")
	h := hop("checkout", ps, 120*ms, 80*ms, 95*ms, 240*ms)
	h.Tail[2].IsMaximum = true
	h.Warnings = []note.Warning{{Code: "is_maximum", Text: "p99 of 4 attempts is their maximum"}}
	return &run{Input: inputOf(4), Quantiles: ps, Hops: []buckets.Result{h}}
}

var fivePs = []string{"0.5", "0.9", "0.95", "0.99", "0.999"}

func inMs(values ...int64) []int64 {
	for i := range values {
		values[i] *= ms
	}
	return values
}

// generate is batch 1: 33 of 200 attempts cut by a timeout of 5 s, which each
// logged about 5.7 s.
func generate() buckets.Result {
	ps := probabilities(fivePs...)
	return buckets.Result{
		Hop: spans.Hop{Name: "generate"}, Attempts: 200, FirstAttempts: 200,
		Completed:      first(quantile.Summary{Asked: ps, N: 167, Mean: 1035425150, Min: 349 * ms, Max: 2026 * ms, Quantiles: inMs(922, 1583, 1757, 2011, 2026)}),
		Truncated:      buckets.Truncated{CutBy: cuts(33, 0, 0, 0), Bucket: first(quantile.Summary{Asked: ps, N: 33, Mean: 5729818182, Min: 5703 * ms, Max: 5770 * ms, Quantiles: inMs(5728, 5760, 5763, 5770, 5770)})},
		Recorded:       first(quantile.Summary{Asked: ps, N: 200, Mean: 1810 * ms, Min: 349 * ms, Max: 5770 * ms, Quantiles: inMs(1079, 5717, 5737, 5762, 5770)}),
		Confidence:     quantile.MustP("0.95"),
		TruncatedShare: buckets.Share{Count: 33, Of: 200, Value: 0.165, Lower: 0.12328, Upper: 0.21435},
	}
}

func cutTail() *run {
	h, ps := generate(), probabilities(fivePs...)
	h.Walls = []buckets.Wall{{Source: buckets.Inferred, Count: 33, From: 2026 * ms, To: 5703 * ms}}
	why := "33 of 200 first attempts timed out (16.5 %; one-sided 95 % limits 12.3 % and 21.4 %), more than lie beyond "
	remedy := "; timeout between 2.026 s and 5.703 s (set --timeout generate=T); highest certifiable quantile p78; a canary with a raised timeout needs first attempts: 29 for p90, 59 for p95, 299 for p99, 2995 for p99.9"
	h.Tail = []buckets.Tail{exact(ps[0], 200, 1079*ms)}
	for _, p := range ps[1:] {
		h.Tail = append(h.Tail, atLeastTail(p, 200, 2026*ms, why+p.Label()+remedy))
	}
	h.Tail[4].IsMaximum = true
	return &run{Input: inputOf(200), Quantiles: ps, Hops: []buckets.Result{h}}
}

func configured() *run {
	r := cutTail()
	h := &r.Hops[0]
	wall := 5 * s
	h.Walls = []buckets.Wall{{Timeout: &wall, Source: buckets.Configured, Count: 33, From: wall, To: wall}}
	for i := range h.Tail[1:] {
		h.Tail[i+1].Value = wall
		h.Tail[i+1].Reason = "33 of 200 first attempts timed out at 5 s, more than lie beyond this quantile: raise the timeout for a few requests to see further"
	}
	lower, upper := 1*s, 1200*ms
	h.Tail[0].Lower, h.Tail[0].Upper = &lower, &upper
	return r
}

// hostileNames are what a log may bring that should not reach a terminal, a
// spreadsheet or a browser.
var hostileNames = []string{
	"\x1b[2J\x1b[31mred", "=HYPERLINK(\"http://x\",\"y\")", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a\nb", "a|b", "`code`",
	"<script>alert(1)</script>", "[text](javascript:alert(1))", "**bold** _em_ \\", "\u202egpj.exe", "\u2066x\u2069", "bad\xffbyte", "\u009b31m",
	"zero\u200bwidth\ufeff", "line\u2028sep", "tag\U000e0041", "a&lt;b", `"quoted", comma`, "null\x00",
}

func manyHops() *run {
	ps := probabilities("0.5", "0.99")
	r := &run{Input: inputOf(4000), Quantiles: ps}
	names := append([]string{
		"GET /v1/items", "数据库查询", "검색 서비스", "🛒 cart", "👩‍👩‍👧 family", "naïve",
		"a-very-long-service-name-in-a-very-long-namespace.svc.cluster.local POST /api/v1/things/{id}/parts/{part}/owner",
	}, hostileNames...)
	for i, name := range names {
		h := hop(name, ps, int64(i+1)*7*ms, int64(i+1)*1234*us)
		if i%3 == 0 {
			h.Kind, h.Service, h.Operation = spans.Client, "svc", name
		}
		r.Hops = append(r.Hops, h)
	}
	r.Hops[1].Warnings = []note.Warning{{Code: "cut_marks_missing", Text: "no mark in the input says which attempts timed out"}}
	r.Hops[2].Warnings = r.Hops[1].Warnings
	return r
}

func allCut() *run {
	ps := probabilities("0.5", "0.99")
	sum := summary(ps, 4001*ms, 4009*ms, 4003*ms)
	h := buckets.Result{
		Hop: spans.Hop{Name: "llm"}, Attempts: 3, FirstAttempts: 3, Truncated: buckets.Truncated{Bucket: first(sum), CutBy: cuts(2, 0, 1, 0)}, Recorded: first(sum),
		Confidence:     quantile.MustP("0.95"),
		TruncatedShare: buckets.Share{Count: 3, Of: 3, Value: 1, Lower: 0.3684, Upper: 1},
		Walls:          []buckets.Wall{{Source: buckets.Inferred, Count: 2, From: 0, To: 4001 * ms}},
	}
	for _, p := range ps {
		h.Tail = append(h.Tail, noValueTail(p, 3, "no completion observed; timeouts recorded at 4001..4009 ms: set --timeout llm=T to have a lower bound"))
	}
	return &run{Input: inputOf(3), Quantiles: ps, Hops: []buckets.Result{h}}
}

// nothing has a hop without a single sample.
func nothing() *run {
	ps := probabilities("0.5")
	return &run{Input: inputOf(1), Quantiles: ps, Hops: []buckets.Result{{
		Hop: spans.Hop{Name: "queue"}, Attempts: 1, FirstAttempts: 1, Unfinished: 1, Truncated: cutOnly(cuts(0, 0, 0, 0)), Confidence: quantile.MustP("0.95"),
		Tail: []buckets.Tail{noValueTail(ps[0], 0, "no first attempt completed or timed out")},
	}}}
}

func scales() *run {
	ps := probabilities("0.5", "0.99")
	return &run{Input: inputOf(7), Quantiles: ps, Hops: []buckets.Result{
		hop("cache", ps, 180, 950), hop("disk", ps, 45*us+250, 2*ms), hop("render", ps, 3*s, 4*s+1, 5*s),
	}}
}

func failures() *run {
	ps := probabilities("0.5", "0.95")
	h := hop("payment", ps, 20*ms, 30*ms, 40*ms)
	failed := summary(ps, 1*ms, 2*ms, 900*us)
	h.Attempts, h.FirstAttempts, h.FailedShare = 6, 6, 0.5
	h.Failed.Bucket = first(failed)
	h.Recorded = first(summary(ps, 20*ms, 30*ms, 40*ms, 1*ms, 2*ms, 900*us))
	h.Failed.Kinds = []buckets.FailureCount{{Kind: spans.Refused, N: 2}, {Kind: spans.ServerError, N: 1}}
	h.Warnings = []note.Warning{{Code: "failures_exceed_p", Text: "half of the first attempts failed: the quantiles describe the other half"}}
	return &run{Input: inputOf(6), Quantiles: ps, Hops: []buckets.Result{h}}
}

func retried() *run {
	ps := probabilities("0.5", "0.9")
	h := hop("search", ps, 100*ms, 110*ms, 120*ms)
	h.Attempts, h.Retries, h.FirstAttempts = 7, 2, 5
	again, gone := summary(ps, 130*ms), summary(ps, 1003*ms, 1001*ms, 1002*ms)
	h.Completed.Retries, h.Completed.All = again, summary(ps, 100*ms, 110*ms, 120*ms, 130*ms)
	h.Truncated.Bucket = buckets.Bucket{All: gone, First: summary(ps, 1003*ms, 1001*ms), Retries: summary(ps, 1002*ms)}
	h.Recorded = buckets.Bucket{
		All:   summary(ps, 100*ms, 110*ms, 120*ms, 130*ms, 1003*ms, 1001*ms, 1002*ms),
		First: summary(ps, 100*ms, 110*ms, 120*ms, 1003*ms, 1001*ms), Retries: summary(ps, 130*ms, 1002*ms),
	}
	h.Truncated.CutBy = cuts(1, 1, 0, 1)
	h.TruncatedShare = buckets.Share{Count: 2, Of: 5, Value: 0.4, Lower: 0.0764, Upper: 0.8107}
	wall := 1 * s
	h.Walls = []buckets.Wall{
		{Timeout: &wall, Source: buckets.Recorded, Count: 1, From: wall, To: wall},
		{Source: buckets.Inferred, Count: 1, From: 120*ms + 1, To: 1001*ms + 1},
	}
	h.Tail = []buckets.Tail{exact(ps[0], 5, 120*ms), atLeastTail(ps[1], 5, 1*s, "2 of 5 first attempts timed out at 1 s: raise the timeout to see further")}
	return &run{Input: inputOf(7), Quantiles: ps, Hops: []buckets.Result{h}}
}

func kaplanMeierWorld() *run {
	r := retried()
	km := 1234567 * us
	r.Hops[0].Tail[1].KM = &km
	return r
}

func rejects() *run {
	r := simple()
	r.Input.Files = append(r.Input.Files, ingest.FileSummary{Path: "logs/\x1b[31mz.csv.gz", Format: "csv", Compression: "gzip", Records: 5, Rejected: 4, Blank: 1})
	r.Input.Records, r.Input.Rejected, r.Input.Blank = 9, 4, 1
	r.Input.Rejects = []ingest.RejectCount{
		{Reason: format.BadDuration, Count: 3, First: ingest.Reject{File: "logs/z.csv.gz", Line: 2, Offset: 31, Reason: format.BadDuration, Detail: "duration \"=1|\x1b[2J\" is not a number"}},
		{Reason: format.Malformed, Count: 1, First: ingest.Reject{File: "logs/z.csv.gz", Offset: 99, Reason: format.Malformed}},
	}
	r.Input.Warnings = []note.Warning{{Code: "time_basis_assumed", Text: "the timestamp was taken as the end of an attempt: --time-is start if it is the start"}}
	return r
}

// servedHop is a hop of a trace; in traces a variable hides the package that names kinds.
var servedHop = spans.Hop{Name: "shop checkout", Service: "shop", Operation: "checkout", Kind: spans.Server}

func traces() *run {
	r := simple()
	n, spans, dropped := int64(1), int64(4), int64(2)
	r.Input.Traces, r.Input.Spans, r.Input.DuplicatesDropped = &n, &spans, &dropped
	r.Input.Sampling = ingest.Sampling{Kind: "biased", Evidence: "sampler.type=ratelimiting"}
	r.Hops[0].Hop = servedHop
	return r
}

// chain has hops of very different kinds on one page.
func chain() *run {
	r, ps := configured(), probabilities(fivePs...)
	checkout := hop("checkout", ps, 2100*us, 2900*us, 3*ms, 1850*us, 12*ms)
	payment := hop("payment", ps, 20*ms, 30*ms, 40*ms)
	payment.Failed.Bucket = first(summary(ps, 1*ms, 2*ms, 900*us))
	payment.Recorded = first(summary(ps, 20*ms, 30*ms, 40*ms, 1*ms, 2*ms, 900*us))
	payment.FailedShare, payment.Failed.Kinds = 0.5, []buckets.FailureCount{{Kind: spans.Throttled, N: 3}}
	for _, h := range []*buckets.Result{&checkout, &payment} {
		h.Tail[3].IsMaximum, h.Tail[4].IsMaximum = true, true
	}
	search := hop("search", ps, 100*ms, 110*ms, 120*ms)
	search.Retries, search.Completed.All, search.Completed.Retries = 1, summary(ps, 100*ms, 110*ms, 120*ms, 130*ms), summary(ps, 130*ms)
	search.Recorded = search.Completed
	r.Hops = []buckets.Result{checkout, r.Hops[0], payment, search}
	return r
}

// unknownSample is one of traces that may have been chosen by how they went.
func unknownSample() *run {
	r := cutTail()
	r.Input.Sampling = ingest.Sampling{Kind: "unknown", Evidence: "traces, and nothing in them says how they were chosen"}
	r.Input.Warnings = []note.Warning{{Code: "suspected_biased_sample", Text: "200 traces are a round number"}}
	return r
}

// weightedSample has a hop whose traces have different weights.
func weightedSample() *run {
	r := cutTail()
	h := &r.Hops[0]
	r.Input.Sampling = ingest.Sampling{Kind: "probability", Evidence: "every trace carries its probability: 0.1 to 1"}
	h.Effective = 87
	h.TruncatedShare = buckets.Share{Count: 33, Of: 200, Value: 0.04, Lower: 0.0157, Upper: 0.0957}
	h.Warnings = []note.Warning{{Code: "weighted", Text: "weighted: 200 first attempts are worth 87 equal ones (n_eff)"}}
	for i := range h.Tail {
		h.Tail[i].Effective, h.Tail[i].UpperRank = 87, 88
	}
	h.Tail[0].Reason = "no upper limit from 200 first attempts worth 87 equal ones (n_eff): only in JSON and CSV"
	return r
}

// biasedSample has no value that speaks of anything but itself.
func biasedSample() *run {
	r, ps := retried(), probabilities("0.5", "0.9")
	r.Input.Sampling = ingest.Sampling{Kind: "biased", Evidence: "--sampling biased"}
	h := &r.Hops[0]
	h.Biased, h.Failed.Bucket = true, first(summary(ps, 1*ms))
	h.TruncatedShare = buckets.Share{Count: 2, Of: 5}
	for i, p := range ps {
		h.Tail[i] = noValueTail(p, 5, "biased sample: what was kept was chosen by how it went")
	}
	for _, b := range []*buckets.Bucket{&h.Completed, &h.Truncated.Bucket, &h.Failed.Bucket, &h.Recorded} {
		for _, s := range []*quantile.Summary{&b.All, &b.First, &b.Retries} {
			s.Mean, s.Quantiles, s.Biased = 0, nil, true
		}
	}
	return r
}

// estimated is a hop whose wall hides two quantiles: of one a model may speak, of
// the other it may not. Of a second the servers are known besides.
func estimated() *run {
	r := retried()
	h := &r.Hops[0]
	gates := func(far float64) []fit.Judgement {
		return []fit.Judgement{
			{Gate: fit.EnoughExceedances, Figure: 212, Limit: 50, Passed: true}, {Gate: fit.NotTooFar, Figure: far, Limit: 5, Passed: far <= 5},
			{Gate: fit.FiniteMean, Figure: -.13524946, Limit: 1, Passed: true}, {Gate: fit.FitsBelow, Figure: .6343, Limit: 1, Passed: true},
			{Gate: fit.SeenNearWall, Figure: 1.003, Limit: 1.5, Passed: true}, {Gate: fit.OneWall, Figure: 1, Limit: 1, Passed: true},
		}
	}
	h.Tail[1].Estimate = &fit.Estimate{
		Value: new(1234 * ms), Bound: new(2871230 * us), F: 1.06, Xi: -.13524946, A2: new(.4420679), Fitted: true, Gates: gates(1.06),
		Models: []fit.Model{
			{Name: fit.Pareto, Value: new(1234 * ms), Bound: new(1327450 * us)},
			{Name: fit.Weibull, Value: new(1242 * ms), Bound: new(1327180 * us)}, {Name: fit.Lognormal, Value: new(2565 * ms), Bound: new(2871230 * us)},
		},
	}
	far, served, gap := *h, *h, *h
	far.Name, served.Name, gap.Name = "far", "served", "gap"
	tails := func(of *buckets.Result) *buckets.Tail {
		of.Tail = append([]buckets.Tail(nil), of.Tail...)
		return &of.Tail[1]
	}
	tails(&far).Estimate = &fit.Estimate{F: 53, Xi: -.13524946, Fitted: true, Gates: gates(53)}
	tails(&served).ServerSide = &buckets.ServerSide{Value: new(1500 * ms), Coverage: buckets.Coverage{N: 73, Of: 73}}
	of := tails(&gap)
	of.ServerSide = &buckets.ServerSide{Coverage: buckets.Coverage{N: 3, Of: 73}, Selected: true}
	of.Estimate = &fit.Estimate{F: math.Inf(1), Gates: []fit.Judgement{
		{Gate: fit.EnoughExceedances, Figure: 12, Limit: 50}, {Gate: fit.NotTooFar, Figure: math.Inf(1), Limit: 5},
		{Gate: fit.SeenNearWall, Figure: 2.814, Limit: 1.5}, {Gate: fit.OneWall, Figure: 2, Limit: 1},
	}}
	r.Hops = append(r.Hops, far, served, gap)
	return r
}
