package ingest

import "errors"

// shortest is how many bytes must be left for a shortcut to look at.
const shortest = 64

// member reads one member of a span.
func (j *jaegerReader) member() error {
	if done, err := j.shortcut(); done {
		return err
	}
	name, err := j.s.name()
	if err != nil {
		return err
	}
	return j.field(name)
}

// shortcut reads the member at hand if it is written as usual; else it stays
// where it is.
func (j *jaegerReader) shortcut() (done bool, err error) {
	s, from := &j.s, j.s.i
	if j.general || len(s.b)-from < shortest || s.b[from] != '"' {
		return false, nil
	}
	key := eight(s.b[from+1:])
	if key == keyTags && s.pass(`"tags":[`) {
		s.i--
		return true, s.elements(j.eachOfSpan)
	}
	if done = j.usual(key); !done {
		s.i = from
	}
	return done, nil
}

// usual reads the member that starts with key, unless it is tags, if it is
// written as usual.
func (j *jaegerReader) usual(key uint64) (ok bool) {
	s, f := &j.s, &j.has
	switch key {
	case keyTraceID:
		ok = s.plainAfter(`"traceID":`, &f.trace)
	case keySpanID:
		ok = s.plainAfter(`"spanID":`, &f.id)
	case keyOperation:
		ok = s.plainAfter(`"operationName":`, &f.operation)
		f.named = ok
	case keyStartTime:
		ok = s.pass(`"startTime":`) && startMicros.whole(s, &f.start)
	case keyDuration:
		ok = s.pass(`"duration":`) && durationMicros.whole(s, &f.duration)
	case keyReferences:
		ok = s.pass(`"references":[]`) || j.oneReference()
	case keyNoLogs:
		ok = s.pass(`"logs":[]`)
	case keyProcessID:
		ok = j.usualProcess()
	case keyWarnings:
		ok = s.pass(`"warnings":null`) || s.pass(`"warnings":[]`)
	}
	return ok
}

// oneReference reads the tie to a parent.
func (j *jaegerReader) oneReference() bool {
	s := &j.s
	var r reference
	ok := s.plainAfter(`"references":[{"refType":"CHILD_OF","traceID":`, &r.trace) && s.plainAfter(`,"spanID":`, &r.span) && s.pass(`}]`)
	if ok {
		j.refer(r)
	}
	return ok
}

func (j *jaegerReader) usualProcess() bool {
	var id []byte
	return j.s.plainAfter(`"processID":`, &id) && j.named(id) == nil
}

// usualTag reads {"key":…,"type":…,"value":…} if the key is the expected one and
// the value no object; else it stays where it is.
func (j *jaegerReader) usualTag() bool {
	s, from := &j.s, j.s.i
	if !s.pass(`{"key":"`) {
		return false
	}
	if k := j.memos.expected(s.b[s.i:]); k != nil {
		s.i += len(k.written) + 1
		if kind, raw, ok := usualValue(s); ok {
			j.quickTag(k, kind, raw)
			return true
		}
	}
	s.i = from
	return false
}

// usualValue reads what follows the key of a tag.
func usualValue(s *jsonScanner) (kind valueKind, raw []byte, ok bool) {
	if s.pass(`,"type":"string","value":`) {
		if raw, ok = s.plain(); !ok {
			return absent, nil, false
		}
		return text, raw, s.pass(`}`)
	}
	if !s.pass(`,"type":`) {
		return absent, nil, false
	}
	if _, ok = s.plain(); !ok || !s.pass(`,"value":`) || s.peek() == '{' || s.peek() == '[' {
		return absent, nil, false
	}
	kind, raw, err := s.any()
	return kind, raw, err == nil && s.pass(`}`)
}

// errUnusual ends the reading of a trace that the general reader must read.
var errUnusual = errors.New("not written as usual")

// wholeTrace reads a trace that is written as usual: its spans come before its
// processes, so that they wait. Where anything is unusual or wrong, ok is false
// and nothing was done.
func (j *jaegerReader) wholeTrace(v located) (n int, ok bool) {
	var s jsonScanner
	ok = j.waiting(func() bool {
		s.at(v.raw)
		if !s.plainAfter(`{"traceID":`, &j.traceID) || !s.pass(`,"spans":[`) {
			return false
		}
		j.model.forget()
		j.processes.reset()
		j.isWaiting = true
		defer func() { j.isWaiting = false }()
		if !s.tight(`]`, func() bool { return j.waitingSpan(&s, v.at) }) || !j.usualRest(&s) {
			return false
		}
		for i := range j.waits {
			if w := &j.waits[i]; w.hasProcessID {
				w.process = j.processes.get(w.processID)
			}
		}
		return true
	})
	return s.i, ok
}

// waitingSpan reads the span at hand, which then waits.
func (j *jaegerReader) waitingSpan(s *jsonScanner, at int) bool {
	if s.peek() != '{' {
		return false
	}
	j.reset()
	j.has.trace = j.traceID
	j.isModel = false
	j.s.at(s.b[s.i:])
	if j.members() != nil || j.isModel || !j.wait(at+s.i) {
		return false
	}
	s.i += j.s.i
	return true
}

// usualRest reads what follows the spans of a trace, up to its end.
func (j *jaegerReader) usualRest(s *jsonScanner) bool {
	known := false
	return s.further(`}`, func() bool {
		name, err := s.name()
		switch _, tells := valueParts[string(name)]; {
		case err != nil:
			return false
		case string(name) == "processes" && !known:
			known = true
			return j.usualTable(s)
		case tells:
			return false
		}
		return s.skip() == nil
	})
}

// usualTable reads the process table at hand.
func (j *jaegerReader) usualTable(s *jsonScanner) bool {
	j.s.at(s.b[s.i:])
	j.table()
	s.i += j.s.i
	return j.partial == nil && j.s.i > 0
}
