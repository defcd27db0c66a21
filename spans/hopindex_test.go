package spans

import (
	"slices"
	"testing"
)

func TestHopIndexNumbersTranslatesAndMerges(t *testing.T) {
	a, b, c := Hop{Name: "a"}, Hop{Name: "b", Kind: Client}, Hop{Name: "(gap)"}
	var x, y HopIndex
	for _, index := range []*HopIndex{&x, &y} {
		index.Reserve(Hop{Name: "(gap)"})
	}
	source := []Hop{b, a}
	if got := [...]int32{x.Translate(source, 1), x.Translate(source, 0), x.Translate(source, 1)}; got != [...]int32{1, 2, 1} {
		t.Errorf("translated: %v", got)
	}
	if source = append(source, c); x.Translate(source, 2) != 3 {
		t.Error("a hop named as a reserved one is that one")
	}
	y.Number(c)
	y.Number(a)
	copied := x.Clone()
	if got := y.Merge(&copied); !slices.Equal(got, []int32{0, 2, 3, 1}) || y.Len() != 4 || y.Hop(3) != b {
		t.Errorf("merged: %v of %v", got, y.Hops())
	}
	if got := y.Sorted(); !slices.Equal(got, []int32{1, 2, 3}) {
		t.Errorf("sorted: %v", got)
	}
	if i, known := y.Find(Hop{Name: "b"}); known {
		t.Errorf("a hop of another kind is number %d", i)
	}
}

func TestHopsAreOrderedAsInReports(t *testing.T) {
	list := []Hop{{Name: "a", Kind: Server}, {Name: "a", Kind: Consumer, Service: "s"}, {Name: "a"}, {Name: "a", Kind: Consumer}, {Name: "A", Kind: Client}}
	slices.SortFunc(list, Hop.Compare)
	var got []string
	for _, h := range list {
		got = append(got, h.String()+h.Service)
	}
	if want := []string{"A (client)", "a", "a (consumer)", "a (consumer)s", "a (server)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
