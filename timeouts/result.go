package timeouts

import (
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// Evidence says what a timeout stands on.
type Evidence string

// Certified: an upper limit of the target quantile exists. Identified: the quantile
// is known, but not what bounds it. TooFew: nothing hides it, but too few attempts were
// seen to say more than what the slowest of them took. NotIdentified: cuts hide it. None:
// the input says nothing of it.
const (
	Certified     Evidence = "certified"
	Identified    Evidence = "identified"
	TooFew        Evidence = "too_few"
	NotIdentified Evidence = "not_identified"
	None          Evidence = "none"
)

// rank orders evidence: what rests on several stands on the weakest.
var rank = map[Evidence]int{Certified: 4, Identified: 3, TooFew: 2, NotIdentified: 1, None: 0}

// Result is the advice. Durations are ns.
type Result struct {
	Settings   `json:"-"`
	Target     quantile.P                  `json:"target"` // whose evidence the timeouts rest on
	Confidence quantile.P                  `json:"confidence"`
	Window     *int64                      `json:"window_ns"` // from the first start to the last; nil where not known
	Hops       jsontype.List[Hop]          `json:"hops"`      // those with a timeout to set, sorted by hop, then kind
	Reason     jsontype.Text               `json:"reason"`    // why there is no hop
	Total      Total                       `json:"total"`     // of the entry with most requests
	Entries    jsontype.List[Total]        `json:"entries"`
	Allocation *Allocation                 `json:"entry_budget"` // of the entry budget; nil where none was given
	Inversions jsontype.List[Inversion]    `json:"inversions"`
	Steps      jsontype.List[Step]         `json:"steps"`
	Warnings   jsontype.List[note.Warning] `json:"warnings"`
}

// Hop is the advice for one hop.
type Hop struct {
	spans.Hop `json:"-"`
	N         uint64         `json:"-"` // first attempts that completed or were cut
	Current   *Current       `json:"-"`
	Cut       *buckets.Share `json:"-"` // of the first attempts; nil where not known

	Evidence Evidence `json:"evidence"`
	Bound    *int64   `json:"bound_ns"`               // of the target quantile: its upper limit, or its value
	Missing  uint64   `json:"first_attempts_missing"` // independent ones that a certificate needs besides
	Timeout  *int64   `json:"timeout_ns"`
	// Allows is the promise that so few attempts allow; nil where they are enough.
	Allows *Allowed `json:"too_few_allow"`
	// Under is how many first attempts would be cut by Timeout, or by what Allows gives, at most.
	Under      *Under      `json:"cut_under_advice"`
	Inner      *Inner      `json:"inner"` // of a call that makes calls itself
	ServerSide *ServerSide `json:"server_side"`
	Canary     *Canary     `json:"canary"`
	// PerSecond is the rate of first attempts, HeldToday and HeldThen what they hold
	// at once if each lasts as long as its timeout.
	PerSecond   *float64                    `json:"first_attempts_per_s"`
	HeldToday   *float64                    `json:"slots_held_today"`
	HeldThen    *float64                    `json:"slots_held_under_advice"`
	Change      Change                      `json:"change"`
	SafeToLower bool                        `json:"safe_to_lower"`
	Retries     uint64                      `json:"most_retries"` // of one call that were seen
	Strata      jsontype.List[Stratum]      `json:"strata"`
	Queue       *Queue                      `json:"queue"` // that its calls wait in; nil where none is known
	Reason      string                      `json:"reason"`
	Warnings    jsontype.List[note.Warning] `json:"warnings"`
}

// MarshalJSON writes today's timeout and its share of cuts, which are null where
// not known, beside the name, and then the other fields by their tags.
func (h Hop) MarshalJSON() ([]byte, error) {
	type fields Hop
	var today Current
	if h.Current != nil {
		today = *h.Current
	}
	return jsontype.Join(jsontype.Object{
		"hop", h.Name, "kind", h.Kind, "service", jsontype.Text(h.Service), "operation", jsontype.Text(h.Operation), "n", h.N,
		"current_ns", jsontype.If(h.Current != nil, today.Timeout), "current_source", jsontype.Text(today.Source), "cut_share", h.cutShare(),
	}, fields(h))
}

// cutShare is the value of Cut, nil where not known.
func (h *Hop) cutShare() *float64 {
	if h.Cut == nil {
		return nil
	}
	return &h.Cut.Value
}

// Current is the timeout that cuts a hop today. Of an inferred one it is the upper
// end.
type Current struct {
	Timeout int64
	Source  buckets.WallSource
}

// Allowed is the timeout made of the slowest attempt of too few, and the upper limit of
// the share that it cuts in vain.
type Allowed struct {
	Slowest      int64   `json:"slowest_ns"`
	Timeout      int64   `json:"timeout_ns"`
	FalseTimeout float64 `json:"false_timeout_upper"`
}

// Inner is what a call that makes calls is given: Own is its own work with headroom,
// nil where not known; Grants what it grants the calls under it; Rest what its
// attempts took beyond both.
type Inner struct {
	OwnBound *int64   `json:"own_bound_ns"`
	Own      *int64   `json:"own_ns"`
	Grants   *int64   `json:"grants_ns"`
	Rest     *int64   `json:"rest_ns"`
	Evidence Evidence `json:"own_evidence"` // of its own work
}

// Under is N of Of with the upper limit of the share.
type Under struct {
	N     uint64  `json:"n"`
	Of    uint64  `json:"of"`
	Upper float64 `json:"upper"`
}

// ServerSide is what the servers of the calls say. Suggested is nil where too few
// of the calls that were cut have one.
type ServerSide struct {
	Suggested        *int64 `json:"suggested_ns"`
	buckets.Coverage `json:"coverage"`
}

// Canary is how to make a quantile known that today's timeout hides.
type Canary struct {
	RaiseTo int64
	From    string // what RaiseTo rests on
	Sizes   []Size
	Effect  depend.Effect // of today's first attempts at the target, if it counts
	// Lengthens: the calls wait for a full pool, and the raised timeout makes them wait
	// longer.
	Lengthens bool
}

// MarshalJSON writes the sizes as objects with a member for each quantile.
func (c Canary) MarshalJSON() ([]byte, error) {
	attempts, takes := map[quantile.P]uint64{}, map[quantile.P]*int64{}
	for _, s := range c.Sizes {
		attempts[s.P], takes[s.P] = s.Attempts, s.Takes
	}
	return jsontype.Object{
		"raise_to_ns", c.RaiseTo, "from", c.From, "first_attempts", attempts, "takes_ns", takes, "design_effect", c.Effect, "lengthens_queue", c.Lengthens,
	}.MarshalJSON()
}

// Size is how many independent first attempts, none of them cut, show that the quantile lies
// below the raised timeout, and how long they take to come at today's rate.
type Size struct {
	P        quantile.P
	Attempts uint64
	Takes    *int64
}

// Stratum is what the first attempts of one stratum tell, such as those of a canary.
// Its timeout is that of all only if its calls are like the others.
type Stratum struct {
	Name     string   `json:"stratum"`
	N        uint64   `json:"n"`
	Cut      uint64   `json:"cut"`
	Evidence Evidence `json:"evidence"`
	Bound    *int64   `json:"bound_ns"`
	Timeout  *int64   `json:"timeout_ns"`
}

// Change says what the advice does to today's timeout.
type Change string

// The changes; a hop whose timeout today is not known has none.
const (
	Lower Change = "lower"
	Raise Change = "raise"
	Keep  Change = "keep"
)

// MarshalJSON writes null for none.
func (c Change) MarshalJSON() ([]byte, error) { return jsontype.Text(c).MarshalJSON() }

// Total is what a request may take in all.
type Total struct {
	Entry    spans.Hop           `json:"-"` // with which the request begins; none for who calls first
	Requests uint64              `json:"requests"`
	Budget   *int64              `json:"budget_ns"`
	Parts    jsontype.List[Part] `json:"parts"`
	// Effective is how many retries of the longest call the budget has room for,
	// Seen how many the data show.
	Effective *uint64       `json:"effective_retries"`
	Seen      uint64        `json:"most_retries"`
	Reason    jsontype.Text `json:"reason"` // why there is no budget
}

// MarshalJSON names the hop, null for who calls first.
func (t Total) MarshalJSON() ([]byte, error) {
	type fields Total
	return jsontype.Join(jsontype.Object{"entry", jsontype.Text(t.Entry.Name), "kind", t.Entry.Kind}, fields(t))
}

// Part is one summand of a budget.
type Part struct {
	What string `json:"what"`
	NS   int64  `json:"ns"`
}

// Allocation is the entry budget handed down.
type Allocation struct {
	Budget     int64                `json:"budget_ns"`
	Grants     jsontype.List[Grant] `json:"grants"`
	Infeasible *Shortage            `json:"infeasible"`
}

// Grant is what one call may take of the budget, all of its attempts together and
// one of them, beside what it needs. Limit and PerTry are nil where what its caller
// and the calls beside it need is not known.
type Grant struct {
	spans.Hop
	Needs  *int64 `json:"needs_ns"`
	Limit  *int64 `json:"limit_ns"`
	PerTry *int64 `json:"per_try_ns"`
	Tries  uint64 `json:"retries"`
	InRow  uint64 `json:"in_a_row"`
}

// Shortage names the hop whose own need is the largest where the budget is too
// small, with what is left for it when all others take what they need.
type Shortage struct {
	spans.Hop
	Needs int64 `json:"needs_ns"`
	Has   int64 `json:"has_ns"`
}

// Inversion is a call whose timeout today is not longer than one that it grants.
type Inversion struct {
	Parent, Child     spans.Hop
	ParentNS, ChildNS int64
}

// MarshalJSON names the hops.
func (v Inversion) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"parent", v.Parent.Name, "parent_kind", v.Parent.Kind, "child", v.Child.Name, "child_kind", v.Child.Kind,
		"parent_ns", v.ParentNS, "child_ns", v.ChildNS,
	}.MarshalJSON()
}

// Step is one step of the roll-out.
type Step struct {
	Number int    `json:"step"` // from 1
	Do     string `json:"do"`
	Watch  string `json:"watch"`
	Read   string `json:"read_back"`
}
