package orphans

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func TestWastedAndItsUnion(t *testing.T) {
	root := testSpan{id: 1, end: 100, hop: "a", outcome: cut}
	for _, c := range []struct {
		name      string
		spans     []testSpan
		want, hop string
	}{
		// 100-150 and 100-180: 50 + 80, together 80. The later starter has the time.
		{"overlapping orphans", []testSpan{root, {id: 2, parent: 1, start: 10, end: 150, hop: "b"}, {id: 3, parent: 1, start: 20, end: 180, hop: "c"}},
			"overruns 2, wasted 80 of 130", "c 80"},
		{"overlapping orphans, the later ends first", []testSpan{root, {id: 2, parent: 1, start: 20, end: 150, hop: "b"}, {id: 3, parent: 1, start: 10, end: 180, hop: "c"}},
			"overruns 2, wasted 80 of 130", "b 50, c 30"},
		// C gives up at 140 over D, both under A, which left at 100: C wastes 40,
		// D 160 - 140; together 100 to 160.
		{"an orphan that gave up, too", []testSpan{root, {id: 2, parent: 1, start: 10, end: 140, hop: "c", outcome: cut}, {id: 3, parent: 2, start: 20, end: 160, hop: "d"}},
			"overruns 2, wasted 60 of 60", "d 60"},
		// C 120-130 and D 140-150 lie inside B: no orphans, but their share.
		{"work inside an orphan", []testSpan{root, {id: 2, parent: 1, start: 10, end: 160, hop: "b"}, {id: 3, parent: 2, start: 120, end: 130, hop: "c"}, {id: 4, parent: 2, start: 140, end: 150, hop: "d"}},
			"after root 2, overruns 1, wasted 60 of 60", "b 40, c 10, d 10"},
		// 100-110, then nothing, then 150-170.
		{"a gap", []testSpan{root, {id: 2, parent: 1, start: 10, end: 110, hop: "b"}, {id: 3, parent: 1, start: 150, end: 170, hop: "c"}},
			"after root 1, overruns 1, late 1, wasted 30 of 30", "c 20, b 10"},
		// The child outlives an orphan that completed: no orphan, but it works on.
		{"below an orphan that completed", []testSpan{root, {id: 2, parent: 1, start: 10, end: 120, hop: "b"}, {id: 3, parent: 2, start: 20, end: 190, hop: "c"}},
			"completed 1, overruns 1, wasted 90 of 20", "c 90"},
		// D waits for nobody: a message was sent anyway.
		{"a message from an orphan", []testSpan{root, {id: 2, parent: 1, start: 10, end: 120, hop: "b"}, {id: 3, parent: 2, start: 20, end: 190, hop: "c", kind: spans.Consumer}},
			"async 1, overruns 1, wasted 20 of 20", "b 20"},
		// What ran before the giving-up was not wasted.
		{"a subtree that ended in time", []testSpan{root, {id: 2, parent: 1, start: 10, end: 120, hop: "b"}, {id: 3, parent: 2, start: 20, end: 100, hop: "c"}},
			"overruns 1, wasted 20 of 20", "b 20"},
		{"a span without times between", []testSpan{root, {id: 2, parent: 1, start: 10, end: 120, hop: "b"}, {id: 3, parent: 2, noStart: true, noEnd: true}, {id: 4, parent: 3, start: 20, end: 130, hop: "c"}},
			"unfinished 1, overruns 1, wasted 30 of 20", "c 30"},
		// 2 and 3 start at once: the deeper one does the work, whatever its id.
		{"equal starts", []testSpan{root, {id: 3, parent: 1, start: 10, end: 140, hop: "b"}, {id: 2, parent: 3, start: 10, end: 130, hop: "c"}},
			"overruns 1, wasted 40 of 40", "c 30, b 10"},
		{"no orphan", []testSpan{root, {id: 2, parent: 1, start: 10, end: 90, hop: "b"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				r := resultOf(c.spans...)
				if got := told(r.Counts); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if got := shares(r); got != c.hop {
					t.Errorf("%q, want %q", got, c.hop)
				}
				slices.Reverse(c.spans)
			}
		})
	}
}

// dumb tells, span by span and ms by ms, what a trace of whole ms wastes.
type dumb struct {
	list          []testSpan
	wasted, union int64
	byHop         map[string]int64
}

func dumbOf(list []testSpan) *dumb {
	d := &dumb{list: list, byHop: map[string]int64{}}
	for _, s := range list {
		if d.orphan(s) {
			d.wasted += int64(s.end-max(s.start, d.of(s.parent).end)) * ms
		}
	}
	for at := range 400 {
		if s, found := d.lastStarted(at); found {
			d.union += ms
			d.byHop[s.hop] += ms
		}
	}
	return d
}

func (d *dumb) of(id int) testSpan {
	return d.list[slices.IndexFunc(d.list, func(s testSpan) bool { return s.id == id })]
}

func (d *dumb) waits(s testSpan) bool { return s.parent != 0 && s.ties == 0 }

// orphan is the definition, at a tolerance of 1 ms.
func (d *dumb) orphan(s testSpan) bool {
	if !d.waits(s) {
		return false
	}
	p := d.of(s.parent)
	return p.outcome == cut && s.end > p.end+1
}

// givenUp reports whether at that ms somebody above had given the span up.
func (d *dumb) givenUp(s testSpan, at int) bool {
	for ; d.waits(s); s = d.of(s.parent) {
		if d.orphan(s) && at >= d.of(s.parent).end {
			return true
		}
	}
	return false
}

// lastStarted returns the span that started last of those that run for nobody,
// of those the one with the deepest hop; hops are levels of the tree.
func (d *dumb) lastStarted(at int) (last testSpan, found bool) {
	for _, s := range d.list {
		if s.start > at || at >= s.end || !d.givenUp(s, at) {
			continue
		}
		if !found || s.start > last.start || s.start == last.start && s.hop > last.hop {
			last, found = s, true
		}
	}
	return last, found
}

// randomTree makes a tree of whole ms in which all that matters happens often.
func randomTree(r *rand.Rand, n int) []testSpan {
	list := []testSpan{{id: 1, end: 20 + r.IntN(180), hop: "a", outcome: spans.Outcome(r.IntN(3))}}
	for id := 2; id <= n; id++ {
		p := list[r.IntN(len(list))]
		start := p.start + r.IntN(60)
		s := testSpan{id: id, parent: p.id, start: start, end: start + r.IntN(100), hop: string(p.hop[0] + 1), outcome: spans.Outcome(r.IntN(3))}
		if r.IntN(12) == 0 {
			s.ties = spans.Async
		}
		s.end = min(s.end, 400)
		s.start = min(s.start, s.end)
		list = append(list, s)
	}
	return list
}

func TestUnionAgreesWithABitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	orphaned := uint64(0)
	for round := range 1500 {
		list := randomTree(r, 1+r.IntN(14))
		d, got := dumbOf(list), resultOf(list...)
		byHop, sum := map[string]int64{}, int64(0)
		for _, h := range got.WastedBy {
			byHop[h.Hop.Name] += h.NS
			sum += h.NS
		}
		if got.Wasted != d.wasted || got.WastedUnion != d.union || sum != d.union || fmt.Sprint(byHop) != fmt.Sprint(d.byHop) {
			t.Fatalf("round %d: %+v\nwasted %d, want %d; union %d, want %d; %v, want %v", round, list, got.Wasted, d.wasted, got.WastedUnion, d.union, byHop, d.byHop)
		}
		orphaned += got.Orphaned
	}
	if orphaned < 1000 {
		t.Errorf("only %d orphans were seen", orphaned)
	}
}
