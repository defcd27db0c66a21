package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gogo/protobuf/jsonpb"
	"github.com/jaegertracing/jaeger-idl/model/v1"
	"github.com/tailscope/tailscope/ingest/format"
)

// exampleTrace is one trace as Jaeger's model has it: a gateway's call that was
// cut, its retry, and a message.
func exampleTrace() *model.Trace {
	at := time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC)
	span := func(id uint64, parent uint64, name, process string, after, length time.Duration, tags ...model.KeyValue) *model.Span {
		s := &model.Span{TraceID: model.NewTraceID(0, 0x1a), SpanID: model.NewSpanID(id), OperationName: name, ProcessID: process,
			StartTime: at.Add(after), Duration: length, Tags: tags}
		if parent != 0 {
			s.References = []model.SpanRef{
				{TraceID: model.NewTraceID(7, 7), SpanID: model.NewSpanID(parent), RefType: model.ChildOf},
				{TraceID: s.TraceID, SpanID: model.NewSpanID(parent), RefType: model.ChildOf},
			}
		}
		return s
	}
	late := span(0xa4, 0xa1, "mail", "p2", 5*time.Millisecond, time.Millisecond, model.Float64("weight", 2.5), model.Binary("blob", []byte{1, 2}))
	late.References[1].RefType = model.FollowsFrom
	late.Warnings = []string{"This span's timestamps were adjusted by 2ms", "something else"}
	late.Logs = []model.Log{{Timestamp: at, Fields: []model.KeyValue{model.String("event", "sent")}}}
	return &model.Trace{
		Spans: []*model.Span{
			span(0xa1, 0, "GET /checkout", "p1", 0, 305*time.Millisecond, model.String("span.kind", "server"), model.Int64("http.status_code", 200)),
			span(0xa2, 0xa1, "call stock", "p1", time.Millisecond, 300100*time.Microsecond, model.String("span.kind", "client"), model.String("error.type", "timeout"), model.Bool("error", true)),
			span(0xa3, 0xa1, "call stock", "p1", 302*time.Millisecond, 2*time.Millisecond, model.String("span.kind", "client"), model.Int64("http.request.resend_count", 1)),
			late,
		},
		ProcessMap: []model.Trace_ProcessMapping{
			{ProcessID: "p1", Process: model.Process{ServiceName: "gateway", Tags: []model.KeyValue{model.String("hostname", "node-1"), model.String("ip", "10.0.0.1")}}},
			{ProcessID: "p2", Process: model.Process{ServiceName: "mailer"}},
		},
	}
}

// exampleUI is the same trace as the UI's JSON has it.
const exampleUI = `{"data":[{"traceID":"1a","spans":[
{"traceID":"1a","spanID":"a1","operationName":"GET /checkout","references":[],"startTime":1700000000000000,"duration":305000,"tags":[{"key":"span.kind","type":"string","value":"server"},{"key":"http.status_code","type":"int64","value":200}],"logs":[],"processID":"p1","warnings":null},
{"traceID":"1a","spanID":"a2","operationName":"call stock","references":[{"refType":"CHILD_OF","traceID":"00000000000000070000000000000007","spanID":"a1"},{"refType":"CHILD_OF","traceID":"1a","spanID":"a1"}],"startTime":1700000000001000,"duration":300100,"tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"error.type","type":"string","value":"timeout"},{"key":"error","type":"bool","value":true}],"logs":[],"processID":"p1","warnings":null},
{"traceID":"1a","spanID":"a3","operationName":"call stock","references":[{"refType":"CHILD_OF","traceID":"1a","spanID":"a1"}],"startTime":1700000000302000,"duration":2000,"tags":[{"key":"span.kind","type":"string","value":"client"},{"key":"http.request.resend_count","type":"int64","value":1}],"logs":[],"processID":"p1","warnings":null},
{"traceID":"1a","spanID":"a4","operationName":"mail","references":[{"refType":"FOLLOWS_FROM","traceID":"1a","spanID":"a1"}],"startTime":1700000000005000,"duration":1000,"tags":[{"key":"weight","type":"float64","value":2.5},{"key":"blob","type":"binary","value":"AQI="}],"logs":[{"timestamp":1700000000000000,"fields":[{"key":"event","type":"string","value":"sent"}]}],"processID":"p2","warnings":["This span's timestamps were adjusted by 2ms","something else"]}],
"processes":{"p1":{"serviceName":"gateway","tags":[{"key":"hostname","type":"string","value":"node-1"},{"key":"ip","type":"string","value":"10.0.0.1"}]},"p2":{"serviceName":"mailer","tags":[]}},"warnings":null}]}`

// exampleRows are the rows of the example but for their places.
var exampleRows = []spanRow{
	{Hop: "gateway GET /checkout", Service: "gateway", Operation: "GET /checkout", Kind: "server", Trace: "0000000000000000000000000000001a", Span: "00000000000000a1",
		Start: 1700000000000000000, Duration: 305e6, Marked: true, Host: "node-1", Peer: "node-1"},
	{Hop: "gateway call stock", Service: "gateway", Operation: "call stock", Kind: "client", Trace: "0000000000000000000000000000001a", Span: "00000000000000a2", Parent: "00000000000000a1",
		Start: 1700000000001000000, Duration: 300100e3, End: "truncated own", Marked: true, Host: "node-1"},
	{Hop: "gateway call stock", Service: "gateway", Operation: "call stock", Kind: "client", Trace: "0000000000000000000000000000001a", Span: "00000000000000a3", Parent: "00000000000000a1",
		Start: 1700000000302000000, Duration: 2e6, Ties: "retry", Host: "node-1"},
	{Hop: "mailer mail", Service: "mailer", Operation: "mail", Kind: "internal", Trace: "0000000000000000000000000000001a", Span: "00000000000000a4", Parent: "00000000000000a1",
		Start: 1700000000003000000, Duration: 1e6, Ties: "async shifted", Weight: 2.5},
}

// placeless takes the places and the resolution off rows.
func placeless(rows []spanRow) []spanRow {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Line, rows[i].Offset, rows[i].Resolution = 0, 0, 0
	}
	return rows
}

func marshalled(t testing.TB, m interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func asJSON(t testing.TB, m *model.Trace) string {
	t.Helper()
	s, err := (&jsonpb.Marshaler{}).MarshalToString(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inlined gives every span its process.
func inlined(m *model.Trace) *model.Trace {
	for _, s := range m.Spans {
		for _, p := range m.ProcessMap {
			if p.ProcessID == s.ProcessID {
				process := p.Process
				s.Process = &process
			}
		}
		s.ProcessID = ""
	}
	m.ProcessMap = nil
	return m
}

// framed puts a message into a frame of gRPC.
func framed(compressed byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(message)))) + message
}

// TestModelGivesTheRowsOfTheUI: whatever way the same trace is written, the same
// rows.
func TestModelGivesTheRowsOfTheUI(t *testing.T) {
	trace, inline := exampleTrace(), inlined(exampleTrace())
	proto, plain := traceHow{format: "jaeger-proto", weight: "weight"}, traceHow{weight: "weight"}
	var chunks, fields []string
	for _, s := range inline.Spans {
		chunks = append(chunks, marshalled(t, &model.Trace{Spans: []*model.Span{s}}))
	}
	for _, s := range trace.Spans[:3] {
		fields = append(fields, marshalled(t, &model.Batch{Spans: []*model.Span{{TraceID: s.TraceID, SpanID: s.SpanID, OperationName: s.OperationName, References: s.References,
			StartTime: s.StartTime, Duration: s.Duration, Tags: s.Tags}}, Process: &trace.ProcessMap[0].Process}))
	}
	last := &model.Batch{Spans: inlined(exampleTrace()).Spans[3:], Process: &trace.ProcessMap[0].Process}
	for _, c := range []struct {
		name string
		h    traceHow
		in   string
	}{
		{"the UI's JSON", plain, exampleUI},
		{"jsonpb", plain, asJSON(t, trace)},
		{"jsonpb, pretty", plain, strings.ReplaceAll(asJSON(t, trace), `,"`, ",\n  \"")},
		{"jsonpb, inline", plain, asJSON(t, inline)},
		{"a trace", proto, marshalled(t, trace)},
		{"chunks of spans", proto, strings.Join(chunks, "")},
		{"batches", proto, strings.Join(fields, "") + marshalled(t, last)},
		{"a frame", proto, framed(0, marshalled(t, trace))},
		{"frames", proto, framed(0, chunks[0]) + framed(1, gzipped(t, chunks[1]+chunks[2])) + framed(0, "") + framed(0, chunks[3])},
	} {
		d := readAnyhow(t, c.h, c.in)
		if d.err != nil || len(d.rejects) > 0 {
			t.Errorf("%s: error %v, rejects %v", c.name, d.err, d.rejects)
		}
		same(t, c.name, placeless(d.rows), exampleRows)
	}
}

// Traces one after the other stay apart: p1 is another process in each.
func TestConcatenatedTracesKeepTheirProcesses(t *testing.T) {
	var in string
	for i := range 3 {
		m := exampleTrace()
		m.Spans = m.Spans[:1]
		m.ProcessMap[0].Process.ServiceName = fmt.Sprint("service", i)
		in += marshalled(t, m)
	}
	d := readAnyhow(t, traceHow{format: "jaeger-proto"}, in)
	same(t, "services", pick(d.rows, func(r spanRow) string { return r.Service }), []string{"service0", "service1", "service2"})
	d = readAnyhow(t, traceHow{format: "jaeger-proto"}, marshalled(t, &model.Trace{Spans: exampleTrace().Spans[:1], ProcessMap: []model.Trace_ProcessMapping{{ProcessID: "other", Process: model.Process{ServiceName: "x"}}}}))
	same(t, "a process that is not there", d.rows[0].Service, "unknown-service")
	same(t, "counted", d.warned("unknown_service"), "1 span has no service name: its hop is called unknown-service")
}

// A cut file keeps the spans whose process is known, and is not complete.
func TestCutProtobufKeepsItsWholeSpans(t *testing.T) {
	t.Parallel()
	h := traceHow{format: "jaeger-proto"}
	inline := marshalled(t, inlined(exampleTrace()))
	whole := readTraces(t, h, inline)
	for name, in := range map[string]string{"plain": inline, "framed": framed(0, inline)} {
		shift := int64(len(in) - len(inline))
		for n := 1; n < len(in); n += every(3) {
			d := readTraces(t, h, in[:n])
			kept := 0
			for kept+1 < len(whole.rows) && whole.rows[kept+1].Offset+shift <= int64(n) {
				kept++
			}
			atEnd := kept < len(whole.rows) && whole.rows[kept].Offset+shift == int64(n)
			if d.err != nil || len(d.rows) != kept || len(d.rejects) == 0 && !(atEnd && name == "plain") {
				t.Fatalf("%s cut at %d: %d rows, not %d; rejects %v, %v", name, n, len(d.rows), kept, d.rejects, d.err)
			}
			if complete := d.summary.Files[0].Complete; complete != (len(d.rejects) == 0) {
				t.Fatalf("%s cut at %d: complete %v, rejects %v", name, n, complete, d.rejects)
			}
		}
	}
	in := marshalled(t, exampleTrace())
	d := readAnyhow(t, h, in[:len(in)-3])
	same(t, "spans before their processes", pick(d.rows, func(r spanRow) string { return r.Service }), []string{"gateway", "gateway", "gateway"})
	same(t, "reasons", pick(d.rejects, func(r format.Reject) string { return r.Detail }), []string{"the input ends before the process of the span", "the input ends inside the record"})
}

func TestFaultsOfProtobufAreRejects(t *testing.T) {
	h := traceHow{format: "jaeger-proto", maxLine: 400}
	good := marshalled(t, &model.Trace{Spans: inlined(exampleTrace()).Spans[:1]})
	bad := func(change func(*model.Span)) string {
		s := inlined(exampleTrace()).Spans[0]
		change(s)
		return marshalled(t, &model.Trace{Spans: []*model.Span{s}})
	}
	long := bad(func(s *model.Span) { s.OperationName = strings.Repeat("x", 500) })
	for _, c := range []struct {
		name, in string
		want     format.Reject
		rows     int
		complete bool
	}{
		{"negative", bad(func(s *model.Span) { s.Duration = -time.Millisecond }), format.Reject{Reason: format.NegativeDuration, Detail: "duration -1000000: negative"}, 2, true},
		{"no ids", bad(func(s *model.Span) { s.SpanID = 0 }), format.Reject{Reason: format.NoID, Detail: "the trace id or the span id is all zeros"}, 2, true},
		{"no span", "\x0a\x02\x0a\x05", format.Reject{Reason: format.Malformed, Detail: "unexpected EOF"}, 2, true},
		{"a start long ago", bad(func(s *model.Span) { s.StartTime = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC) }), format.Reject{Reason: format.BadTime, Detail: "startTimeUnixNano -30610224000000000000: negative"}, 2, true},
		{"long", long, format.Reject{Reason: format.LineTooLong, Detail: fmt.Sprintf("a field of %d bytes: see --max-line", len(long))}, 2, true},
		{"a frame that is too long", framed(0, long), format.Reject{Reason: format.LineTooLong, Detail: fmt.Sprintf("a message of %d bytes: see --max-line", len(long)+5)}, 2, true},
		{"a frame that is not compressed", framed(1, "abc"), format.Reject{Reason: format.Malformed, Detail: "a compressed message: unexpected EOF"}, 2, true},
		{"a compressed frame that is too long", framed(1, gzipped(t, long)), format.Reject{Reason: format.LineTooLong, Detail: "a message of 401 bytes: see --max-line"}, 2, true},
		{"no field", "\x0f", format.Reject{Reason: format.Malformed, Detail: "no field of a protobuf message"}, 1, false},
		{"a field that is too long for protobuf", "\x0a\xff\xff\xff\xff\xff\x01", format.Reject{Reason: format.Malformed, Detail: "no field of a protobuf message"}, 1, false},
	} {
		d := readAnyhow(t, h, good+c.in+good)
		c.want.File, c.want.Line, c.want.Offset = "in", 1, int64(len(good))
		if strings.HasPrefix(c.name, "a frame that is not") || c.name == "a compressed frame that is too long" {
			c.want.Offset += 5
		}
		same(t, c.name, d.rejects, []format.Reject{c.want})
		same(t, c.name+": rows", len(d.rows), c.rows)
		same(t, c.name+": complete", d.summary.Files[0].Complete, c.complete)
	}
}

// A span of which the source says no duration is unfinished, not of length 0.
func TestModelSpanWithoutADurationIsUnfinished(t *testing.T) {
	in := `{"spans":[{"traceId":"AAAAAAAAAAAAAAAAAAAAGg==","spanId":"AAAAAAAAAKE=","operationName":"x","startTime":"2023-11-14T22:13:20Z","process":{"serviceName":"s"}%s}]}`
	for _, c := range []struct{ field, want string }{
		{``, "unfinished"}, {`,"duration":"0s"`, ""}, {`,"duration":"1.5s"`, ""},
	} {
		same(t, c.field, oneSpan(t, traceHow{}, fmt.Sprintf(in, c.field)).End, c.want)
	}
	d := readAnyhow(t, traceHow{format: "jaeger-proto"}, "\x0a\x1e\x0a\x10"+strings.Repeat("\x00", 15)+"\x01\x12\x08"+strings.Repeat("\x00", 7)+"\x01\x1a\x00")
	same(t, "protobuf", pick(d.rows, func(r spanRow) string { return r.End + " " + r.Hop + " " + fmt.Sprint(r.NoStart) }), []string{"unfinished unknown-service unknown-operation true"})
}

func TestJSONOfTheModelInItsForms(t *testing.T) {
	span := func(more string) string {
		return `{"traceId":"AAAAAAAAAAAAAAAAAAAAGg==","spanId":"AAAAAAAAAKE=","operationName":"x","startTime":"2023-11-14T22:13:20Z","duration":"1s"` + more + `}`
	}
	batch := `{"spans":[` + span("") + `],"process":{"serviceName":"s"}}`
	for _, in := range []string{
		span(`,"process":{"serviceName":"s"}`), batch, `[` + batch + `]`, batch + "\n" + batch, "\n" + batch + "\n \n" + batch + "\n",
		`{"process":{"serviceName":"s"},"spans":[` + span("") + `]}`,
		`{"spans":[{"trace_id":"AAAAAAAAAAAAAAAAAAAAGg==","span_id":"AAAAAAAAAKE=","operation_name":"x","start_time":"2023-11-14T22:13:20Z","duration":"1s","process":{"service_name":"s"},"operationName":"x"}]}`,
	} {
		h := traceHow{}
		if strings.Contains(in, "trace_id") {
			h.format = "jaeger-jsonpb"
		}
		d := readAnyhow(t, h, in)
		if d.err != nil || len(d.rows) == 0 || len(d.rejects) > 0 || d.rows[0].Hop != "s x" || d.rows[0].Duration != time.Second || d.summary.Files[0].Format != "jaeger-jsonpb" {
			t.Errorf("%s: %v %+v %v", in, d.err, d.rows, d.rejects)
		}
	}
	d := readAnyhow(t, traceHow{}, `{"spans":[`+span(`,"processId":"p1"`)+`],"processMap":[{"processId":"p1","process":{"serviceName":5}}]}`)
	if len(d.rows) > 0 || len(d.rejects) != 1 || !strings.HasPrefix(d.rejects[0].Detail, "processMap: ") {
		t.Errorf("a bad process table: %+v %v", d.rows, d.rejects)
	}
}

// TestProtobufFixtures checks that the binary fixtures are what they are
// said to be; with UPDATE_FIXTURES set it writes them.
func TestProtobufFixtures(t *testing.T) {
	bad := exampleTrace()
	bad.Spans[0].Duration = -1
	for name, want := range map[string]string{"good.pb": marshalled(t, exampleTrace()), "bad.pb": marshalled(t, bad)} {
		path := filepath.Join("testdata", "jaeger-proto", name)
		if os.Getenv("UPDATE_FIXTURES") != "" {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s: %v, or another content", name, err)
		}
	}
}
