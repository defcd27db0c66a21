package sampling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

const ms = int64(1e6)

// one makes a span of a test trace; parent 0 is none.
func one(id, parent uint64, start, duration int64, weight float64, o spans.Outcome) spans.Span {
	return spans.Span{
		ID: spans.SpanID(id), Parent: spans.SpanID(parent), Start: start, Duration: duration, Weight: weight, Outcome: o,
		Flags: spans.HasStart | spans.HasDuration | spans.OutcomeMarked,
	}
}

func traceOf(list ...spans.Span) *spans.Trace {
	return spans.NewTrace(spans.TraceID{}, list, []spans.Hop{{Name: "a"}}, nil)
}

func TestWeightOfIsTheRootsElseTheFirstThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		spans    []spans.Span
		want     float64
		disagree bool
	}{
		"none":           {[]spans.Span{one(1, 0, 0, 9, 0, spans.Completed)}, 0, false},
		"root":           {[]spans.Span{one(1, 0, 5, 9, 10, spans.Completed), one(2, 1, 1, 3, 20, spans.Completed)}, 10, true},
		"only a child":   {[]spans.Span{one(1, 0, 0, 9, 0, spans.Completed), one(2, 1, 1, 3, 20, spans.Completed)}, 20, false},
		"first child":    {[]spans.Span{one(1, 0, 0, 9, 0, spans.Completed), one(3, 1, 2, 3, 30, spans.Completed), one(2, 1, 1, 3, 20, spans.Completed)}, 20, true},
		"second root":    {[]spans.Span{one(1, 0, 0, 9, 0, spans.Completed), one(2, 0, 1, 3, 7, spans.Completed)}, 7, false},
		"parent missing": {[]spans.Span{one(2, 1, 1, 3, 20, spans.Completed)}, 20, false},
		"no numbers":     {[]spans.Span{one(1, 0, 0, 9, math.NaN(), spans.Completed), one(2, 1, 1, 3, math.Inf(1), spans.Completed), one(3, 1, 2, 3, -4, spans.Completed)}, 0, false},
	} {
		got, disagree := WeightOf(traceOf(c.spans...))
		if got != c.want || disagree != c.disagree {
			t.Errorf("%s: %v %v, want %v %v", name, got, disagree, c.want, c.disagree)
		}
	}
}

func TestDurationIsTheRootsOrTheSpanOfAll(t *testing.T) {
	untimed := one(1, 0, 0, 0, 0, spans.Unfinished)
	untimed.Flags = 0
	for name, c := range map[string]struct {
		spans []spans.Span
		want  int64
		ok    bool
	}{
		"root":         {[]spans.Span{one(1, 0, 10, 20, 0, 0), one(2, 1, 12, 100, 0, 0)}, 20, true},
		"two roots":    {[]spans.Span{one(1, 0, 10, 20, 0, 0), one(2, 0, 40, 5, 0, 0)}, 35, true},
		"no root":      {[]spans.Span{one(2, 1, 10, 20, 0, 0), one(3, 1, 5, 10, 0, 0)}, 25, true},
		"untimed":      {[]spans.Span{untimed}, 0, false},
		"far apart":    {[]spans.Span{one(1, 0, math.MinInt64, 1, 0, 0), one(2, 0, math.MaxInt64, 0, 0, 0)}, 0, false},
		"root untimed": {[]spans.Span{untimed, one(2, 1, 12, 100, 0, 0)}, 0, false},
	} {
		got, ok := Duration(traceOf(c.spans...))
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", name, got, ok, c.want, c.ok)
		}
	}
}

// watched shows an accumulator n traces of single spans.
func watched(n int, make func(i int) spans.Span) *Accumulator {
	w := new(Accumulator)
	for i := range n {
		w.AddTrace(traceOf(make(i)))
	}
	return w
}

func lasting(ns int64) spans.Span { return one(1, 0, 0, ns, 0, spans.Completed) }

func codes(v Verdict) string {
	var list []string
	for _, w := range v.Warnings {
		list = append(list, w.Code)
	}
	return strings.Join(list, " ")
}

func TestVerdict(t *testing.T) {
	const carried = "every trace carries the probability with which it was kept (tracestate ot=th, sampler.param or a weight tag): "
	weights := func(list ...float64) *Accumulator {
		return watched(len(list), func(i int) spans.Span { return one(1, 0, 0, int64(i)*ms, list[i], spans.Completed) })
	}
	many := watched(MaxWeights+1, func(i int) spans.Span { return one(1, 0, 0, int64(i)*ms, float64(i+1), spans.Completed) })
	torn := new(Accumulator)
	torn.AddTrace(traceOf(one(1, 0, 0, 9, 10, spans.Completed), one(2, 1, 1, 3, 20, spans.Completed)))
	field := Stated{WeightField: "w"}
	for name, c := range map[string]struct {
		seen   *Accumulator
		stated Stated
		want   string // kind, evidence, weighted, codes
	}{
		"hop log":                 {new(Accumulator), Stated{}, "none | hop logs hold every attempt unless told otherwise | false | "},
		"hop log said biased":     {new(Accumulator), Stated{Kind: Biased}, "biased | --sampling biased | false | "},
		"hop log, weight field":   {new(Accumulator), field, "none | hop logs hold every attempt unless told otherwise | false | "},
		"traces":                  {weights(0, 0), Stated{}, "unknown | traces, and nothing in them says how they were chosen | false | "},
		"said none":               {weights(0, 10), Stated{Kind: None}, "none | --sampling none | false | "},
		"said probability":        {weights(10, 20), Stated{Kind: Probability, Probability: "0.010"}, "probability | --sampling probability=0.010 | false | "},
		"equal weights":           {weights(1/0.3, 1/0.3), Stated{}, "probability | " + carried + "probability 0.3 | false | "},
		"unequal weights":         {weights(1000, 1, 10), Stated{}, "probability | " + carried + "probabilities 0.001 to 1 | true | "},
		"some weights":            {weights(10, 0, 0), Stated{}, "unknown | 1 of 3 traces carries the probability with which it was kept, the others do not | false | weights_missing"},
		"no weight in the field":  {weights(0, 0), field, "unknown | traces, and nothing in them says how they were chosen | false | weights_missing"},
		"too many weights":        {many, Stated{}, "unknown | traces carry more than 256 different weights | false | too_many_weights"},
		"weight field":            {weights(2, 4), field, "probability | every trace carries its weight (--field weight=w, else tracestate ot=th or sampler.param): probabilities 0.25 to 0.5 | true | "},
		"relative weights":        {weights(0.5, 4), field, "probability | every trace carries its weight (--field weight=w, else tracestate ot=th or sampler.param): relative weights 0.5 to 4 | true | "},
		"biased with head's rate": {weights(2, 4), Stated{Kind: Biased}, "biased | --sampling biased | false | "},
		"biased, weights vouched": {weights(2, 4), Stated{Kind: Biased, WeightField: "w"}, "probability | --sampling biased, but every trace carries its weight (--field weight=w, else tracestate ot=th or sampler.param): probabilities 0.25 to 0.5 | true | "},
		"biased, weights missing": {weights(2, 0), Stated{Kind: Biased, WeightField: "w"}, "biased | --sampling biased | false | weights_missing"},
		"spans disagree":          {torn, Stated{}, "probability | " + carried + "probability 0.1 | false | weights_disagree"},
	} {
		v := c.seen.Verdict(c.stated)
		if diff := cmp.Diff(c.want, fmt.Sprintf("%s | %s | %v | %s", v.Kind, v.Evidence, v.Weighted, codes(v))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// suspicion is the part of the warning between its fixed beginning and end.
func suspicion(t *testing.T, w *Accumulator) string {
	t.Helper()
	v := w.Verdict(Stated{})
	if v.Kind != Unknown {
		t.Errorf("kind %s: a suspicion proves nothing", v.Kind)
	}
	for _, warning := range v.Warnings {
		if warning.Code == "suspected_biased_sample" {
			text, ok := strings.CutPrefix(warning.Text, "these traces may have been chosen by how they went: ")
			text, also := strings.CutSuffix(text, ". Values are as without this suspicion; --sampling says how they were chosen")
			if !ok || !also {
				t.Errorf("warning %q", warning.Text)
			}
			return text
		}
	}
	return ""
}

func TestTroubledTracesAreSuspect(t *testing.T) {
	ending := func(o spans.Outcome, hurt, n int) *Accumulator {
		return watched(n, func(i int) spans.Span {
			if i < hurt {
				return one(1, 0, 0, int64(i)*ms, 0, o)
			}
			return lasting(int64(i) * ms)
		})
	}
	inside := func(hurt, n int, o spans.Outcome) *Accumulator {
		w := new(Accumulator)
		for i := range n {
			child := one(2, 1, 1, 3, 0, spans.Completed)
			if i < hurt {
				child.Outcome = o
			}
			w.AddTrace(traceOf(lasting(int64(i)*ms), child))
		}
		return w
	}
	for name, c := range map[string]struct {
		w    *Accumulator
		want string
	}{
		"half cut":                  {ending(spans.Truncated, 21, 42), "21 of 42 failed or hold attempts that timed out"},
		"half failed":               {ending(spans.Failed, 21, 42), "21 of 42 failed or hold attempts that timed out"},
		"less than half":            {ending(spans.Failed, 20, 42), ""},
		"all failed":                {ending(spans.Failed, 21, 21), "all 21 failed or hold attempts that failed or timed out"},
		"too few":                   {ending(spans.Failed, 19, 19), ""},
		"cut inside":                {inside(30, 42, spans.Truncated), "30 of 42 failed or hold attempts that timed out"},
		"failures inside are usual": {inside(41, 42, spans.Failed), ""},
		"failures inside all":       {inside(42, 42, spans.Failed), "all 42 failed or hold attempts that failed or timed out"},
	} {
		if got := suspicion(t, c.w); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRoundCountsAreSuspect(t *testing.T) {
	for n, want := range map[int]bool{1: false, 10: false, 19: false, 20: true, 21: false, 50: false, 100: true, 101: false, 1500: true} {
		got := suspicion(t, watched(n, func(i int) spans.Span { return lasting(int64(i) * ms) }))
		if (got != "") != want {
			t.Errorf("%d traces: %q", n, got)
		}
		if want && got != fmt.Sprintf("%d traces are a round number, as a query's limit leaves them", n) {
			t.Errorf("%d traces: %q", n, got)
		}
	}
}

func TestTheSumOfSeveralFilesIsNoLimit(t *testing.T) {
	w := watched(200, func(i int) spans.Span { return lasting(int64(1e6 + i*1e5)) })
	if v := w.Verdict(Stated{}); codes(v) == "" {
		t.Error("200 traces of one file are not suspect")
	}
	if v := w.Verdict(Stated{SeveralFiles: true}); codes(v) != "" {
		t.Errorf("of several files: %s", codes(v))
	}
}

// drawn is n durations of a shape, in nanoseconds, that lie above the floor.
func drawn(seed uint64, n int, floor int64, shape func(*rand.Rand) float64) *Accumulator {
	r := rand.New(rand.NewPCG(seed, 7))
	return watched(n, func(int) spans.Span {
		for {
			if d := int64(shape(r)); d >= floor {
				return lasting(d)
			}
		}
	})
}

func lognormal(sigma float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return 80e6 * math.Exp(sigma*r.NormFloat64()) }
}

func TestFloorsAreSuspect(t *testing.T) {
	for name, c := range map[string]struct {
		floor int64
		shape func(*rand.Rand) float64
		n     int
		want  string
	}{
		"300 ms":              {300 * ms, lognormal(0.9), 350, "300 ms"},
		"100 ms":              {100 * ms, lognormal(0.9), 1001, "100 ms"},
		"1.5 s":               {1500 * ms, lognormal(1.3), 150, "1500 ms"},
		"few":                 {200 * ms, lognormal(1), 70, "200 ms"},
		"exponential's upper": {50 * ms, func(r *rand.Rand) float64 { return 60e6 * r.ExpFloat64() }, 640, "50 ms"},
	} {
		missed := 0
		for seed := range uint64(40) {
			if got := suspicion(t, drawn(seed, c.n, c.floor, c.shape)); !strings.HasPrefix(got, "none is shorter than ") {
				missed++
			}
		}
		if missed > 10 {
			t.Errorf("%s: missed %d of 40", name, missed)
		}
	}
	if got := suspicion(t, drawn(1, 351, 300*ms, lognormal(0.9))); got != "none is shorter than 300 ms although many are hardly longer" {
		t.Errorf("%q", got)
	}
}

func TestOrdinaryDurationsAreNotSuspect(t *testing.T) {
	constant := func(*rand.Rand) float64 { return 100e6 }
	for name, shape := range map[string]func(*rand.Rand) float64{
		"lognormal .1": lognormal(.1), "lognormal .3": lognormal(.3), "lognormal .9": lognormal(.9), "lognormal 1.5": lognormal(1.5),
		"constant": constant,
		"nearly":   func(r *rand.Rand) float64 { return 100e6 + 1e6*r.Float64() },
		"uniform":  func(r *rand.Rand) float64 { return 50e6 + 100e6*r.Float64() },
		"normal":   func(r *rand.Rand) float64 { return max(0, 100e6+15e6*r.NormFloat64()) },
		"shifted":  func(r *rand.Rand) float64 { return 41.37e6 + 20e6*(r.ExpFloat64()+r.ExpFloat64()) },
		"fast":     func(r *rand.Rand) float64 { return 1e6 + 1e6*r.ExpFloat64() },
		"two modes": func(r *rand.Rand) float64 {
			if r.IntN(20) == 0 {
				return 900e6 + 1e8*r.Float64()
			}
			return 25e6 * math.Exp(.5*r.NormFloat64())
		},
	} {
		alarms := 0
		for seed := range uint64(60) {
			for _, n := range []int{51, 151, 1501} {
				if got := suspicion(t, drawn(seed, n, 0, shape)); got != "" {
					alarms++
				}
			}
		}
		if alarms > 3 {
			t.Errorf("%s: %d of 180 false alarms", name, alarms)
		}
	}
}

// The verdict is the same however the traces are shared out.
func TestVerdictDependsOnNoWorkersAndNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 130).Draw(t, "traces")
		spread := rapid.SampledFrom([]int{1, 3, 400}).Draw(t, "weights")
		unknown := rapid.IntRange(0, 3).Draw(t, "unknown")
		traces := make([]spans.Span, n)
		for i := range traces {
			w := float64(1 + i%spread)
			if i < unknown {
				w = 0
			}
			traces[i] = one(1, 0, 0, 300*ms+int64(i*i)*ms/4, w, spans.Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")))
		}
		whole := watched(n, func(i int) spans.Span { return traces[i] })
		parts := make([]*Accumulator, rapid.IntRange(1, 4).Draw(t, "workers"))
		for i := range parts {
			parts[i] = new(Accumulator)
		}
		for i, one := range rapid.Permutation(traces).Draw(t, "order") {
			parts[i%len(parts)].AddTrace(traceOf(one))
		}
		for _, p := range parts[1:] {
			parts[0].Merge(p)
		}
		if diff := cmp.Diff(whole.Verdict(Stated{}), parts[0].Verdict(Stated{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	list := []spans.Span{one(1, 0, 0, 9, 10, spans.Completed)}
	for i := range uint64(5) {
		list = append(list, one(i+2, 1, int64(i), 3, 0, spans.Completed))
	}
	t := traceOf(list...)
	var w Accumulator
	b.ReportAllocs()
	for b.Loop() {
		w.AddTrace(t)
	}
}
