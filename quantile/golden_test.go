package quantile

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/internal/durationtest"
)

// golden is one case of testdata: the durations of a hop and what R's
// survival package and integer arithmetic say about them.
type golden struct {
	Case           string
	N              uint64
	Events         uint64
	Truncated      uint64
	MinTruncatedNs *int64 `json:"min_truncated_ns"`
	NearestRank    struct {
		PerMille        []int    `json:"per_mille"`
		AllRecorded     []*int64 `json:"all_recorded_ns"`
		UntruncatedOnly []*int64 `json:"untruncated_only_ns"`
		CensorAware     []*int64 `json:"censor_aware_ns"`
	} `json:"nearest_rank"`
	KM struct {
		Time    []int64  `json:"time_ns"`
		NRisk   []uint64 `json:"n_risk"`
		NEvent  []uint64 `json:"n_event"`
		NCensor []uint64 `json:"n_censor"`
		Surv    []number `json:"surv"`
	} `json:"km_table"`
	KMQuantileInf struct {
		P        []number `json:"p"`
		Quantile []*int64 `json:"quantile_ns"`
	} `json:"km_quantile_inf"`
	OrderStatUpper []struct {
		Alpha    number    `json:"alpha"`
		P        []number  `json:"p"`
		Rank     []*uint64 `json:"rank"`
		Conf     []*number `json:"conf"`
		Recorded []*int64  `json:"recorded_ns"`
		Upper    []*int64  `json:"upper_ns"`
		MinN     []uint64  `json:"min_n"`
	} `json:"order_stat_upper"`
	Share struct {
		Lower float64 `json:"lower95_1s"`
		Upper float64 `json:"upper95_1s"`
	} `json:"truncated_share_cp"`

	completed, cut *Sample
}

// number is a JSON number or the string "inf".
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = number(f)
	return err
}

// p reads the number as a decimal probability.
func (n number) p() P { return MustP(strconv.FormatFloat(float64(n), 'f', -1, 64)) }

func perMille(i int) P { return MustP(strconv.FormatFloat(float64(i)/1000, 'f', -1, 64)) }

// eachGolden runs test on all twenty cases.
func eachGolden(t *testing.T, test func(t *testing.T, g golden)) {
	files, err := filepath.Glob("testdata/c*.json")
	if err != nil || len(files) != 20 {
		t.Fatalf("found %d golden cases (%v), want 20", len(files), err)
	}
	for _, file := range files {
		g := readGolden(t, file)
		t.Run(g.Case, func(t *testing.T) { test(t, g) })
	}
}

func readGolden(t *testing.T, file string) (g golden) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	table, err := os.Open(strings.TrimSuffix(file, ".json") + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	g.completed, g.cut = new(Sample), new(Sample)
	for _, row := range rows[1:] {
		ns, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if row[1] == "1" {
			g.cut.Add(ns)
		} else {
			g.completed.Add(ns)
		}
	}
	return g
}

func show(p *int64) string {
	if p == nil {
		return "none"
	}
	return strconv.FormatInt(*p, 10)
}

func equal(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

func TestNearestRanksEqualTheGoldenOnes(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden) {
		var ps []P
		for _, i := range g.NearestRank.PerMille {
			ps = append(ps, perMille(i))
		}
		check := func(what string, u Union, want []*int64) {
			got := Summarize(u, ps)
			for i, p := range ps {
				var value *int64
				if got.N > 0 {
					value = &got.Quantiles[i]
				}
				if !equal(value, want[i]) {
					t.Errorf("%s %s = %s, want %s", what, p.Label(), show(value), show(want[i]))
				}
			}
		}
		check("all recorded", Union{g.completed, g.cut}, g.NearestRank.AllRecorded)
		check("untruncated only", Union{g.completed}, g.NearestRank.UntruncatedOnly)
		tails := Observed{Completed: Union{g.completed}, CutAt: Union{g.cut}}.Tails(ps, MustP("0.95"))
		for i, q := range tails.Tails {
			var value *int64
			if q.Status == Exact {
				value = &q.Value
			}
			if want := g.NearestRank.CensorAware[i]; !equal(value, want) {
				t.Errorf("censor aware %s = %s, want %s", ps[i].Label(), show(value), show(want))
			}
		}
		if !equal(tails.FirstCut, g.MinTruncatedNs) {
			t.Errorf("first cut %s, want %s", show(tails.FirstCut), show(g.MinTruncatedNs))
		}
		if g.completed.N() != g.Events || tails.Cut != g.Truncated || tails.N != g.N {
			t.Errorf("counts %d, %d of %d", g.completed.N(), tails.Cut, tails.N)
		}
	})
}

func TestKaplanMeierEqualsSurvfit(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden) {
		near := func(what string, got, want float64) {
			t.Helper()
			if got != want && !(math.Abs(got-want) <= 1e-9*max(1e-3, math.Abs(want))) {
				t.Errorf("%s = %v, want %v", what, got, want)
			}
		}
		i, atRisk := 0, g.N
		for s := range KMBeyond(Union{g.completed}, Union{g.cut}, -1) {
			k := g.KM
			if s.Time != k.Time[i] || atRisk != k.NRisk[i] || s.Completed != k.NEvent[i] || s.Cut != k.NCensor[i] {
				t.Fatalf("step %d is %+v of %d", i, s, atRisk)
			}
			near(fmt.Sprintf("step %d survival", i), s.Survival, float64(k.Surv[i]))
			atRisk -= s.Completed + s.Cut
			i++
		}
		if i != len(g.KM.Time) {
			t.Errorf("%d steps, want %d", i, len(g.KM.Time))
		}
	})
}

func TestKaplanMeierQuantilesEqualTheGoldenOnes(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden) {
		done, cut := Union{g.completed}, Union{g.cut}
		for i, n := range g.KMQuantileInf.P {
			want := g.KMQuantileInf.Quantile[i]
			var got, strat *int64
			if v, ok := kmOf(done, cut, n.p()); ok {
				got = &v
			}
			if v, ok := StratifiedKMQuantile([]Stratum{{}, {done, cut}}, n.p()); ok {
				strat = &v
			}
			if !equal(got, want) || !equal(strat, want) {
				t.Errorf("%s = %s, one stratum %s, want %s", n.p().Label(), show(got), show(strat), show(want))
			}
		}
	})
}

func TestOrderStatisticLimitsEqualTheGoldenOnes(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden) {
		all := durationtest.OracleOf(expand(Union{g.completed, g.cut}))
		for _, o := range g.OrderStatUpper {
			confidence := number(1 - float64(o.Alpha)).p()
			for i, n := range o.P {
				p := n.p()
				q := Observed{Completed: Union{g.completed}, CutSeen: Union{g.cut}}.Tails([]P{p}, confidence).Tails[0]
				want, recorded := g.N+1, o.Recorded[i]
				if o.Rank[i] != nil {
					want = *o.Rank[i]
				}
				upper := o.Upper[i]
				if upper == nil && want <= g.Events { // the answers go up to the first cut only
					upper = &Union{g.completed}.At(want)[0]
				}
				if q.UpperRank != want || !equal(q.Upper, upper) {
					t.Errorf("%s %s: rank %d upper %s, want %d %s", confidence, p.Label(), q.UpperRank, show(q.Upper), want, show(upper))
				}
				if recorded != nil && all[q.UpperRank-1] != *recorded {
					t.Errorf("%s %s: recorded %d, want %d", confidence, p.Label(), all[q.UpperRank-1], *recorded)
				}
				if o.Conf[i] != nil {
					if conf := 1 - p.chance().atLeast(want, g.N); math.Abs(conf-float64(*o.Conf[i])) > 1e-9 {
						t.Errorf("%s %s: confidence %v, want %v", confidence, p.Label(), conf, *o.Conf[i])
					}
				}
				if size := CanarySize(p, 0, confidence); size != o.MinN[i] {
					t.Errorf("%s %s: smallest n %d, want %d", confidence, p.Label(), size, o.MinN[i])
				}
			}
		}
	})
}

func TestTruncatedShareEqualsTheGoldenLimits(t *testing.T) {
	eachGolden(t, func(t *testing.T, g golden) {
		lower, upper := ClopperPearson(g.Truncated, g.N, MustP("0.95"))
		if math.Abs(lower-g.Share.Lower) > 1e-9 || math.Abs(upper-g.Share.Upper) > 1e-9 {
			t.Errorf("limits %v %v, want %v %v", lower, upper, g.Share.Lower, g.Share.Upper)
		}
	})
}

func expand(u Union) []int64 {
	var values []int64
	for v, c := range u.All() {
		for range c {
			values = append(values, v)
		}
	}
	return values
}
