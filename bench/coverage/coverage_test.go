package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pooled sums rows of one kind, so that few hops of each are enough to judge.
func pooled(rows []row, of kind) row {
	sum := row{system: system{name: "pooled", kind: of}}
	for _, r := range rows {
		if r.kind != of {
			continue
		}
		sum.hidden, sum.estimates, sum.covers = sum.hidden+r.hidden, sum.estimates+r.estimates, sum.covers+r.covers
		for i, l := range r.limits {
			if i == len(sum.limits) {
				sum.limits = append(sum.limits, limits{})
			}
			s := &sum.limits[i]
			s.hops, s.given, s.wrong = s.hops+l.hops, s.given+l.given, s.wrong+l.wrong
		}
	}
	return sum
}

// The run in full draws fifty times as many; go run ./bench/coverage.
func TestLimitsAndEstimatesHold(t *testing.T) {
	if testing.Short() {
		t.Skip("draws 20 hops of each system")
	}
	rows := measure(systems(), 20, 2, 2)
	one := pooled(rows, oneMode)
	if holds := one.holds(); one.estimates < 200 || holds < estimateAtLeast {
		t.Errorf("bounds hold in %.3f of %d estimates", holds, one.estimates)
	}
	wrong, hops := 0, 0
	for _, l := range one.limits {
		if l.given > 0 {
			wrong, hops = wrong+l.wrong, hops+l.hops
		}
	}
	if hops < 500 || float64(wrong) > (1-certifiedAtLeast)*float64(hops) {
		t.Errorf("%d wrong limits in %d hops", wrong, hops)
	}
	if many := pooled(rows, manyWalls); many.estimates > 0 {
		t.Errorf("%d estimates with two timeouts", many.estimates)
	}
	// Estimates that hold here would mean that the table hides where they fail.
	hidden := pooled(slices.DeleteFunc(rows, func(r row) bool { return !strings.Contains(r.name, "at 10 timeouts") }), slowMode)
	if holds := hidden.holds(); hidden.estimates == 0 || holds > .5 {
		t.Errorf("bounds hold in %.3f of %d although the slow mode lies ten timeouts away", holds, hidden.estimates)
	}
}

func TestRowsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	list := []system{systems()[0]}
	var tables [2]strings.Builder
	for i := range tables {
		writeTable(&tables[i], measure(list, 3, 7, i*3+1))
	}
	if tables[0].String() != tables[1].String() {
		t.Errorf("%s\n%s", &tables[0], &tables[1])
	}
}

// What is called the truth is what is drawn.
func TestQuantilesAreThoseOfTheDraws(t *testing.T) {
	list := systems()
	if testing.Short() {
		list = list[:2]
	}
	for _, s := range list {
		values := s.attempts(rand.New(rand.NewPCG(5, 5)), 200_000)
		slices.Sort(values)
		for _, p := range []float64{.5, .9, .95, .99} {
			got, want := values[int(p*float64(len(values)))], s.quantile(p)
			if math.Abs(got/want-1) > .1 {
				t.Errorf("%s, %g: drawn %g, truth %g", s.name, p, got, want)
			}
		}
		for _, cut := range s.cut {
			beyond := 0
			for _, v := range values {
				if v >= s.wall(cut) {
					beyond++
				}
			}
			if got := float64(beyond) / float64(len(values)); math.Abs(got/cut-1) > .15 {
				t.Errorf("%s: %g lie beyond the wall, want %g", s.name, got, cut)
			}
		}
	}
}

func TestRowsThatFallShortAreNamed(t *testing.T) {
	good := row{system: system{name: "good"}, n: 200, limits: []limits{{1000, 900, 60}}, estimates: 100, covers: 95}
	for name, r := range map[string]row{
		"":                     good,
		"certified limits":     {system: good.system, n: 200, limits: []limits{{1000, 900, 10}, {1000, 900, 71}}},
		"bounds of estimates":  {system: good.system, n: 200, limits: good.limits, estimates: 100, covers: 94},
		"two, n=200: 3 est":    {system: system{name: "two", kind: manyWalls}, n: 200, estimates: 3, covers: 3},
		"none, n=2000: certif": {system: system{name: "none", kind: slowMode}, n: 2000, limits: []limits{{10, 10, 1}}},
	} {
		err := verdict([]row{good, r})
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	large := row{system: good.system, n: 20_000, limits: []limits{{10, 10, 5}}}
	if err := verdict([]row{large}); err != nil {
		t.Error(err)
	}
}

func TestFailingEstimatesComeFirst(t *testing.T) {
	var b strings.Builder
	writeTable(&b, []row{
		{system: system{name: "none"}, n: 1}, {system: system{name: "good"}, n: 2, estimates: 2, covers: 2, hidden: 4, excess: []float64{3, 2}},
		{system: system{name: "bad"}, n: 3, estimates: 4, covers: 1, hidden: 4, excess: []float64{.1, .2, .3, .4}, limits: []limits{{4, 2, 1}}},
	})
	want := "| system | n | certified | right or none | estimated | bound holds | bound / truth |\n|---|---:|---:|---:|---:|---:|---:|\n" +
		"| bad | 3 | 50 % | 0.750 | 100 % | 0.250 | 0.20 |\n| good | 2 | – | 1.000 | 50 % | 1.000 | 2.00 |\n| none | 1 | – | 1.000 | – | – | – |\n"
	if b.String() != want {
		t.Errorf("%s", &b)
	}
}

func TestTheTableGoesIntoThePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("a\n<!-- measured: coverage -->\n<!-- end of coverage -->\n<!-- measured: worlds -->\n<!-- end of worlds -->\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run([]string{"-only", "coverage,worlds", "-world", "every line twice", "-reps", "1", "-runs", "1", "-into", path}, os.Stdout) // of one hop each some fall short
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "| lognormal, σ 1 | 200 |") || !strings.Contains(string(text), "\n| every line twice | ") || !strings.HasSuffix(string(text), "b\n") {
		t.Errorf("%s, %v", text, err)
	}
	for _, bad := range [][]string{{"-reps", "0"}, {"-runs", "0"}, {"-jobs", "0"}, {"-only", "other"}, {"file"}, {"-unknown"}} {
		if err := run(bad, os.Stdout); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// The page of the repository has the marks.
func TestTheStatisticsPageHasATable(t *testing.T) {
	text, err := os.ReadFile("../../docs/statistics.md")
	for _, want := range []string{"<!-- measured: coverage -->\n", "| bound holds |", "<!-- measured: worlds -->\n", "| every line twice |", "<!-- measured: said -->\n", "| asked for |", "<!-- measured: owners -->\n", "| interval holds |"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %q, %v", want, err)
		}
	}
}
