package mirror

import (
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
)

// jsonOrphans is the section on orphaned work. Where it is not checkable its
// figures are null: nothing was counted, which is not zero.
type jsonOrphans struct {
	Checkable           bool             `json:"checkable"`
	Reason              *string          `json:"reason"`
	Inferred            bool             `json:"inferred"`
	ToleranceNS         int64            `json:"tolerance_ns"`
	SpansWithParent     *uint64          `json:"spans_with_parent"`
	MissingParents      *uint64          `json:"missing_parents"`
	Unfinished          *uint64          `json:"unfinished"`
	OutlivedAsync       *uint64          `json:"outlived_async"`
	OutlivedCompleted   *uint64          `json:"outlived_completed"`
	WithinTolerance     *uint64          `json:"within_tolerance"`
	StartedAfterRootEnd *uint64          `json:"started_after_root_end"`
	Orphaned            *uint64          `json:"orphaned"`
	Overruns            *uint64          `json:"overruns"`
	LateStarts          *uint64          `json:"late_starts"`
	WastedNS            *int64           `json:"wasted_ns"`
	WastedUnionNS       *int64           `json:"wasted_union_ns"`
	WastedByHop         []jsonHopTime    `json:"wasted_by_hop"`
	Pairs               []jsonPair       `json:"pairs"`
	Inversions          []jsonInversion  `json:"inversions"`
	CutOrder            []jsonCutOrder   `json:"cut_order"`
	Items               []jsonOrphanItem `json:"items"`
}

type jsonHopTime struct {
	Hop  string  `json:"hop"`
	Kind *string `json:"kind"`
	NS   int64   `json:"wasted_ns"`
}

type jsonPair struct {
	ParentHop         string      `json:"parent_hop"`
	ParentKind        *string     `json:"parent_kind"`
	ChildHop          string      `json:"child_hop"`
	ChildKind         *string     `json:"child_kind"`
	Orphaned          uint64      `json:"orphaned"`
	CutCalls          uint64      `json:"cut_calls"`
	CutCallsWithChild uint64      `json:"cut_calls_with_child"`
	WastedNS          int64       `json:"wasted_ns"`
	Overrun           jsonSummary `json:"overrun"`
	StartLag          jsonSummary `json:"start_lag"`
	Work              jsonSummary `json:"work"`
	Stopped           jsonOf      `json:"stopped_within_50ms"`
	Verdict           string      `json:"verdict"`
}

type jsonOf struct {
	N  uint64 `json:"n"`
	Of uint64 `json:"of"`
}

type jsonInversion struct {
	ParentHop    string `json:"parent_hop"`
	ParentWallNS int64  `json:"parent_wall_ns"`
	ChildHop     string `json:"child_hop"`
	ChildWallNS  int64  `json:"child_wall_ns"`
	Seen         uint64 `json:"seen"`
}

type jsonCutOrder struct {
	OuterHop   string `json:"outer_hop"`
	InnerHop   string `json:"inner_hop"`
	OuterFirst uint64 `json:"outer_first"`
	Together   uint64 `json:"together"`
	InnerFirst uint64 `json:"inner_first"`
}

type jsonOrphanItem struct {
	Trace     string         `json:"trace"`
	URL       *string        `json:"url"`
	Kind      string         `json:"kind"`
	Parent    jsonOrphanSpan `json:"parent"`
	Child     jsonOrphanSpan `json:"child"`
	OverrunNS int64          `json:"overrun_ns"`
	WastedNS  int64          `json:"wasted_ns"`
	Sure      string         `json:"sure"`
	Evidence  string         `json:"evidence"`
	File      string         `json:"file"`
	Position  jsonPlace      `json:"position"`
}

type jsonOrphanSpan struct {
	Span       string  `json:"span"`
	Hop        string  `json:"hop"`
	Kind       *string `json:"kind"`
	StartNS    int64   `json:"start_ns"`
	DurationNS int64   `json:"duration_ns"`
	Host       *string `json:"host"`
	Outcome    string  `json:"outcome"`
	CutBy      *string `json:"cut_by"`
}

type jsonPlace struct {
	Line   int64 `json:"line"`
	Offset int64 `json:"offset"`
}

// Orphans is the section on orphaned work as JSON.
func Orphans(o *orphans.Result, v *report.View) any {
	j := &jsonOrphans{
		Checkable: o.Checkable, Reason: orNull(o.Reason), Inferred: o.Inferred, ToleranceNS: o.Tolerance,
		WastedByHop: list(o.WastedBy, hopTimeJSON),
		Pairs:       list(o.Pairs, pairJSON(v.Quantiles)),
		Inversions:  list(o.Inversions, inversionJSON),
		CutOrder:    list(o.CutOrder, cutOrderJSON),
		Items:       list(o.Items, itemJSON(v)),
	}
	if o.Checkable {
		j.count(o)
	}
	return j
}

func (j *jsonOrphans) count(o *orphans.Result) {
	j.SpansWithParent, j.MissingParents, j.Unfinished = &o.SpansWithParent, &o.MissingParents, &o.Unfinished
	j.OutlivedAsync, j.OutlivedCompleted = &o.OutlivedAsync, &o.OutlivedCompleted
	j.WithinTolerance, j.StartedAfterRootEnd = &o.WithinTolerance, &o.StartedAfterRootEnd
	j.Orphaned, j.Overruns, j.LateStarts = &o.Orphaned, &o.Overruns, &o.LateStarts
	j.WastedNS, j.WastedUnionNS = &o.Wasted, &o.WastedUnion
}

func hopTimeJSON(h orphans.HopTime) jsonHopTime {
	return jsonHopTime{h.Hop.Name, orNull(h.Hop.Kind.String()), h.NS}
}

func pairJSON(ps []quantile.P) func(orphans.Pair) jsonPair {
	return func(p orphans.Pair) jsonPair {
		return jsonPair{
			ParentHop: p.Parent.Name, ParentKind: orNull(p.Parent.Kind.String()),
			ChildHop: p.Child.Name, ChildKind: orNull(p.Child.Kind.String()),
			Orphaned: p.Orphaned, CutCalls: p.CutCalls, CutCallsWithChild: p.CutCallsWithChild, WastedNS: p.Wasted,
			Overrun: summaryJSON(&unbiased, p.Overrun, ps), StartLag: summaryJSON(&unbiased, p.StartLag, ps), Work: summaryJSON(&unbiased, p.Work, ps),
			Stopped: jsonOf{p.Stopped, p.StoppedOf}, Verdict: string(p.Verdict),
		}
	}
}

// unbiased: what is said of orphans is said of the traces that are there.
var unbiased buckets.Result

func inversionJSON(i orphans.Inversion) jsonInversion {
	return jsonInversion{i.Parent.Name, i.ParentWall, i.Child.Name, i.ChildWall, i.Seen}
}

func cutOrderJSON(c orphans.CutOrder) jsonCutOrder {
	return jsonCutOrder{c.Outer.Name, c.Inner.Name, c.OuterFirst, c.Together, c.InnerFirst}
}

func itemJSON(v *report.View) func(orphans.Case) jsonOrphanItem {
	return func(c orphans.Case) jsonOrphanItem {
		return jsonOrphanItem{
			Trace: c.Trace, URL: orNull(v.TraceAddress(c.Trace)), Kind: string(c.Kind),
			Parent: endJSON(c.Parent), Child: endJSON(c.Child), OverrunNS: c.Overrun, WastedNS: c.Wasted,
			Sure: string(c.Sure), Evidence: c.Evidence, File: v.Path(c.File), Position: jsonPlace{c.Line, c.Offset},
		}
	}
}

func endJSON(e orphans.End) jsonOrphanSpan {
	return jsonOrphanSpan{
		Span: e.Span, Hop: e.Hop.Name, Kind: orNull(e.Hop.Kind.String()), StartNS: e.Start, DurationNS: e.Duration,
		Host: orNull(e.Host), Outcome: e.Outcome.String(), CutBy: orNull(e.CutBy.String()),
	}
}
