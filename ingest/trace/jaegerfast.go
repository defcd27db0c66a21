package trace

import (
	"errors"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

// oneReference reads the tie to a parent; else it stays where it is.
func (j *jaegerReader) oneReference() bool {
	s, from := &j.s, j.s.I
	var r reference
	ok := s.UnescapedAfter(`[{"refType":"CHILD_OF","traceID":`, &r.trace) && s.UnescapedAfter(`,"spanID":`, &r.span) && s.Pass(`}]`)
	if ok {
		j.refer(r)
	} else {
		s.I = from
	}
	return ok
}

// fastTagValue reads what follows the key of a tag: its type and its value.
func fastTagValue(s *jsonscan.Scanner) (kind jsonscan.Kind, raw []byte, ok bool) {
	if s.Pass(`,"type":"string","value":`) {
		if raw, ok = s.Unescaped(); !ok {
			return jsonscan.Absent, nil, false
		}
		return jsonscan.Text, raw, s.Pass(`}`)
	}
	if !s.Pass(`,"type":`) {
		return jsonscan.Absent, nil, false
	}
	if _, ok = s.Unescaped(); !ok || !s.Pass(`,"value":`) || s.Peek() == '{' || s.Peek() == '[' {
		return jsonscan.Absent, nil, false
	}
	kind, raw, err := s.Any()
	return kind, raw, err == nil && s.Pass(`}`)
}

// errNeedsGeneral ends the reading of a trace that the general reader must read.
var errNeedsGeneral = errors.New("written otherwise than expected")

// fastTrace reads a trace that is written as Jaeger's query service does: its spans come before its
// processes, so that they wait. Where anything is unusual or wrong, ok is false
// and nothing was done.
func (j *jaegerReader) fastTrace(v located) (n int, ok bool) {
	var s jsonscan.Scanner
	ok = j.waiting(func() bool {
		s.At(v.raw)
		if !s.UnescapedAfter(`{"traceID":`, &j.traceID) || !s.Pass(`,"spans":[`) {
			return false
		}
		j.model.forget()
		j.processes.reset()
		j.isWaiting = true
		defer func() { j.isWaiting = false }()
		if !s.CompactList(`]`, func() bool { return j.waitingSpan(&s, v.at) }) || !j.fastRest(&s) {
			return false
		}
		for i := range j.waits {
			if w := &j.waits[i]; w.hasProcessID {
				w.process = j.processes.get(w.processID)
			}
		}
		return true
	})
	return s.I, ok
}

// waitingSpan reads the span at hand, which then waits.
func (j *jaegerReader) waitingSpan(s *jsonscan.Scanner, at int) bool {
	if s.Peek() != '{' || j.readFields(s.B[s.I:]) != nil || j.isModel || !j.wait(at+s.I) {
		return false
	}
	s.I += j.s.I
	return true
}

// fastRest reads what follows the spans of a trace, up to its end.
func (j *jaegerReader) fastRest(s *jsonscan.Scanner) bool {
	known := false
	return s.CompactRest(`}`, func() bool {
		name, err := s.Name()
		switch _, tells := knownKeys[string(name)]; {
		case err != nil:
			return false
		case string(name) == "processes" && !known:
			known = true
			return j.fastProcesses(s)
		case tells:
			return false
		}
		return s.Skip() == nil
	})
}

// fastProcesses reads the process table at hand.
func (j *jaegerReader) fastProcesses(s *jsonscan.Scanner) bool {
	j.s.At(s.B[s.I:])
	j.readProcesses()
	s.I += j.s.I
	return j.partial == nil && j.s.I > 0
}
