package attribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailscope/tailscope/spans"
)

// oddRow draws a line with values at the ends of what there is, and its hop.
func oddRow(r *rand.Rand, b *spans.Builder) (spans.Row, string) {
	hop := fmt.Sprint("hop ", r.IntN(40))
	times := []int64{0, 1, 999, 1000, 5 * us, 1_768_442_400_000_000_123, math.MaxInt64, math.MaxInt64 - 807}
	row := spans.Row{
		Hop: b.Hop([]byte(hop)), Trace: fmt.Append(nil, []string{"chain ", "a", "0000000000000001aaaaaaaaaaaaaaa"}[r.IntN(3)], r.IntN(3)),
		HasDuration: true, Duration: times[r.IntN(len(times))], HasStart: r.IntN(4) > 0, Start: times[r.IntN(len(times))],
		Outcome: spans.Outcome(r.IntN(3)),
	}
	if r.IntN(2) == 0 {
		row.Start = math.MinInt64 + row.Start
	}
	if !row.HasStart {
		row.Start = 0
	}
	switch row.Outcome {
	case spans.Truncated:
		row.CutBy = spans.CutBy(1 + r.IntN(4))
	case spans.Failed:
		row.Failure = spans.Failures[r.IntN(len(spans.Failures))]
	}
	return row, hop
}

// keptLine is a line as it comes back, with its chain and the name of its hop.
type keptLine struct {
	Chain, Hop, Pod string
	Start, Duration int64
	Outcome         spans.Outcome
	CutBy           spans.CutBy
	Failure         spans.Failure
	Timed           bool
}

// linesBack counts the lines that a watch has kept.
func linesBack(t *testing.T, w *Watch) map[keptLine]int {
	parts := translations([]*Watch{w})[0][0]
	kept := map[keptLine]int{}
	for s := range shelves {
		var shelf loaded
		if err := w.lines.load(&shelf, s, parts); err != nil {
			t.Fatal(err)
		}
		for _, r := range shelf.runs {
			for _, l := range shelf.lines[r.from:r.to] {
				kept[keptLine{r.name(), w.table.hops()[l.hop].Name, w.table.names[w.table.parts[l.part].told], l.start, l.duration, l.outcome, l.cutBy, l.failure, l.timed}]++
			}
		}
	}
	return kept
}

func TestKeptLinesComeBackAsTheyWere(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, memory := range []int64{0, 500} {
		w := NewWatch(Config{Memory: memory, TempDir: t.TempDir()})
		want := map[keptLine]int{}
		for range 20 {
			b := spans.NewBuilder(heap{}, spans.Traces|spans.Starts|spans.Instances)
			for range 100 {
				row, hop := oddRow(r, b)
				pod := []string{"", "pod-1", "pod-2"}[r.IntN(3)]
				row.Instance = b.Instance([]byte(pod))
				b.Append(&row)
				want[keptLine{string(row.Trace), hop, pod, row.Start, row.Duration, row.Outcome, row.CutBy, row.Failure, row.HasStart}]++
			}
			batch := b.Batch()
			if err := w.AddLines(batch); err != nil {
				t.Fatal(err)
			}
			batch.Release()
			b.Release()
		}
		if d := cmp.Diff(want, linesBack(t, w)); d != "" {
			t.Errorf("memory %d: %s", memory, d)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAResultIsTheSameForAnyNumberOfGoroutines(t *testing.T) {
	w := logOf(t, manyLines(300)...)
	for i := range 7 {
		lines := manyLines(200 + 50*i)
		for k := range lines {
			lines[k].chain += fmt.Sprint(" of ", i)
			lines[k].end += k * i % 90
		}
		w.Merge(logOf(t, lines...))
	}
	want := w.Result(usual)
	for _, jobs := range []int{1, 2, 3, 100} {
		q := usual
		q.Jobs = jobs
		if d := cmp.Diff(want, w.Result(q), exactly); d != "" {
			t.Errorf("%d goroutines: %s", jobs, d)
		}
	}
}

// What was added up on the way is what going through all traces again gives.
func TestADealGivesTheResamplesOfAnotherPass(t *testing.T) {
	lines := manyLines(5000)
	for i := range lines {
		lines[i].end += i * i % 9973
	}
	w := logOf(t, lines...)
	q, r := usual, Result{}
	q.TailFrom = half
	s := w.split(q, &r)
	if s.tail.n <= mostUnits || s.body.n <= mostUnits {
		t.Fatalf("%d and %d traces", s.tail.n, s.body.n)
	}
	chosen := s.resampled(w.hopsOf(s, q))
	dealt := s.resample(w, chosen, 2)
	s.dealt = [2]*deal{}
	if d := cmp.Diff(dealt, s.resample(w, chosen, 2)); d != "" {
		t.Error(d)
	}
}
