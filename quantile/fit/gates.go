package fit

import (
	"math"
	"strconv"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
)

// Gate is one of the conditions that an estimate beyond the wall must meet.
type Gate uint8

// The gates, by the numbers that reports name them with.
const (
	EnoughExceedances Gate = iota + 1 // completed values above the threshold
	NotTooFar                         // cut share over the share beyond the quantile
	FiniteMean                        // xi
	FitsBelow                         // Kolmogorov-Smirnov of the fit, up to the wall
	SeenNearWall                      // wall over the slowest completed value
	OneWall                           // signs of walls
)

// limits of the gates. A figure passes below its limit, of 1 and 2 and 6 at it
// too; that of the first must reach it.
var gateLimits = [...]float64{EnoughExceedances: 50, NotTooFar: 5, FiniteMean: 1, FitsBelow: 1, SeenNearWall: 1.5, OneWall: 1}

// fewCuts pass SeenNearWall whatever they are.
const fewCuts = 3

// Judgement is a gate with the figure that it judged. The figure is +Inf where it
// would be divided by 0, never NaN.
type Judgement struct {
	Gate          Gate
	Figure, Limit float64
	Passed        bool
}

// MarshalJSON rounds the figure like all fitted numbers.
func (j Judgement) MarshalJSON() ([]byte, error) {
	return jsontype.Object{"gate", j.Gate, "figure", sixDigits(j.Figure), "limit", j.Limit, "passed", j.Passed}.MarshalJSON()
}

// Needs says in words what the figure must be: "at least 50", "below 1".
func (j Judgement) Needs() string {
	limit := FigureText(j.Limit)
	switch j.Gate {
	case EnoughExceedances:
		return "at least " + limit
	case NotTooFar:
		return "at most " + limit
	case OneWall:
		return "only " + limit
	}
	return "below " + limit
}

// FigureText writes a figure of a gate with three digits, more only where a whole number
// has more.
func FigureText(f float64) string {
	switch {
	case math.IsInf(f, 0):
		return "∞"
	case f >= 1000:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

func judge(g Gate, figure float64) Judgement {
	limit := gateLimits[g]
	j := Judgement{Gate: g, Figure: figure, Limit: limit}
	switch g {
	case EnoughExceedances:
		j.Passed = figure >= limit
	case NotTooFar, OneWall:
		j.Passed = figure <= limit
	default:
		j.Passed = figure < limit
	}
	return j
}

// censoring is what the gates ask of the cuts and of what completed.
type censoring struct {
	n, cut  uint64
	wall    int64 // the known timeout, else the smallest cut
	slowest int64 // completed
	groups  int   // of cuts, and one of completed values beyond them
}

// censoringOf takes the slowest completed value, 0 where there is none. Cuts as
// far apart as those of one wall may be, however they lie between, are one group:
// a single late one is no wall of its own.
func censoringOf(o quantile.Observed, slowest int64) censoring {
	cuts := o.Cuts()
	c := censoring{n: o.Completed.N() + cuts.N(), cut: cuts.N(), slowest: slowest}
	var first, last int64
	for v := range cuts.All() {
		if c.groups == 0 {
			c.wall = v
		}
		if c.groups == 0 || quantile.TooWide(first, v) {
			c.groups++
			first = v
		}
		last = v
	}
	if o.CutAt.N() > 0 {
		c.wall = o.CutAt.At(o.CutAt.N())[0]
	}
	if c.groups > 0 && quantile.Apart(last, slowest) {
		c.groups++
	}
	return c
}

// nearWall judges the gap between the wall and the slowest completed value.
func (c censoring) nearWall() Judgement {
	figure := math.Inf(1)
	if c.slowest > 0 {
		figure = float64(c.wall) / float64(c.slowest)
	}
	j := judge(SeenNearWall, figure)
	j.Passed = j.Passed || c.cut < fewCuts
	return j
}

// notTooFar judges how far beyond the wall a quantile may lie.
func (c censoring) notTooFar(p quantile.P) Judgement {
	num, den := p.Fraction()
	return judge(NotTooFar, float64(c.cut)*float64(den)/(float64(c.n)*float64(den-num)))
}
