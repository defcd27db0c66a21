package waterfall

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/spans"
)

// Rule says why a request was chosen.
type Rule string

// ByID: its id was given. Longest: no request, or no call of the hop, took longer.
// LongestGaveUp: none of those that timed out or failed took longer, and they come first,
// as they hide how long they would have taken.
const (
	ByID          Rule = "id"
	Longest       Rule = "longest"
	LongestGaveUp Rule = "longest_gave_up"
)

// Result is one request with its spans or attempts. Times are ns.
type Result struct {
	Trace    string              `json:"trace"`
	Rule     Rule                `json:"chosen_by"`
	Why      string              `json:"why"`  // the rule, as a sentence
	Of       jsontype.Text       `json:"of"`   // the hop whose call was looked for
	Kind     spans.Kind          `json:"-"`    // of that hop
	Seen     uint64              `json:"seen"` // requests, or calls of the hop, among which it was chosen
	GaveUp   uint64              `json:"gave_up"`
	EndToEnd *int64              `json:"end_to_end_ns"` // nil where it was not measured
	Basis    attribution.Basis   `json:"-"`
	Outcome  attribution.Outcome `json:"-"`
	Timed    bool                `json:"-"` // all starts are known
	From     int64               `json:"-"` // the first start, since the Unix epoch
	To       int64               `json:"-"` // the last end
	Spans    jsontype.List[Span] `json:"spans"`
	Longest  jsontype.Text       `json:"longest"` // the id of the longest of all, where another was chosen
}

// MarshalJSON writes what may not be known as null.
func (r *Result) MarshalJSON() ([]byte, error) {
	type fields Result
	return jsontype.Join(jsontype.Object{
		"basis", jsontype.Text(r.Basis), "outcome", jsontype.Text(r.Outcome), "start_ns", jsontype.If(r.Timed, r.From), "duration_ns", jsontype.If(r.Timed, r.To-r.From),
	}, (*fields)(r))
}

// Span is a span of a trace, or an attempt of a hop log. Times are ns.
type Span struct {
	ID        string        `json:"span"`
	Parent    jsontype.Text `json:"parent"` // the id of that above it
	spans.Hop               // hop and kind
	Start     *int64        `json:"offset_ns"` // from the first start of the request; nil: not known
	Duration  *int64        `json:"duration_ns"`
	Outcome   spans.Outcome `json:"outcome"`
	CutBy     spans.CutBy   `json:"cut_by"`
	Failure   jsontype.Text `json:"failure"`
	Retry     jsontype.Text `json:"retry"`    // by what it is known to be one
	RetryOf   jsontype.Text `json:"retry_of"` // the id of the attempt before
	Async     bool          `json:"async"`    // nobody waits for it
	Stray     bool          `json:"parent_missing"`
	Wait      *int64        `json:"wait_ns"` // of a call with one server: until that began
	Orphan    *Orphan       `json:"orphan"`
	Where     *Place        `json:"position"` // nil where the input's lines are not kept

	parent int32 // its place in the list, which is before this; -1 for none
	server int32 // the place of the one span that serves it, -1 for none
}

// MarshalJSON names the service and the operation where the input has them.
func (s Span) MarshalJSON() ([]byte, error) {
	type fields Span
	return jsontype.Join(jsontype.Object{"service", jsontype.Text(s.Service), "operation", jsontype.Text(s.Operation)}, fields(s))
}

// Orphan says that a span ran on after the one above it had given up.
type Orphan struct {
	Kind     orphans.Kind `json:"kind"`
	Overrun  int64        `json:"overrun_ns"`
	Wasted   int64        `json:"wasted_ns"`
	Sure     orphans.Sure `json:"sure"`
	Evidence string       `json:"evidence"`
}

// Place is where a record stands.
type Place struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
}

// Query is what a run asks of its picker.
type Query struct {
	Orphans func(*spans.Trace) []orphans.Found // of one trace; nil: nobody looked
	Nesting *nesting.Finding                   // of hop logs, nil where nothing was found
	Path    func(file int32) string
}

// NotFoundError says that no request has an id, or none can be drawn.
type NotFoundError struct {
	ID      string
	Nearest []string
	Seen    uint64
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Seen == 0:
		return "there is nothing to draw: no record names its trace or chain"
	case e.ID == "":
		return fmt.Sprintf("none of %s has a start, an end and a beginning: no time from end to end is known; 'trace ID' draws one all the same", note.Count(e.Seen, "request"))
	}
	text := fmt.Sprintf("none of %s has the id %q", note.Count(e.Seen, "trace or chain", "traces and chains"), e.ID)
	if len(e.Nearest) > 0 {
		text += "; the nearest: " + strings.Join(e.Nearest, ", ")
	}
	return text
}

// AmbiguousError says that several ids begin as written.
type AmbiguousError struct {
	ID    string
	Names []string
	N     uint64
}

func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("%d ids begin with %q: %s", e.N, e.ID, strings.Join(e.Names, ", "))
	if more := e.N - uint64(len(e.Names)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ": write more of it"
}

// Result returns the request that was wanted. The error is a *NotFoundError, an
// *AmbiguousError, or of neighbors.Find.
func (p *Picker) Result(q Query) (*Result, error) {
	switch {
	case p.config.ID != "":
		return p.byItsID(q)
	case p.config.Of != "":
		return p.worstOf(q)
	case p.worst.n == 0:
		return nil, &NotFoundError{Seen: p.seen}
	}
	r := p.chosen(&p.worst, q)
	r.Why = r.why("request", "requests", "")
	return r, nil
}

func (p *Picker) byItsID(q Query) (*Result, error) {
	found := p.exact
	switch {
	case found != nil:
	case p.nBegins > 1:
		return nil, &AmbiguousError{p.config.ID, p.begins, p.nBegins}
	case p.nBegins == 0:
		return nil, &NotFoundError{p.config.ID, p.near, p.seen}
	default:
		found = p.begin
	}
	r := found.result(q)
	r.Rule, r.Seen, r.Why = ByID, p.seen, "its id was given"
	return r, nil
}

func (p *Picker) worstOf(q Query) (*Result, error) {
	if p.seen == 0 {
		return nil, &NotFoundError{}
	}
	h, err := neighbors.Find(p.config.Of, slices.SortedFunc(maps.Keys(p.hops), spans.Hop.Compare), p.among.Pairs())
	if err != nil {
		return nil, err
	}
	w := p.ofHops[h]
	if w == nil {
		return nil, fmt.Errorf("no call of %s has a duration and names its trace or chain", h.String())
	}
	r := p.chosen(w, q)
	r.Of, r.Kind = jsontype.Text(h.Name), h.Kind
	r.Why = r.why("call", "calls", " of "+h.String())
	return r, nil
}

// chosen returns the worst of two: those that gave up come first, unless they are short.
func (p *Picker) chosen(w *pair, q Query) *Result {
	best, rule := &w.all, Longest
	if w.gaveUp.request != nil && w.gaveUp.ns >= w.all.ns/2 {
		best, rule = &w.gaveUp, LongestGaveUp
	}
	r := best.result(q)
	r.Rule, r.Seen, r.GaveUp = rule, w.n, w.nGaveUp
	if w.all.request != best.request {
		r.Longest = jsontype.Text(w.all.name())
	}
	return r
}

// why words the rule by which one of several was chosen.
func (r *Result) why(one, several, of string) string {
	if r.Seen == 1 {
		return "the only " + one + of
	}
	all := note.Count(r.Seen, one, several) + of
	if r.Rule == LongestGaveUp {
		return fmt.Sprintf("the slowest of the %s that timed out or failed, of %s; these come first, as they hide how long they would have taken, unless another took twice as long", note.Count(r.GaveUp, one, several), all)
	}
	return "the slowest of " + all
}
