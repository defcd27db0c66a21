package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// services are those of a trace; span k is a server where k is even, and the
// client call above it where k is odd.
var services = [...]string{"gateway", "orders", "stock"}

const (
	spansOfTrace = 8
	clientWall   = 150_000 // µs, of every call
)

// span is one of a trace. Times are whole µs, so that all forms hold the same.
type span struct {
	trace, id, parent uint64
	operation         string
	service           int
	server, cut       bool
	start, duration   int64
}

// traces yields n of them: a chain of calls, each a client span over a server
// span. A call that takes longer than the wall is cut there, and its server runs
// on as an orphan.
func traces(s settings) func(yield func([]span) bool) {
	r := rand.New(rand.NewPCG(s.seed, 1))
	return func(yield func([]span) bool) {
		for i := range s.n {
			t := oneTrace(r, start.UnixMicro()+int64(i)*1000)
			if !yield(t) {
				return
			}
		}
	}
}

func oneTrace(r *rand.Rand, at int64) []span {
	trace := r.Uint64() | 1
	list := make([]span, spansOfTrace)
	for k := range list {
		s := &list[k]
		*s = span{trace: trace, id: r.Uint64() | 1, operation: fmt.Sprintf("op%d", k), service: (k + 1) / 2 % len(services), server: k%2 == 0, start: at + int64(k)*50}
		if k > 0 {
			s.parent = list[k-1].id
		}
	}
	// From the inside out: a call takes what its server takes, or is cut.
	inner := int64(0)
	for k := len(list) - 1; k >= 0; k-- {
		s := &list[k]
		if s.server || k == len(list)-1 {
			inner += int64(math.Exp(9 + 1.2*r.NormFloat64()))
		}
		s.duration = inner + 100
		if s.cut = !s.server && s.duration > clientWall; s.cut {
			s.duration = clientWall + r.Int64N(900)
		}
		inner = s.duration
	}
	return list
}

func writeJaeger(w io.Writer, s settings) {
	io.WriteString(w, `{"data":[`)
	separator := ""
	for t := range traces(s) {
		fmt.Fprintf(w, `%s{"traceID":"%032x","spans":[`, separator, t[0].trace)
		for k, one := range t {
			if k > 0 {
				io.WriteString(w, ",")
			}
			w.Write(one.jaeger())
		}
		io.WriteString(w, `],"processes":{`)
		for p, name := range services {
			fmt.Fprintf(w, `%s"p%d":{"serviceName":"%s","tags":[]}`, [...]string{"", ","}[min(p, 1)], p, name)
		}
		io.WriteString(w, `},"warnings":null}`)
		separator = ","
	}
	io.WriteString(w, `],"total":0,"limit":0,"offset":0,"errors":null}`+"\n")
}

func (s *span) jaeger() []byte {
	references, cut := "", ""
	if s.parent != 0 {
		references = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"%032x","spanID":"%016x"}`, s.trace, s.parent)
	}
	if s.cut {
		cut = `{"key":"error.type","type":"string","value":"timeout"},{"key":"error","type":"bool","value":true},`
	}
	return fmt.Appendf(nil, `{"traceID":"%032x","spanID":"%016x","operationName":"%s","references":[%s],"startTime":%d,"duration":%d,"tags":[{"key":"otel.scope.name","type":"string","value":"example.com/instrumentation/http"},{"key":"http.request.method","type":"string","value":"GET"},%s{"key":"span.kind","type":"string","value":"%s"}],"logs":[],"processID":"p%d","warnings":null}`,
		s.trace, s.id, s.operation, references, s.start, s.duration, cut, s.kind(), s.service)
}

func (s *span) kind() string {
	if s.server {
		return "server"
	}
	return "client"
}

// writeOTLP writes a line a span, those of so many traces mixed: all the first
// spans, then all the second ones.
func writeOTLP(w io.Writer, s settings, mixed int) {
	var held [][]span
	flush := func() {
		for k := range spansOfTrace {
			for _, t := range held {
				w.Write(t[k].otlp())
			}
		}
		held = held[:0]
	}
	for t := range traces(s) {
		if held = append(held, t); len(held) == mixed {
			flush()
		}
	}
	flush()
}

func (s *span) otlp() []byte {
	parent, cut, kind := "", "", 3
	if s.parent != 0 {
		parent = fmt.Sprintf(`"parentSpanId":"%016x",`, s.parent)
	}
	if s.cut {
		cut = `,{"key":"error.type","value":{"stringValue":"timeout"}}],"status":{"code":2`
	} else {
		cut = `],"status":{`
	}
	if s.server {
		kind = 2
	}
	return fmt.Appendf(nil, `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"scope":{"name":"example.com/instrumentation/http"},"spans":[{"traceId":"%032x","spanId":"%016x",%s"name":"%s","kind":%d,"startTimeUnixNano":"%d000","endTimeUnixNano":"%d000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}}%s}}]}]}]}`+"\n",
		services[s.service], s.trace, s.id, parent, s.operation, kind, s.start, s.start+s.duration, cut)
}
