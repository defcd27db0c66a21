package timeouts

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// Where calls wait for a full pool, the queue comes before the timeout, the canary and the
// roll-out.
func TestAQueueComesBeforeATimeout(t *testing.T) {
	size, more, busy := 3, 5, .99
	cut := hop{name: "call a", n: 900, ms: 300, cut: 100, wall: 500}
	for name, c := range map[string]struct {
		queue *Queue
		fix   string
	}{
		"workers":          {&Queue{Side: "callee", Size: &size, ForSeventy: &more, Utilisation: &busy}, "more workers (5 instead of 3 would be busy 70 % of the time), calls dropped whose deadline has passed, load shed"},
		"room enough":      {&Queue{Side: "callee", Size: &more, ForSeventy: &size}, "more workers, calls dropped"},
		"connections":      {&Queue{Side: "caller"}, "more connections, calls dropped"},
		"one of the two":   {&Queue{Side: "either"}, "more workers or connections, calls dropped"},
		"nothing is known": {},
	} {
		if c.queue != nil {
			c.queue.Brief = "calls queue for b"
		}
		r := world{hops: []hop{cut, {name: "call c", n: 5000, ms: 300}}, queue: func(h spans.Hop) *Queue {
			if h.Name == "call a" {
				return c.queue
			}
			return nil
		}}.advise()
		h, other := r.hop("call a"), r.hop("call c")
		first := strings.HasPrefix(note.Codes(h.Warnings), "pool_full")
		if first != (c.queue != nil) || h.Canary.Lengthens != first || !strings.Contains(note.Codes(r.Warnings), "pool_full") == first {
			t.Errorf("%s: warnings %v of it, %v of all, canary %+v", name, h.Warnings, r.Warnings, h.Canary)
		}
		if first && (!strings.Contains(h.Warnings[0].Text, c.fix) || !strings.Contains(r.Steps[1].Do, c.fix) || !strings.Contains(canaryText(h.Canary), "longer")) {
			t.Errorf("%s: %s; %+v", name, h.Warnings[0].Text, r.Steps)
		}
		if other.Queue != nil || strings.Contains(note.Codes(other.Warnings), "pool_full") {
			t.Errorf("%s: the queue of another hop: %+v", name, other)
		}
	}
}
