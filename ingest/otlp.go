package ingest

import "bytes"

// otlpReader reads OTLP JSON, with its keys in camelCase or snake_case.
type otlpReader struct {
	*spanReader
	s        jsonScanner
	resource process
	scope    parts
	parts    parts
}

var resourceParts = map[string]bool{
	"resource": true, "scopeSpans": true, "scope_spans": true, "instrumentationLibrarySpans": true,
}

var scopeParts = map[string]bool{"spans": true}

// resourceSpans reads one element: its resource, then the spans of all scopes.
func (o *otlpReader) resourceSpans(v located) *fault {
	if bad := o.context(v); bad != nil {
		return bad
	}
	for _, name := range [...]string{"scopeSpans", "scope_spans", "instrumentationLibrarySpans"} {
		if scopes, ok := o.parts.get(name); ok {
			scopes.each(func(scope located) { o.reject(scope.at, o.scopeSpans(scope)) })
		}
	}
	return nil
}

// context reads the resource of an element.
func (o *otlpReader) context(v located) *fault {
	if err := o.parts.read(v, resourceParts); err != nil {
		return jsonFault(err, false)
	}
	o.resource = process{}
	r, ok := o.parts.get("resource")
	if !ok || r.raw[0] != '{' {
		return nil
	}
	o.s.at(r.raw)
	err := o.s.members(func(name []byte) error {
		if string(name) != "attributes" {
			return o.s.skip()
		}
		return o.attributes(func(key []byte, _ valueKind, raw []byte) {
			if string(key) == "service.name" {
				o.resource.service = raw
			}
			o.resource.tag(key, raw)
		})
	})
	if err != nil {
		return &fault{Malformed, "resource: " + err.Error()}
	}
	return nil
}

func (o *otlpReader) scopeSpans(v located) *fault {
	if err := o.scope.read(v, scopeParts); err != nil {
		return jsonFault(err, false)
	}
	if array, ok := o.scope.get("spans"); ok {
		o.array(array)
	}
	return nil
}

func (o *otlpReader) array(array located) {
	array.each(func(span located) { o.reject(span.at, o.span(span)) })
}

// span reads one span.
func (o *otlpReader) span(v located) *fault {
	o.reset()
	f := &o.has
	f.named = true // an empty name is left out in this encoding
	f.service, f.host = o.resource.service, o.resource.host
	o.s.at(v.raw)
	if err := o.s.members(o.field); err != nil {
		return jsonFault(err, false)
	}
	if f.start.empty() && !f.end.empty() {
		f.start = value{raw: []byte("0"), kind: number, use: use{unit: Nanoseconds}, key: &keyInfo{path: "startTimeUnixNano"}}
	}
	if zeros(f.parent) {
		f.parent = nil
	}
	return o.finish(v.at)
}

// zeros reports whether an id is all zeros, which says that there is none.
func zeros(id []byte) bool { return len(bytes.Trim(id, "0")) == 0 }

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
		f.start, err = o.timeValue("startTimeUnixNano")
	case "endTimeUnixNano", "end_time_unix_nano":
		f.end, err = o.timeValue("endTimeUnixNano")
	case "attributes":
		err = o.attributes(o.tag)
	case "status":
		err = o.status()
	case "events":
		err = o.events()
	case "links":
		var raw []byte
		raw, err = o.s.raw()
		f.add(saltLinks, raw)
	case "traceState", "trace_state":
		var raw []byte
		_, raw, err = o.s.scalar()
		o.tag([]byte("w3c.tracestate"), text, raw)
	default:
		err = o.s.skip()
	}
	return err
}

// timeValue reads a time in nanoseconds, written as a number or as text.
func (o *otlpReader) timeValue(name string) (value, error) {
	kind, raw, err := o.s.scalar()
	if kind == absent && err == nil {
		kind, raw = text, []byte("an object or array")
	}
	return value{raw: raw, kind: kind, use: use{unit: Nanoseconds}, key: &keyInfo{path: name}}, err
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
	return o.s.elements(func() error {
		if o.s.peek() != '{' {
			return o.s.skip()
		}
		return o.s.members(func(name []byte) error {
			if string(name) != "attributes" {
				return o.s.skip()
			}
			return o.attributes(o.tag)
		})
	})
}

// warningsKey is under which an OTLP answer of Jaeger carries its warnings.
const warningsKey = "@jaeger@warnings"

// attributes reads an array of {key,value:{stringValue:…}}.
func (o *otlpReader) attributes(note func(key []byte, kind valueKind, raw []byte)) error {
	return o.s.elements(func() error {
		if o.s.peek() != '{' {
			return o.s.skip()
		}
		key, at := []byte(nil), -1
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
		err = o.anyValue(func(kind valueKind, raw []byte) {
			if string(key) == warningsKey {
				o.has.adjusted(raw)
			} else {
				note(key, kind, raw)
			}
		})
		o.s.i = end
		return err
	})
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
