package trace

import (
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// jaegerUI is the JSON of Jaeger's UI and of its query service.
var jaegerUI = dialect{
	name: "jaeger",
	signatures: []signature{
		keys("data", "data.traceID"), keys("data", "data.spans"), keys("data", "data.processes"),
		{[]string{"data"}, []string{"data", "total", "limit", "offset", "errors"}}, // an answer
		keys("traceID", "spans"), keys("spans", "processes"), keys("spans", "spans.traceID", "spans.spanID"),
		keys("traceID", "spanID", "operationName", "startTime"), keys("traceID", "spanID", "references", "startTime"),
	},
	own:        []string{"spans", "traceID", "spanID"},
	containers: []string{"data"},
	members:    []string{"processes"},
	read:       readJaeger,
}

func readJaeger(r *spanReader) reader {
	j := newJaegerReader(r)
	return reader{
		isTrace:   func(m *members) bool { return m.has("spans") },
		isSpan:    func(m *members) bool { return m.has("spanID", "spanId", "span_id") },
		trace:     j.trace,
		context:   j.contextOf,
		span:      j.loneSpan,
		inContext: j.span,
		fastValue: j.fastTrace,
	}
}

// jaegerReader reads traces and spans of Jaeger's UI and query JSON. Spans whose
// keys are those of its other JSON go to the model's reader.
type jaegerReader struct {
	*spanReader
	s         jsonscan.Scanner
	processes processTable
	traceID   []byte
	model     modelReader

	// isModel: the span at hand has a key of the model's.
	isModel bool
	// isWaiting: the processes are not read yet, and spans wait for them.
	isWaiting bool
	object    *jsonscan.Object // a span
	hearing   func(logs []byte)
	logMember func(name []byte) error // made once
}

func newJaegerReader(r *spanReader) *jaegerReader {
	j := &jaegerReader{spanReader: r, model: modelReader{spanReader: r}}
	j.object = jsonscan.NewObject(&j.s, j.spanMembers())
	j.object.General, j.hearing, j.logMember = r.general, j.hearLogs, j.hearFields()
	return j
}

// trace reads a trace object: its processes first, whatever the order, then its
// spans one by one; a bad one is one reject.
func (j *jaegerReader) trace(m *members) {
	j.context(m)
	for i, name := range m.names {
		if name == "spans" {
			m.values[i].each(j.visiting(j.span), j.unexpected)
		}
	}
}

// contextOf reads what the spans of a trace refer to that come by themselves.
func (j *jaegerReader) contextOf(v located) {
	var m members
	j.readMembers(&m, v, knownKeys)
	j.context(&m)
}

// loneSpan reads a span outside of a trace.
func (j *jaegerReader) loneSpan(v located) (n int, bad *format.Fault) {
	j.context(&members{})
	return j.span(v)
}

// context reads what the spans of a trace refer to.
func (j *jaegerReader) context(m *members) {
	j.processes.reset()
	j.traceID = nil
	j.model.context(m)
	for i, name := range m.names {
		j.s.At(m.values[i].raw)
		switch name {
		case "traceID":
			_, j.traceID, _ = j.s.Scalar()
		case "processes":
			j.readProcesses()
		}
	}
}

// readProcesses reads a trace's process table. After a fault in it, the processes before
// stand.
func (j *jaegerReader) readProcesses() {
	if j.s.Peek() != '{' {
		return
	}
	err := j.s.Members(func(name []byte) error {
		one, err := j.process()
		if err == nil {
			j.processes.add(name, one)
		}
		return err
	})
	if err != nil && j.partial == nil {
		j.partial = format.NewFault(format.Malformed, "processes: "+err.Error())
	}
}

// process reads {"serviceName":…,"tags":[…]}.
func (j *jaegerReader) process() (p process, err error) {
	err = j.s.EachMember(func(name []byte) error {
		switch string(name) {
		case "serviceName":
			_, raw, err := j.s.Scalar()
			p.service = raw
			return err
		case "tags":
			return j.eachTag(func(key []byte, kind jsonscan.Kind, raw []byte) { j.processTag(&p, key, kind, raw) })
		}
		return j.s.Skip()
	})
	return p, err
}

// span reads the span at the start of v.
func (j *jaegerReader) span(v located) (n int, bad *format.Fault) {
	err := j.readFields(v.raw)
	switch {
	case j.isModel && len(j.has.id) == 0:
		return j.model.span(v.whole())
	case err != nil:
		return 0, malformed(err)
	}
	return j.s.I, j.finish(v.at)
}

// readFields reads the members of the span at the start of raw.
func (j *jaegerReader) readFields(raw []byte) error {
	j.reset()
	j.has.trace, j.isModel, j.readEvents = j.traceID, false, j.hearing
	j.s.At(raw)
	return j.object.Read()
}

// spanMembers reads the members of a span.
func (j *jaegerReader) spanMembers() map[string]func() error {
	s, f := &j.s, &j.has
	asModel := func() error {
		j.isModel = true
		return s.Skip()
	}
	note := j.remembered // made a value once, as is what follows
	tag := func() error {
		if j.fastTag(s, fastTagValue) {
			return nil
		}
		return j.oneTag(note)
	}
	return map[string]func() error{
		"traceID": textInto(s, &f.trace), "spanID": textInto(s, &f.id), "parentSpanID": textInto(s, &f.parent),
		"traceId": asModel, "trace_id": asModel, "spanId": asModel, "span_id": asModel,
		"operationName": j.operation, "references": j.references, "processID": j.processID, "process": j.ownProcess,
		"startTime": startMicros.into(s, &f.start), "duration": durationMicros.into(s, &f.duration),
		"tags": func() error { return s.Elements(tag) }, "logs": j.logs, "warnings": j.warnings,
	}
}

func (j *jaegerReader) operation() error {
	kind, raw, err := j.s.Scalar()
	j.has.operation, j.has.named = raw, kind == jsonscan.Text
	return err
}

func (j *jaegerReader) ownProcess() (err error) {
	if j.isWaiting {
		return errNeedsGeneral
	}
	j.has.process, err = j.process()
	return err
}

func (j *jaegerReader) processID() error {
	_, id, err := j.s.Scalar()
	if err == nil {
		err = j.named(id)
	}
	return err
}

func (j *jaegerReader) warnings() error {
	if j.s.Pass("null") || j.s.Pass("[]") {
		return nil
	}
	return j.s.Elements(func() error {
		_, text, err := j.s.Scalar()
		j.has.adjusted(text)
		return err
	})
}

// named notes the process of a span by its id; the first that has a service
// counts.
func (j *jaegerReader) named(id []byte) error {
	f := &j.has
	switch {
	case j.isWaiting && f.hasProcessID:
		return errNeedsGeneral
	case j.isWaiting:
		f.processID, f.hasProcessID = id, true
	case f.process.service == nil:
		f.process = j.processes.get(id)
	}
	return nil
}

// eachTag reads an array of tags.
func (j *jaegerReader) eachTag(note func(key []byte, kind jsonscan.Kind, raw []byte)) error {
	return j.s.Elements(func() error { return j.oneTag(note) })
}

// oneTag reads {key,type,value}. The types are not believed: in some exports
// every value is text.
func (j *jaegerReader) oneTag(note func(key []byte, kind jsonscan.Kind, raw []byte)) error {
	if j.s.Peek() != '{' {
		return j.s.Skip()
	}
	var key, raw []byte
	var kind jsonscan.Kind
	err := j.s.Members(func(name []byte) (err error) {
		switch string(name) {
		case "key":
			_, key, err = j.s.Scalar()
		case "value":
			kind, raw, err = j.s.Any()
		default:
			err = j.s.Skip()
		}
		return err
	})
	if err == nil {
		note(key, kind, raw)
	}
	return err
}

// logs passes the span's log entries; what they say is asked where it matters.
func (j *jaegerReader) logs() error {
	if j.s.Pass("[]") {
		return nil
	}
	from := j.s.I
	err := j.s.Skip()
	j.has.events = j.s.B[from:j.s.I]
	return err
}

// hearLogs hears the fields of log entries that were read.
func (j *jaegerReader) hearLogs(logs []byte) {
	before := j.s
	j.s.At(logs)
	_ = j.s.EachObject(j.logMember)
	j.s = before
}

// hearFields makes what reads a member of a log entry.
func (j *jaegerReader) hearFields() func(name []byte) error {
	hear := j.hearEvent
	return func(name []byte) error {
		if string(name) != "fields" {
			return j.s.Skip()
		}
		return j.eachTag(hear)
	}
}

// references reads the ties to other spans.
func (j *jaegerReader) references() error {
	if !j.general && (j.s.Pass("[]") || j.oneReference()) {
		return nil
	}
	return j.s.Elements(func() error {
		r, err := j.reference()
		if err == nil {
			j.refer(r)
		}
		return err
	})
}

func (j *jaegerReader) reference() (r reference, err error) {
	err = j.s.EachMember(func(name []byte) (err error) {
		var raw []byte
		switch string(name) {
		case "refType":
			_, raw, err = j.s.Scalar()
			r.followsFrom = string(raw) == "FOLLOWS_FROM"
		case "traceID":
			_, r.trace, err = j.s.Scalar()
		case "spanID":
			_, r.span, err = j.s.Scalar()
		default: // an old download has the whole parent span here
			err = j.s.Skip()
		}
		return err
	})
	return r, err
}

// processTable is the processes of a trace by their ids. Traces mostly have a
// few, so that a look at all of them costs less than a map.
type processTable struct {
	ids   [][]byte
	list  []process
	index map[string]int // of many
}

const fewProcesses = 16

func (t *processTable) reset() {
	t.ids, t.list = t.ids[:0], t.list[:0]
	clear(t.index)
}

// add enters a process; of two with one id the later one counts.
func (t *processTable) add(id []byte, p process) {
	if len(p.service) > 0 {
		p.add()
	}
	t.ids, t.list = append(t.ids, id), append(t.list, p)
	if len(t.list) <= fewProcesses {
		return
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	if len(t.index) == 0 {
		for i, id := range t.ids {
			t.index[string(id)] = i
		}
	}
	t.index[string(id)] = len(t.list) - 1
}

// get returns the process of that id, an empty one where there is none.
func (t *processTable) get(id []byte) process {
	if len(t.list) > fewProcesses {
		if i, ok := t.index[string(id)]; ok {
			return t.list[i]
		}
		return process{}
	}
	for i := len(t.ids) - 1; i >= 0; i-- {
		if string(t.ids[i]) == string(id) {
			return t.list[i]
		}
	}
	return process{}
}
