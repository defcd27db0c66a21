package timeouts

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
)

// Queue is a full pool that the calls of a hop wait for. A timeout and retries come second
// there: calls that wait longer make the queue longer, and so do more of them.
type Queue struct {
	Callee string `json:"callee"`
	Side   string `json:"side"` // whose pool it is: callee, caller or either
	// Size is how many it serves at once, Utilisation what part of the time they are busy
	// and ForSeventy how many would be busy 70 % of it; nil where that is not known.
	Size        *int     `json:"pool_size"`
	Utilisation *float64 `json:"utilisation"`
	ForSeventy  *int     `json:"workers_for_70"`
	Brief       string   `json:"-"` // says so in a few words
}

// more says how to have more room in the pool.
func (q *Queue) more() string {
	what := map[string]string{"callee": "workers", "caller": "connections"}[q.Side]
	if what == "" {
		what = "workers or connections"
	}
	if q.Size != nil && q.ForSeventy != nil && *q.ForSeventy > *q.Size {
		return fmt.Sprintf("more %s (%d instead of %d would be busy 70 %% of the time)", what, *q.ForSeventy, *q.Size)
	}
	return "more " + what
}

// fix is what to do before any timeout is changed.
func (q *Queue) fix() string {
	return q.more() + ", calls dropped whose deadline has passed, load shed"
}

// queueOf returns the queue of a hop's calls, nil where none is known.
func (a *adviser) queueOf(h *Hop) *Queue {
	if a.Queue == nil {
		return nil
	}
	return a.Queue(h.Hop)
}

// queueing lets a hop's queue come before its timeout.
func (a *adviser) queueing(h *Hop) {
	if h.Queue = a.queueOf(h); h.Queue == nil {
		return
	}
	h.Warnings = append([]note.Warning{{Code: "pool_full", Text: "fix the queue first: " + h.Queue.Brief + ": " + h.Queue.fix() + "; a longer timeout makes the queue longer"}}, h.Warnings...)
	if h.Canary != nil {
		h.Canary.Lengthens = true
	}
}

// queues names the calls whose queue comes first.
func (a *adviser) queues() string {
	return sentence("", a.queued(func(h *Hop) string { return h.Name }), ", ", ": fix the queue first; until then a longer timeout, a canary's too, makes it longer, and retries do")
}

func (a *adviser) queued(text func(*Hop) string) (list []string) {
	for i := range a.result.Hops {
		if h := &a.result.Hops[i]; h.Queue != nil {
			list = append(list, text(h))
		}
	}
	return list
}

// queueStep is the step before all that change a timeout.
func (a *adviser) queueStep() string {
	return sentence("fix the queue first: ", a.queued(func(h *Hop) string { return h.Name + ": " + h.Queue.fix() }), "; ", "")
}

// raiseText says where a canary's timeout makes a queue longer.
func raiseText(c *Canary) string {
	if !c.Lengthens {
		return durations.Text(c.RaiseTo)
	}
	return durations.Text(c.RaiseTo) + " (which makes its queue longer: fix that first)"
}
