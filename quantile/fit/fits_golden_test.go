package fit

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tailscope/tailscope/quantile"
)

// golden is one case of testdata/param_*.json: fits by R of the same durations,
// with the share of exceedances taken as known.
type golden struct {
	Case string
	GPD  struct {
		Threshold int64      `json:"threshold_ns"`
		Completed uint64     `json:"exceed_events"`
		Cut       uint64     `json:"exceed_truncated"`
		Zeta      float64    `json:"zeta"`
		Sigma     float64    `json:"sigma_s"`
		Xi        float64    `json:"xi"`
		P         []float64  `json:"p"`
		Values    []*float64 `json:"quantile_s"`
		Bounds    []*float64 `json:"profile_upper95_1s_s"`
	} `json:"gpd"`
	Full []struct {
		Par1, Par2 float64
		P          []float64  `json:"p"`
		Values     []*float64 `json:"quantile_s"`
		Bounds     []*float64 `json:"profile_upper95_1s_s"`
	} `json:"full"`
}

func eachFitted(t *testing.T, test func(t *testing.T, want golden, g quantile.Observed)) {
	files, err := filepath.Glob("testdata/param_*.json")
	if err != nil || len(files) != 9 {
		t.Fatalf("found %d fitted cases (%v), want 9", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f golden
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(f.Case, func(t *testing.T) { test(t, f, readHop(t, f.Case)) })
	}
}

// near compares relative to what is wanted.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g (%.1e off)", what, got, want, math.Abs(got/want-1))
	}
}

// number64 reads a float as the decimal that it is written as.
func number64(p float64) quantile.P { return quantile.MustP(strconv.FormatFloat(p, 'f', -1, 64)) }

func TestParetoFitsEqualTheGoldenOnes(t *testing.T) {
	t.Parallel()
	eachFitted(t, func(t *testing.T, want golden, g quantile.Observed) {
		e := exceed(g.Completed, g.CutSeen)
		w := want.GPD
		if e.threshold != w.Threshold || e.k != w.Completed || e.c != w.Cut {
			t.Fatalf("threshold %d with %d and %d beyond, want %d with %d and %d", e.threshold, e.k, e.c, w.Threshold, w.Completed, w.Cut)
		}
		f := fitPareto(e)
		near(t, "xi", f.shape(), w.Xi, 1e-5)
		near(t, "sigma", f.sigma(f.s)*float64(f.largest)/1e9, w.Sigma, 1e-5)
		for i, p := range w.P {
			if w.Values[i] == nil {
				continue
			}
			beyond := number64(p).Beyond()
			near(t, number64(p).Label(), f.quantile(beyond)/1e9, *w.Values[i], 1e-5)
			if w.Xi >= 1 {
				continue
			}
			near(t, number64(p).Label()+" bound", f.boundWithShare(beyond, f.share(), halfDeviance)/1e9, *w.Bounds[i], 1e-6)
			if b := f.bound(beyond) / 1e9; b < *w.Bounds[i]*(1-1e-9) {
				t.Errorf("%s: bound %v with the share's uncertainty, %v without", number64(p).Label(), b, *w.Bounds[i])
			}
		}
	})
}

func TestFitsOfAllValuesEqualTheGoldenOnes(t *testing.T) {
	t.Parallel()
	eachFitted(t, func(t *testing.T, want golden, g quantile.Observed) {
		w, ok := wholeOf(g.Completed, g.CutSeen)
		if !ok {
			t.Fatal("nothing to fit")
		}
		weibull, lognormal := fitWeibull(w), fitLognormal(w)
		near(t, "log of Weibull shape", math.Log(weibull.shape), want.Full[0].Par2, 1e-5)
		for i, m := range []struct {
			name string
			fitted
		}{{Weibull, weibull}, {Lognormal, lognormal}} {
			for j, p := range want.Full[i].P {
				beyond := number64(p).Beyond()
				near(t, m.name+" "+number64(p).Label(), m.quantile(beyond)/1e9, *want.Full[i].Values[j], 1e-5)
				near(t, m.name+" "+number64(p).Label()+" bound", m.bound(beyond)/1e9, *want.Full[i].Bounds[j], 1e-6)
			}
		}
	})
}

func TestAndersonDarlingEqualsTheGoldenOnes(t *testing.T) {
	b, err := os.ReadFile("testdata/anderson_darling.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ A2 float64 }{}
	if err := json.Unmarshal(b, &want); err != nil || len(want) != 7 {
		t.Fatalf("%d cases, %v", len(want), err)
	}
	for name, w := range want {
		g := readHop(t, name)
		done, cut := g.Completed, g.CutSeen
		f := fitPareto(exceed(done, cut))
		near(t, name, goodnessOf(f, done, cut).andersonDarling(f.beyond(1, 0)), w.A2, 1e-6)
	}
}
