package quantile

import (
	"math"
	"testing"
)

// Four traces of fifty calls do not tell whether these are independent: they count
// as four attempts, and there is no upper limit.
func TestTooFewTracesCountAsOneAttemptEach(t *testing.T) {
	var traces Clusters
	done := new(Sample)
	for range 4 {
		var steps []Step
		for i := range 50 {
			ns := int64(1+i) * 1e6
			done.Add(ns)
			steps = append(steps, StepOf(ns))
		}
		traces.Add(steps)
	}
	o := Observed{Completed: Union{done}}
	p95 := []P{MustP("0.95")}
	tails := o.Tails(p95, p95[0])
	if tails.Tails[0].Upper == nil {
		t.Fatal("200 independent attempts have an upper limit")
	}
	effects, _ := o.Effects(tails, Dependence{Traces: &traces, Blocks: new(Blocks), CutFrom: CutStep})
	o.Widen(&tails, effects, p95[0])
	if q := tails.Tails[0]; q.Upper != nil || q.Effective != 4 || q.Effect != (Effect{Hundredths: 5000, Sure: true, Assumed: true}) {
		t.Errorf("%+v", q)
	}
}

// The effect widens limits; models are asked all the same.
func TestAnEffectLeavesTheEstimate(t *testing.T) {
	done, cut := new(Sample), new(Sample)
	for i := range 2000 {
		if ns := int64(-1e8 * math.Log(1-(float64(i)+.5)/2000)); ns < 3e8 {
			done.Add(ns)
		} else {
			cut.Add(3e8)
		}
	}
	o := Observed{Completed: Union{done}, CutAt: Union{cut}}
	tails := o.Tails([]P{MustP("0.99")}, MustP("0.95"))
	o.Widen(&tails, []Dependent{{Effect: Effect{Hundredths: 400, Sure: true}}}, MustP("0.95"))
	if e := Estimates(o, tails.Tails)[0]; tails.Tails[0].Effective != 500 || e == nil || e.Bound == nil {
		t.Errorf("%+v, %+v", tails.Tails[0], e)
	}
}
