package trace

import (
	"slices"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// otlp is the JSON of OpenTelemetry's protocol, with its keys in camelCase or
// snake_case.
var otlp = dialect{
	name: "otlp",
	signatures: []signature{
		keys("result", "result.resourceSpans"), keys("resourceSpans"), keys("resource_spans"),
		keys("resourceMetrics"), keys("resourceLogs"), keys("resource_metrics"), keys("resource_logs"),
	},
	containers:   []string{"result"},
	elements:     []string{"resourceSpans", "resource_spans"},
	scopes:       otlpScopes,
	otherSignals: []string{"resourceMetrics", "resource_metrics", "resourceLogs", "resource_logs"},
	read:         readOTLP,
}

func readOTLP(r *spanReader) reader {
	o := newOTLPReader(r)
	return reader{context: o.context, inContext: o.span, element: o.resourceSpans, fastLine: o.fastLine}
}

// otlpReader reads OTLP JSON, with its keys in camelCase or snake_case.
type otlpReader struct {
	*spanReader
	s, outer jsonscan.Scanner
	resource process
	scopes   []located // that came before their resource
	readSpan func(located) int
	read     func(located) int // a scope
	object   *jsonscan.Object  // a span
	hearing  func(events []byte)

	eventMember func(name []byte) error // made once
}

func newOTLPReader(r *spanReader) *otlpReader {
	o := &otlpReader{spanReader: r}
	o.readSpan, o.read = r.visiting(o.span), r.visiting(o.scope)
	o.object = jsonscan.NewObject(&o.s, o.spanMembers())
	o.object.General, o.hearing, o.eventMember = r.general, o.hearAttributes, o.hearMember()
	return o
}

// otlpScopes are the members of a resource that hold its spans, by version.
var otlpScopes = []string{"scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"}

func isScopes(key []byte) bool { return slices.Contains(otlpScopes, string(key)) }

// resourceSpans reads the element at the start of v: its resource, then the
// spans of all scopes. Scopes mostly follow their resource, and are then read
// in passing.
func (o *otlpReader) resourceSpans(v located) (n int, bad *format.Fault) {
	if n, ok := o.fastElement(v); ok {
		return n, nil
	}
	before, known := o.partial, false
	o.resource, o.scopes = process{}, o.scopes[:0]
	var s jsonscan.Scanner
	s.At(v.raw)
	err := s.Members(func(name []byte) (err error) {
		switch here := (located{s.B[s.I:], v.at + s.I}); {
		case string(name) == "resource":
			known = true
			s.I += o.resourceAt(here)
			return passOver(&s, here)
		case isScopes(name) && known:
			s.I += here.each(o.read, o.unexpected)
			return passOver(&s, here)
		case isScopes(name):
			o.scopes = append(o.scopes, here)
		}
		_, err = s.Block()
		return err
	})
	if err != nil {
		bad = o.fault(err, v.at)
	}
	if o.partial == nil {
		o.partial = bad
	}
	for _, scopes := range o.scopes {
		scopes.each(o.read, o.unexpected)
	}
	o.partial = before
	return s.End(err), bad
}

// context reads the resource of an element whose spans come by themselves.
func (o *otlpReader) context(v located) {
	var m members
	o.resource = process{}
	o.readMembers(&m, v, resourceParts)
	if r, ok := m.get("resource"); ok {
		o.resourceAt(r)
	}
}

var resourceParts = keySet("resource")

// resourceAt reads the resource at the start of v and returns its length, 0
// after a fault.
func (o *otlpReader) resourceAt(v located) (n int) {
	if v.is() != '{' {
		return 0
	}
	o.s.At(v.raw)
	err := o.s.Members(func(name []byte) error {
		if string(name) != "attributes" {
			return o.s.Skip()
		}
		return o.attributes(o.resourceAttribute)
	})
	if err != nil && o.partial == nil {
		o.partial = format.NewFault(format.Malformed, "resource: "+err.Error())
	}
	return o.s.End(err)
}

func (o *otlpReader) resourceAttribute(key []byte, kind jsonscan.Kind, raw []byte) {
	if string(key) == "service.name" && kind != jsonscan.Composite {
		o.resource.service = raw
	}
	o.processTag(&o.resource, key, kind, raw)
}

// scope reads the scope at the start of v.
func (o *otlpReader) scope(v located) (n int, bad *format.Fault) {
	var s jsonscan.Scanner
	s.At(v.raw)
	err := s.Members(func(name []byte) error {
		here := located{s.B[s.I:], v.at + s.I}
		if string(name) == "spans" {
			s.I += here.each(o.readSpan, o.unexpected)
		}
		return passOver(&s, here)
	})
	if err != nil {
		return 0, o.fault(err, v.at)
	}
	return s.I, nil
}

// passOver passes the value that starts here by its brackets, unless it was read.
func passOver(s *jsonscan.Scanner, here located) error {
	if s.I > len(s.B)-len(here.raw) {
		return nil
	}
	_, err := s.Block()
	return err
}

// span reads the span at the start of v.
func (o *otlpReader) span(v located) (n int, bad *format.Fault) {
	if err := o.readFields(v.raw); err != nil {
		return 0, malformed(err)
	}
	return o.s.I, o.finish(v.at)
}

// readFields reads the members of the span at the start of raw.
func (o *otlpReader) readFields(raw []byte) error {
	o.reset()
	o.readEvents = o.hearing
	o.has.named = true // an empty name is left out in this encoding
	o.has.process = o.resource
	o.s.At(raw)
	return o.object.Read()
}

// spanMembers reads the members of a span.
func (o *otlpReader) spanMembers() map[string]func() error {
	s, f := &o.s, &o.has
	trace, id, parent := textInto(s, &f.trace), textInto(s, &f.id), textInto(s, &f.parent)
	start, end := startNanos.into(s, &f.start), endNanos.into(s, &f.end)
	note := o.remembered // made a value once, as is what follows
	attribute := func() error {
		if o.fastTag(s, fastAnyValue) {
			return nil
		}
		return o.oneAttribute(note)
	}
	return map[string]func() error{
		"traceId": trace, "trace_id": trace, "spanId": id, "span_id": id, "parentSpanId": parent, "parent_span_id": parent,
		"name": textInto(s, &f.operation), "kind": o.kind, "status": o.status, "traceState": o.traceState, "trace_state": o.traceState,
		"startTimeUnixNano": start, "start_time_unix_nano": start, "endTimeUnixNano": end, "end_time_unix_nano": end,
		"attributes": func() error { return s.Elements(attribute) }, "events": o.events,
		"links": func() error { return o.addJSON(saltLinks) },
	}
}

func (o *otlpReader) kind() error {
	_, raw, err := o.s.Scalar()
	o.has.kind = field.SpanKindOf(raw)
	return err
}

func (o *otlpReader) traceState() error {
	_, raw, err := o.s.Scalar()
	o.tag([]byte("w3c.tracestate"), jsonscan.Text, raw)
	return err
}

// addJSON passes a value, which counts for the digest.
func (o *otlpReader) addJSON(salt uint64) error {
	from := o.s.I
	err := o.s.Skip()
	o.has.addJSON(salt, o.s.B[from:o.s.I])
	return err
}

// status reads {"code":2,"message":…}.
func (o *otlpReader) status() error {
	if o.s.Pass("{}") {
		return nil
	}
	return o.s.EachMember(func(name []byte) error {
		switch string(name) {
		case "code":
			kind, raw, err := o.s.Scalar()
			o.tag([]byte("otel.status_code"), kind, otelStatus(raw))
			return err
		case "message":
			kind, raw, err := o.s.Scalar()
			o.tag([]byte("otel.status_description"), kind, raw)
			return err
		}
		return o.s.Skip()
	})
}

// otelStatus makes a status code a word: 0 and 1 are no error, 2 is one.
func otelStatus(raw []byte) []byte {
	var buf [field.MaxWord]byte
	switch string(field.Fold(raw, &buf)) {
	case "2", "statuscodeerror", "error":
		return []byte("ERROR")
	}
	return []byte("OK")
}

// events passes the events of a span; what they say is asked where it matters.
func (o *otlpReader) events() error {
	from := o.s.I
	err := o.s.Skip()
	o.has.events = o.s.B[from:o.s.I]
	return err
}

// hearAttributes hears the attributes of events that were read.
func (o *otlpReader) hearAttributes(events []byte) {
	before := o.s
	o.s.At(events)
	_ = o.s.EachObject(o.eventMember)
	o.s = before
}

// hearMember makes what reads a member of an event.
func (o *otlpReader) hearMember() func(name []byte) error {
	hear := o.hearEvent
	return func(name []byte) error {
		if string(name) != "attributes" {
			return o.s.Skip()
		}
		return o.attributes(hear)
	}
}

// warningsKey is under which an OTLP answer of Jaeger carries its warnings.
const warningsKey = "@jaeger@warnings"

// attributes reads an array of attributes.
func (o *otlpReader) attributes(note func(key []byte, kind jsonscan.Kind, raw []byte)) error {
	return o.s.Elements(func() error { return o.oneAttribute(note) })
}

// oneAttribute reads {key,value:{stringValue:…}}.
func (o *otlpReader) oneAttribute(note func(key []byte, kind jsonscan.Kind, raw []byte)) error {
	if o.s.Peek() != '{' {
		return o.s.Skip()
	}
	var key []byte
	at := -1
	err := o.s.Members(func(name []byte) (err error) {
		switch string(name) {
		case "key":
			_, key, err = o.s.Scalar()
			return err
		case "value":
			at = o.s.I
		}
		return o.s.Skip()
	})
	if err != nil || at < 0 {
		return err
	}
	end := o.s.I
	o.s.I = at
	err = o.attribute(key, note)
	o.s.I = end
	return err
}

// attribute reads the value of one.
func (o *otlpReader) attribute(key []byte, note func(key []byte, kind jsonscan.Kind, raw []byte)) error {
	warnings := string(key) == warningsKey
	from, noted := o.s.I, false
	err := o.anyValue(func(kind jsonscan.Kind, raw []byte) {
		if noted = true; warnings {
			o.has.adjusted(raw)
		} else {
			note(key, kind, raw)
		}
	})
	if !noted && !warnings {
		note(key, jsonscan.Composite, o.s.B[from:o.s.I])
	}
	return err
}

// anyValue reads an AnyValue: a scalar, or the scalars of an array.
func (o *otlpReader) anyValue(note func(kind jsonscan.Kind, raw []byte)) error {
	return o.s.EachMember(func(name []byte) error {
		switch string(name) {
		case "stringValue", "intValue", "boolValue", "doubleValue", "string_value", "int_value", "bool_value", "double_value":
			kind, raw, err := o.s.Scalar()
			if err == nil && kind != jsonscan.Absent {
				note(kind, raw)
			}
			return err
		case "arrayValue", "array_value":
			return o.arrayValue(note)
		}
		return o.s.Skip()
	})
}

func (o *otlpReader) arrayValue(note func(kind jsonscan.Kind, raw []byte)) error {
	return o.s.EachMember(func(name []byte) error {
		if string(name) != "values" {
			return o.s.Skip()
		}
		return o.s.Elements(func() error { return o.anyValue(note) })
	})
}
