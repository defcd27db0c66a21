package spans

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"
)

// builders are workers that give hops their names together.
func builders(n int, naming *Naming) (list []*Builder) {
	for range n {
		b := NewBuilder(memory.DefaultAllocator, 0)
		b.Use(naming)
		list = append(list, b)
	}
	return list
}

// namesOf are the names of the hops of builders, in the end.
func namesOf(list []*Builder, n *Naming) (names []string) {
	for _, b := range list {
		for _, h := range b.hops.list {
			names = append(names, n.Hop(h).Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestHopsAreCountedOverAllWorkers(t *testing.T) {
	n := NewNaming(FoldAuto, 4)
	workers := builders(2, n)
	for _, name := range []string{"/user/1", "/user/2", "gateway", "/user/1"} {
		for _, b := range workers {
			b.Hop([]byte(name))
		}
	}
	workers[0].Hop([]byte("/user/{id}"))
	if n.Folds() || n.Err() != nil || !n.MayFold() {
		t.Fatal("folded at four hops")
	}
	workers[1].Hop([]byte("/user/3"))
	if hops, example := n.Met(); !n.Folds() || n.MayFold() || hops != 2 || example != (Folded{"/user/1", "/user/{id}"}) {
		t.Errorf("at five hops: folds %v, %d hops, %v", n.Folds(), hops, example)
	}
	at := workers[0].Hop([]byte("/user/4"))
	if workers[0].Hop([]byte("/user/5")) != at || workers[0].hops.list[at].Name != "/user/{id}" {
		t.Error("two users are two hops")
	}
	if got := namesOf(workers, n); !slices.Equal(got, []string{"/user/{id}", "gateway"}) {
		t.Errorf("%q", got)
	}
}

func TestSpansAreFoldedInAllTheirNames(t *testing.T) {
	n := NewNaming(FoldAlways, 10, "GET /7")
	for _, c := range [][2]Hop{
		{{"s-12 GET /1", "s-12", "GET /1", Server}, {"s-{id} GET /{id}", "s-{id}", "GET /{id}", Server}},
		{{"s GET /7", "s", "GET /7", Server}, {"s GET /7", "s", "GET /7", Server}},
		{{"GET /7", "s-12", "", Client}, {"GET /7", "s-12", "", Client}},
	} {
		if got := n.Fold(c[0]); got != c[1] {
			t.Errorf("%+v: %+v, want %+v", c[0], got, c[1])
		}
	}
	if h := (Hop{Name: "/1"}); NewNaming(FoldNever, 10).Fold(h) != h || (*Naming)(nil).Fold(h) != h {
		t.Error("folded though it never should be")
	}
}

func TestTooManyHopsEndTheRunWithThreeOfTheirNames(t *testing.T) {
	for _, c := range []struct {
		mode FoldIDs
		kind Kind
		name func(int) string
		want string
	}{
		{FoldNever, NoKind, func(i int) string { return fmt.Sprintf("/user/%d", i) }, `more than 6 hops, such as "/user/1", "/user/3", "/user/5": the field taken for the hop holds something else, such as the request; name the right one with --field hop=KEY, or fold the ids in names with --fold-ids auto`},
		{FoldAuto, NoKind, func(i int) string { return string(rune('a' + i)) }, `more than 6 hops although the ids in their names are folded, such as "b", "d", "f": the field taken for the hop holds something else, such as the request; name the right one with --field hop=KEY`},
		{FoldAlways, Server, func(i int) string { return strings.Repeat(string(rune('a'+i)), 70) }, `more than 6 hops although the ids in their names are folded, such as "` + strings.Repeat("b", 60) + `…", "` + strings.Repeat("d", 60) + `…", "` + strings.Repeat("f", 60) + `…": the names of spans hold something else than the step, such as the request; the source must name them by route`},
	} {
		n := NewNaming(c.mode, 6)
		b := builders(1, n)[0]
		for i := range 7 {
			if n.Err() != nil {
				t.Fatalf("an error at %d hops: %v", i, n.Err())
			}
			b.SpanHop([]byte(c.name(i)), func() Hop { return Hop{Name: c.name(i), Kind: c.kind} })
		}
		var tooMany *TooManyHopsError
		if err := n.Err(); !errors.As(err, &tooMany) || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// TestWhatHopsAreCalledDependsOnNoOrder deals the same hops out to workers in some
// order, and holds what comes of them against names folded one by one.
func TestWhatHopsAreCalledDependsOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`/user/[0-9]{1,2}`), rapid.SampledFrom([]string{"/user/{id}", "gateway", "stock"}), rapid.StringMatching(`/b/[0-9]{8}/[0-9]`))
		names := rapid.SliceOfN(name, 1, 40).Draw(t, "names")
		n := NewNaming(FoldAuto, rapid.IntRange(3, 30).Draw(t, "most"))
		workers := builders(3, n)
		for _, i := range rapid.Permutation(names).Draw(t, "order") {
			workers[rapid.IntRange(0, 2).Draw(t, "worker")].Hop([]byte(i))
		}
		slices.Sort(names)
		distinct, want, example := slices.Compact(slices.Clone(names)), map[string]bool{}, Folded{}
		for _, name := range distinct {
			to := NewNaming(FoldAlways, 1).Fold(Hop{Name: name}).Name
			if len(distinct) <= n.most {
				to = name
			} else if to != name && example.From == "" {
				example = Folded{name, to}
			}
			want[to] = true
		}
		hops, shown := n.Met()
		got := namesOf(workers, n)
		if n.Err() == nil && (hops != len(want) || shown != example || len(got) != len(want)) || (n.Err() != nil) != (len(want) > n.most) {
			t.Fatalf("%d hops, %q, example %v, %v; want %d, %v, example %v", hops, got, shown, n.Err(), len(want), want, example)
		}
		for _, name := range got {
			if !want[name] && n.Err() == nil {
				t.Fatalf("%q of %q", name, names)
			}
		}
	})
}

func TestATimeoutIsTheSameBeforeAndAfterIdsAreFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"/user/1", "/user/2", "/user/{id}", "/user/3/x", "/user/{id}/x", "stock"})
		timeouts := rapid.MapOf(name, rapid.Int64Range(1, 9)).Draw(t, "timeouts")
		var kept []string
		for name := range timeouts {
			kept = append(kept, name)
		}
		n, hop := NewNaming(FoldAuto, 10, kept...), name.Draw(t, "hop")
		before, after := n.Timeout(timeouts, hop), n.Timeout(timeouts, n.Fold(Hop{Name: hop}).Name)
		if before != after || timeouts[hop] != 0 && before != timeouts[hop] {
			t.Fatalf("%s of %v: %d before, %d after", hop, timeouts, before, after)
		}
	})
}

// TestNamesThatAreFoldedTakeNoMemory counts what a worker keeps of very many names.
func TestNamesThatAreFoldedTakeNoMemory(t *testing.T) {
	n := NewNaming(FoldAuto, 1000)
	b := builders(1, n)[0]
	for i := range 200_000 {
		b.Hop(fmt.Appendf(nil, "/user/%d", i))
	}
	kept := len(b.hops.list) + len(b.hops.folded) + len(b.hops.aliases) + len(b.hops.keys.index) + len(n.met)
	if most := 2*(1000+2) + mostAliases + 2; kept > most {
		t.Errorf("%d entries are kept, at most %d wanted", kept, most)
	}
}
