package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// asLine is an attempt as a hop log has it.
func (w *world) asLine(a *attempt) string {
	line := `{"hop":"h"`
	switch {
	case a.outcome == spans.Truncated && a.cutBy == spans.Caller:
		line += `,"truncated":true,"cut_by":"caller"`
	case a.outcome == spans.Truncated:
		line += `,"truncated":true`
	case a.outcome == spans.Failed && a.failure == spans.ServerError:
		line += `,"status":500`
	case a.outcome == spans.Failed && a.failure == spans.Unavailable:
		line += `,"status":503`
	case a.outcome == spans.Failed:
		line += `,"error":"no answer"`
	case !a.unmarked:
		line += `,"truncated":false`
	}
	if a.speaks {
		line += `,"message":"context deadline exceeded"`
	}
	if a.chain > 0 {
		line += fmt.Sprintf(`,"chain_id":"c%d"`, a.chain)
	}
	if a.timeout > 0 {
		line += fmt.Sprintf(`,"timeout_ns":%d`, a.timeout)
	}
	if a.start > 0 {
		line += fmt.Sprintf(`,"start_ns":%d`, a.start)
	}
	digits, unit := int64(1), [...]string{"ns", "", "", "us", "", "", "ms", "ms", "", "s"}[w.digit()]
	for range w.digit() {
		digits *= 10
	}
	if unit == "ms" { // a clock of 10 ms writes milliseconds
		digits = ms
	}
	return line + fmt.Sprintf(`,"duration_%s":%d}`, unit, a.logged/digits) + "\n"
}

// said is what a page and the library say in the same words.
type said struct {
	Tail []struct {
		N      uint64
		Status string
		Value  *int64 `json:"value_ns"`
		AtMost *int64 `json:"at_most_ns"`
		Lower  *int64 `json:"lower_ns"`
		Upper  *int64 `json:"upper_ns"`
		Size   uint64 `json:"n_eff"`
		Step   int64  `json:"clock_step_ns"`
	}
	Evidence string
	Bound    *int64 `json:"bound_ns"`
	Timeout  *int64 `json:"timeout_ns"`
	Canary   *struct {
		RaiseTo int64 `json:"raise_to_ns"`
	}
}

// inWords returns what JSON documents say.
func inWords(t *testing.T, documents ...any) string {
	t.Helper()
	var s said
	for _, d := range documents {
		text, err := json.Marshal(d)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, _ := json.Marshal(s)
	return string(text)
}

// build returns the program.
func build(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tailscope")
	if out, err := exec.Command("go", "build", "-o", name, "../../cmd/tailscope").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return name
}

// The table asks the packages, not the program: they say the same of a log.
func TestTheProgramSaysOfALogWhatTheTableCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it over a log of each world")
	}
	t.Parallel()
	program := build(t)
	for i, w := range append(worlds(), sayings()[2].world, sayings()[3].world) {
		if w.ended {
			continue // there are no lines of it
		}
		t.Run(w.name, func(t *testing.T) {
			c := newCell(&w, laws()[i%len(laws())], 3000, 1)
			s := &scene{Rand: rand.New(rand.NewPCG(uint64(i), 1)), way: i % 3}
			if len(c.walls) > 0 {
				s.wall = c.walls[i%len(c.walls)]
			}
			log := c.attempts(c.law, s, c.n)
			given := int64(w.given * float64(s.wall))
			want := w.read(log, given)
			var text strings.Builder
			for k := range log {
				text.WriteString(w.asLine(&log[k]))
			}
			if got, want := programOf(t, program, text.String(), given), inWords(t, want.Result, want.advice); got != want {
				t.Errorf("the program says\n%s, the packages\n%s", got, want)
			}
		})
	}
}

// programOf runs the program over a log.
func programOf(t *testing.T, program, log string, given int64) string {
	t.Helper()
	args := []string{"analyze", "--format", "json", "--quantiles", "0.5,0.9,0.95,0.99,0.999", "-"}
	if given > 0 {
		args = append([]string{"analyze", "--timeout", fmt.Sprintf("h=%dns", given)}, args[1:]...)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(log), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Hops     []any
		Timeouts struct{ Hops []any }
	}
	if err := json.Unmarshal(out, &page); err != nil || len(page.Hops) != 1 || len(page.Timeouts.Hops) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	return inWords(t, page.Hops[0], page.Timeouts.Hops[0])
}

// The run in full draws more, and judges each quantile: go run ./bench/coverage.
func TestLittleIsFalseInWorldsOfKnownTruth(t *testing.T) {
	t.Parallel()
	sizes, runs := logSizes, 3
	if testing.Short() {
		sizes, runs = logSizes[:2], 3
	}
	list := worlds()
	cells := measureWorlds(list, sizes, runs, 1, 2)
	for i := range list {
		var limits, missed, values, wrongValues, wrong, low, all int
		for _, c := range cells {
			if c.world != &list[i] {
				continue
			}
			all += c.runs
			limits, missed = limits+2*c.runs*len(quantiles), missed+sum(c.uppers)+sum(c.lowers)
			values, wrongValues = values+c.runs*len(quantiles), wrongValues+sum(c.values)
			wrong, low = wrong+c.wrong, low+c.lowCanaries
		}
		if share := float64(missed) / float64(limits); share > list[i].missedAtMost()+.03 {
			t.Errorf("%s: %d of %d limits miss", list[i].name, missed, limits)
		}
		if 20*wrongValues > values || 8*wrong > all || low > 0 {
			t.Errorf("%s: %d of %d values, certificates of %d of %d logs and %d canaries are wrong", list[i].name, wrongValues, values, wrong, all, low)
		}
	}
}

func (w *world) missedAtMost() float64 { return max(.05, w.asks.missed) }

func sum(list []int) (n int) {
	for _, k := range list {
		n += k
	}
	return n
}

func TestWhatCanBeSaidIsSaid(t *testing.T) {
	if t.Parallel(); testing.Short() {
		t.Skip("draws hundreds of logs")
	}
	const runs = 20
	if err := unsaid(measureSayings(runs, 3, 2), runs); err != nil {
		t.Error(err)
	}
}

func TestNoOwnerIsWrongAndIntervalsHold(t *testing.T) {
	if t.Parallel(); testing.Short() {
		t.Skip("draws hundreds of samples")
	}
	if err := misnamed(measureOwners(20, 5, 2)); err != nil {
		t.Error(err)
	}
}

// What is called the truth of a world is what is drawn.
func TestTheTruthOfAWorldIsWhatIsDrawn(t *testing.T) {
	t.Parallel()
	for _, w := range []world{{see: completed}, {see: completed, hung: &hung{10, .3}}, {hours: 24, weather: spread(1, .4), see: completed}, {hours: 24, weather: spells(1, .08, 5), see: completed}} {
		for _, l := range laws() {
			const n = 200_000
			c := newCell(&w, l, n, 1)
			got := latents(w.attempts(l, &scene{Rand: rand.New(rand.NewPCG(1, 2))}, n), n)
			for i, p := range quantiles[:4] {
				if at := float64(got[p.Rank(n)-1]) / c.truths[i]; at < .95 || at > 1.05 {
					t.Errorf("%s, %s: drawn %.3f of the truth", l.name, p.Label(), at)
				}
			}
		}
	}
}

func TestCellsThatFallShortAreNamed(t *testing.T) {
	w := world{name: "one", asks: all}
	for name, spoil := range map[string]func(*cell){
		"":                 func(*cell) {},
		"limits miss in":   func(c *cell) { c.uppers[2] = 15 },
		"values are wrong": func(c *cell) { c.values[0] = 15 },
		"certificates in":  func(c *cell) { c.wrong = 15 },
		"canaries in 1":    func(c *cell) { c.lowCanaries = 1 },
	} {
		c := newCell(&w, laws()[0], 3000, 100)
		c.lowers[4], c.certified = 9, 100
		spoil(c)
		err := shortfalls([]*cell{c})
		if (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWorldsAreTheSameForAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	list := slices.DeleteFunc(worlds(), func(w world) bool { return w.name != "every line twice" })
	var tables [2]strings.Builder
	for i := range tables {
		writeWorlds(&tables[i], measureWorlds(list, logSizes, 2, 7, i*3+1))
	}
	if tables[0].String() != tables[1].String() || !strings.Contains(tables[0].String(), "| every line twice | ") {
		t.Errorf("%s\n%s", &tables[0], &tables[1])
	}
}
