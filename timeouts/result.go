package timeouts

import (
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
)

// Evidence says what a timeout stands on.
type Evidence string

// Certified: an upper limit of the target quantile exists. Identified: the quantile
// is known, but too few attempts bound it. NotIdentified: today's timeout hides it.
// None: the input says nothing of it.
const (
	Certified     Evidence = "certified"
	Identified    Evidence = "identified"
	NotIdentified Evidence = "not_identified"
	None          Evidence = "none"
)

// rank orders evidence: what rests on several stands on the weakest.
var rank = map[Evidence]int{Certified: 3, Identified: 2, NotIdentified: 1, None: 0}

// Result is the advice. Durations are ns.
type Result struct {
	Settings
	Target     quantile.P // whose evidence the timeouts rest on
	Confidence quantile.P
	Hops       []Hop // those with a timeout to set, sorted by hop, then kind
	Total      Total // of the entry with most requests
	Entries    []Total
	Allocation *Allocation // of the entry budget; nil where none was given
	Inversions []Inversion
	Steps      []Step
	Window     *int64 // from the first start to the last; nil where not known
	Warnings   []note.Warning
	Reason     string // why there is no hop
}

// Hop is the advice for one hop.
type Hop struct {
	Hop, Kind          string
	Service, Operation string // empty where the input has only a name
	N                  uint64 // first attempts that completed or were cut
	Current            *Current
	Cut                *buckets.Share // of the first attempts; nil where not known
	Evidence           Evidence
	Bound              *int64 // of the target quantile: its upper limit, or its value
	Missing            uint64 // independent first attempts that a certificate needs besides
	Timeout            *int64
	Inner              *Inner // of a call that makes calls itself
	// Under is how many first attempts would be cut by Timeout, at most.
	Under      *Under
	ServerSide *ServerSide
	Canary     *Canary
	// PerSecond is the rate of first attempts, HeldToday and HeldThen what they hold
	// at once if each lasts as long as its timeout.
	PerSecond, HeldToday, HeldThen *float64
	Change                         Change
	SafeToLower                    bool
	Retries                        uint64 // most of one call that were seen
	Strata                         []Stratum
	Reason                         string
	Warnings                       []note.Warning
}

// Current is the timeout that cuts a hop today. Of an inferred one it is the upper
// end.
type Current struct {
	Timeout int64
	Source  buckets.WallSource
}

// Inner is what a call that makes calls is given: Own is its own work with headroom,
// nil where not known; Grants what it grants the calls under it; Rest what its
// attempts took beyond both.
type Inner struct {
	OwnBound, Own, Grants, Rest *int64
	Evidence                    Evidence // of its own work
}

// Under is N of Of with the upper limit of the share.
type Under struct {
	N, Of uint64
	Upper float64
}

// ServerSide is what the servers of the calls say. Suggested is nil where too few
// of the calls that were cut have one.
type ServerSide struct {
	Suggested *int64
	N, Of     uint64
}

// Canary is how to make a quantile known that today's timeout hides.
type Canary struct {
	RaiseTo int64
	From    string // what RaiseTo rests on
	Sizes   []Size
	Effect  depend.Effect // of today's first attempts at the target, if it counts
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
	Name     string
	N, Cut   uint64
	Evidence Evidence
	Bound    *int64
	Timeout  *int64
}

// Change says what the advice does to today's timeout.
type Change string

// The changes; a hop whose timeout today is not known has none.
const (
	Lower Change = "lower"
	Raise Change = "raise"
	Keep  Change = "keep"
)

// Total is what a request may take in all.
type Total struct {
	Entry, Kind string // hop with which the request begins; "" for who calls first
	Requests    uint64
	Budget      *int64
	Parts       []Part
	// Effective is how many retries of the longest call the budget has room for,
	// Seen how many the data show.
	Effective *uint64
	Seen      uint64
	Reason    string // why there is no budget
}

// Part is one summand of a budget.
type Part struct {
	What string
	NS   int64
}

// Allocation is the entry budget handed down.
type Allocation struct {
	Budget     int64
	Grants     []Grant
	Infeasible *Shortage
}

// Grant is what one call may take of the budget, all of its attempts together and
// one of them, beside what it needs. Limit and PerTry are nil where what its caller
// and the calls beside it need is not known.
type Grant struct {
	Hop, Kind            string
	Needs, Limit, PerTry *int64
	Tries, InRow         uint64
}

// Shortage names the hop whose own need is the largest where the budget is too
// small, with what is left for it when all others take what they need.
type Shortage struct {
	Hop, Kind  string
	Needs, Has int64
}

// Inversion is a call whose timeout today is not longer than one that it grants.
type Inversion struct {
	Parent, ParentKind string
	Child, ChildKind   string
	ParentNS, ChildNS  int64
}

// Step is one step of the roll-out.
type Step struct{ Do, Watch, Read string }
