package screen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

const ms = 1_000_000

func hop(name, service string, kind spans.Kind) spans.Hop {
	return spans.Hop{Name: name, Service: service, Kind: kind}
}

var (
	entry   = hop("front GET", "front", spans.Server)
	call    = hop("front call shop", "front", spans.Client)
	shop    = hop("shop GET", "shop", spans.Server)
	work    = hop("shop work", "shop", spans.Internal)
	send    = hop("shop send", "shop", spans.Producer)
	take    = hop("mail take", "mail", spans.Consumer)
	medians = []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.99")}
)

// rowOf is a hop with n calls of which some timed out, because of a call below or not.
func rowOf(h spans.Hop, n, cut uint64, by spans.CutBy, p50, p99 quantile.Tail) buckets.Result {
	r := buckets.Result{Hop: h, Attempts: n, FirstAttempts: n, TruncatedShare: buckets.Share{Count: cut, Of: n, Value: float64(cut) / float64(n)}}
	r.Truncated.All.N, r.Truncated.CutBy = cut, buckets.CutCounts{{By: by, N: cut}}
	r.Tail = jsontype.List[buckets.Tail]{{Tail: p50}, {Tail: p99}}
	return r
}

func exact(ns int64) quantile.Tail   { return quantile.Tail{Status: quantile.Exact, Value: ns} }
func atLeast(ns int64) quantile.Tail { return quantile.Tail{Status: quantile.AtLeast, Value: ns} }
func largest(ns int64) quantile.Tail {
	return quantile.Tail{Status: quantile.Exact, Value: ns, IsMaximum: true}
}

func treeInput() Input {
	return Input{
		Read: &ingest.Summary{}, Quantiles: medians,
		Hops: []buckets.Result{
			rowOf(call, 100, 9, spans.Own, exact(20*ms), atLeast(249_900_000)), rowOf(entry, 100, 9, spans.Below, exact(30*ms), atLeast(260*ms)),
			rowOf(take, 100, 0, spans.Own, exact(5*ms), exact(9*ms)), rowOf(shop, 100, 0, spans.Own, exact(19*ms), exact(400*ms)),
			rowOf(send, 100, 0, spans.Own, exact(1000), exact(2000)), rowOf(work, 100, 0, spans.Own, exact(3*ms), exact(4*ms)),
		},
		Links: []neighbors.Pair{
			{Above: entry, Below: call, N: 100, Awaited: 100}, {Above: call, Below: shop, N: 100, Awaited: 100}, {Above: shop, Below: work, N: 100, Awaited: 100},
			{Above: shop, Below: send, N: 100, Awaited: 100}, {Above: send, Below: take, N: 100},
		},
		Owner: &attribution.Result{Excess: 100, Tail: attribution.Side{Traces: 10}, Hops: []attribution.Hop{
			{Hop: shop, Excess: 60}, {Hop: call, Excess: 20}, {Hop: entry, Excess: 15}, {Hop: work, Excess: 5},
		}},
	}
}

// table is the table of hops as lines of cells.
func table(in Input) (lines []string) {
	in.Names = findings.NewNames(hops(in.Hops), in.Links)
	b := &builder{Input: in}
	b.rows = b.tree()
	k := b.table()
	lines = append(lines, k.Title)
	head := ""
	for _, c := range k.Columns {
		head += c.Head + "|"
	}
	lines = append(lines, head)
	for _, row := range k.Rows {
		line := ""
		for _, c := range row {
			line += strings.TrimSuffix(c.Branch+c.Text+" "+c.Mark, " ") + "|"
		}
		lines = append(lines, line)
	}
	return append(lines, k.Lines...)
}

func hops(rows []buckets.Result) (list []spans.Hop) {
	for i := range rows {
		list = append(list, rows[i].Hop)
	}
	return list
}

func TestCalleesStandUnderTheirCallers(t *testing.T) {
	want := []string{
		"Latency in ms (first attempts)",
		"call|n|timed out|p50|p99|extra time|",
		"front GET|100|9 % ↓|30.0|≥ 260|15 %|",
		" └ shop|100|9 %|20.0|≥ 249|80 %|",
		"    └ shop work|100|0 %|3.0|4.0|5 %|",
		"mail take (async)|100|0 %|5.0|9.0|0 %|",
		"↓ timed out because a call below it did",
	}
	if d := cmp.Diff(want, table(treeInput())); d != "" {
		t.Error(d)
	}
}

func TestExtraTimeThatATimeoutEndedIsABound(t *testing.T) {
	for _, c := range []struct {
		share   float64
		atLeast bool
		want    report.Cell
	}{
		{.94408, false, report.Cell{Text: "94.4 %"}},
		{.94492, true, report.Cell{Text: "≥ 94.4 %", Bound: true}},
		{.00066, false, report.Cell{Text: "<0.1 %"}},
		{.00066, true, report.Cell{Text: "0 %"}},
		{-.01, true, report.Cell{Text: "0 %"}},
		{1.03, true, report.Cell{Text: "100 %"}},
		{.9996, true, report.Cell{Text: "≥ 99.9 %", Bound: true}},
	} {
		if got := extraCell(c.share, c.atLeast); got != c.want {
			t.Errorf("%v, at least %v: %+v", c.share, c.atLeast, got)
		}
	}
	in := treeInput()
	in.Owner.Hops[1].LowerBound = true // of the call, in whose row its server stands too
	if got := table(in)[3]; got != " └ shop|100|9 %|20.0|≥ 249|≥ 80 %|" {
		t.Error(got)
	}
}

func TestOneLineSaysWhatACanaryTakes(t *testing.T) {
	of := func(attempts uint64, takes *int64) *timeouts.Hop {
		return &timeouts.Hop{Canary: &timeouts.Canary{Sizes: []timeouts.Size{{P: medians[1], Attempts: attempts, Takes: takes}}}}
	}
	for want, list := range map[string][]*timeouts.Hop{
		"": {{}},
		"A canary of 299 calls makes p99 known, if none times out: 19.9 s of all traffic.":           {of(299, new(int64(19_889*ms))), of(299, new(int64(19_889*ms)))},
		"A canary of 299 calls makes p99 known, if none times out: 10.6 s to 11.1 s of all traffic.": {of(299, new(int64(11_021*ms))), of(299, new(int64(10_580*ms)))},
		"A canary of 299 to 500 calls makes p99 known, if none times out.":                           {of(299, new(int64(ms))), of(500, nil)},
	} {
		if got := canarySizes(list, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := canarySizes([]*timeouts.Hop{of(299, new(int64(ms)))}, true); got != "A canary of 299 calls makes p99 known, if none times out." {
		t.Error(got)
	}
}

func TestOrphansShownAreThoseOfTheHopsShown(t *testing.T) {
	in := treeInput()
	in.Orphans = &orphans.Result{Checkable: true, Counts: orphans.Counts{Orphaned: 9, Wasted: 90 * ms, WastedUnion: 70 * ms}, Pairs: []orphans.Pair{
		{Parent: call, Child: shop, Orphaned: 1, Wasted: 5 * ms}, {Parent: shop, Child: work, Orphaned: 8, Wasted: 85 * ms}, {Parent: send, Child: take},
	}}
	for _, c := range []struct{ shown, want string }{
		{"", "9 calls worked on after their callers had gone, for 70 ms in all: tailscope orphans"}, // overlapping time once
		{call.Name, "1 call worked on after its caller had gone, for 5 ms: tailscope orphans"},
		{shop.Name, "9 calls worked on after their callers had gone: tailscope orphans"},
		{take.Name, "none"},
	} {
		if in.Shows = nil; c.shown != "" {
			in.Shows = func(h string) bool { return h == c.shown }
		}
		got := "none"
		if k := (&builder{Input: in}).orphans(); k != nil {
			got = k.Lines[0]
		}
		if got != c.want {
			t.Errorf("%s: %s", c.shown, got)
		}
	}
}

func TestMinutesWithoutTrafficAreNotTraffic(t *testing.T) {
	window := int64(936_000 * ms) // 15.6 min
	for _, c := range []struct {
		minutes, calls uint64
		want           string
	}{
		{2, 2700, "traffic in 2 minutes of 15.6 min"},
		{1, 2700, "traffic in 1 minute of 15.6 min"},
		{8, 2700, "15.6 min of traffic"},
		{0, 2700, "15.6 min of traffic"}, // not known
		{5, 20, "15.6 min of traffic"},   // few calls all the time
	} {
		b := &builder{Input: Input{Timeouts: &timeouts.Result{Window: &window}, Retries: &retries.Result{Ratio: retries.Ratio{Minutes: c.minutes, All: retries.Count{Of: c.calls}}}}}
		if got := b.traffic(window); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestSortMakesAListOfTheTree(t *testing.T) {
	for by, want := range map[Sort]string{
		ByShare: "front → shop|front GET|shop work|mail take", ByP99: "front GET|front → shop|mail take|shop work", ByN: "front GET|front → shop|mail take|shop work",
		ByName: "front GET|front → shop|mail take|shop work",
	} {
		in := treeInput()
		in.Sort = by
		var names []string
		for _, line := range table(in)[2:6] {
			name, _, _ := strings.Cut(line, "|")
			names = append(names, name)
		}
		if got := strings.Join(names, "|"); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
}

func TestTopKeepsTheLargestSharesAndTheirCallers(t *testing.T) {
	in := treeInput()
	in.Top = 1
	lines := table(in)
	if d := cmp.Diff([]string{"front GET", " └ shop", "and 2 more: --top all"}, []string{lines[2][:9], lines[3][:len(" └ shop")], lines[4]}); d != "" {
		t.Errorf("%s\n%v", d, lines)
	}
}

func TestHopsShownOnly(t *testing.T) {
	in := treeInput()
	in.Shows = func(name string) bool { return name == work.Name || name == call.Name }
	if lines := table(in); len(lines) != 4 || !strings.HasPrefix(lines[2], "front → shop|") || !strings.HasPrefix(lines[3], " └ shop work|") {
		t.Error(lines)
	}
}

// Where every row lacks a quantile for want of calls, the column is called what it shows.
func TestSlowestStandsForQuantilesOfTooFew(t *testing.T) {
	one, two := hop("a", "", spans.NoKind), hop("b", "", spans.NoKind)
	in := Input{Read: &ingest.Summary{}, Quantiles: medians, Hops: []buckets.Result{rowOf(one, 50, 0, spans.Own, exact(20*ms), largest(90*ms)), rowOf(two, 50, 0, spans.Own, exact(2*ms), largest(9*ms))}}
	if d := cmp.Diff([]string{"Latency in ms (first attempts)", "hop|n|p50|slowest|", "a|50|20|90|", "b|50|2|9|"}, table(in)); d != "" {
		t.Error(d)
	}
	in.Hops[0].Tail[1].IsMaximum = false
	if d := cmp.Diff([]string{"hop|n|p50|p99|", "a|50|20|90|", "b|50|2|9 *|", "* the slowest of fewer calls than the quantile needs"}, table(in)[1:]); d != "" {
		t.Error(d)
	}
}

func TestFewCallsHaveNoQuantiles(t *testing.T) {
	one := rowOf(hop("a", "", spans.NoKind), 3, 1, spans.Own, exact(20*ms), largest(90*ms))
	one.Completed.First = quantile.Summary{N: 2, Min: 10 * ms, Max: 30 * ms, Quantiles: []int64{10 * ms}, Asked: medians[:1]}
	one.Truncated.First = quantile.Summary{N: 1, Min: 250 * ms}
	in := Input{Read: &ingest.Summary{}, Quantiles: medians, Hops: []buckets.Result{one}}
	if d := cmp.Diff([]string{"hop|n|timed out|fastest|median|slowest|timed out after|", "a|3|1|10|10|30|250|"}, table(in)[1:]); d != "" {
		t.Error(d)
	}
	in.Hops = append(in.Hops, rowOf(hop("b", "", spans.NoKind), 100, 0, spans.Own, exact(20*ms), exact(90*ms)))
	if d := cmp.Diff([]string{"hop|n|timed out|p50|p99|", "a|3|1|–|–|", "b|100|0 %|20|90|"}, sorted(table(in)[1:])); d != "" {
		t.Error(d)
	}
}

// sorted puts the first row before the second one.
func sorted(lines []string) []string {
	if strings.HasPrefix(lines[1], "b") {
		lines[1], lines[2] = lines[2], lines[1]
	}
	return lines
}

func TestMarksSayWhoEndedTheCalls(t *testing.T) {
	a := hop("a", "", spans.NoKind)
	for by, want := range map[spans.CutBy][]string{spans.Own: nil, spans.Below: {"↓ timed out because a call below it did"}, spans.Caller: {"× cancelled by its caller"}} {
		in := Input{Read: &ingest.Summary{}, Quantiles: medians, Hops: []buckets.Result{rowOf(a, 50, 9, by, exact(20*ms), atLeast(90*ms))}}
		if d := cmp.Diff(want, table(in)[3:], cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%v: %s", by, d)
		}
	}
}

// A circle of calls is cut where it was met first.
func TestCallsInACircleHaveRowsToo(t *testing.T) {
	a, b := hop("a", "a", spans.Client), hop("b", "b", spans.Client)
	in := Input{Read: &ingest.Summary{}, Quantiles: medians, Hops: []buckets.Result{rowOf(a, 50, 0, spans.Own, exact(1), exact(2)), rowOf(b, 50, 0, spans.Own, exact(1), exact(2))},
		Links: []neighbors.Pair{{Above: a, Below: b, N: 9, Awaited: 9}, {Above: b, Below: a, N: 9, Awaited: 9}, {Above: a, Below: a, N: 90, Awaited: 90}}}
	if lines := table(in); len(lines) != 4 {
		t.Error(lines)
	}
}

func TestReadLine(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		read ingest.Summary
		want string
	}{
		{ingest.Summary{Files: make(jsontype.List[ingest.FileSummary], 2)}, "50 attempts of 1 hop. 2 files, nothing rejected."},
		{ingest.Summary{Traces: n(1), Spans: n(4), Records: 9, Rejected: 2, Filtered: 3, DuplicatesDropped: n(1)}, "1 trace, 4 spans. 0 files, 2 of 9 records rejected, 3 filtered, 1 duplicate dropped."},
	} {
		b := &builder{Input: Input{Read: &c.read, Hops: []buckets.Result{rowOf(hop("a", "", spans.NoKind), 50, 0, spans.Own, exact(1), exact(2))}}}
		if got := b.readLine(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestVerdictsAreThreeAtMost(t *testing.T) {
	finding := func(code findings.Code, s findings.Severity, text string) findings.Finding {
		return findings.Finding{Code: code, Severity: s, Text: text, Why: jsontype.List[string]{"why of " + text}}
	}
	in := Input{Read: &ingest.Summary{}, Findings: []findings.Finding{
		finding(findings.RequestsFail, findings.Fail, "one."), finding(findings.NearTimeout, findings.Warn, "two."), finding(findings.SampleChosen, findings.Warn, "a caveat."),
		finding(findings.NearTimeout, findings.Warn, "three."), finding(findings.NearTimeout, findings.Warn, "four."), finding(findings.TailOwner, findings.Info, "five."),
	}}
	b := &builder{Input: in}
	var got []string
	for _, v := range b.verdicts() {
		got = append(got, v.Text)
	}
	if d := cmp.Diff([]string{"one", "two", "three (1 more finding: --format json)"}, got); d != "" {
		t.Error(d)
	}
	if points := b.verdicts()[0].Points; points[0].Lines[0] != "why of one." || b.verdicts()[1].Points != nil {
		t.Error(points)
	}
	if d := cmp.Diff([]string{"a caveat."}, b.caveats()); d != "" {
		t.Error(d)
	}
	b.Findings = in.Findings[5:]
	if v := b.verdicts(); len(v) != 1 || v[0].Mood != report.Fine || v[0].Text != "Nothing timed out or failed. five" {
		t.Error(v)
	}
}

func TestCaveatsAreSaidOnce(t *testing.T) {
	in := Input{Read: &ingest.Summary{TimeBasis: "none", Warnings: jsontype.List[note.Warning]{{Code: "x", Text: "odd things"}, {Code: "y", Text: "odd things"}, {Code: "ids_folded", Text: "said by a finding"}}}}
	b := &builder{Input: in}
	if d := cmp.Diff([]string{"No start times in the log: times are added up; no orphans, rates or time span.", "Odd things."}, b.caveats()); d != "" {
		t.Error(d)
	}
}
