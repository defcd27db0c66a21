package ingest

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// jaegerDocument is a document of n traces of 20 spans as a query answers it.
func jaegerDocument(n int) string {
	var b strings.Builder
	b.WriteString(`{"data":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"traceID":"%032x","spans":[`, i*7919+1)
		for j := range 20 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"traceID":"%032x","spanID":"%016x","operationName":"GET /%d","references":[{"refType":"CHILD_OF","traceID":"%032x","spanID":"%016x"}],"startTime":%d,"duration":%d,`,
				i*7919+1, j+1, j, i*7919+1, j, 1795975881747508+i*1000+j, 78621+i%999)
			b.WriteString(`"tags":[{"key":"otel.scope.name","type":"string","value":"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"},{"key":"http.request.method","type":"string","value":"GET"},{"key":"url.full","type":"string","value":"http://127.0.0.1:18083/"},{"key":"server.port","type":"int64","value":18083},{"key":"http.response.status_code","type":"int64","value":200},{"key":"span.kind","type":"string","value":"client"}],"logs":[],`)
			fmt.Fprintf(&b, `"processID":"p%d","warnings":null}`, j%3)
		}
		b.WriteString(`],"processes":{"p0":{"serviceName":"gateway","tags":[{"key":"hostname","type":"string","value":"node-1"}]},"p1":{"serviceName":"orders","tags":[]},"p2":{"serviceName":"stock","tags":[]}},"warnings":null}`)
	}
	b.WriteString(`],"total":0,"limit":0,"offset":0,"errors":null}`)
	return b.String()
}

// otlpLines is n lines of 20 spans as a collector writes them.
func otlpLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"orders"}},{"key":"host.name","value":{"stringValue":"node-1"}}]},"scopeSpans":[{"scope":{"name":"otelhttp","version":"0.72.0"},"spans":[`)
		for j := range 20 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"traceId":"%032x","spanId":"%016x","parentSpanId":"%016x","name":"GET /%d","kind":3,"startTimeUnixNano":"%d","endTimeUnixNano":"%d",`, i*7919+1, j+1, j, j, 1795975881750323916+i*1000000, 1795975881759471523+i*1000000)
			b.WriteString(`"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"url.full","value":{"stringValue":"http://127.0.0.1:18083/"}},{"key":"server.port","value":{"intValue":"18083"}},{"key":"http.response.status_code","value":{"intValue":"200"}}],"status":{}}`)
		}
		b.WriteString("]}]}]}\n")
	}
	return b.String()
}

func traceChunks(t testing.TB, h traceHow, in string) (c Config, chunks []*format.Chunk) {
	t.Helper()
	c = h.config(t)
	f, err := Open(Source{Path: "in", Stdin: strings.NewReader(in)}, c, new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for {
		chunk, err := f.Next()
		if err == io.EOF {
			return c, chunks
		}
		chunks = append(chunks, chunk)
	}
}

func benchmarkTraces(b *testing.B, h traceHow, in string) {
	c, chunks := traceChunks(b, h, in)
	d := NewDecoder(c, memory.NewGoAllocator(), spans.Resolutions, false)
	defer d.Release()
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	rows := int64(0)
	for b.Loop() {
		rows = 0
		for _, chunk := range chunks {
			rows += d.Decode(chunk, (*spans.Batch).Release).Accepted
		}
	}
	if rows != 20*benchTraces {
		b.Fatalf("%d spans", rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*rows), "ns/span")
}

const benchTraces = 1500

func BenchmarkDecodeJaeger(b *testing.B)    { benchmarkTraces(b, traceHow{}, jaegerDocument(benchTraces)) }
func BenchmarkDecodeOTLPLines(b *testing.B) { benchmarkTraces(b, traceHow{}, otlpLines(benchTraces)) }

func benchmarkSplit(b *testing.B, in string) {
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		traceChunks(b, traceHow{}, in)
	}
}

func BenchmarkSplitJaeger(b *testing.B)    { benchmarkSplit(b, jaegerDocument(benchTraces)) }
func BenchmarkSplitOTLPLines(b *testing.B) { benchmarkSplit(b, otlpLines(benchTraces)) }

// A trace that is taken apart, with its way through the temporary file.
func BenchmarkSplitLargeTrace(b *testing.B) {
	in := strings.Replace(jaegerDocument(1), uiSpan, "", 1)
	at := strings.Index(in, `{"traceID":"00000000000000000000000000000001","spanID"`)
	end := strings.Index(in, `],"processes"`)
	b.ResetTimer()
	benchmarkSplit(b, in[:at]+strings.Repeat(in[at:end]+",", 1500)+in[at:end]+in[end:])
}

// A span costs no allocation: those of a chunk do not grow with its spans.
func TestSpansDoNotAllocate(t *testing.T) {
	for name, in := range map[string]string{
		"jaeger": jaegerDocument(50), "otlp": otlpLines(50),
		"evidence": "[" + strings.TrimSuffix(strings.Repeat(withField(`"warnings":["This span's timestamps were adjusted by -1.5ms"],"tags":[{"key":"error.type","value":"java.net.SocketTimeoutException"},{"key":"http.request.resend_count","value":"1"},{"key":"x","value":{"y":[1, 2]}}]`)+",", 1000), ",") + "]",
	} {
		c, chunks := traceChunks(t, traceHow{}, in)
		if n := allocations(t, c, chunks, 1000); n > 100 {
			t.Errorf("%s: %v allocations for 1000 spans", name, n)
		}
	}
}
