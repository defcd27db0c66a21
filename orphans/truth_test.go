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
	stops  int     // services below this one honour a cancellation
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
		if s.dropped || w.random.Float64() < w.loss {
			continue
		}
		service := int(s.hop[1] - '0')
		s.start, s.end = s.start+w.skew[service], s.end+w.skew[service]
		observed = append(observed, s)
	}
	return observed
}

// serve runs a server's work, which calls others, and returns when it ends. It
// does not notice that its caller has left: see leave.
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
	if w.random.IntN(2) == 0 { // nobody waits for it
		w.span(testSpan{parent: span, start: j.start + 2, end: now + 20 + w.even(200), hop: fmt.Sprintf("s%d/audit", j.service)})
	}
	w.list[span-1].end = now
	return span, now
}

// call waits for another service for at most 100 ms and tries again once. It
// returns when the caller goes on. The way there and back takes time, too.
func (w *world) call(parent, service, now, depth int) int {
	for range 2 {
		way, back, queue := w.even(6), w.even(6), 0
		if w.random.IntN(10) == 0 {
			queue = w.even(400)
		}
		id := w.span(testSpan{parent: parent, start: now, hop: fmt.Sprintf("s%d/call", service), kind: client})
		server, end := w.serve(job{id, w.random.IntN(len(w.skew)), now + way + queue, depth})
		switch lost := w.random.IntN(5) == 0; {
		case end+back > now+100:
			w.leave(id, server, now+100)
		case lost: // the answer is, and the server has long stopped
			w.list[id-1].end, w.list[id-1].outcome = now+100, cut
		default:
			w.list[id-1].end = end + back
			return end + back + 2
		}
		now += 120
	}
	return now
}

// leave ends a call that does not wait for its server any longer.
func (w *world) leave(id, server, at int) {
	w.list[id-1].end, w.list[id-1].outcome = at, cut
	served := &w.list[server-1]
	switch {
	case served.end <= at: // its answer came too late
	case w.honours(served.hop):
		w.stop(server, at)
	case served.start >= at:
		w.truth[server] = LateStart
	default:
		w.truth[server] = Overrun
	}
}

// honours reports whether a service stops when its callers leave.
func (w *world) honours(hop string) bool { return w.stops > int(hop[1]-'0') }

// stop cancels a span and all that it waits for; what had not begun never does. Those
// who do not honour a cancellation work on, for nobody.
func (w *world) stop(id, at int) {
	s := &w.list[id-1]
	if s.end <= at {
		return
	}
	if s.dropped = s.start >= at; !s.dropped {
		s.end, s.outcome, s.by = at, cut, spans.Caller
	}
	for i := range w.list[id:] {
		c := &w.list[id+i]
		switch audit := c.hop[2:] == "/audit"; {
		case c.parent != id:
		case s.dropped:
			w.drop(c.id)
		case audit && c.start >= at:
			w.drop(c.id)
		case audit || c.kind == spans.Producer || c.end <= at:
		case c.kind == server && !w.honours(c.hop):
			w.leave(id, c.id, at)
			s.by = spans.Caller
		default:
			w.stop(c.id, at)
		}
	}
}

// drop takes back a span and all below it.
func (w *world) drop(id int) {
	w.list[id-1].dropped = true
	delete(w.truth, id)
	for i := range w.list[id:] {
		if w.list[id+i].parent == id {
			w.drop(w.list[id+i].id)
		}
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
	result             Result
}

// certain returns how many of those that are not doubtful are right, and how many there
// are.
func (s score) certain() (right, found int) {
	for _, sure := range []Sure{Certain, Likely} {
		right, found = right+s.sure[sure][0], found+s.sure[sure][1]
	}
	return right, found
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
	s.result = accumulator.Result(Query{})
	for _, item := range s.result.Items {
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
	apart := func(ms int) []int { return []int{0, ms, -ms, ms / 2, -ms / 4} }
	for _, c := range []struct {
		name   string
		skew   []int
		stops  int
		loss   float64
		recall float64 // of all, at least
	}{
		{"true clocks, all spans", apart(0), 0, 0, 1},
		{"true clocks, three of five stop", apart(0), 3, 0, 1},
		{"true clocks, all stop", apart(0), 5, 0, 1},
		{"skew 8 ms", apart(8), 0, 0, .98},
		{"skew 8 ms, three of five stop", apart(8), 3, 0, .98},
		{"skew 50 ms", apart(50), 0, 0, .98},
		{"skew 50 ms, three of five stop", apart(50), 3, 0, .98},
		{"skew 50 ms, all stop", apart(50), 5, 0, 0},
		{"skew 100 ms", apart(100), 0, 0, .95},
		{"5 % lost", apart(0), 0, .05, .85},
		{"30 % lost", apart(0), 0, .3, .4},
		{"skew 8 ms, 5 % lost", apart(8), 3, .05, .8},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{random: rand.New(rand.NewPCG(9, 10)), skew: c.skew, loss: c.loss, stops: c.stops}
			s := w.score(traces)
			t.Log(s)
			if recall := float64(s.right) / float64(max(1, s.true)); c.stops < 5 && (s.true < traces/8 || recall < c.recall) {
				t.Errorf("recall %v of %d, want %v of many", recall, s.true, c.recall)
			}
			right, found := s.certain()
			if right != found || found == 0 && c.stops < 5 {
				t.Errorf("of those that are not doubtful %d of %d are true", right, found)
			}
			if uint64(found) != s.result.Orphaned || uint64(s.found-found) != s.result.Doubtful {
				t.Errorf("%d and %d listed, %d and %d counted", found, s.found-found, s.result.Orphaned, s.result.Doubtful)
			}
			if c.skew[1] == 0 && (s.wrongKind > 0 || s.result.Doubtful > 0) {
				t.Errorf("%d of the wrong kind, %d doubtful", s.wrongKind, s.result.Doubtful)
			}
			w.checkCancellation(t, &s.result)
			w.checkAudits(t, &s.result)
		})
	}
}

// checkCancellation holds what is said of callees against what they do.
func (w *world) checkCancellation(t *testing.T, r *Result) {
	known := 0
	for _, p := range r.Pairs {
		if !strings.HasSuffix(p.Child.Name, "/serve") {
			continue
		}
		want := HonoursNo
		if w.honours(p.Child.Name) {
			want = HonoursYes
		}
		switch p.Cancellation.Honours {
		case want:
			known++
		case HonoursUnknown:
		default:
			t.Errorf("%s to %s: %+v, want %s", p.Parent, p.Child, p.Cancellation, want)
		}
	}
	if known < 5 {
		t.Errorf("only of %d pairs it is known", known)
	}
}

// checkAudits looks for the audits that nobody waits for.
func (w *world) checkAudits(t *testing.T, r *Result) {
	found := 0
	for _, p := range r.NotAwaited {
		if strings.HasSuffix(p.Child.Name, "/audit") {
			found++
		}
	}
	if found != len(w.skew) {
		t.Errorf("audits of %d services, want %d: %+v", found, len(w.skew), r.NotAwaited)
	}
	if w.stops > 0 && r.OutlivedNotAwaited == 0 {
		t.Error("no audit ran on under a request that was cancelled")
	}
}
