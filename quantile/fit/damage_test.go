package fit

import (
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
	"github.com/tailscope/tailscope/internal/spill/spilltest"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
)

// TestNothingPanicsOnDurationsThatCannotBeReadBack: results are computed before
// anybody asks the store for its error.
func TestNothingPanicsOnDurationsThatCannotBeReadBack(t *testing.T) {
	ps := []quantile.P{quantile.MustP("0.5"), quantile.MustP("0.99"), quantile.MustP("0.9999")}
	for name, damage := range map[string]func(string) error{"cut": spilltest.Cut, "altered": spilltest.Overwrite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st := quantile.NewStore(1000, dir)
			defer st.Close()
			s := st.New()
			for _, v := range durationtest.UniformNanoseconds(50_000) {
				s.Add(v)
			}
			spilltest.Damage(t, dir, damage)
			bad, good := quantile.Union{s}, quantile.Union{sampleOf(durationtest.UniformNanoseconds(500)...)}
			for _, o := range []quantile.Observed{{Completed: bad, CutSeen: good}, {Completed: bad, CutAt: bad}, {Completed: good, CutAt: bad}, {Completed: good, CutSeen: bad}} {
				tails := o.Tails(ps, ninetyFive)
				o.Widen(&tails, []depend.Dependent{{Effect: depend.Effect{Hundredths: 400}}, {}, {}}, ninetyFive)
				Estimates(o, tails.Tails)
				quantile.InferWalls(o.Completed, o.Cuts())
				quantile.StratifiedKMQuantile([]quantile.Stratum{{Completed: o.Completed, Cut: o.Cuts()}, {Completed: good, Cut: bad}}, ps[0])
				quantile.TailsByWeight([]quantile.Class{{Weight: 1, Observed: o}, {Weight: 2.5, Observed: o}}, ps, ninetyFive)
			}
			quantile.SummarizeEach([]quantile.Union{bad, good, {s, s}}, ps)
			if st.Err() == nil {
				t.Error("no error")
			}
		})
	}
}
