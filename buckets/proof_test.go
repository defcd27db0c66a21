package buckets

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// provenAttempts are attempts as the program reads them that holds the rules of values,
// limits and pile-ups: in ms, a timeout of 0 where none is known.
type provenAttempts struct {
	D       []float64 `json:"d"`
	Kind    []string  `json:"kind"`
	Timeout []float64 `json:"timeout"`
	Says    []bool    `json:"says"`
	Minute  []int64   `json:"minute"` // nil: not known
}

// provenTail is its answer for a quantile.
type provenTail struct {
	Status       string
	Value        float64
	AtMost       *float64 `json:"at_most"`
	Lower, Upper *float64
	Size         uint64 `json:"n_eff"`
}

// provenWorld is a hop whose first attempts a draw makes: how long it would take, and how
// that is seen.
type provenWorld struct {
	name string
	see  func(r *rand.Rand, ms float64, one *row)
}

// weather returns by which factor each minute of a day is slower.
type weather func(r *rand.Rand) func(minute int64) float64

// seenAs sets what a log says of an attempt, durations in ms.
func seenAs(one *row, o spans.Outcome, d, timeout float64) {
	one.Outcome, one.Duration, one.HasDuration = o, int64(math.Round(d*1e6)), true
	one.Timeout, one.HasTimeout = int64(timeout*1e6), timeout > 0
	switch o {
	case spans.Truncated:
		one.CutBy = spans.Own
	case spans.Failed:
		one.Failure = spans.OtherFailure
	}
}

// cutAt lets a timeout end what takes longer, logged up to a share late.
func cutAt(timeout, late float64, known bool) func(*rand.Rand, float64, *row) {
	return func(r *rand.Rand, ms float64, one *row) {
		told := 0.0
		if known {
			told = timeout
		}
		if ms < timeout {
			seenAs(one, spans.Completed, ms, told)
			return
		}
		seenAs(one, spans.Truncated, timeout*(1+late*r.Float64()), told)
	}
}

// rounded reads durations from a clock.
func rounded(step float64, see func(*rand.Rand, float64, *row)) func(*rand.Rand, float64, *row) {
	return func(r *rand.Rand, ms float64, one *row) {
		see(r, ms, one)
		unit := int64(step * 1e6)
		one.Duration = one.Duration / unit * unit
	}
}

var provenWorlds = func() []provenWorld {
	plain := cutAt(1e9, 0, false)
	mixed := func(share float64, other func(*rand.Rand, float64, *row)) func(*rand.Rand, float64, *row) {
		return func(r *rand.Rand, ms float64, one *row) {
			if r.Float64() < share {
				other(r, ms, one)
				return
			}
			plain(r, ms, one)
		}
	}
	fails := func(at func(*rand.Rand, float64) float64, says bool) func(*rand.Rand, float64, *row) {
		return func(r *rand.Rand, ms float64, one *row) {
			seenAs(one, spans.Failed, at(r, ms), 0)
			one.Speaks = says
		}
	}
	return []provenWorld{
		{"nothing was cut", plain},
		{"one timeout, known", cutAt(500, .02, true)},
		{"one timeout, not known", cutAt(500, .02, false)},
		{"one timeout, 30 % late", cutAt(500, .3, false)},
		{"two callers, one with a timeout", mixed(.5, cutAt(400, .14, false))},
		{"two callers, 30 % late", mixed(.5, cutAt(400, .3, false))},
		{"a timeout ten times too large", func(r *rand.Rand, ms float64, one *row) {
			cutAt(300, .02, false)(r, ms, one)
			one.Timeout, one.HasTimeout = 3e9, true
		}},
		{"a clock of 1 ms", rounded(1, cutAt(500, .02, false))},
		{"a clock of 10 ms", rounded(10, cutAt(500, .02, false))},
		{"a clock of 1 s", rounded(1000, plain)},
		{"pages closed early", mixed(.01, func(r *rand.Rand, ms float64, one *row) { seenAs(one, spans.Truncated, ms*r.Float64(), 0) })},
		{"failures that are fast", mixed(.05, fails(func(r *rand.Rand, ms float64) float64 { return 1 + r.Float64() }, false))},
		{"failures that are slow", mixed(.01, fails(func(r *rand.Rand, ms float64) float64 { return ms + 1500*r.Float64() }, false))},
		{"failures that speak of a timeout", mixed(.01, fails(func(r *rand.Rand, ms float64) float64 { return ms * r.Float64() }, true))},
		{"failures at one length", func(r *rand.Rand, ms float64, one *row) {
			if plain(r, ms, one); ms > 900 {
				fails(func(r *rand.Rand, _ float64) float64 { return 900 + r.Float64() }, false)(r, ms, one)
			}
		}},
		{"steady", plain},
		{"steady, cut", cutAt(500, .02, true)},
		{"a factor for each minute", plain},
		{"a factor for each half hour", plain},
		{"slow for five minutes", plain},
		{"slow for half an hour", plain},
		{"slow for half an hour, cut", cutAt(500, .02, true)},
		{"slow for four hours", plain},
		{"completed at one length", func(r *rand.Rand, ms float64, one *row) { plain(r, min(ms, 900+r.Float64()), one) }},
	}
}()

// draw makes the attempts of a world.
func (w provenWorld) draw(seed uint64, n int) rows {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	var log rows
	slower := func(int64) float64 { return 1 }
	of, timed := timedWorlds[w.name]
	if timed {
		slower = of(r)
	}
	for range n {
		var one row
		one.hop, one.Marked = "h", true
		minute := int64(r.IntN(1440))
		w.see(r, 60*math.Exp(r.NormFloat64())*slower(minute), &one)
		one.Start, one.HasStart = minute*60e9, timed
		log = append(log, one)
	}
	return log
}

// spells are so many minutes long, with a factor each.
func spells(minutes int64, factor func(r *rand.Rand) float64) weather {
	return func(r *rand.Rand) func(int64) float64 {
		factors := make([]float64, 1440)
		for i := range factors {
			factors[i] = factor(r)
		}
		return func(minute int64) float64 { return factors[minute/minutes] }
	}
}

// timedWorlds are those with starts, by name: their limits are those of dependent attempts.
var timedWorlds = func() map[string]weather {
	spread := func(sigma float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }
	}
	rarely := func(share float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return 5
			}
			return 1
		}
	}
	return map[string]weather{
		"steady":                      spells(1, spread(0)),
		"steady, cut":                 spells(1, spread(0)),
		"a factor for each minute":    spells(1, spread(.4)),
		"a factor for each half hour": spells(30, spread(.4)),
		"slow for five minutes":       spells(5, rarely(.08)),
		"slow for half an hour":       spells(30, rarely(.05)),
		"slow for half an hour, cut":  spells(30, rarely(.05)),
		"slow for four hours":         spells(240, rarely(.3)),
	}
}()

// proven are the same for the program.
func (r rows) proven() (a provenAttempts) {
	kinds := map[spans.Outcome]string{spans.Completed: "ok", spans.Truncated: "cut", spans.Failed: "fail"}
	for _, one := range r {
		a.D, a.Kind = append(a.D, float64(one.Duration)/1e6), append(a.Kind, kinds[one.Outcome])
		a.Timeout, a.Says = append(a.Timeout, float64(one.Timeout)/1e6), append(a.Says, one.Speaks)
		if one.HasStart {
			a.Minute = append(a.Minute, one.Start/60e9)
		}
	}
	return a
}

// asProven runs the program over many hops.
const asProven = `
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, proof
for line in sys.stdin:
    a = json.loads(line)
    t = np.array(a["timeout"], float)
    r = proof.prove(dict(d=np.array(a["d"], float), kind=np.array(a["kind"]), timeout=np.where(t > 0, t, np.nan), says=np.array(a["says"], bool), minute=a["minute"] and np.array(a["minute"]), trace=None))
    print(json.dumps(dict(p=r["p"], step=r["step"])))
`

// provenAnswer is what the program says of one hop.
type provenAnswer struct {
	World string
	N     int
	Seed  uint64
	P     map[string]provenTail
	Step  float64
}

func (a *provenAnswer) log() rows {
	for _, w := range provenWorlds {
		if w.name == a.World {
			return w.draw(a.Seed, a.N)
		}
	}
	return nil
}

func (a *provenAnswer) compare(t *testing.T) {
	t.Helper()
	log := a.log()
	if log == nil {
		t.Fatalf("no world is called %q", a.World)
	}
	r := hopOf(t, NewConfig(nil), asked("0.5", "0.9", "0.95", "0.99", "0.999"), log)
	name := fmt.Sprintf("%s, n = %d, seed %d", a.World, a.N, a.Seed)
	if log[0].HasStart {
		agreeOnSizes(t, name, r, a.P)
		return
	}
	agreeWithProgram(t, name, r, a.P, a.Step)
}

// agreeOnSizes compares n_eff. The thresholds of the program are values, not log buckets,
// so its effects are others by a few percent; whether attempts are dependent is the same.
func agreeOnSizes(t *testing.T, name string, r Result, want map[string]provenTail) {
	t.Helper()
	for _, q := range r.Tail {
		if q.Status != quantile.Exact {
			continue // the program asks who is slower than the cut ones, that is nobody
		}
		w, most := want[q.P.String()], .35
		if q.N-q.Rank < 20 {
			most = .8 // the 20 largest stand for it, and those of the program are fewer where a bucket has more
		}
		if (q.Size() < q.N) != (w.Size < q.N) || math.Abs(math.Log(float64(q.Size())/float64(w.Size))) > most {
			t.Errorf("%s, %s: n_eff %d (%v by %d minutes), want %d", name, q.P.Label(), q.Size(), q.Effect.Float(), q.Effect.Minutes, w.Size)
		}
	}
}

var updateProven = flag.Bool("update-proven", false, "write what the program of the rules says anew")

// kept has what the program said of the first draw of each world.
const kept = "testdata/proven.ndjson"

// The rules of values and limits, held against a program that says them once more.
func TestTailsAgreeWithTheProgramOfTheRules(t *testing.T) {
	const folder = "../../shared/oracle"
	if testing.Short() {
		t.Skip("it starts another program")
	}
	if _, err := os.Stat(folder + "/proof.py"); err != nil {
		t.Skip("the program of the rules is not there")
	}
	if err := exec.Command("/usr/bin/python3", "-c", "import numpy, scipy").Run(); err != nil {
		t.Skip("no python3 with numpy and scipy")
	}
	var answers []provenAnswer
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, w := range provenWorlds {
		for seed := range uint64(4) {
			for _, n := range []int{320, 3100} {
				a := provenAnswer{World: w.name, N: n, Seed: seed}
				answers = append(answers, a)
				if err := lines.Encode(a.log().proven()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run := exec.Command("/usr/bin/python3", "-c", asProven, folder)
	run.Stdin, run.Stderr = &in, os.Stderr
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	said := json.NewDecoder(bytes.NewReader(out))
	var first bytes.Buffer
	for i := range answers {
		if err := said.Decode(&answers[i]); err != nil {
			t.Fatal(err)
		}
		answers[i].compare(t)
		if a := &answers[i]; a.Seed == 0 && a.N == 320 {
			_ = json.NewEncoder(&first).Encode(a)
		}
	}
	if *updateProven {
		if err := os.WriteFile(kept, first.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTailsAgreeWithWhatTheProgramSaid(t *testing.T) {
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	for said := json.NewDecoder(bytes.NewReader(data)); said.More(); answers++ {
		var a provenAnswer
		if err := said.Decode(&a); err != nil {
			t.Fatal(err)
		}
		a.compare(t)
	}
	if answers != len(provenWorlds) {
		t.Errorf("%d answers of %d worlds", answers, len(provenWorlds))
	}
}

func agreeWithProgram(t *testing.T, name string, r Result, want map[string]provenTail, step float64) {
	t.Helper()
	for _, q := range r.Tail {
		w := want[q.P.String()]
		// The program widens limits always, and counts in floats.
		near := func(got *int64, want *float64, slack float64) bool {
			return (got == nil) == (want == nil) && (got == nil || math.Abs(float64(*got)/1e6-*want) <= slack+2e-6)
		}
		value := &q.Value
		if q.Status == quantile.NoValue {
			value = new(int64)
		}
		if q.Status.String() != w.Status || !near(value, &w.Value, 0) || !near(q.atMost(), w.AtMost, 0) || !near(q.Lower, w.Lower, step) || !near(q.Upper, w.Upper, step) {
			t.Errorf("%s, %s: %s %s..%s in %s..%s, want %s %v..%s in %s..%s", name, q.P.Label(), q.Status, inMS(value), inMS(q.atMost()), inMS(q.Lower), inMS(q.Upper),
				w.Status, w.Value, floatText(w.AtMost), floatText(w.Lower), floatText(w.Upper))
		}
	}
}

// atMost is the upper end, that of an exact value too.
func (t Tail) atMost() *int64 {
	if t.Status == quantile.Exact {
		return &t.Value
	}
	return t.AtMost
}

func inMS(ns *int64) string {
	if ns == nil {
		return "none"
	}
	return fmt.Sprint(float64(*ns) / 1e6)
}

func floatText(ms *float64) string {
	if ms == nil {
		return "none"
	}
	return fmt.Sprint(*ms)
}
