package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/gates"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/neighbors"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
)

// findingError says that a --fail-on rule was hit, or that nobody knows.
type findingError struct{ error }

// planGates reads the rules, and refuses those that this command cannot answer.
func (o *options) planGates(p *plan) error {
	for _, text := range o.failOn {
		rule, err := gates.Parse(text)
		if err != nil {
			return err
		}
		asked := func(q quantile.P) bool { return q.Compare(rule.P) == 0 }
		switch {
		case rule.Name == gates.Quantile && !slices.ContainsFunc(p.quantiles, asked):
			return fmt.Errorf("--fail-on %q: %s is not among the --quantiles", text, rule.P.Label())
		case (ofOrphans[rule.Name] != nil || rule.Name == "wasted") && !p.runs(orphansKind.name):
			if !o.given("fail-on") {
				continue // a rule of the file of settings, for other commands
			}
			return fmt.Errorf("--fail-on %q: only analyze and orphans look for that", text)
		}
		p.gates = append(p.gates, rule)
	}
	return nil
}

// pass holds the rules against the results. A rule that the input cannot answer is a
// mistake of the command line, not a finding.
func (p *plan) pass(r *results) error {
	verdict, err := gates.Decide(p.gates, r.figures)
	if err != nil {
		return usageError{err}
	}
	if err := verdict.Err(); err != nil {
		return findingError{err}
	}
	return nil
}

// ofOrphans are the counts of what orphans finds.
var ofOrphans = map[string]func(*orphans.Result) uint64{
	"orphans":          func(r *orphans.Result) uint64 { return r.Orphaned },
	"orphans_doubtful": func(r *orphans.Result) uint64 { return r.Doubtful },
	"overruns":         func(r *orphans.Result) uint64 { return r.Overruns },
	"late_starts":      func(r *orphans.Result) uint64 { return r.LateStarts },
	"missing_parents":  func(r *orphans.Result) uint64 { return r.MissingParents },
	"inversions":       func(r *orphans.Result) uint64 { return uint64(len(r.Inversions)) },
}

// figures finds what a rule asks for.
func (r *results) figures(rule *gates.Rule) ([]gates.Figure, error) {
	count := ofOrphans[rule.Name]
	if (count != nil || rule.Name == "wasted") && !r.orphans.Checkable {
		return nil, fmt.Errorf("this input does not tell (%s)", r.orphans.Reason)
	}
	switch {
	case rule.Name == "rejects":
		return counted(uint64(r.input.Rejected)), nil
	case count != nil:
		return counted(count(r.orphans)), nil
	}
	hops, err := r.meant(rule.Hop)
	if err != nil {
		return nil, err
	}
	var list []gates.Figure
	for _, h := range hops {
		f := r.figure(rule, h)
		f.Hop = h.Hop.String()
		list = append(list, f)
	}
	return list, nil
}

func counted(n uint64) []gates.Figure {
	v := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	return []gates.Figure{{Low: v, High: v, Said: fmt.Sprintf("there %s %d", note.Form(n, "is", "are"), n)}}
}

// meant returns the hops that a rule is of: one, or all where it names none.
func (r *results) meant(name string) ([]*buckets.Result, error) {
	var all []*buckets.Result
	var hops []spans.Hop
	for i := range r.hops {
		all, hops = append(all, &r.hops[i]), append(hops, r.hops[i].Hop)
	}
	if name == "" {
		return all, nil
	}
	one, err := neighbors.Find(name, hops, r.neighbors)
	if err == nil {
		err = r.unsure(name, one, hops)
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h *buckets.Result) bool { return h.Hop != one }), nil
}

// unsure says that a service's name may mean its work or the calls of it, where nobody
// looked at what lies above what.
func (r *results) unsure(name string, one spans.Hop, hops []spans.Hop) error {
	if r.neighbors != nil || one.Kind != spans.Server || name == one.Name || name == one.String() {
		return nil
	}
	like := slices.DeleteFunc(slices.Clone(hops), func(h spans.Hop) bool { return !strings.Contains(h.String(), name) })
	if len(like) < 2 {
		return nil
	}
	return &neighbors.AmbiguousError{Written: name, Hops: like}
}

// figure is what a rule asks for of one hop.
func (r *results) figure(rule *gates.Rule, h *buckets.Result) gates.Figure {
	switch rule.Name {
	case "attempts":
		return ofCount(h.Attempts)
	case "retries":
		return ofShare(rule, h.Retries, h.Attempts)
	case "timed_out":
		if s := h.TruncatedShare; rule.Limit != gates.Itself {
			return limitOfShare(rule.Limit, s)
		}
		return r.chosen(rule, h.TruncatedShare.Count, h.TruncatedShare.Of)
	case "failed":
		return r.chosen(rule, h.Failed.First.N, h.FirstAttempts)
	case "wasted":
		return r.wastedBy(h.Hop)
	}
	return ofQuantile(rule, h)
}

// chosen is ofShare, but for a sample that was chosen by how requests went.
func (r *results) chosen(rule *gates.Rule, n, of uint64) gates.Figure {
	if rule.Unit == gates.Share && (r.sampling.Kind == sampling.Biased || r.sampling.Weighted) {
		return gates.Figure{Said: "is not known of a sample like this"}
	}
	return ofShare(rule, n, of)
}

func ofCount(n uint64) gates.Figure {
	f := counted(n)[0]
	f.Said = fmt.Sprintf("has %d", n)
	return f
}

func ofShare(rule *gates.Rule, n, of uint64) gates.Figure {
	if rule.Unit != gates.Share {
		return ofCount(n)
	}
	f := gates.ShareOf(n, of)
	if f.Low != nil {
		f.Said = fmt.Sprintf("has %s (%d of %d)", ratio.Percent(float64(n)/float64(of)), n, of)
	}
	return f
}

func limitOfShare(which gates.Limit, s buckets.Share) gates.Figure {
	value := s.Lower
	if which == gates.Upper {
		value = s.Upper
	}
	v := new(big.Rat).SetFloat64(value)
	if s.Of == 0 || v == nil {
		return gates.Figure{Said: "has no limit"}
	}
	return gates.Figure{Low: v, High: v, Said: fmt.Sprintf("has a limit of %s", ratio.Percent(value))}
}

// wastedBy is the time that a hop, or what serves its calls, worked for nobody.
func (r *results) wastedBy(h spans.Hop) gates.Figure {
	served := func(w orphans.HopTime) bool {
		return slices.ContainsFunc(r.neighbors, func(p neighbors.Pair) bool {
			return p.Above == h && p.Below == w.Hop && h.Kind == spans.Client && w.Kind == spans.Server
		})
	}
	var ns int64
	for _, w := range r.orphans.WastedBy {
		if w.Hop == h || served(w) {
			ns = durations.Sum(ns, w.NS)
		}
	}
	f := gates.Exactly(ns)
	f.Said = "wasted " + durations.Text(ns)
	return f
}

// ofQuantile is a quantile or its limit. One that a timeout hides is known from below,
// and sometimes from above.
func ofQuantile(rule *gates.Rule, h *buckets.Result) gates.Figure {
	i := slices.IndexFunc(h.Tail, func(t buckets.Tail) bool { return t.P.Compare(rule.P) == 0 })
	if i < 0 || h.Biased || h.Tail[i].Status == quantile.NoValue {
		return gates.Figure{Said: fmt.Sprintf("has no %s", rule.P.Label())}
	}
	t := &h.Tail[i]
	switch limit := map[gates.Limit]*int64{gates.Lower: t.Lower, gates.Upper: t.Upper}[rule.Limit]; {
	case rule.Limit == gates.Itself:
		return between(rule.P.Label(), t)
	case limit == nil:
		return gates.Figure{Said: fmt.Sprintf("has no %s limit of %s", rule.Limit, rule.P.Label())}
	default:
		f := gates.Exactly(*limit)
		f.Said = fmt.Sprintf("has %s as the %s limit of %s", durations.Text(*limit), rule.Limit, rule.P.Label())
		return f
	}
}

func between(label string, t *buckets.Tail) gates.Figure {
	f := gates.Exactly(t.Value)
	said := []string{"has " + label, "of", durations.Text(t.Value)}
	switch {
	case t.Status != quantile.AtLeast:
	case t.AtMost == nil:
		f.High, said[1] = nil, "of at least"
	default:
		f.High, said[1] = gates.Exactly(*t.AtMost).High, "of at least"
		said = append(said, "and at most", durations.Text(*t.AtMost))
	}
	f.Said = strings.Join(said, " ")
	return f
}
