package trace

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/gogo/protobuf/jsonpb"
	"github.com/jaegertracing/jaeger-idl/model/v1"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// jaegerModel is the JSON of the protobuf of Jaeger's model. Its traces have the
// members of those of the UI, whose reader finds out.
var jaegerModel = dialect{
	name: "jaeger-jsonpb",
	signatures: []signature{
		keys("spans", "spans.traceId", "spans.operationName"), keys("spans", "spans.traceId", "spans.spanId"),
		keys("traceId", "spanId", "operationName", "startTime"),
	},
	own:     []string{"traceId", "spanId", "trace_id", "span_id"},
	members: []string{"processMap", "process_map", "process"},
}

// modelReader reads spans of Jaeger's model, from protobuf and from the JSON of
// protobuf. Their values become text again, so that ids, times, tags and
// processes are judged as those of all other formats.
type modelReader struct {
	*spanReader
	members   members
	processes map[string]process
	batch     process // of all spans without one of their own
	text      []byte  // what the span's values were written to
}

// unmarshaler reads protobuf's JSON; newer writers have more fields.
var unmarshaler = jsonpb.Unmarshaler{AllowUnknownFields: true}

func (r *modelReader) forget() {
	clear(r.processes)
	r.batch = process{}
}

// context reads what the spans of a trace or a batch refer to.
func (r *modelReader) context(m *members) {
	r.forget()
	for i, name := range m.names {
		switch v := m.values[i]; name {
		case "processMap", "process_map":
			v.each(r.mapping, func(int) {})
		case "process":
			var p model.Process
			if v.is() == '{' && r.unmarshal(v, &p, "process") {
				r.batch = r.processOf(&p)
			}
		}
	}
}

func (r *modelReader) mapping(v located) int {
	var p model.Trace_ProcessMapping
	v = v.whole()
	if r.unmarshal(v, &p, "processMap") {
		r.add(p.ProcessID, r.processOf(&p.Process))
	}
	return len(v.raw)
}

func (r *modelReader) add(id string, p process) {
	if r.processes == nil {
		r.processes = map[string]process{}
	}
	r.processes[id] = p
}

// unmarshal reads a part of the context.
func (r *modelReader) unmarshal(v located, into jsonpbMessage, what string) bool {
	err := unmarshaler.Unmarshal(bytes.NewReader(v.raw), into)
	if err != nil && r.partial == nil {
		r.partial = format.NewFault(format.Malformed, what+": "+err.Error())
	}
	return err == nil
}

type jsonpbMessage interface {
	Reset()
	String() string
	ProtoMessage()
}

func (r *modelReader) processOf(p *model.Process) process {
	q := process{service: []byte(p.ServiceName)}
	for i := range p.Tags {
		kind, raw := tagValue(&p.Tags[i], nil)
		r.processTag(&q, []byte(p.Tags[i].Key), kind, raw)
	}
	return q
}

// presence are fields of a span of which the model itself does not tell whether
// they were there.
var presence = keySet("traceId", "trace_id", "spanId", "span_id", "duration", "startTime", "start_time")

// span reads a span in protobuf's JSON.
func (r *modelReader) span(v located) (n int, bad *format.Fault) {
	n, err := r.members.read(v, presence)
	if err != nil {
		return n, malformed(err)
	}
	if !r.given("traceId", "trace_id") || !r.given("spanId", "span_id") {
		return n, noID
	}
	var s model.Span
	if err := unmarshaler.Unmarshal(bytes.NewReader(v.raw), &s); err != nil {
		return n, format.NewFault(format.Malformed, err.Error())
	}
	return n, r.read(&s, r.given("duration"), v.at)
}

// given reports whether one of the names has a value.
func (r *modelReader) given(names ...string) bool {
	for _, n := range names {
		if v, ok := r.members.get(n); ok && string(v.raw) != "null" && string(v.raw) != `""` {
			return true
		}
	}
	return false
}

// read hands on a span of the model.
func (r *modelReader) read(s *model.Span, hasDuration bool, at int) *format.Fault {
	r.reset()
	r.text = r.text[:0]
	f := &r.has
	f.trace, f.id = r.traceID(s.TraceID), r.spanID(s.SpanID)
	f.operation, f.named = []byte(s.OperationName), true
	if !s.StartTime.IsZero() {
		f.start = r.nanos(&startNanos, startText(r.text, s.StartTime))
	}
	if hasDuration {
		f.duration = r.nanos(&durationNanos, strconv.AppendInt(r.text, int64(s.Duration), 10))
	}
	f.process = r.processFor(s)
	r.related(s)
	return r.finish(at)
}

// related reads what a span has lists of.
func (r *modelReader) related(s *model.Span) {
	for _, ref := range s.References {
		r.refer(reference{ref.RefType == model.SpanRefType_FOLLOWS_FROM, r.traceID(ref.TraceID), r.spanID(ref.SpanID)})
	}
	for i := range s.Tags {
		kind, raw := r.value(&s.Tags[i])
		r.tag([]byte(s.Tags[i].Key), kind, raw)
	}
	for i := range s.Logs {
		r.log(&s.Logs[i])
	}
	for _, w := range s.Warnings {
		r.has.adjusted([]byte(w))
	}
}

// log hears a log entry.
func (r *modelReader) log(l *model.Log) {
	for i := range l.Fields {
		kind, raw := r.value(&l.Fields[i])
		r.hear(r.tags.Find([]byte(l.Fields[i].Key)), kind, raw)
	}
}

func (r *modelReader) processFor(s *model.Span) process {
	if s.Process != nil {
		return r.processOf(s.Process)
	}
	if s.ProcessID == "" || len(r.processes) == 0 {
		return r.batch
	}
	return r.processes[s.ProcessID]
}

// written keeps text until the next span.
func (r *modelReader) written(text []byte) []byte {
	from := len(r.text)
	r.text = text
	return text[from:len(text):len(text)]
}

// traceID writes an id in hexadecimal; all zeros are none.
func (r *modelReader) traceID(id model.TraceID) []byte {
	return r.written(appendHex(appendHex(r.text, id.High), id.Low))
}

func (r *modelReader) spanID(id model.SpanID) []byte { return r.written(appendHex(r.text, uint64(id))) }

func appendHex(b []byte, v uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[v>>shift&15])
	}
	return b
}

func (r *modelReader) nanos(of *timeField, text []byte) field.Value {
	return of.written(jsonscan.Number, r.written(text))
}

// startText appends t in nanoseconds since the Unix epoch, of whatever size.
func startText(b []byte, t time.Time) []byte {
	if y := t.Year(); y > 1677 && y < 2262 {
		return strconv.AppendInt(b, t.UnixNano(), 10)
	}
	return append(strconv.AppendInt(b, t.Unix(), 10), "000000000"...)
}

func (r *modelReader) value(kv *model.KeyValue) (jsonscan.Kind, []byte) {
	kind, text := tagValue(kv, r.text)
	return kind, r.written(text)
}

// tagValue appends the value of a tag, as JSON writes it.
func tagValue(kv *model.KeyValue, b []byte) (jsonscan.Kind, []byte) {
	switch kv.VType {
	case model.ValueType_BOOL:
		if kv.VBool {
			return jsonscan.True, append(b, jsonscan.TrueText...)
		}
		return jsonscan.False, append(b, jsonscan.FalseText...)
	case model.ValueType_INT64:
		return jsonscan.Number, strconv.AppendInt(b, kv.VInt64, 10)
	case model.ValueType_FLOAT64:
		return jsonscan.Number, strconv.AppendFloat(b, kv.VFloat64, 'g', -1, 64)
	case model.ValueType_BINARY:
		return jsonscan.Text, base64.StdEncoding.AppendEncode(b, kv.VBinary)
	}
	return jsonscan.Text, append(b, kv.VStr...)
}
