package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/gates"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/nearest"
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
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(h *buckets.Result) bool { return h.Hop != one }), nil
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
		f.Said = fmt.Sprintf("has %s (%d of %d)", ratio.Closer(float64(n)/float64(of)), n, of)
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
	return gates.Figure{Low: v, High: v, Said: fmt.Sprintf("has %s %% as its %s limit", map[gates.Limit]func(float64) string{gates.Lower: ratio.Down, gates.Upper: ratio.Up}[which](value), which)}
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

// namesAny reports whether a hop is called so, or its name becomes it with the ids
// folded.
func (p *plan) namesAny(names map[string]bool, hop string) bool {
	for name := range names {
		if one := map[string]int64{hop: 1}; p.naming.TimeoutOf(one, spans.Hop{Name: name, Kind: spans.Client}) > 0 {
			return true
		}
	}
	return false
}

// otherNames are names of --timeout that mean hops which are called otherwise: which they
// are is known when the input was read, and what they cut when it was read again.
type otherNames struct {
	of       map[string]string
	shown    map[string]string // what the page calls them
	settings *config           // the file that some may come from, nil without one
}

func (e *otherNames) Error() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(e.of)) {
		list = append(list, e.settings.said(name)+fmt.Sprintf("--timeout %q is the hop %q, and what was read cannot be read again: write that name", name, e.of[name]))
	}
	return strings.Join(list, "\n")
}

// warnings say which hops were meant, where a name is not what the page calls them.
func (e *otherNames) warnings() (list []note.Warning) {
	for _, name := range slices.Sorted(maps.Keys(e.of)) {
		if !neighbors.IsName(name, e.shown[name]) {
			list = append(list, note.Warning{Code: "timeout_taken", Text: fmt.Sprintf("%s--timeout %q was taken for %s", e.settings.said(name), name, e.shown[name])})
		}
	}
	return list
}

// said begins a message about a hop that the file of settings names with that file.
func (c *config) said(hop string) string {
	if c == nil || !c.hops[hop] {
		return ""
	}
	return c.File + ": "
}

// named replaces them in the flags. Of two that are one hop now, the one of the command
// line counts before that of the file of settings.
func (e *otherNames) named(o *options) error {
	var list []string
	seen := map[string]string{}
	for _, s := range o.timeouts { // those of the command line come first
		at := strings.LastIndexByte(s, '=')
		name := cmp.Or(e.of[s[:at]], s[:at])
		other, twice := seen[name]
		switch {
		case twice && o.config != nil && o.config.hops[s[:at]]:
			continue
		case twice:
			return fmt.Errorf("--timeout: %q and %q are the same hop, %q", other, s[:at], name)
		}
		seen[name] = s[:at]
		list = append(list, name+s[at:])
	}
	o.timeouts = list
	return nil
}

// matchHops holds the names that the flags have for hops against those that there are.
func (r *results) matchHops(names map[string]bool) {
	if r.merged.stop.Told() {
		return
	}
	r.matchShown(names)
	other := &otherNames{map[string]string{}, map[string]string{}, r.plan.config}
	for _, written := range slices.Sorted(maps.Keys(r.plan.timeouts)) {
		if r.plan.namesAny(names, written) {
			continue
		}
		if hop, ok := r.matchTimeout(written); ok {
			other.of[written], other.shown[written] = hop.Name, r.names().Of(hop)
		}
	}
	if len(other.of) > 0 && r.err == nil {
		r.again = other
	}
}

// nearlyLetters is how many letters of a name may be wrong, and its least length for them.
const nearlyLetters = 2

// matchTimeout returns the hop that a --timeout means, if it means one.
func (r *results) matchTimeout(written string) (hop spans.Hop, ok bool) {
	found, err := r.meant(written)
	if err == nil {
		return found[0].Hop, true
	}
	settings := r.plan.config.said(written)
	if several := (*neighbors.AmbiguousError)(nil); errors.As(err, &several) {
		r.mistake(fmt.Errorf("%s--timeout: %w", settings, err))
		return hop, false
	}
	text := fmt.Sprintf("%s--timeout names %q, but no hop is called that", settings, written)
	near := nearest.Within(written, r.hopNames(), min(nearlyLetters, (len(written)-1)/2))
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	if near != "" && settings == "" {
		r.mistake(errors.New(text))
		return hop, false
	}
	r.input.Warnings = append(r.input.Warnings, note.Warning{Code: "timeout_without_hop", Text: text})
	return hop, false
}

// mistake notes the first mistake of the command line that only the input shows.
func (r *results) mistake(err error) { r.err = cmp.Or(r.err, error(usageError{err})) }

// hopNames are the names by which hops may be meant: their own, and those of services.
func (r *results) hopNames() []string {
	var hops []spans.Hop
	for i := range r.hops {
		hops = append(hops, r.hops[i].Hop)
	}
	return neighbors.Names(hops)
}

// shownHops are the hops that --hop chooses.
type shownHops struct {
	patterns []string
	names    map[string]bool // those meant by a pattern like which no hop is called
}

func (s *shownHops) has(name string) bool {
	return s.names[name] || slices.ContainsFunc(s.patterns, func(glob string) bool { return selection.Glob(glob, name) })
}

// matchShown says how many of all hops --hop chooses. A pattern that chooses none is a
// mistake: a page without what was asked for looks like one on which all is well.
func (r *results) matchShown(names map[string]bool) {
	if r.plan.hop == nil {
		return
	}
	chosen := shownHops{r.plan.hop, map[string]bool{}}
	for _, glob := range r.plan.hop {
		if (&shownHops{patterns: []string{glob}}).hasAny(names) {
			continue
		}
		if found, err := r.meant(glob); err == nil {
			chosen.names[found[0].Hop.Name] = true
		} else {
			r.mistake(r.noneShown(glob, err))
		}
	}
	shown := 0
	for name := range names {
		if chosen.has(name) {
			shown++
		}
	}
	r.view.Hops = chosen.has
	r.input.Warnings = append(r.input.Warnings, note.Warning{Code: "hops_chosen", Text: fmt.Sprintf("only %d of %s shown: --hop chose them, and all count", shown, note.Count(len(names), "hop")+note.Form(shown, " is", " are"))})
}

// noneShown says that --hop chooses no hop, or several by a part of their names.
func (r *results) noneShown(glob string, err error) error {
	if !strings.ContainsAny(glob, "*?[{") {
		return fmt.Errorf("--hop: %w", err)
	}
	return fmt.Errorf("--hop %q: nothing matches%s", glob, didYouMean(strings.Trim(glob, "*"), r.hopNames(), ""))
}

func (s *shownHops) hasAny(names map[string]bool) bool {
	for name := range names {
		if s.has(name) {
			return true
		}
	}
	return false
}
