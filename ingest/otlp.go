package ingest

// otlpReader reads OTLP JSON, with its keys in camelCase or snake_case.
type otlpReader struct {
	*spanReader
	s, outer jsonScanner
	resource process
	scopes   []located // that came before their resource
	readSpan func(located) int
	read     func(located) int // a scope
	// The methods member, spanAttribute and remembered, made values once.
	eachMember, eachOfSpan func() error
	note                   func(key []byte, kind valueKind, raw []byte)
}

func newOTLPReader(r *spanReader) *otlpReader {
	o := &otlpReader{spanReader: r}
	o.readSpan, o.read = r.visiting(o.span), r.visiting(o.scope)
	o.eachMember, o.eachOfSpan, o.note = o.member, o.spanAttribute, r.remembered
	return o
}

// isScopes reports whether a key of a resource holds its scopes.
func isScopes(key []byte) bool {
	switch string(key) {
	case "scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans":
		return true
	}
	return false
}

// resourceSpans reads the element at the start of v: its resource, then the
// spans of all scopes. Scopes mostly follow their resource, and are then read
// in passing.
func (o *otlpReader) resourceSpans(v located) (n int, bad *fault) {
	if n, ok := o.wholeElement(v); ok {
		return n, nil
	}
	before, known := o.partial, false
	o.resource, o.scopes = process{}, o.scopes[:0]
	var s jsonScanner
	s.at(v.raw)
	err := s.members(func(name []byte) (err error) {
		switch here := (located{s.b[s.i:], v.at + s.i}); {
		case string(name) == "resource":
			known = true
			s.i += o.resourceAt(here)
			return passOver(&s, here)
		case isScopes(name) && known:
			s.i += here.each(o.read, o.stray)
			return passOver(&s, here)
		case isScopes(name):
			o.scopes = append(o.scopes, here)
		}
		_, err = s.block()
		return err
	})
	if err != nil {
		bad = o.fault(err, v.at)
	}
	if o.partial == nil {
		o.partial = bad
	}
	for _, scopes := range o.scopes {
		scopes.each(o.read, o.stray)
	}
	o.partial = before
	return s.end(err), bad
}

// context reads the resource of an element whose spans come by themselves.
func (o *otlpReader) context(v located) {
	var m parts
	o.resource = process{}
	o.parts(&m, v, resourceParts)
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
	o.s.at(v.raw)
	err := o.s.members(func(name []byte) error {
		if string(name) != "attributes" {
			return o.s.skip()
		}
		return o.attributes(o.resourceAttribute)
	})
	if err != nil && o.partial == nil {
		o.partial = &fault{Malformed, "resource: " + err.Error()}
	}
	return o.s.end(err)
}

func (o *otlpReader) resourceAttribute(key []byte, kind valueKind, raw []byte) {
	if string(key) == "service.name" && kind != composite {
		o.resource.service = raw
	}
	o.resource.tag(key, kind, raw)
}

// scope reads the scope at the start of v.
func (o *otlpReader) scope(v located) (n int, bad *fault) {
	var s jsonScanner
	s.at(v.raw)
	err := s.members(func(name []byte) error {
		here := located{s.b[s.i:], v.at + s.i}
		if string(name) == "spans" {
			s.i += here.each(o.readSpan, o.stray)
		}
		return passOver(&s, here)
	})
	if err != nil {
		return 0, o.fault(err, v.at)
	}
	return s.i, nil
}

// passOver passes the value that starts here by its brackets, unless it was read.
func passOver(s *jsonScanner, here located) error {
	if s.i > len(s.b)-len(here.raw) {
		return nil
	}
	_, err := s.block()
	return err
}

// span reads the span at the start of v.
func (o *otlpReader) span(v located) (n int, bad *fault) {
	o.begun()
	o.s.at(v.raw)
	if o.s.peek() != '{' {
		return 0, malformed(o.s.fault("expected an object"))
	}
	if err := o.s.list('}', "expected , or }", o.eachMember); err != nil {
		return 0, malformed(err)
	}
	return o.s.i, o.finish(v.at)
}

// begun starts a span.
func (o *otlpReader) begun() {
	o.reset()
	o.has.named = true // an empty name is left out in this encoding
	o.has.process = o.resource
}

// field reads one member of a span.
func (o *otlpReader) field(name []byte) (err error) {
	f := &o.has
	switch string(name) {
	case "traceId", "trace_id":
		_, f.trace, err = o.s.scalar()
	case "spanId", "span_id":
		_, f.id, err = o.s.scalar()
	case "parentSpanId", "parent_span_id":
		_, f.parent, err = o.s.scalar()
	case "name":
		_, f.operation, err = o.s.scalar()
	case "kind":
		var raw []byte
		_, raw, err = o.s.scalar()
		f.kind = kindOf(raw)
	case "startTimeUnixNano", "start_time_unix_nano":
		f.start, err = startNanos.read(&o.s)
	case "endTimeUnixNano", "end_time_unix_nano":
		f.end, err = endNanos.read(&o.s)
	case "attributes":
		err = o.s.elements(o.eachOfSpan)
	case "status":
		err = o.status()
	case "events":
		err = o.events()
	case "links":
		err = o.addJSON(saltLinks)
	case "traceState", "trace_state":
		var raw []byte
		_, raw, err = o.s.scalar()
		o.tag([]byte("w3c.tracestate"), text, raw)
	default:
		err = o.s.skip()
	}
	return err
}

// addJSON passes a value, which counts for the digest.
func (o *otlpReader) addJSON(salt uint64) error {
	from := o.s.i
	err := o.s.skip()
	o.has.addJSON(salt, o.s.b[from:o.s.i])
	return err
}

// status reads {"code":2,"message":…}.
func (o *otlpReader) status() error {
	if o.s.peek() != '{' {
		return o.s.skip()
	}
	return o.s.members(func(name []byte) error {
		switch string(name) {
		case "code":
			kind, raw, err := o.s.scalar()
			o.tag([]byte("otel.status_code"), kind, otelStatus(raw))
			return err
		case "message":
			kind, raw, err := o.s.scalar()
			o.tag([]byte("otel.status_description"), kind, raw)
			return err
		}
		return o.s.skip()
	})
}

// otelStatus makes a status code a word: 0 and 1 are no error, 2 is one.
func otelStatus(raw []byte) []byte {
	var buf [maxWord]byte
	switch string(fold(raw, &buf)) {
	case "2", "statuscodeerror", "error":
		return []byte("ERROR")
	}
	return []byte("OK")
}

// events reads the attributes of events where messages count, else passes them.
func (o *otlpReader) events() error {
	if !o.rules.On(RuleMessage) {
		return o.s.skip()
	}
	return o.s.eachObject(func(name []byte) error {
		if string(name) != "attributes" {
			return o.s.skip()
		}
		return o.attributes(o.evidence)
	})
}

// warningsKey is under which an OTLP answer of Jaeger carries its warnings.
const warningsKey = "@jaeger@warnings"

// attributes reads an array of attributes.
func (o *otlpReader) attributes(note func(key []byte, kind valueKind, raw []byte)) error {
	return o.s.elements(func() error { return o.oneAttribute(note) })
}

// oneAttribute reads {key,value:{stringValue:…}}.
func (o *otlpReader) oneAttribute(note func(key []byte, kind valueKind, raw []byte)) error {
	if o.s.peek() != '{' {
		return o.s.skip()
	}
	var key []byte
	at := -1
	err := o.s.members(func(name []byte) (err error) {
		switch string(name) {
		case "key":
			_, key, err = o.s.scalar()
			return err
		case "value":
			at = o.s.i
		}
		return o.s.skip()
	})
	if err != nil || at < 0 {
		return err
	}
	end := o.s.i
	o.s.i = at
	err = o.attribute(key, note)
	o.s.i = end
	return err
}

// attribute reads the value of one.
func (o *otlpReader) attribute(key []byte, note func(key []byte, kind valueKind, raw []byte)) error {
	warnings := string(key) == warningsKey
	from, noted := o.s.i, false
	err := o.anyValue(func(kind valueKind, raw []byte) {
		if noted = true; warnings {
			o.has.adjusted(raw)
		} else {
			note(key, kind, raw)
		}
	})
	if !noted && !warnings {
		note(key, composite, o.s.b[from:o.s.i])
	}
	return err
}

// anyValue reads an AnyValue: a scalar, or the scalars of an array.
func (o *otlpReader) anyValue(note func(kind valueKind, raw []byte)) error {
	if o.s.peek() != '{' {
		return o.s.skip()
	}
	return o.s.members(func(name []byte) error {
		switch string(name) {
		case "stringValue", "intValue", "boolValue", "doubleValue", "string_value", "int_value", "bool_value", "double_value":
			kind, raw, err := o.s.scalar()
			if err == nil && kind != absent {
				note(kind, raw)
			}
			return err
		case "arrayValue", "array_value":
			return o.arrayValue(note)
		}
		return o.s.skip()
	})
}

func (o *otlpReader) arrayValue(note func(kind valueKind, raw []byte)) error {
	if o.s.peek() != '{' {
		return o.s.skip()
	}
	return o.s.members(func(name []byte) error {
		if string(name) != "values" {
			return o.s.skip()
		}
		return o.s.elements(func() error { return o.anyValue(note) })
	})
}
