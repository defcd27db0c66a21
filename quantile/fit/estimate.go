package fit

import (
	"math"
	"strconv"

	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
)

// Condition is what an estimate holds under. Nothing in the data shows whether it
// is met: a second, slower mode that lies wholly beyond the wall leaves no trace.
const Condition = "if the tail beyond the wall continues the tail below it"

// Estimate is a guess at a quantile that the wall hides. It is no confidence limit
// and must not set a timeout; it sizes a canary. Durations are in nanoseconds,
// rounded to six digits, Bound upwards.
type Estimate struct {
	Value, Bound *int64      // nil where a gate fails, or where too large for int64
	F            float64     // cut share over the share beyond the quantile; +Inf at p = 1
	Xi           float64     // shape of the generalised Pareto tail, if Fitted
	A2           *float64    // Anderson-Darling statistic of that; nil where not all cuts lie at one wall
	Fitted       bool        // there are enough exceedances for a fit
	Models       []Model     // empty where a gate fails
	Gates        []Judgement // by number; those that judge the fit only where there is one
}

// Model is what one model says. Bound is its profile upper bound, one-sided 95 %
// if the model were right.
type Model struct {
	Name  string `json:"name"`
	Value *int64 `json:"value_ns"`
	Bound *int64 `json:"bound_ns"`
}

// MarshalJSON writes fitted numbers with six digits, and the condition with them.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return jsontype.Object{
		"value_ns", e.Value, "bound_ns", e.Bound, "f", sixDigits(e.F), "xi", jsontype.If(e.Fitted, sixDigits(e.Xi)), "a2", (*sixDigits)(e.A2),
		"models", jsontype.List[Model](e.Models), "gates", jsontype.List[Judgement](e.Gates), "condition", Condition,
	}.MarshalJSON()
}

// sixDigits is a number of which all beyond six digits depends on the machine.
type sixDigits float64

// MarshalJSON rounds to six digits.
func (f sixDigits) MarshalJSON() ([]byte, error) {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'e', 5, 64), 64)
	return jsontype.Number(short).MarshalJSON()
}

// The names of the models.
const (
	Pareto    = "generalised_pareto" // of the excesses over a threshold
	Weibull   = "weibull"            // of all values
	Lognormal = "lognormal"          // of all values
)

// Passed reports whether all gates were passed.
func (e *Estimate) Passed() bool {
	for _, j := range e.Gates {
		if !j.Passed {
			return false
		}
	}
	return true
}

// Estimates returns an estimate for each tail that is AtLeast, nil for the others,
// for those with weights, and for those that lie below the threshold of the
// generalised Pareto tail, which need no model. Value is that of this tail, and
// Bound the largest of the three models' bounds; neither is below the value that
// the data prove. Cuts stand at their censoring time if it is known, else at
// their recorded duration.
func Estimates(o quantile.Observed, tails []quantile.Tail) []*Estimate {
	estimates := make([]*Estimate, len(tails))
	var s *study
	for i, q := range tails {
		if q.Status != quantile.AtLeast || q.Effective > 0 && !q.Effect.Counts() {
			continue
		}
		if s == nil {
			s = newStudy(o)
		}
		estimates[i] = s.estimate(q)
	}
	return estimates
}

// study is what the quantiles of a hop share: fits do not depend on them.
type study struct {
	quantile.Observed
	censoring
	enough Judgement
	pareto *paretoFit // nil where there are too few exceedances
	xi     float64
	a2     *float64
	fit    [2]Judgement
	models []fitted // nil until asked for; nil is one that could not be fitted
}

// fitted is a model as the quantiles see it: share beyond to ns.
type fitted interface {
	quantile(beyond float64) float64
	bound(beyond float64) float64
}

func newStudy(o quantile.Observed) *study {
	e := exceed(o.Completed, o.Cuts())
	s := &study{Observed: o, censoring: censoringOf(o, e.slowest)}
	s.enough = judge(EnoughExceedances, float64(e.k))
	if !s.enough.Passed {
		return s
	}
	s.pareto = fitPareto(e)
	g := goodnessOf(s.pareto, o.Completed, o.Cuts())
	s.xi = s.pareto.shape()
	if s.groups == 1 {
		s.a2 = finite(g.andersonDarling(s.pareto.beyond(1, 0)))
	}
	s.fit = [2]Judgement{judge(FiniteMean, s.xi), judge(FitsBelow, g.kolmogorovSmirnov())}
	return s
}

// estimate judges one quantile, and asks the models if all gates are passed.
func (s *study) estimate(q quantile.Tail) *Estimate {
	notTooFar := s.notTooFar(q.P)
	e := &Estimate{F: notTooFar.Figure, Gates: []Judgement{s.enough, notTooFar}}
	if s.pareto != nil {
		e.Fitted, e.Xi, e.A2 = true, s.xi, s.a2
		e.Gates = append(e.Gates, s.fit[:]...)
	}
	e.Gates = append(e.Gates, s.nearWall(), judge(OneWall, float64(s.groups)))
	if !e.Passed() {
		return e
	}
	if q.P.Beyond() >= s.pareto.share() {
		return nil
	}
	s.fitAll()
	for i, name := range [...]string{Pareto, Weibull, Lognormal} {
		e.Models = append(e.Models, ask(name, s.models[i], q.P.Beyond()))
	}
	e.conclude(q.Value)
	return e
}

// fitAll fits the other two when they are first needed: they read all values.
func (s *study) fitAll() {
	if s.models != nil {
		return
	}
	s.models = []fitted{s.pareto, nil, nil}
	if w, ok := wholeOf(s.Completed, s.Cuts()); ok {
		s.models[1], s.models[2] = fitWeibull(w), fitLognormal(w)
	}
}

func ask(name string, of fitted, beyond float64) Model {
	if of == nil {
		return Model{Name: name}
	}
	return Model{name, nanoseconds(of.quantile(beyond), false), nanoseconds(of.bound(beyond), true)}
}

// finite is nil for what is no number, as where a value lies at the end of a
// fitted tail.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// conclude takes the tail's value and the largest bound; one that is missing
// counts as larger than any.
func (e *Estimate) conclude(proven int64) {
	if v := e.Models[0].Value; v != nil {
		e.Value = new(max(*v, proven))
	}
	largest := proven
	for _, m := range e.Models {
		if m.Bound == nil {
			return
		}
		largest = max(largest, *m.Bound)
	}
	e.Bound = &largest
}

// nanoseconds rounds to six significant digits: what a fit says beyond them
// depends on the machine. It is nil for what int64 does not hold.
func nanoseconds(f float64, up bool) *int64 {
	if !(f >= 0 && f < 1<<62) {
		return nil
	}
	const digits = 6
	v, unit := int64(math.Round(f)), int64(1)
	for range len(strconv.FormatInt(v, 10)) - digits {
		unit *= 10
	}
	more := unit / 2
	if up {
		v, more = int64(math.Ceil(f)), unit-1
	}
	return new((v + more) / unit * unit)
}
