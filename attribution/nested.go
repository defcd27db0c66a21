package attribution

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/nesting"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
)

// nested is what is known of what calls what in a hop log. Where some of it is not,
// the figures are those of the first reading, and each other reading has its own, by
// which the owner must be the same.
type nested struct {
	finding  *nesting.Finding
	placer   *nesting.Placer
	others   []*Accumulator
	compared bool // it is one of others, of which only the owner is asked
	// most is up to which group chains are read in other ways, where they are very many.
	most uint16
}

// SetNesting says what calls what in chains of hop logs, before the first AddChain.
// Without it an attempt lies in the one that the chain itself says.
func (a *Accumulator) SetNesting(f *nesting.Finding) {
	a.nested = nested{finding: f, placer: f.Readings[0].NewPlacer(), most: f.MostGroup}
	if reasonAgainst(f) != "" {
		return // there is no owner in any reading
	}
	for _, r := range f.Readings[1:] {
		other := newAccumulator(a.table)
		other.nested = nested{finding: f, placer: r.NewPlacer(), compared: true}
		a.nested.others = append(a.nested.others, other)
	}
}

// place puts the attempts of a chain in their places, in every reading.
func (n *nested) place(c *spans.Chain) {
	if n.finding == nil {
		return
	}
	if c.Group <= n.most {
		for _, o := range n.others {
			o.AddChain(c)
		}
	}
	n.placer.Place(c)
}

// top reports whether requests begin with a hop of a chain.
func (n *nested) top(c *spans.Chain, hop int32) bool { return n.placer.Top(c, hop) }

func (n *nested) merge(o *nested, hops, parts []int32) {
	for i, other := range n.others {
		other.merge(o.others[i], hops, parts)
	}
}

// Nesting is what a hop log shows of what calls what.
type Nesting struct {
	StepNS   int64                     `json:"step_ns"` // starts and ends that are closer may be the same
	Pairs    jsontype.List[PairOfHops] `json:"pairs"`
	LeftOut  int                       `json:"pairs_left_out"` // those with the fewest votes
	Late     jsontype.List[string]     `json:"late"`           // hops that run beside the others, or that nobody waits for
	Readings int                       `json:"readings"`       // ways to read what is not known
	Agree    bool                      `json:"readings_agree"` // all readings have this owner
	Callers  jsontype.Text             `json:"callers"`        // the column of the log that says what calls what
}

// PairOfHops is what two hops are to each other, and how many attempts of the second
// say so.
type PairOfHops struct {
	Caller     string          `json:"caller"`
	Callee     string          `json:"callee"`
	Verdict    nesting.Verdict `json:"verdict"`
	Stated     bool            `json:"stated"` // the column says so
	In         uint64          `json:"in"`
	Out        uint64          `json:"out"`
	Early      uint64          `json:"early"`
	Around     uint64          `json:"around"`
	Outlasting uint64          `json:"outlasting"`
	ByChance   float64         `json:"outlasting_by_chance"`
}

func pairOfHops(p *nesting.Pair) PairOfHops {
	return PairOfHops{p.Caller.String(), p.Callee.String(), p.Verdict, p.Stated, p.In, p.Out, p.Early, p.Around, p.Outlasting, float64(p.ByChance) / 4}
}

// mostListed is how many pairs a result lists: those with the most votes.
const mostListed = 1000

func (n *Nesting) list(f *nesting.Finding) {
	pairs := slices.Clone(f.Pairs)
	if more := len(pairs) - mostListed; more > 0 {
		slices.SortStableFunc(pairs, func(a, b nesting.Pair) int { return cmp.Compare(b.Votes(), a.Votes()) })
		pairs, n.LeftOut = pairs[:mostListed], more
		slices.SortFunc(pairs, nesting.Pair.Compare)
	}
	for i := range pairs {
		n.Pairs = append(n.Pairs, pairOfHops(&pairs[i]))
	}
}

// readAgain takes the owner back where clocks disagree, and where another reading of
// what is not known has another.
func (a *Accumulator) readAgain(q Query, r *Result) {
	f := a.nested.finding
	if f == nil || a.counts.measured[containment] == 0 {
		return
	}
	r.Nesting = &Nesting{StepNS: f.Step, Readings: len(f.Readings), Agree: true, Callers: jsontype.Text(f.Callers)}
	if f.Callers != "" {
		defer func() { r.Verdict += "; what calls what is as " + f.Callers + " says" }()
	}
	r.Nesting.list(f)
	for _, h := range f.Late {
		r.Nesting.Late = append(r.Nesting.Late, h.String())
	}
	if r.Owner == nil {
		return
	}
	if why := reasonAgainst(f); why != "" {
		r.Owner, r.Verdict = nil, "no owner: "+why
		return
	}
	for i, other := range a.nested.others {
		if o := other.ownerOf(q); o.Owner == nil || *o.Owner != *r.Owner {
			r.Nesting.Agree = false
			r.Verdict = "no owner: " + a.differText(f, r, &o, i+1)
			r.Owner = nil
			return
		}
	}
}

// ownerOf decides the owner alone.
func (a *Accumulator) ownerOf(q Query) (r Result) {
	a.flush()
	q.few = true
	r.TailFrom, r.Interval = q.TailFrom, q.Confidence
	r.Hops = a.hopsOf(a.split(q, &r), q)
	r.decide()
	return r
}

// clocksOf returns the pair of hops that the clocks put apart: of several the one of
// which most callees begin in their caller.
func clocksOf(f *nesting.Finding) (worst *nesting.Pair) {
	for i := range f.Pairs {
		if p := &f.Pairs[i]; p.Verdict == nesting.Clocks && (worst == nil || p.In+p.Out > worst.In+worst.Out) {
			worst = p
		}
	}
	return worst
}

// reasonAgainst says why no reading can name an owner, "" where one may.
func reasonAgainst(f *nesting.Finding) string {
	if f.Silent*20 > f.Heard {
		return fmt.Sprintf("%d of %s more attempts at once, or more hops, than can be compared: what calls what is not known", f.Silent, note.Count(f.Silent+f.Heard, "chain has", "chains have"))
	}
	if p := clocksOf(f); p != nil {
		return clocksText(p)
	}
	return ""
}

func clocksText(p *nesting.Pair) string {
	if p.Stated {
		return fmt.Sprintf("%s calls %s, but only %d of %s in a caller: clocks disagree, lines are stamped late, or another hop calls it",
			p.Caller, p.Callee, p.Held, note.Count(p.Called, fmt.Sprintf("attempt of %s lies", p.Callee), fmt.Sprintf("attempts of %s lie", p.Callee)))
	}
	return fmt.Sprintf("the clocks of %s and %s disagree, their lines are stamped late, or another hop calls %s too: the two end together, but only %d of %s in one of %s",
		p.Caller, p.Callee, p.Callee, p.In, note.Count(p.Votes(), fmt.Sprintf("attempt of %s lies", p.Callee), fmt.Sprintf("attempts of %s lie", p.Callee)), p.Caller)
}

// quarters writes a number of whole quarters.
func quarters(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// differText says on what it depends which hop is the owner.
func (a *Accumulator) differText(f *nesting.Finding, r, other *Result, reading int) string {
	second := "none"
	if other.Owner != nil {
		second = other.Owner.String()
	}
	p, late := f.Differs(reading, *r.Owner)
	if p == nil {
		return fmt.Sprintf("%s or %s, as it is not known whether a request waits for %s", r.Owner, second, late)
	}
	return fmt.Sprintf("%s or %s, as it is not known whether %s calls %s: of %s %d lie in it, %d outlast it (%s would by chance)",
		r.Owner, second, p.Caller, p.Callee, note.Count(p.Votes(), fmt.Sprintf("attempt of %s that overlaps one of %s", p.Callee, p.Caller), fmt.Sprintf("attempts of %s that overlap one of %s", p.Callee, p.Caller)),
		p.In, p.Outlasting, quarters(float64(p.ByChance)/4))
}

// verdictText is what a verdict is called on the page.
var verdictText = map[nesting.Verdict]string{
	nesting.Call: "calls it", nesting.Siblings: "side by side", nesting.Clocks: "clocks disagree", nesting.Either: "not known",
}

// mostPairs is how many pairs of hops are listed on the page.
const mostPairs = 30

// nestingTable has a row for each two hops that overlap, unless it is known that the
// second only holds the first.
func nestingTable(o *Result) report.Table {
	var rows []PairOfHops
	var lines []string
	if o.Nesting != nil {
		rows = slices.DeleteFunc(slices.Clone(o.Nesting.Pairs), func(p PairOfHops) bool { return p.Verdict == nesting.None })
		if more := len(rows) - mostPairs; more > 0 {
			rows = rows[:mostPairs]
			lines = append(lines, fmt.Sprintf("And %s: --format json lists all.", note.Count(more, "more pair")))
		}
		lines = append(lines, "Of the second hop's attempts: in one of the first, outlasting it, begun before it, holding it. Outlast: of the last ones in each attempt of the first hop; by chance: so many would, were its lengths dealt anew.")
		if len(o.Nesting.Late) > 0 {
			lines = append(lines, "Nobody is seen to wait for: "+strings.Join(o.Nesting.Late, ", ")+".")
		}
	}
	count := func(of func(*PairOfHops) uint64) func(*PairOfHops) value {
		return func(p *PairOfHops) value { return report.Count(of(p)) }
	}
	return report.NewTable("What calls what", rows, []report.Column[PairOfHops]{
		{Head: "hop", Is: report.Key | report.Name, Of: func(p *PairOfHops) value { return report.String(p.Caller) }},
		{Head: "and hop", Is: report.Name, Of: func(p *PairOfHops) value { return report.String(p.Callee) }},
		{Head: "verdict", Of: func(p *PairOfHops) value { return report.String(verdictText[p.Verdict]) }},
		{Head: "in", Of: count(func(p *PairOfHops) uint64 { return p.In })},
		{Head: "outlasting", Of: count(func(p *PairOfHops) uint64 { return p.Out })},
		{Head: "before", Of: count(func(p *PairOfHops) uint64 { return p.Early })},
		{Head: "holding", Of: count(func(p *PairOfHops) uint64 { return p.Around })},
		{Head: "outlast", Of: count(func(p *PairOfHops) uint64 { return p.Outlasting })},
		{Head: "by chance", Of: func(p *PairOfHops) value { return report.String(quarters(p.ByChance)) }},
	}, lines...)
}
