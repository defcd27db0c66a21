package buckets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// minutes makes n minutes of rows, each with those that of gives for it.
func minutes(n int64, of func(i int64) rows) rows {
	var list rows
	for i := range n {
		list = append(list, of(i).at(i*60_000+7)...)
	}
	return list
}

// everyTenth is forty fast attempts a minute, and in every tenth minute slow ones.
func everyTenth(slow rows) func(i int64) rows {
	return func(i int64) rows {
		fast := done(1, 2, 3, 4).times(10)
		if i%10 == 9 {
			return all(fast, slow)
		}
		return fast
	}
}

func effectOf(t *testing.T, r Result, label string) (effect float64, size uint64) {
	t.Helper()
	for _, q := range r.Tail {
		if q.P.Label() == label {
			return q.Effect.Float(), q.Size()
		}
	}
	t.Fatalf("no %s", label)
	return 0, 0
}

func TestSlowMinutesWidenTheLimits(t *testing.T) {
	log := minutes(60, everyTenth(done(500).times(20)))
	with, without := hopOf(t, NewConfig(nil), asked(), log), hopOf(t, NewConfig(nil), asked(), log.each(func(r *row) { r.HasStart = false }))
	// 120 of 2520 are slow, in six minutes of twenty each.
	effect, size := effectOf(t, with, "p95")
	if effect < 10 || effect > 20 || size != uint64(2520*100/(effect*100)+1e-9) {
		t.Errorf("design effect %v, n_eff %d", effect, size)
	}
	if want := fmt.Sprintf("%v by minute beyond p95", effect); !strings.Contains(warned(with, "dependent_attempts"), want) {
		t.Errorf("%q does not say %q", warned(with, "dependent_attempts"), want)
	}
	if text := tailText(without.Tail[1]); text != "exact 4 upper 501" && text != "exact 4 upper 5" || without.Tail[1].Effect.Known() || warned(without, "dependent_attempts") != "" {
		t.Errorf("without starts: %s, %+v", text, without.Tail[1].Effect)
	}
	if with.Tail[1].UpperRank >= without.Tail[1].UpperRank || with.Tail[1].Value != without.Tail[1].Value || with.Tail[1].Status != without.Tail[1].Status {
		t.Errorf("%+v, without starts %+v", with.Tail[1], without.Tail[1])
	}
}

func TestTheCutShareHasTheLimitsOfItsEffect(t *testing.T) {
	r := hopOf(t, NewConfig(nil), asked(), minutes(60, everyTenth(cut(500).times(20))))
	s := r.TruncatedShare
	lower, upper := quantile.ClopperPearson(s.Count*s.Effective/s.Of, s.Effective, quantile.MustP("0.95"))
	_, upperUp := quantile.ClopperPearson(s.Count*s.Effective/s.Of+1, s.Effective, quantile.MustP("0.95"))
	if !s.Effect.Counts() || !(s.Effect.Minutes > 0) || s.Effective >= s.Of/10 || s.Lower != lower || s.Upper != upperUp || upper >= s.Upper {
		t.Errorf("%+v, want %v to %v", s, lower, upperUp)
	}
	if want := fmt.Sprintf("120 of 2520 first attempts worth %d independent ones (n_eff) timed out", s.Effective); !strings.Contains(r.Tail[2].Reason, want) {
		t.Errorf("%q does not say %q", r.Tail[2].Reason, want)
	}
	if !strings.Contains(warned(r, "dependent_attempts"), "of those that timed out") {
		t.Error(warned(r, "dependent_attempts"))
	}
}

func TestRetriesAndFailuresHaveNoPartInAnEffect(t *testing.T) {
	for name, slow := range map[string]rows{"retries": cut(500).retried().times(20), "failures": failed(500).times(20)} {
		r := hopOf(t, NewConfig(nil), asked(), minutes(60, everyTenth(slow)))
		if warned(r, "dependent_attempts") != "" || r.TruncatedShare.Effect.Known() {
			t.Errorf("%s: %+v", name, r.TruncatedShare)
		}
	}
}

// A failure that turns out to be a cut is one in its minute too.
func TestCutsFromBelowHaveAnEffect(t *testing.T) {
	n := 0
	log := minutes(60, everyTenth(failed(500).times(20))).each(func(r *row) {
		r.Trace = fmt.Append(nil, "chain ", n)
		n++
	})
	want := hopOf(t, NewConfig(nil), asked(), minutes(60, everyTenth(cut(500).times(20)))).TruncatedShare.Effect
	for _, one := range log.where(ending(spans.Failed)) {
		inner := one
		inner.hop, inner.Outcome, inner.CutBy, inner.Failure, inner.Duration = "below", spans.Truncated, spans.Own, spans.NotFailed, 400*ms
		log = append(log, inner)
	}
	if got := results(t, NewConfig(nil), asked(), log)["h"].TruncatedShare; got.Effect != want || got.Count != 120 {
		t.Errorf("%+v, want an effect of %v", got, want)
	}
}

// Without marks what is as long as the configured timeout was cut.
func TestUnmarkedCutsHaveAnEffect(t *testing.T) {
	c := timeouts(map[string]int64{"h": 500})
	r := hopOf(t, c, without(asked()), minutes(60, everyTenth(done(500).times(20))).unmarked())
	want := hopOf(t, c, asked(), minutes(60, everyTenth(cut(500).times(20))))
	if r.TruncatedShare != want.TruncatedShare || !r.TruncatedShare.Effect.Counts() {
		t.Errorf("%+v, want %+v", r.TruncatedShare, want.TruncatedShare)
	}
}

func TestATailThatMovesIsWarnedOf(t *testing.T) {
	r := hopOf(t, NewConfig(nil), asked(), minutes(60, func(i int64) rows { return all(done(1).times(40), done(500).times(int(i/10))) }))
	if text := warned(r, "drift"); !strings.Contains(text, "beyond p95 1.23 % and 10.2 %") {
		t.Errorf("%q", text)
	}
	steady := hopOf(t, NewConfig(nil), asked(), minutes(60, func(i int64) rows { return all(done(1).times(40), done(500).times(int(2+i%2))) }))
	if text := warned(steady, "drift"); text != "" {
		t.Errorf("steady: %q", text)
	}
}

// tenCalls makes traces of ten calls of one hop; in every twentieth all are slow.
func tenCalls(traces int, slow spans.Span) []weighed {
	var list []weighed
	for i := range traces {
		w := weighed{weight: 1}
		for id := range 10 {
			one := span(0, int64(1+i%3), spans.Completed)
			if i%20 == 0 {
				one = slow
			}
			one.ID = spans.SpanID(1 + id)
			w.spans = append(w.spans, one)
		}
		list = append(list, w)
	}
	return list
}

func TestCallsOfOneTraceWidenTheLimits(t *testing.T) {
	for name, slow := range map[string]spans.Span{"slow": span(0, 500, spans.Completed), "cut": span(0, 500, spans.Truncated)} {
		r := classesOf(NewConfig(nil), 3, tenCalls(400, slow)).Results(asked())[0]
		// All ten go one way: ten times the variance of single ones, from 400 traces.
		if effect, size := effectOf(t, r, "p95"); effect != 10.07 || size != 397 {
			t.Errorf("%s: design effect %v, n_eff %d", name, effect, size)
		}
		if !strings.Contains(warned(r, "dependent_attempts"), "10.07 by trace beyond p95") {
			t.Error(warned(r, "dependent_attempts"))
		}
	}
}

// Kish's n_eff of the weights, and the design effect over it.
func TestWeightsAndTracesTogether(t *testing.T) {
	list := tenCalls(400, span(0, 500, spans.Truncated))
	for i := range list {
		list[i].weight = float64(1 + i%2*3)
	}
	c := NewConfig(nil)
	c.MaxWeights = 4
	r := classesOf(c, 2, list).Results(weighing(true))[0]
	// (2000 + 8000)^2 / (2000 + 32000) = 2941
	if q := r.Tail[3]; r.Effective != 2941 || q.Effect.Float() != 10.07 || q.Size() != 292 || r.TruncatedShare.Effective != 292 {
		t.Errorf("n_eff %d, %+v, %+v", r.Effective, q.Effect, r.TruncatedShare)
	}
}

func TestEffectsDoNotDependOnWorkersNorOnOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		log := minutes(40, func(int64) rows {
			slow := r.IntN(4) / 3 * 5
			return all(done(1, 2, 3).times(3), done(40).times(slow), cut(30).times(r.IntN(2)*slow)).on([]string{"a", "b"}[r.IntN(2)])
		})
		c, q := NewConfig(nil), asked("0.5", "0.9", "0.95")
		q.Simultaneous = rapid.Bool().Draw(rt, "simultaneous")
		want := setOf(t, c, log).Results(q)
		if d := same(want, shared(t, c, r, rapid.IntRange(1, 4).Draw(rt, "workers"), log).Results(q)); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestTracesGiveTheSameEffectsForAnySplit(t *testing.T) {
	list := tenCalls(300, span(0, 500, spans.Truncated))
	for i := range list {
		for k := range list[i].spans {
			one := &list[i].spans[k]
			one.Start, one.Flags = int64(i)*20*s+int64(k), one.Flags|spans.HasStart
		}
	}
	want := classesOf(NewConfig(nil), 1, list).Results(asked())
	slices.Reverse(list)
	if d := same(want, classesOf(NewConfig(nil), 4, list).Results(asked())); d != "" {
		t.Error(d)
	}
	if !want[0].TruncatedShare.Effect.Known() {
		t.Errorf("%+v", want[0].TruncatedShare)
	}
}

func TestSimultaneousLimitsShareTheConfidence(t *testing.T) {
	q := asked()
	q.Simultaneous = true
	log := all(done(to(400)...), done(to(400)...).on("i"))
	for _, r := range setOf(t, NewConfig(nil), log).Results(q) {
		alone := quantile.MustP("0.991666667") // 0.05 over two hops and three quantiles
		if r.Claims != 6 || r.Confidence.Compare(alone) != 0 {
			t.Errorf("%s: %d claims, confidence %s", r.Name, r.Claims, r.Confidence)
		}
		if want := quantile.UpperRank(400, r.Tail[1].P, alone); r.Tail[1].UpperRank != want {
			t.Errorf("rank %d, want %d", r.Tail[1].UpperRank, want)
		}
	}
	q.MaxHops = 1
	if r := setOf(t, NewConfig(nil), log).Results(q); r[0].Claims != 6 {
		t.Errorf("%d claims of two rows", r[0].Claims)
	}
}

// cutEffect computes the effect of the cut share by time from the rows: the largest over
// blocks of all widths, times what so few blocks add. It is 0 where it is not known.
func cutEffect(log rows) (most float64) {
	for width := int64(60 * s); width <= 256*60*s; width *= 2 {
		m, a := map[int64]float64{}, map[int64]float64{}
		var n, cuts, scatter float64
		for _, one := range log {
			if one.Retry || one.Outcome != spans.Completed && one.Outcome != spans.Truncated {
				continue
			}
			m[one.Start/width]++
			n++
			if one.Outcome == spans.Truncated {
				a[one.Start/width]++
				cuts++
			}
		}
		k, share := float64(len(m)), cuts/n
		if k < 6 || cuts < 5 || n-cuts < 5 {
			break
		}
		for block := range m {
			scatter += (a[block] - share*m[block]) * (a[block] - share*m[block])
		}
		t := distuv.StudentsT{Sigma: 1, Nu: k - 1}.Quantile(.95) / 1.6448536269514722
		most = max(most, 1, t*t*k/(k-1)*scatter/(n*n)/(share*(1-share)/(n-1)))
	}
	return most
}

func TestEffectOfTheCutShareIsThatOfTheRows(t *testing.T) {
	counted, chance := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		spell := 1 + r.IntN(8)
		log := minutes(int64(5+r.IntN(60)), func(i int64) rows {
			more := int(i) / spell % 3 / 2 * r.IntN(8)
			return all(done(1, 2).times(1+r.IntN(4)), cut(30).times(r.IntN(3)+more), failed(5).times(r.IntN(3)), cut(9).retried().times(r.IntN(3)))
		})
		share := hopOf(t, NewConfig(nil), asked(), log).TruncatedShare
		if share.Count < 20 {
			return // the largest stand for so few
		}
		want, got := cutEffect(log), share.Effect
		switch d := got.Float() - want; {
		case got.Known() != (want > 0):
			rt.Fatalf("%v, want %v", got, want)
		case got.Float() == 1:
			chance++
		case got.Known():
			if counted++; d > .005001 || d < -.005001 {
				rt.Fatalf("%v, want %v", got.Float(), want)
			}
		}
	})
	if counted == 0 || chance == 0 {
		t.Errorf("%d effects counted, %d were by chance", counted, chance)
	}
}

// The sizes of a canary are of independent attempts, and say so where these are not.
func TestCanaryIsOfIndependentAttempts(t *testing.T) {
	log := minutes(60, everyTenth(cut(500).times(20)))
	with, without := hopOf(t, NewConfig(nil), asked(), log), hopOf(t, NewConfig(nil), asked(), log.each(func(r *row) { r.HasStart = false }))
	hidden := func(r Result) string { return r.Tail[len(r.Tail)-1].Reason }
	if text := hidden(with); !strings.Contains(text, "needs independent first attempts: ") {
		t.Errorf("slow minutes: %s", text)
	}
	if text := hidden(without); !strings.Contains(text, "needs first attempts: ") {
		t.Errorf("no starts: %s", text)
	}
}
