package quantile

import (
	"iter"
	"math"
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
	OneWall                           // groups of cuts
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
	groups  int   // of cuts that lie together, and one of completed values beyond them
}

// censoringOf takes the slowest completed value, 0 where there is none.
func censoringOf(o Observed, slowest int64) censoring {
	cuts := o.cuts()
	c := censoring{n: o.Completed.N() + cuts.N(), cut: cuts.N(), slowest: slowest}
	last := int64(0)
	for group := range together(cuts) {
		if c.groups++; c.groups == 1 {
			c.wall = group.To
		}
		last = group.SlowestCut
	}
	if o.CutAt.N() > 0 {
		c.wall = largestOf(o.CutAt)
	}
	if c.groups > 0 && apart(last, c.slowest) {
		c.groups++
	}
	return c
}

// largestOf returns the largest value, 0 where there is none.
func largestOf(u Union) int64 {
	if u.N() == 0 {
		return 0
	}
	last := newInquiry(u, []uint64{u.N()})
	answer(last)
	return last.values[0]
}

// together yields the cuts as groups that each could be those of one wall: a
// cluster that is too wide for that makes several.
func together(cuts Union) iter.Seq[Wall] { return grouped(cuts, true) }

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

// tooFar judges how far beyond the wall a quantile may lie.
func (c censoring) tooFar(p P) Judgement {
	den := p.denominator()
	return judge(NotTooFar, float64(c.cut)*float64(den)/(float64(c.n)*float64(den-p.num)))
}
