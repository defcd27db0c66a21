package ingest

import (
	"bytes"

	"github.com/tailscope/tailscope/spans"
)

// jaegerReader reads traces and spans of Jaeger's UI and query JSON.
type jaegerReader struct {
	*spanReader
	s         jsonScanner
	processes map[string]process
	traceID   []byte
}

// process is one entry of a trace's process table.
type process struct {
	service, host []byte
	rank          int // of the key that host came from
}

// trace reads a trace object: its processes first, whatever the order, then its
// spans one by one; a bad one is one reject.
func (j *jaegerReader) trace(m *parts) *fault {
	if bad := j.context(m); bad != nil {
		return bad
	}
	array, _ := m.get("spans")
	j.array(array)
	return nil
}

func (j *jaegerReader) array(array located) {
	array.each(func(v located) { j.reject(v.at, j.span(v)) })
}

// context reads what the spans of a trace refer to.
func (j *jaegerReader) context(m *parts) *fault {
	clear(j.processes)
	j.traceID = nil
	if id, ok := m.get("traceID"); ok {
		j.s.at(id.raw)
		_, j.traceID, _ = j.s.scalar()
	}
	table, ok := m.get("processes")
	if !ok || table.raw[0] != '{' {
		return nil
	}
	j.s.at(table.raw)
	err := j.s.members(func(name []byte) error {
		key := string(name)
		one, err := j.process()
		j.processes[key] = one
		return err
	})
	if err != nil {
		return &fault{Malformed, "processes: " + err.Error()}
	}
	return nil
}

// process reads {"serviceName":…,"tags":[…]}.
func (j *jaegerReader) process() (p process, err error) {
	if j.s.peek() != '{' {
		return p, j.s.skip()
	}
	err = j.s.members(func(name []byte) error {
		switch string(name) {
		case "serviceName":
			_, raw, err := j.s.scalar()
			p.service = raw
			return err
		case "tags":
			return j.eachTag(func(key []byte, _ valueKind, raw []byte) { p.tag(key, raw) })
		}
		return j.s.skip()
	})
	return p, err
}

// tag keeps the best name of the host or instance.
func (p *process) tag(key, raw []byte) {
	if rank := hostKeys[string(key)]; rank > p.rank && len(raw) > 0 {
		p.host, p.rank = raw, rank
	}
}

// hostKeys are the tags that name the machine or instance of a process; the
// highest rank counts. One host has one clock.
var hostKeys = map[string]int{
	"host.name": 9, "hostname": 8, "host.ip": 7, "ip": 6, "k8s.node.name": 5,
	"k8s.pod.name": 4, "service.instance.id": 3, "container.id": 2, "client-uuid": 1,
}

// span reads one span.
func (j *jaegerReader) span(v located) *fault {
	j.reset()
	j.has.trace = j.traceID
	var references []byte
	j.s.at(v.raw)
	err := j.s.members(func(name []byte) error { return j.field(name, &references) })
	if err != nil {
		return jsonFault(err, false)
	}
	if bad := j.parent(references); bad != nil {
		return bad
	}
	return j.finish(v.at)
}

// field reads one member of a span.
func (j *jaegerReader) field(name []byte, references *[]byte) (err error) {
	f := &j.has
	switch string(name) {
	case "traceID":
		_, f.trace, err = j.s.scalar()
	case "spanID":
		_, f.id, err = j.s.scalar()
	case "parentSpanID":
		_, f.parent, err = j.s.scalar()
	case "operationName":
		var kind valueKind
		kind, f.operation, err = j.s.scalar()
		f.named = kind == text
	case "startTime":
		f.start, err = j.timeValue("startTime")
	case "duration":
		f.duration, err = j.timeValue("duration")
	case "references":
		*references, err = j.s.raw()
	case "tags":
		err = j.eachTag(j.tag)
	case "process":
		var p process
		p, err = j.process()
		f.service, f.host = p.service, p.host
	case "processID":
		var id []byte
		_, id, err = j.s.scalar()
		if p, ok := j.processes[string(id)]; ok && f.service == nil {
			f.service, f.host = p.service, p.host
		}
	case "warnings":
		err = j.s.elements(func() error {
			_, text, err := j.s.scalar()
			f.adjusted(text)
			return err
		})
	case "logs":
		err = j.logs()
	default:
		err = j.s.skip()
	}
	return err
}

// timeValue reads a time in microseconds.
func (j *jaegerReader) timeValue(name string) (value, error) {
	kind, raw, err := j.s.scalar()
	if kind == absent && err == nil {
		kind, raw = text, []byte("an object or array")
	}
	return value{raw: raw, kind: kind, use: use{unit: Microseconds}, key: &keyInfo{path: name}}, err
}

// eachTag reads an array of {key,type,value}. The types are not believed: in
// some exports every value is text.
func (j *jaegerReader) eachTag(note func(key []byte, kind valueKind, raw []byte)) error {
	if j.s.peek() == '{' {
		return j.s.skip() // a nested object under the same name is no list of tags
	}
	return j.s.elements(func() error {
		if j.s.peek() != '{' {
			return j.s.skip()
		}
		var key, raw []byte
		var kind valueKind
		err := j.s.members(func(name []byte) (err error) {
			switch string(name) {
			case "key":
				_, key, err = j.s.scalar()
			case "value":
				kind, raw, err = j.s.scalar()
			default:
				err = j.s.skip()
			}
			return err
		})
		if err == nil {
			note(key, kind, raw)
		}
		return err
	})
}

// logs reads the span's log entries where messages count, else passes them.
func (j *jaegerReader) logs() error {
	if !j.rules.On(RuleMessage) {
		return j.s.skip()
	}
	return j.s.elements(func() error {
		if j.s.peek() != '{' {
			return j.s.skip()
		}
		return j.s.members(func(name []byte) error {
			if string(name) != "fields" {
				return j.s.skip()
			}
			return j.eachTag(j.tag)
		})
	})
}

// reference is one entry of references.
type reference struct {
	followsFrom bool
	trace, span []byte
}

// parent chooses the parent: the first CHILD_OF of the same trace, else the
// first FOLLOWS_FROM of it, else the deprecated parentSpanID. A reference to
// another trace is a link.
func (j *jaegerReader) parent(references []byte) *fault {
	f := &j.has
	if references == nil {
		return nil
	}
	f.add(saltLinks, references)
	var child, follows []byte
	j.s.at(references)
	err := j.s.elements(func() error {
		r, err := j.reference()
		switch {
		case err != nil || !sameTrace(r.trace, f.trace):
		case !r.followsFrom && child == nil:
			child = r.span
		case r.followsFrom && follows == nil:
			follows = r.span
		}
		return err
	})
	switch {
	case err != nil:
		return &fault{Malformed, "references: " + err.Error()}
	case child != nil:
		f.parent = child
	case follows != nil:
		f.parent, f.async = follows, true
	}
	return nil
}

func (j *jaegerReader) reference() (r reference, err error) {
	if j.s.peek() != '{' {
		return r, j.s.skip()
	}
	err = j.s.members(func(name []byte) (err error) {
		var raw []byte
		switch string(name) {
		case "refType":
			_, raw, err = j.s.scalar()
			r.followsFrom = string(raw) == "FOLLOWS_FROM"
		case "traceID":
			_, r.trace, err = j.s.scalar()
		case "spanID":
			_, r.span, err = j.s.scalar()
		default: // an old download has the whole parent span here
			err = j.s.skip()
		}
		return err
	})
	return r, err
}

// sameTrace compares by value, but first by text, which is nearly always enough.
func sameTrace(a, b []byte) bool {
	if len(a) == 0 || bytes.Equal(a, b) {
		return true
	}
	x, _ := spans.ParseTraceID(a)
	y, _ := spans.ParseTraceID(b)
	return x == y
}
