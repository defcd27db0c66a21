package numbering

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestValuesAreNumberedAsAMapAndAListDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l List[string]
		index, list := map[string]int32{}, []string(nil)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			k := rapid.StringMatching(`[a-d]{0,3}`).Draw(t, "value")
			got, found := l.Find(k)
			want, known := index[k]
			switch {
			case found != known || known && got != want:
				t.Fatalf("%q: %d %v, want %d %v", k, got, found, want, known)
			case rapid.IntRange(0, 4).Draw(t, "hidden") == 0:
				if n := l.Append(k); n != int32(len(list)) {
					t.Fatalf("%q appended as %d", k, n)
				}
				list = append(list, k)
			case !known:
				index[k] = int32(len(list))
				list = append(list, k)
				if n := l.Add(k); n != index[k] {
					t.Fatalf("%q added as %d, want %d", k, n, index[k])
				}
			}
		}
		if !slices.Equal(l.Values(), list) {
			t.Fatalf("%q, want %q", l.Values(), list)
		}
	})
}
