package retries

import (
	"strings"
	"testing"
)

func TestMultiplesOfTheWallAreMarked(t *testing.T) {
	for _, c := range []struct {
		from, width, timeout int64
		want                 string
	}{
		{9000, 1000, 3000, "3 × 3 µs"}, {8000, 1000, 3000, ""}, {600, 100, 299, "2 × 299 ns"}, {0, 100, 300, ""}, {300, 100, 300, "1 × 300 ns"}, {100, 100, 0, ""},
	} {
		if got := multipleIn(c.from, c.width, &c.timeout); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if got := multipleIn(100, 100, nil); got != "" {
		t.Errorf("no timeout: %q", got)
	}
}

// An answer that was there before the cut needed no longer wait.
func TestAServerThatEndedBeforeTheCutWasNotTooSlow(t *testing.T) {
	for after, want := range map[int64]string{0: "lost on its way", 5e6: "in the median 5 ms after the cut: a longer wait would have done"} {
		got := finishedText(&Finished{Count: Count{N: 9, Of: 9}, MedianAfter: &after})
		if !strings.Contains(got, "9 of 9") || !strings.HasSuffix(got, want) {
			t.Errorf("%d: %s", after, got)
		}
	}
}
