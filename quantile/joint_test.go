package quantile

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// multiset is the plain counterpart of a sample.
type multiset map[int64]uint64

func (m multiset) add(o multiset) {
	for v, c := range o {
		m[v] += c
	}
}

func (m multiset) tallies() []tally {
	var list []tally
	for _, v := range slices.Sorted(maps.Keys(m)) {
		list = append(list, tally{v, m[v]})
	}
	return list
}

func (m multiset) upTo(limit int64) (n uint64) {
	for v, c := range m {
		if v <= limit {
			n += c
		}
	}
	return n
}

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
func mixedSample(t *rapid.T) (*Sample, multiset) {
	s, m := new(Sample), multiset{}
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
func mixedUnion(t *rapid.T) (Union, multiset) {
	u, all := Union{nil}, multiset{}
	for range rapid.IntRange(0, 4).Draw(t, "samples") {
		s, m := mixedSample(t)
		all.add(m)
		if last := u[len(u)-1]; last != nil && rapid.Bool().Draw(t, "merged") {
			last.Merge(s)
			continue
		}
		u = append(u, s)
	}
	return u, all
}

func TestUnionGivesEveryValueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		if diff := cmp.Diff(all.tallies(), talliesOf(u), cmp.AllowUnexported(tally{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSummariesEqualThoseOfTheSortedValues(t *testing.T) {
	ps := []P{MustP("0.99"), MustP("0.5"), MustP("0.001"), MustP("0.5"), MustP("0.9999")}
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		other, others := mixedUnion(t)
		both := multiset{}
		both.add(all)
		both.add(others)
		got := SummarizeEach([]Union{u, other, slices.Concat(u, other)}, ps)
		want := []Summary{summaryOf(all.tallies(), ps), summaryOf(others.tallies(), ps), summaryOf(both.tallies(), ps)}
		if diff := cmp.Diff(want, got, equalPs); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestPassingOverCellsCountsWhatReadingThemWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, all := mixedUnion(t)
		rest, seen, largest := all.tallies(), uint64(0), int64(0)
		limits := rapid.SliceOfN(mixedDurations, 1, 10).Draw(t, "limits")
		slices.Sort(limits)
		if got, want := u.UpTo(limits[0]), all.upTo(limits[0]); got != want {
			t.Fatalf("%d values up to %d, want %d", got, limits[0], want)
		}
		w, counted := u.walk(), uint64(0)
		for _, limit := range limits {
			for len(rest) > 0 && rest[0].value <= limit {
				seen, largest, rest = seen+rest[0].count, rest[0].value, rest[1:]
			}
			if counted += w.upTo(limit); counted != seen {
				t.Fatalf("%d values up to %d, want %d", counted, limit, seen)
			}
			if rapid.Bool().Draw(t, "look back") && w.largest() != largest {
				t.Fatalf("the largest up to %d is %d, want %d", limit, w.largest(), largest)
			}
			if v, c, ok := w.next(); ok != (len(rest) > 0) || ok && (tally{v, c}) != rest[0] {
				t.Fatalf("after %d comes %d (%d times, %t), want %v", limit, v, c, ok, rest)
			}
			if len(rest) > 0 {
				counted += rest[0].count
				seen, largest, rest = seen+rest[0].count, rest[0].value, rest[1:]
			}
		}
	})
}

func TestKMQuantilesEqualThoseReadStepByStep(t *testing.T) {
	ps := []P{MustP("0"), MustP("0.001"), MustP("0.3"), MustP("0.5"), MustP("0.9"), MustP("0.99"), MustP("1")}
	rapid.Check(t, func(t *rapid.T) {
		completed, _ := mixedUnion(t)
		cut, _ := mixedUnion(t)
		got, want := kmQuantiles(completed, cut, ps), kmByStep(completed, cut, ps)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// kmByStep asks the curve at every distinct time.
func kmByStep(completed, cut Union, ps []P) []*int64 {
	found := make([]*int64, len(ps))
	done, cuts, total := uint64(0), uint64(0), completed.N()+cut.N()
	for s := range KaplanMeier(completed, cut) {
		done += s.Completed
		for i, p := range ps {
			reached := s.Survival <= p.Beyond()*reachedTolerance
			if cuts == 0 {
				reached = done >= p.Rank(total)
			}
			if found[i] == nil && s.Completed > 0 && reached {
				found[i] = new(s.Time)
			}
		}
		cuts += s.Cut
	}
	return found
}

func TestTailsEqualThoseOfTheSortedValues(t *testing.T) {
	ps := []P{MustP("0.01"), MustP("0.5"), MustP("0.9"), MustP("0.999")}
	rapid.Check(t, func(t *rapid.T) {
		completed, done := mixedUnion(t)
		at, known := mixedUnion(t)
		seen, unknown := mixedUnion(t)
		got := Observed{completed, at, seen}.Tails(ps, MustP("1")) // limits of huge counts are slow
		want := tailsOf(done, known, unknown, ps)
		for i := range want {
			if got.Tails[i].Value != want[i] {
				t.Fatalf("%s is %d, want %d", ps[i].Label(), got.Tails[i].Value, want[i])
			}
		}
	})
}

// tailsOf sorts what is proved of every attempt.
func tailsOf(done, known, unknown multiset, ps []P) []int64 {
	cuts, first, floor := multiset{}, int64(math.MaxInt64), int64(0)
	cuts.add(known)
	cuts.add(unknown)
	for v := range cuts {
		first = min(first, v)
	}
	proved := multiset{}
	proved.add(done)
	proved.add(known)
	for v := range done {
		if v <= first {
			floor = max(floor, v)
		}
	}
	for _, c := range unknown {
		proved[floor] += c
	}
	total := uint64(0)
	for _, c := range proved {
		total += c
	}
	if len(done)+len(known) == 0 {
		return make([]int64, len(ps))
	}
	pick := pickerOf(total, ps)
	for _, one := range proved.tallies() {
		pick.feed(one.value, one.count)
	}
	return pick.values
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
			slots.add(int64(i), n)
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
		want.add(int64(i), 1<<50+255)
	}
	if count, slots := p.total(); count != pageSlots*(1<<50+255) || slots != want {
		t.Errorf("total %d, %v; want %v", count, slots, want)
	}
}
