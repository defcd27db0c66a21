package callees

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/spans"
)

// Survey counts which services the calls of each client hop go to. Not safe for
// concurrent use: each worker has its own.
type Survey struct {
	hops   map[spans.Hop]*hop
	finder finder
}

// hop is what is known of a client hop.
type hop struct {
	all, cut seen
	services map[string]struct{} // up to one more than mostServices
}

// seen is how many calls there are, and of how many the callee is known.
type seen struct{ calls, known uint64 }

func (s *seen) add(o seen) { s.calls, s.known = s.calls+o.calls, s.known+o.known }

// mostServices is into how many rows a hop is taken apart: more services are rather the
// names of replicas.
const mostServices = 64

// leastKnown is of how many of a hundred calls the callee must be known.
const leastKnown = 95

func (s seen) enough() bool { return s.known*100 >= s.calls*leastKnown }

// NewSurvey returns an empty survey.
func NewSurvey() *Survey { return &Survey{hops: map[spans.Hop]*hop{}} }

// AddTrace looks at a trace whose cuts and retries are marked.
func (s *Survey) AddTrace(t *spans.Trace) {
	s.finder.find(t, func(h int32) bool { return t.Hops[h].Kind == spans.Client })
	for i := range t.Spans {
		if h := t.Spans[i].Hop; t.Hops[h].Kind == spans.Client {
			s.at(t.Hops[h]).add(t, i, s.finder.by[i])
		}
	}
}

func (s *Survey) at(id spans.Hop) *hop {
	h := s.hops[id]
	if h == nil {
		h = &hop{services: map[string]struct{}{}}
		s.hops[id] = h
	}
	return h
}

func (h *hop) add(t *spans.Trace, call int, server int32) {
	one := seen{calls: 1}
	if server >= 0 {
		one.known = 1
		h.serve(serviceOf(&t.Hops[server]))
	}
	h.all.add(one)
	if t.Spans[call].Outcome == spans.Truncated {
		h.cut.add(one)
	}
}

func (h *hop) serve(service string) {
	if len(h.services) <= mostServices {
		h.services[service] = struct{}{}
	}
}

// Merge moves what o counted into s.
func (s *Survey) Merge(o *Survey) {
	for id, from := range o.hops {
		into := s.at(id)
		into.all.add(from.all)
		into.cut.add(from.cut)
		for service := range from.services {
			into.serve(service)
		}
	}
}

// Apart returns the hops whose calls are told apart, and warns of those that go to
// several services and are not.
func (s *Survey) Apart() (apart map[spans.Hop]bool, warnings []note.Warning) {
	apart = map[spans.Hop]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(s.hops), spans.Hop.Compare) {
		switch h := s.hops[id]; {
		case len(h.services) < 2:
		case len(h.services) <= mostServices && h.all.enough() && h.cut.enough():
			apart[id] = true
		default:
			warnings = append(warnings, note.Warning{Code: "several_callees", Text: h.why(id)})
		}
	}
	return apart, warnings
}

// why says why the calls of a hop are not told apart.
func (h *hop) why(id spans.Hop) string {
	const few = 3
	names := slices.Sorted(maps.Keys(h.services))
	text := fmt.Sprintf("calls of %s go to several services (%s", id, strings.Join(names[:min(few, len(names))], ", "))
	if len(names) > few {
		text += ", …"
	}
	text += ") and are shown as one hop: "
	if len(names) > mostServices {
		return text + fmt.Sprintf("more than %d", mostServices)
	}
	of, what := h.all, "calls"
	if of.enough() {
		of, what = h.cut, "timed-out calls"
	}
	return text + fmt.Sprintf("only %d of %d %s looked at have a server's span that names it", of.known, of.calls, what)
}

// serviceOf is what a callee is called.
func serviceOf(h *spans.Hop) string {
	if h.Service == "" {
		return h.Name
	}
	return h.Service
}

// finder finds the callee of each call of a trace.
type finder struct {
	by []int32 // by span: the hop of its server, -1 where it is not known
}

// find looks at the calls of some hops. Attempts of one call have one callee.
func (f *finder) find(t *spans.Trace, wanted func(hop int32) bool) {
	f.by = f.by[:0]
	for i := range t.Spans {
		server := int32(-1)
		if wanted(t.Spans[i].Hop) {
			server = serverOf(t, int32(i))
		}
		f.by = append(f.by, server)
	}
	for i := len(t.RetryOf) - 1; i >= 0; i-- {
		f.share(t.RetryOf[i], int32(i))
	}
	for i := range t.RetryOf {
		f.share(int32(i), t.RetryOf[i])
	}
}

// share gives an attempt of which the callee is not known that of another one.
func (f *finder) share(to, from int32) {
	if to >= 0 && from >= 0 && f.by[to] < 0 {
		f.by[to] = f.by[from]
	}
}

func serverOf(t *spans.Trace, call int32) int32 {
	for _, c := range t.Children(call) {
		if h := t.Spans[c].Hop; t.Hops[h].Kind == spans.Server {
			return h
		}
	}
	return -1
}
