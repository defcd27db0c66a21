package calls

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/internal/spill"
)

// someMoments draws moments of few times, so that many begin together.
func someMoments(r *rand.Rand, n int) (list []moment) {
	for range n {
		list = append(list, moment{
			call: int32(r.IntN(4) - 1), caller: int32(r.IntN(3)), instance: int32(r.IntN(3)), flags: uint32(r.IntN(8)),
			start: int64(r.IntN(50) - 25), took: int64(r.IntN(30)), begin: int64(r.IntN(50) - 25), work: int64(r.IntN(30)),
		})
	}
	return list
}

func TestAMomentIsReadAsItWasWritten(t *testing.T) {
	for _, m := range someMoments(rand.New(rand.NewPCG(1, 2)), 100) {
		var got moment
		text := m.append(nil)
		got.read(text)
		if got != m || len(text) != momentSize {
			t.Errorf("%+v, read as %+v from %d bytes", m, got, len(text))
		}
	}
}

// Moments in memory and in runs come in the order in which all of them are sorted.
func TestMomentsOfRunsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	f := spill.New(t.TempDir(), "calls")
	defer f.Close()
	all := someMoments(r, 3*blockMoments)
	var l log
	for i, m := range all {
		l.add(m)
		if i == 10 || i == 2*blockMoments || i == 2*blockMoments+1 {
			if err := l.writeOut(f, byBegin); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []moment
	if err := l.each(byBegin, func(m *moment) { got = append(got, *m) }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, inTime)
	if !slices.Equal(got, all) {
		t.Error("moments are lost, or in another order")
	}
}

// A file that cannot be read is an error, not fewer moments.
func TestAClosedFileOfMomentsIsAnError(t *testing.T) {
	f := spill.New(t.TempDir(), "calls")
	var l log
	for _, m := range someMoments(rand.New(rand.NewPCG(5, 6)), 5) {
		l.add(m)
	}
	if err := l.writeOut(f, byBegin); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := l.each(byBegin, func(*moment) { t.Error("a moment of a closed file") }); err == nil {
		t.Error("no error")
	}
}

func TestNumbersAreTranslatedOnceByEachMerge(t *testing.T) {
	var none *numbers
	first := none.then(&numbers{calls: []int32{2, 0}, names: []int32{0, 3}})
	both := first.then(&numbers{calls: []int32{5, 6, 7}, names: []int32{0, 1, 1, 4}})
	for _, c := range []struct{ in, want moment }{
		{moment{call: 0, caller: 1}, moment{call: 7, caller: 4}},
		{moment{call: 1, instance: 1}, moment{call: 5, instance: 4}},
		{moment{call: noCall}, moment{call: noCall}},
	} {
		both.translate(&c.in)
		if d := cmp.Diff(c.want, c.in, cmp.AllowUnexported(moment{})); d != "" {
			t.Error(d)
		}
	}
}
