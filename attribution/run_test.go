package attribution

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
func TestUnitTimesGiveTheResamplesOfAnotherPass(t *testing.T) {
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
	units := s.resample(w, chosen, Query{Jobs: 2, TailFrom: half})
	s.tail.units, s.body.units = nil, nil
	if d := cmp.Diff(units, s.resample(w, chosen, Query{Jobs: 2, TailFrom: half})); d != "" {
		t.Error(d)
	}
}

func TestLastIsWhatTheTraceAddedLastCameTo(t *testing.T) {
	a := NewAccumulator()
	for _, c := range []struct {
		list []testSpan
		want Request
	}{
		{[]testSpan{{id: 1, end: 30, hop: "web"}, {id: 2, parent: 1, start: 5, end: 10, hop: "db"}}, Request{30 * us, false, Success, CriticalPath}},
		{[]testSpan{{id: 1, end: 20, hop: "web", outcome: cut}}, Request{20 * us, true, Cut, CriticalPath}},
		{[]testSpan{{id: 1, end: 20, hop: "web"}, {id: 2, parent: 1, end: 9, hop: "db", outcome: failed}}, Request{20 * us, true, Partial, CriticalPath}},
		{[]testSpan{{id: 2, parent: 1, end: 9, hop: "db"}}, Request{}},
		{[]testSpan{{id: 1, end: 5, hop: "web"}}, Request{5 * us, false, Success, CriticalPath}},
	} {
		a.AddTrace(traceOf(1, c.list...))
		if got := a.Last(); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.list, got, c.want)
		}
	}
	if s := a.EndToEnd(nil); s.N != 4 || s.Max != 30*us {
		t.Errorf("end to end: %+v", s)
	}
}
