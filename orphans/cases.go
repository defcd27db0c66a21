package orphans

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/spans"
)

// Kind is how an orphan relates to the moment its parent left.
type Kind string

// The kinds of orphan.
const (
	Overrun   Kind = "overrun"    // running when the parent left
	LateStart Kind = "late_start" // began after it
)

// Sure is how certain it is that a case is one.
type Sure string

// Certain needs no clock: the child alone lasted longer than its parent. Likely:
// timestamps of one host, or moved back by a stated shift, or an overrun beyond
// the skew seen between the two services. Doubtful: within that skew.
const (
	Certain  Sure = "certain"
	Likely   Sure = "likely"
	Doubtful Sure = "doubtful"
)

// End is one end of a case: a span with its times in ns since the Unix epoch.
type End struct {
	Span      string        `json:"span"`
	spans.Hop               // hop and kind
	Start     int64         `json:"start_ns"`
	Duration  int64         `json:"duration_ns"`
	Host      jsontype.Text `json:"host"`
	Outcome   spans.Outcome `json:"outcome"`
	CutBy     spans.CutBy   `json:"cut_by"`
}

// Case is one orphan. Overrun and Wasted are ns.
type Case struct {
	Trace    string        `json:"trace"`
	URL      jsontype.Text `json:"url"` // of a page that shows the trace; empty for none
	Kind     Kind          `json:"kind"`
	Parent   End           `json:"parent"`
	Child    End           `json:"child"`
	Overrun  int64         `json:"overrun_ns"`
	Wasted   int64         `json:"wasted_ns"`
	Sure     Sure          `json:"sure"`
	Evidence string        `json:"evidence"`
	Path     string        `json:"file"` // of the input file
	File     int32         `json:"-"`    // its index
	Position `json:"position"`
	firm     string // why it rests on no second clock, where its durations do not say so
}

// Position is where a record stands in its file.
type Position struct {
	Line   int64 `json:"line"`
	Offset int64 `json:"offset"`
}

// worst keeps the worst cases; which is worse never depends on the order in
// which they come.
type worst struct {
	limit     int
	byOverrun bool
	list      []Case // the first ones sorted, worst first, then what came since
	sorted    int
}

// figure is what cases are ranked by.
func (w *worst) figure(overrun, wasted int64) int64 {
	if w.byOverrun {
		return overrun
	}
	return wasted
}

func (w *worst) figureOf(c *Case) int64 { return w.figure(c.Overrun, c.Wasted) }

// consider keeps a case that is among the worst. Most are not, so a case is only
// written out when it may be.
func (w *worst) consider(kind Kind, over, wasted int64, t *spans.Trace, p, c int32) {
	if w.limit <= 0 || w.sorted == w.limit && w.figure(over, wasted) < w.figureOf(&w.list[w.limit-1]) {
		return
	}
	child := &t.Spans[c]
	w.add(Case{
		Trace: t.Name(), Kind: kind, Parent: endOf(t, p), Child: endOf(t, c), Overrun: over, Wasted: wasted,
		File: child.File, Position: Position{child.Line, child.Offset},
		firm: firm(t, p, c),
	})
}

// firm says why the ends of a parent and its child can be compared, "" where they are
// of two clocks.
func firm(t *spans.Trace, p, c int32) string {
	if (t.Spans[c].Ties | t.Spans[p].Ties).Has(spans.Shifted) {
		return "timestamps moved back by the stated shift"
	}
	if one, by := oneClock(t, p, c); one {
		return by
	}
	return ""
}

func endOf(t *spans.Trace, i int32) End {
	one := &t.Spans[i]
	return End{
		Hop: t.HopOf(i), Span: t.SpanName(i), Start: one.Start, Duration: one.Duration,
		Host: jsontype.Text(hostOf(t, i)), Outcome: one.Outcome, CutBy: one.CutBy,
	}
}

// hostOf returns the host of a span, "" where the source names none.
func hostOf(t *spans.Trace, i int32) string {
	if len(t.Hosts) == 0 {
		return ""
	}
	return t.Hosts[t.Spans[i].Host]
}

// add keeps a case; as many as the limit wait to be sorted in.
func (w *worst) add(c Case) {
	w.list = append(w.list, c)
	if len(w.list)-w.limit >= w.limit {
		w.sort()
	}
}

// sort drops what is not among the worst, and returns the rest.
func (w *worst) sort() []Case {
	slices.SortFunc(w.list, w.compare)
	w.sorted = min(len(w.list), max(0, w.limit))
	clear(w.list[w.sorted:])
	w.list = w.list[:w.sorted]
	return w.list
}

func (w *worst) compare(a, b Case) int {
	if c := cmp.Compare(w.figureOf(&b), w.figureOf(&a)); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.Trace, b.Trace), cmp.Compare(a.Child.Span, b.Child.Span)); c != 0 {
		return c
	}
	return cmp.Or(
		compareEnds(a.Child, b.Child), compareEnds(a.Parent, b.Parent),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Offset, b.Offset))
}

func compareEnds(a, b End) int {
	return cmp.Or(
		cmp.Compare(a.Span, b.Span), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Duration, b.Duration),
		a.Hop.Compare(b.Hop), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.CutBy, b.CutBy))
}
