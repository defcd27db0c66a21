package orphans

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

// world plays requests through services that time out, queue, retry, send
// messages and fail, and writes down who worked on after its caller had left: not
// from the spans, but as it happens. Times are whole ms in steps of 2, so that
// 1 ms of tolerance decides nothing.
type world struct {
	random *rand.Rand
	skew   []int   // of each service's clock, ms
	loss   float64 // share of spans that are lost
	list   []testSpan
	truth  map[int]Kind // by span id, of the trace being played
	traces int
}

// job is a piece of work to be done.
type job struct{ parent, service, start, depth int }

func (w *world) even(most int) int { return 2 * w.random.IntN(most/2) }

// span writes down a span in true time and returns its id.
func (w *world) span(s testSpan) int {
	s.id = len(w.list) + 1
	w.list = append(w.list, s)
	return s.id
}

// play makes one request.
func (w *world) play() (observed []testSpan) {
	w.list, w.truth = w.list[:0], map[int]Kind{}
	w.traces++
	w.serve(job{start: 1000, depth: 3})
	for _, s := range w.list {
		if w.random.Float64() < w.loss {
			continue
		}
		service := int(s.hop[1] - '0')
		s.start, s.end = s.start+w.skew[service], s.end+w.skew[service]
		observed = append(observed, s)
	}
	return observed
}

// serve runs a server's work, which calls others, and returns when it ends. It
// does not notice that its caller has left.
func (w *world) serve(j job) (span, end int) {
	span = w.span(testSpan{parent: j.parent, start: j.start, hop: fmt.Sprintf("s%d/serve", j.service), kind: server})
	now := j.start + 2 + w.even(30)
	if w.random.IntN(8) == 0 {
		now += 200 + w.even(400) // slow
	}
	for j.depth > 0 && w.random.IntN(3) > 0 {
		now = w.call(span, j.service, now, j.depth-1)
	}
	w.work(span, j.service, now)
	if w.random.IntN(6) == 0 {
		w.send(span, j.service, now)
	}
	w.list[span-1].end = now
	return span, now
}

// call waits for another service for at most 100 ms and tries again once. It
// returns when the caller goes on.
func (w *world) call(parent, service, now, depth int) int {
	for range 2 {
		queue := 0
		if w.random.IntN(10) == 0 {
			queue = w.even(400)
		}
		id := w.span(testSpan{parent: parent, start: now, hop: fmt.Sprintf("s%d/call", service), kind: client})
		server, end := w.serve(job{id, w.random.IntN(len(w.skew)), now + queue, depth})
		switch lost := w.random.IntN(5) == 0; {
		case end > now+100:
			w.leave(id, server, now+100)
		case lost: // the answer is, and the server has long stopped
			w.list[id-1].end, w.list[id-1].outcome = now+100, cut
		default:
			w.list[id-1].end = end
			return end + 2
		}
		now += 120
	}
	return now
}

// leave ends a call that did not wait for its server.
func (w *world) leave(id, server, at int) {
	w.list[id-1].end, w.list[id-1].outcome = at, cut
	w.truth[server] = Overrun
	if w.list[server-1].start >= at {
		w.truth[server] = LateStart
	}
}

// work is an operation inside the server that may fail and leave a part of its
// own running, or answer early and leave an optional part running.
func (w *world) work(parent, service, now int) {
	end := now + 2 + w.even(20)
	s := testSpan{parent: parent, start: now, end: end, hop: fmt.Sprintf("s%d/work", service)}
	part := testSpan{start: now, end: now + 2 + w.even(40), hop: fmt.Sprintf("s%d/part", service)}
	fails := w.random.IntN(4) == 0
	if fails {
		s.outcome = failed
	}
	part.parent = w.span(s)
	w.span(part) // that the work failed does not say that the part was given up
	w.list[parent-1].outcome = spans.Completed
}

// send puts a message on a queue; its consumer may run at any time.
func (w *world) send(parent, service, now int) {
	outcome := spans.Outcome(w.random.IntN(3))
	id := w.span(testSpan{parent: parent, start: now, end: now + 2, hop: fmt.Sprintf("s%d/send", service), kind: spans.Producer, outcome: outcome})
	start := now + w.even(2000)
	w.span(testSpan{parent: id, start: start, end: start + 2 + w.even(500), hop: fmt.Sprintf("s%d/take", w.random.IntN(len(w.skew))), kind: spans.Consumer})
}

// score compares what was found with the truth.
type score struct {
	true, found, right int
	sure               map[Sure][2]int // right, found
	wrongKind          int
}

func (w *world) score(traces int) score {
	s := score{sure: map[Sure][2]int{}}
	accumulator := NewAccumulator(Config{Tolerance: ms, Limit: 1 << 20})
	truth := map[string]Kind{}
	for range traces {
		observed := w.play()
		trace := traceOf(w.traces, observed...)
		for id, kind := range w.truth {
			truth[trace.Name()+spans.SpanID(id).String()] = kind
		}
		accumulator.AddTrace(trace)
	}
	s.true = len(truth)
	for _, item := range accumulator.Result(Query{}).Items {
		kind, right := truth[item.Trace+item.Child.Span]
		n := s.sure[item.Sure]
		n[1]++
		s.found++
		if right {
			n[0]++
			s.right++
			if kind != item.Kind {
				s.wrongKind++
			}
		}
		s.sure[item.Sure] = n
	}
	return s
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f (%d/%d)", float64(n)/float64(of), n, of)
}

func (s score) String() string {
	parts := []string{"precision " + share(s.right, s.found), "recall " + share(s.right, s.true)}
	for _, sure := range []Sure{Certain, Likely, Doubtful} {
		parts = append(parts, string(sure)+" "+share(s.sure[sure][0], s.sure[sure][1]))
	}
	return strings.Join(parts, ", ")
}

func TestPrecisionAndRecall(t *testing.T) {
	traces := 600
	if testing.Short() {
		traces = 200
	}
	for _, c := range []struct {
		name              string
		skew              []int
		loss              float64
		precision, recall float64 // at least
	}{
		{"true clocks, all spans", make([]int, 5), 0, 1, 1},
		{"skew 10 ms", []int{0, 10, -10, 4, -6}, 0, .9, .9},
		{"skew 100 ms", []int{0, 100, -60, 30, -80}, 0, .5, .6},
		{"5 % lost", make([]int, 5), .05, 1, .85},
		{"30 % lost", make([]int, 5), .3, 1, .4},
		{"skew 10 ms, 5 % lost", []int{0, 10, -10, 4, -6}, .05, .9, .8},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{random: rand.New(rand.NewPCG(9, 10)), skew: c.skew, loss: c.loss}
			s := w.score(traces)
			t.Log(s)
			precision, recall := float64(s.right)/float64(s.found), float64(s.right)/float64(s.true)
			if s.true < traces/4 || precision < c.precision || recall < c.recall {
				t.Errorf("want at least %v and %v of many", c.precision, c.recall)
			}
			if n := s.sure[Certain]; n[0] != n[1] || n[0] == 0 {
				t.Errorf("not all that is certain is true: %v", n)
			}
			if c.skew[1] == 0 && s.wrongKind > 0 {
				t.Errorf("%d of the wrong kind", s.wrongKind)
			}
		})
	}
}
