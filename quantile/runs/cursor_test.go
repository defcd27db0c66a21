package runs

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/durationtest"
	"pgregory.net/rapid"
)

// mixedDurations are close enough to meet in a cell, and some far away.
var mixedDurations = rapid.OneOf(
	rapid.Map(rapid.Int64Range(0, 2000), func(us int64) int64 { return us * microsecond }),
	rapid.Int64Range(0, 2_000_000),
	rapid.Map(rapid.Int64Range(0, 40), func(i int64) int64 { return i * pageSpan }),
	rapid.Map(rapid.Int64Range(1, 40), func(i int64) int64 { return i*pageSpan - 1 }),
	rapid.Int64Range(math.MaxInt64-2*pageSpan, math.MaxInt64),
)

var mixedCounts = rapid.OneOf(rapid.Uint64Range(1, 5), rapid.Uint64Range(250, 260), rapid.Uint64Range(1, 1<<50))

// mixedSample is a sample whose values lie in pages, in runs and in neither, as
// they would in a much larger one.
func mixedSample(t *rapid.T) (*Sample, durationtest.Multiset) {
	s, m := new(Sample), durationtest.Multiset{}
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		v, n := mixedDurations.Draw(t, "value"), uint64(1)
		switch rapid.IntRange(0, 6).Draw(t, "step") {
		case 0:
			if page := v / pageSpan; page < maxPages {
				s.flush() // a page is never empty
				s.pages.open(page)
				s.Add(page * pageSpan)
				m[page*pageSpan]++
			}
		case 1:
			s.flush()
		case 2:
			s = s.Clone()
		case 3:
			n = mixedCounts.Draw(t, "count")
			s.AddN(v, n)
			m[v] += n
		default:
			s.Add(v)
			m[v]++
		}
	}
	return s, m
}

// mixedUnion is several samples, some merged, and all their values.
func mixedUnion(t *rapid.T) (Union, durationtest.Multiset) {
	u, all := Union{nil}, durationtest.Multiset{}
	for range rapid.IntRange(0, 4).Draw(t, "samples") {
		s, m := mixedSample(t)
		all.Add(m)
		if last := u[len(u)-1]; last != nil && rapid.Bool().Draw(t, "merged") {
			last.Merge(s)
			continue
		}
		u = append(u, s)
	}
	return u, all
}

func TestUnionGivesEveryValueOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		if diff := cmp.Diff(all.Tallies(), talliesOf(u), cmp.AllowUnexported(durationtest.Tally{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestUnionJoinsEqualValues(t *testing.T) {
	u := Union{sampleOf(1, 2, 2), nil, sampleOf(2, 3), new(Sample)}
	if diff := cmp.Diff([]durationtest.Tally{{Value: 1, Count: 1}, {Value: 2, Count: 3}, {Value: 3, Count: 1}}, talliesOf(u), cmp.AllowUnexported(durationtest.Tally{})); diff != "" || u.N() != 5 {
		t.Error(u.N(), diff)
	}
}

func TestPassingOverCellsCountsWhatReadingThemWould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		rest, seen, largest := all.Tallies(), uint64(0), int64(0)
		limits := rapid.SliceOfN(mixedDurations, 1, 10).Draw(t, "limits")
		slices.Sort(limits)
		if got, want := u.UpTo(limits[0]), all.UpTo(limits[0]); got != want {
			t.Fatalf("%d values up to %d, want %d", got, limits[0], want)
		}
		w, counted := u.Cursor(), uint64(0)
		for _, limit := range limits {
			for len(rest) > 0 && rest[0].Value <= limit {
				seen, largest, rest = seen+rest[0].Count, rest[0].Value, rest[1:]
			}
			if counted += w.UpTo(limit); counted != seen {
				t.Fatalf("%d values up to %d, want %d", counted, limit, seen)
			}
			if rapid.Bool().Draw(t, "look back") && w.Largest() != largest {
				t.Fatalf("the largest up to %d is %d, want %d", limit, w.Largest(), largest)
			}
			if v, c, ok := w.Next(); ok != (len(rest) > 0) || ok && (durationtest.Tally{Value: v, Count: c}) != rest[0] {
				t.Fatalf("after %d comes %d (%d times, %t), want %v", limit, v, c, ok, rest)
			}
			if len(rest) > 0 {
				counted += rest[0].Count
				seen, largest, rest = seen+rest[0].Count, rest[0].Value, rest[1:]
			}
		}
	})
}

func TestPageCountsBeyondAByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages, want := [2]*page{new(page), new(page)}, [pageSlots]uint64{}
		for range rapid.IntRange(0, 60).Draw(t, "adds") {
			slot := rapid.IntRange(0, 20).Draw(t, "slot") * 25
			n := mixedCounts.Draw(t, "count")
			pages[rapid.IntRange(0, 1).Draw(t, "page")].add(slot, n)
			want[slot] += n
		}
		p := pages[0].clone()
		p.merge(pages[1].clone())
		count, slots := uint64(0), Sum{}
		for i, n := range want {
			if got := p.count(i); got != n {
				t.Fatalf("slot %d counts %d, want %d", i, got, n)
			}
			count += n
			slots.Add(int64(i), n)
		}
		if gotCount, gotSlots := p.total(); gotCount != count || gotSlots != slots {
			t.Fatalf("total %d, %v; want %d, %v", gotCount, gotSlots, count, slots)
		}
	})
}

func TestFullPageAddsUp(t *testing.T) {
	p, want := new(page), Sum{}
	for i := range pageSlots {
		p.add(i, 1<<50+255)
		want.Add(int64(i), 1<<50+255)
	}
	if count, slots := p.total(); count != pageSlots*(1<<50+255) || slots != want {
		t.Errorf("total %d, %v; want %v", count, slots, want)
	}
}
