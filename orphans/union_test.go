package orphans

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"
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
	list            []testSpan
	wasted, unsure  int64
	union, unsureBy int64
	byHop           map[string][2]int64 // of orphans, and of doubtful ones only
}

func dumbOf(list []testSpan) *dumb {
	d := &dumb{list: list, byHop: map[string][2]int64{}}
	for _, s := range list {
		if !d.ranOn(s) {
			continue
		}
		switch ns := int64(s.end-max(s.start, d.of(s.parent).end)) * ms; d.fate(s) {
		case orphaned:
			d.wasted += ns
		case doubtful:
			d.unsure += ns
		}
	}
	for at := range 400 {
		d.look(at)
	}
	return d
}

// look gives one ms to the span that started last of those that run for nobody: of
// those whose orphans are sure, else of the others.
func (d *dumb) look(at int) {
	for i, fates := range []fate{orphaned, doubtful} {
		s, found := d.lastStarted(at, fates)
		if !found {
			continue
		}
		by := d.byHop[s.hop]
		by[i] += ms
		d.byHop[s.hop] = by
		if i == 0 {
			d.union += ms
		} else {
			d.unsureBy += ms
		}
		return
	}
}

func (d *dumb) of(id int) testSpan {
	return d.list[slices.IndexFunc(d.list, func(s testSpan) bool { return s.id == id })]
}

func (d *dumb) waits(s testSpan) bool { return s.parent != 0 && s.ties == 0 }

// ranOn is the definition, at a tolerance of 1 ms.
func (d *dumb) ranOn(s testSpan) bool {
	if !d.waits(s) {
		return false
	}
	p := d.of(s.parent)
	return p.outcome == cut && s.end > p.end+1
}

func (d *dumb) oneClock(s testSpan) bool { return s.host != "" && s.host == d.of(s.parent).host }

// fate looks at all children of completed parents anew.
func (d *dumb) fate(s testSpan) fate {
	p := d.of(s.parent)
	ended, outlived := uint64(0), uint64(0)
	reach, spare := math.MinInt, math.MaxInt
	for _, c := range d.list {
		if !d.waits(c) || d.of(c.parent).outcome != spans.Completed {
			continue
		}
		q := d.of(c.parent)
		longer, over := c.end-c.start-(q.end-q.start), c.end-q.end
		if q.hop == p.hop && c.hop == s.hop {
			ended++
			outlived += counted(longer > 1 && !d.oneClock(c) || over > 1 && d.oneClock(c))
		}
		between := []string{q.hop, c.hop}
		if slices.Contains(between, p.hop) && slices.Contains(between, s.hop) && longer <= 0 && !d.oneClock(c) {
			reach, spare = max(reach, over, q.start-c.start), min(spare, -longer)
		}
	}
	lower, _ := quantile.ClopperPearson(outlived, ended, usualConfidence)
	switch {
	case lower > .5:
		return notAwaited
	case d.oneClock(s) || s.end-s.start > p.end-p.start+1 || reach <= 1:
		return orphaned
	case int64(s.end-p.end)*ms <= edges[stepOf(int64(reach+spare+1)*ms)]:
		return doubtful
	}
	return orphaned
}

// givenUp reports whether at that ms somebody above had given the span up.
func (d *dumb) givenUp(s testSpan, at int, want fate) bool {
	for ; d.waits(s); s = d.of(s.parent) {
		if d.ranOn(s) && d.fate(s) == want && at >= d.of(s.parent).end {
			return true
		}
	}
	return false
}

// lastStarted returns the span that started last of those that run for nobody,
// of those the one with the deepest hop; hops are levels of the tree.
func (d *dumb) lastStarted(at int, want fate) (last testSpan, found bool) {
	for _, s := range d.list {
		if s.start > at || at >= s.end || !d.givenUp(s, at, want) {
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
	list := []testSpan{{id: 1, end: 20 + r.IntN(180), hop: "a", host: "n1", outcome: spans.Outcome(r.IntN(3))}}
	for id := 2; id <= n; id++ {
		p := list[r.IntN(len(list))]
		start := p.start + r.IntN(60)
		s := testSpan{id: id, parent: p.id, start: start, end: start + r.IntN(100), hop: string(p.hop[0] + 1), outcome: spans.Outcome(r.IntN(3))}
		if r.IntN(12) == 0 {
			s.ties = spans.Async
		}
		s.host = []string{p.host, p.host, "", "n1", "n2"}[r.IntN(5)]
		s.end = min(s.end, 400)
		s.start = min(s.start, s.end)
		list = append(list, s)
	}
	return list
}

// others are completed calls of other requests: of a hop that nobody waits for, or on
// another clock.
func others(r *rand.Rand) (list []testSpan) {
	parent := string(rune('a' + r.IntN(3)))
	child := string(parent[0] + 1)
	host, start, end := "n1", 90, 120
	if r.IntN(2) == 0 {
		out := 2 + r.IntN(40)
		host, start, end = "n2", out+r.IntN(10), 100+out
	}
	for id := 100; id < 120; id += 2 {
		list = append(list, testSpan{id: id, end: 100, hop: parent, host: "n1"}, testSpan{id: id + 1, parent: id, start: start, end: end, hop: child, host: host})
	}
	return list
}

func TestUnionAgreesWithABitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]uint64{}
	for round := range 600 {
		list := randomTree(r, 1+r.IntN(16))
		if round%2 == 0 {
			list = append(list, others(r)...)
		}
		d, got := dumbOf(list), resultOf(list...)
		byHop := map[string][2]int64{}
		for _, h := range got.WastedBy {
			byHop[h.Hop.Name] = [2]int64{h.NS, h.Doubtful}
		}
		figures := [4]int64{got.Wasted, got.WastedDoubtful, got.WastedUnion, got.WastedUnionDoubtful}
		if want := [4]int64{d.wasted, d.unsure, d.union, d.unsureBy}; figures != want || fmt.Sprint(byHop) != fmt.Sprint(d.byHop) {
			t.Fatalf("round %d: %+v\n%v, want %v; %v, want %v", round, list, figures, want, byHop, d.byHop)
		}
		seen["orphans"] += got.Orphaned
		seen["doubtful"] += got.Doubtful
		seen["not awaited"] += got.OutlivedNotAwaited
	}
	if seen["orphans"] < 500 || seen["doubtful"] < 10 || seen["not awaited"] < 30 {
		t.Errorf("too few were seen: %v", seen)
	}
}
