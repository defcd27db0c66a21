package retries

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
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
	for after, want := range map[int64]string{0: "lost on its way", 5e6: "in the median 5 ms after the call ended: a longer wait would have done"} {
		got := finishedText(&Finished{Count: Count{N: 9, Of: 9}, MedianAfter: &after})
		if !strings.Contains(got, "9 of 9") || !strings.HasSuffix(got, want) {
			t.Errorf("%d: %s", after, got)
		}
	}
}

// What retries complete stands beside what they add to a full pool.
func TestRetriesAreHeldAgainstTheLoadThatTheyAdd(t *testing.T) {
	log := repeated(10, 1000, testLine{hop: "a", start: 0, end: 100, outcome: cut}, testLine{hop: "a", start: 110, end: 130, retry: true})
	log = append(log, repeated(10, 1000, testLine{hop: "b", start: 0, end: 100})...)
	for name, queue := range map[string]func(spans.Hop) string{
		"none":           nil,
		"of another hop": func(h spans.Hop) string { return map[string]string{"b": "calls queue for c"}[h.Name] },
		"of it":          func(h spans.Hop) string { return "calls queue for c" },
	} {
		q := usual(map[string]int{"a": 100})
		q.Queue = queue
		r := logOf(t, log...).Result(q)
		text := ""
		for _, w := range r.Warnings {
			if w.Code == "retries_lengthen_queue" {
				text += w.Text
			}
		}
		want := ""
		if name == "of it" {
			want = "a: calls queue for c, and retries add 100 % of its calls to the queue: that 10 of 10 were rescued stands against what the others wait longer"
		}
		if text != want {
			t.Errorf("%s: %q", name, text)
		}
	}
}
