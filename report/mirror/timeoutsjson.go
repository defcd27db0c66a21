package mirror

import (
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/timeouts"
)

// jsonTimeouts is the section on what timeouts should be.
type jsonTimeouts struct {
	Target      string             `json:"target"` // the quantile whose evidence is meant
	Confidence  string             `json:"confidence"`
	Window      *int64             `json:"window_ns"`
	Hops        []jsonTimeout      `json:"hops"`
	Reason      *string            `json:"reason"` // why there are no hops
	Total       jsonTotal          `json:"total"`
	Entries     []jsonTotal        `json:"entries"`
	EntryBudget *jsonAllocation    `json:"entry_budget"`
	Inversions  []jsonWallInverted `json:"inversions"`
	Steps       []jsonStep         `json:"steps"`
	Warnings    []note.Warning     `json:"warnings"`
}

type jsonTimeout struct {
	Hop        string              `json:"hop"`
	Kind       *string             `json:"kind"`
	Service    *string             `json:"service"`
	Operation  *string             `json:"operation"`
	N          uint64              `json:"n"`
	Current    *int64              `json:"current_ns"`
	Source     *buckets.WallSource `json:"current_source"`
	CutShare   *float64            `json:"cut_share"`
	Evidence   timeouts.Evidence   `json:"evidence"`
	Bound      *int64              `json:"bound_ns"`
	Missing    uint64              `json:"first_attempts_missing"`
	Timeout    *int64              `json:"timeout_ns"`
	Under      *jsonUnder          `json:"cut_under_advice"`
	Inner      *jsonInner          `json:"inner"`
	ServerSide *jsonServerAdvice   `json:"server_side"`
	Canary     *jsonCanary         `json:"canary"`
	Rate       *float64            `json:"first_attempts_per_s"`
	HeldToday  *float64            `json:"slots_held_today"`
	HeldThen   *float64            `json:"slots_held_under_advice"`
	Change     *string             `json:"change"`
	Safe       bool                `json:"safe_to_lower"`
	Retries    uint64              `json:"most_retries"`
	Strata     []jsonStratum       `json:"strata"`
	Reason     string              `json:"reason"`
	Warnings   []note.Warning      `json:"warnings"`
}

type jsonStratum struct {
	Name     string            `json:"stratum"`
	N        uint64            `json:"n"`
	Cut      uint64            `json:"cut"`
	Evidence timeouts.Evidence `json:"evidence"`
	Bound    *int64            `json:"bound_ns"`
	Timeout  *int64            `json:"timeout_ns"`
}

type jsonUnder struct {
	jsonCount
	Upper float64 `json:"upper"`
}

type jsonInner struct {
	Bound    *int64            `json:"own_bound_ns"`
	Own      *int64            `json:"own_ns"`
	Grants   *int64            `json:"grants_ns"`
	Rest     *int64            `json:"rest_ns"`
	Evidence timeouts.Evidence `json:"own_evidence"`
}

type jsonServerAdvice struct {
	Suggested *int64    `json:"suggested_ns"`
	Coverage  jsonCount `json:"coverage"`
}

type jsonCanary struct {
	RaiseTo  int64             `json:"raise_to_ns"`
	From     string            `json:"from"`
	Attempts map[string]uint64 `json:"first_attempts"`
	Takes    map[string]*int64 `json:"takes_ns"`
	Effect   *float64          `json:"design_effect"`
}

type jsonTotal struct {
	Entry     *string    `json:"entry"`
	Kind      *string    `json:"kind"`
	Requests  uint64     `json:"requests"`
	Budget    *int64     `json:"budget_ns"`
	Parts     []jsonPart `json:"parts"`
	Effective *uint64    `json:"effective_retries"`
	Seen      uint64     `json:"most_retries"`
	Reason    *string    `json:"reason"`
}

type jsonPart struct {
	What string `json:"what"`
	NS   int64  `json:"ns"`
}

type jsonAllocation struct {
	Budget     int64         `json:"budget_ns"`
	Grants     []jsonGrant   `json:"grants"`
	Infeasible *jsonShortage `json:"infeasible"`
}

type jsonGrant struct {
	Hop    string  `json:"hop"`
	Kind   *string `json:"kind"`
	Needs  *int64  `json:"needs_ns"`
	Limit  *int64  `json:"limit_ns"`
	PerTry *int64  `json:"per_try_ns"`
	Tries  uint64  `json:"retries"`
	InRow  uint64  `json:"in_a_row"`
}

type jsonShortage struct {
	Hop   string  `json:"hop"`
	Kind  *string `json:"kind"`
	Needs int64   `json:"needs_ns"`
	Has   int64   `json:"has_ns"`
}

type jsonWallInverted struct {
	Parent     string  `json:"parent"`
	ParentKind *string `json:"parent_kind"`
	Child      string  `json:"child"`
	ChildKind  *string `json:"child_kind"`
	ParentNS   int64   `json:"parent_ns"`
	ChildNS    int64   `json:"child_ns"`
}

type jsonStep struct {
	Step  int    `json:"step"`
	Do    string `json:"do"`
	Watch string `json:"watch"`
	Read  string `json:"read_back"`
}

// Timeouts is the section on timeouts as JSON.
func Timeouts(o *timeouts.Result) any {
	j := &jsonTimeouts{
		Target: o.Target.String(), Confidence: o.Confidence.String(), Window: o.Window, Hops: list(o.Hops, timeoutJSON), Reason: orNull(o.Reason),
		Total: totalJSON(o.Total), Entries: list(o.Entries, totalJSON), Inversions: list(o.Inversions, wallInvertedJSON), Warnings: list(o.Warnings, itself),
		Steps: []jsonStep{},
	}
	for i, s := range o.Steps {
		j.Steps = append(j.Steps, jsonStep{i + 1, s.Do, s.Watch, s.Read})
	}
	if a := o.Allocation; a != nil {
		j.EntryBudget = &jsonAllocation{Budget: a.Budget, Grants: list(a.Grants, grantJSON)}
		if s := a.Infeasible; s != nil {
			j.EntryBudget.Infeasible = &jsonShortage{s.Hop, orNull(s.Kind), s.Needs, s.Has}
		}
	}
	return j
}

func timeoutJSON(h timeouts.Hop) jsonTimeout {
	j := jsonTimeout{
		Hop: h.Hop, Kind: orNull(h.Kind), Service: orNull(h.Service), Operation: orNull(h.Operation), N: h.N, Evidence: h.Evidence, Bound: h.Bound, Missing: h.Missing, Timeout: h.Timeout,
		Rate: h.PerSecond, HeldToday: h.HeldToday, HeldThen: h.HeldThen, Change: orNull(string(h.Change)), Safe: h.SafeToLower,
		Retries: h.Retries, Reason: h.Reason, Warnings: list(h.Warnings, itself), Canary: canaryJSON(h.Canary),
		Strata: list(h.Strata, func(s timeouts.Stratum) jsonStratum { return jsonStratum(s) }),
	}
	if c := h.Current; c != nil {
		j.Current, j.Source = &c.Timeout, &c.Source
	}
	if h.Cut != nil {
		j.CutShare = &h.Cut.Value
	}
	if u := h.Under; u != nil {
		j.Under = &jsonUnder{jsonCount{u.N, u.Of}, u.Upper}
	}
	if n := h.Inner; n != nil {
		j.Inner = &jsonInner{n.OwnBound, n.Own, n.Grants, n.Rest, n.Evidence}
	}
	if s := h.ServerSide; s != nil {
		j.ServerSide = &jsonServerAdvice{s.Suggested, jsonCount{s.N, s.Of}}
	}
	return j
}

func canaryJSON(c *timeouts.Canary) *jsonCanary {
	if c == nil {
		return nil
	}
	j := &jsonCanary{RaiseTo: c.RaiseTo, From: c.From, Attempts: map[string]uint64{}, Takes: map[string]*int64{}, Effect: effectJSON(c.Effect)}
	for _, s := range c.Sizes {
		j.Attempts[s.P.String()], j.Takes[s.P.String()] = s.Attempts, s.Takes
	}
	return j
}

func totalJSON(t timeouts.Total) jsonTotal {
	return jsonTotal{
		Entry: orNull(t.Entry), Kind: orNull(t.Kind), Requests: t.Requests, Budget: t.Budget, Parts: list(t.Parts, func(p timeouts.Part) jsonPart { return jsonPart(p) }),
		Effective: t.Effective, Seen: t.Seen, Reason: orNull(t.Reason),
	}
}

func grantJSON(g timeouts.Grant) jsonGrant {
	return jsonGrant{g.Hop, orNull(g.Kind), g.Needs, g.Limit, g.PerTry, g.Tries, g.InRow}
}

func wallInvertedJSON(v timeouts.Inversion) jsonWallInverted {
	return jsonWallInverted{v.Parent, orNull(v.ParentKind), v.Child, orNull(v.ChildKind), v.ParentNS, v.ChildNS}
}
