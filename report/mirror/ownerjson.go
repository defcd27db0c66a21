package mirror

import (
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
)

// jsonOwner is the section on the tail's owner. Where there is none, verdict says
// why.
type jsonOwner struct {
	Basis        *string        `json:"basis"`
	TailFrom     string         `json:"tail_from"`
	TailFromNS   *int64         `json:"tail_from_ns"`
	TailTraces   uint64         `json:"tail_traces"`
	BodyTraces   uint64         `json:"body_traces"`
	EndToEnd     jsonEndToEnd   `json:"end_to_end"`
	Hops         []jsonOwnerHop `json:"hops"`
	Owner        *string        `json:"owner"`
	OwnerKind    *string        `json:"owner_kind"`
	Verdict      string         `json:"verdict"`
	Confidence   string         `json:"confidence"`
	Failures     jsonFailures   `json:"failures"`
	Outcomes     []jsonOutcome  `json:"outcomes"`
	Instances    []jsonInstance `json:"instances"`
	InstancesOf  *string        `json:"instances_verdict"`
	Observations []note.Warning `json:"observations"`
	Warnings     []note.Warning `json:"warnings"`
}

type jsonEndToEnd struct {
	N            uint64      `json:"n"`
	Quantiles    []jsonValue `json:"quantiles"`
	P99          *int64      `json:"p99_ns"`
	SumOfHopsP99 *int64      `json:"sum_of_hops_p99_ns"`
}

type jsonOwnerHop struct {
	Hop        string   `json:"hop"`
	Kind       *string  `json:"kind"`
	TailMean   int64    `json:"tail_mean_ns"`
	BodyMean   int64    `json:"body_mean_ns"`
	Excess     int64    `json:"excess_ns"`
	Share      *float64 `json:"share"`
	Lower      *float64 `json:"share_lower"`
	Upper      *float64 `json:"share_upper"`
	LowerBound bool     `json:"lower_bound"`
	LargestIn  uint64   `json:"largest_in"`
	Exemplars  []string `json:"exemplars"`
}

type jsonFailures struct {
	N       uint64         `json:"n"`
	ByHop   []jsonHopCount `json:"by_hop"`
	Verdict string         `json:"verdict"`
	AnyCut  jsonAnyCut     `json:"any_cut"`
}

type jsonAnyCut struct {
	N       uint64         `json:"n"`
	ByHop   []jsonHopCount `json:"by_hop"`
	Verdict string         `json:"verdict"`
}

type jsonHopCount struct {
	Hop string `json:"hop"`
	N   uint64 `json:"n"`
}

type jsonOutcome struct {
	Outcome string `json:"outcome"`
	N       uint64 `json:"n"`
}

type jsonInstance struct {
	Hop       string  `json:"hop"`
	Instance  string  `json:"instance"`
	N         uint64  `json:"n"`
	Share     float64 `json:"share"`
	BodyShare float64 `json:"body_share"`
}

// Owner is the section on the tail's owner as JSON.
func Owner(o *attribution.Result, ps []quantile.P) any {
	j := &jsonOwner{
		Basis: orNull(string(o.Basis)), TailFrom: o.TailFrom.String(), TailTraces: o.Tail.Traces, BodyTraces: o.Body.Traces,
		EndToEnd: endToEndJSON(o, ps), Hops: list(o.Listed(), ownerHopJSON), Verdict: o.Verdict, Confidence: o.Interval.String(),
		Failures: failuresJSON(&o.Failures), Outcomes: list(o.Outcomes, outcomeJSON), Instances: list(o.Instances, instanceJSON),
		InstancesOf: orNull(string(o.InstancesOf)), Observations: list(o.Observations, itself), Warnings: list(o.Warnings, itself),
	}
	if o.Owner != nil {
		j.Owner, j.OwnerKind = &o.Owner.Name, orNull(o.Owner.Kind.String())
	}
	if o.EndToEnd.N > 0 {
		j.TailFromNS = &o.Tail.Limit
	}
	return j
}

func endToEndJSON(o *attribution.Result, ps []quantile.P) jsonEndToEnd {
	e := jsonEndToEnd{N: o.EndToEnd.N, Quantiles: []jsonValue{}}
	for i, v := range o.EndToEnd.Quantiles {
		e.Quantiles = append(e.Quantiles, jsonValue{ps[i].String(), v})
	}
	if e.N > 0 {
		e.P99, e.SumOfHopsP99 = &o.P99, &o.SumOfP99
	}
	return e
}

func ownerHopJSON(h attribution.Hop) jsonOwnerHop {
	return jsonOwnerHop{
		Hop: h.Name, Kind: orNull(h.KindName()), TailMean: h.TailMean, BodyMean: h.BodyMean, Excess: h.Excess,
		Share: h.Share, Lower: h.Lower, Upper: h.Upper, LowerBound: h.LowerBound, LargestIn: h.LargestIn,
		Exemplars: append([]string{}, h.Exemplars...),
	}
}

func failuresJSON(f *attribution.Failures) jsonFailures {
	return jsonFailures{
		N: f.N, ByHop: list(f.ByHop, hopCountJSON), Verdict: string(f.Verdict),
		AnyCut: jsonAnyCut{f.AnyCut.N, list(f.AnyCut.ByHop, hopCountJSON), string(f.AnyCut.Verdict)},
	}
}

func hopCountJSON(c attribution.HopCount) jsonHopCount { return jsonHopCount{c.Hop, c.N} }

func outcomeJSON(o attribution.OutcomeCount) jsonOutcome { return jsonOutcome{string(o.Outcome), o.N} }

func instanceJSON(i attribution.Instance) jsonInstance {
	return jsonInstance{i.Hop, i.Instance, i.N, i.Share, i.BodyShare}
}
