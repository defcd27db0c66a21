package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// hopLog is n rows of a realistic hop log in either form.
func hopLog(n int, csv bool) string {
	var b strings.Builder
	if csv {
		b.WriteString("time,chain_id,hop,duration_ms,timed_out,attempt,status\n")
	}
	for i := range n {
		hop := []string{"checkout", "inventory", "payments", "search"}[i%4]
		at := fmt.Sprintf("2026-03-01T10:%02d:%02d.%03dZ", i/60%60, i%60, i%1000)
		cut := i%50 == 0
		if csv {
			fmt.Fprintf(&b, "%s,%032x,%s,%d.%03d,%v,%d,%d\n", at, i*7919, hop, i%5000, i%1000, cut, 1+i%17/16, 200)
		} else {
			fmt.Fprintf(&b, `{"time":%q,"level":"INFO","msg":"call done","chain_id":"%032x","hop":%q,"duration_ms":%d.%03d,"timed_out":%v,"attempt":%d,"status":200}`+"\n",
				at, i*7919, hop, i%5000, i%1000, cut, 1+i%17/16)
		}
	}
	return b.String()
}

func benchmarkDecode(b *testing.B, in string, columns spans.Columns) {
	c := how{}.config(b)
	_, chunks := chunksOf(b, c, "in", in, format.ChunkSize)
	d := NewDecoder(c, memory.NewGoAllocator(), columns, false)
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
	if rows != benchRows {
		b.Fatalf("%d rows", rows)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*rows), "ns/row")
}

const benchRows = 50000

func BenchmarkDecodeNDJSON(b *testing.B) {
	benchmarkDecode(b, hopLog(benchRows, false), spans.Resolutions)
}
func BenchmarkDecodeCSV(b *testing.B) { benchmarkDecode(b, hopLog(benchRows, true), spans.Resolutions) }
func BenchmarkDecodeStarts(b *testing.B) {
	benchmarkDecode(b, hopLog(benchRows, false), spans.Resolutions|spans.Starts)
}

func BenchmarkRead(b *testing.B) {
	in := hopLog(benchRows, false)
	c := how{}.config(b)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		chunksOf(b, c, "in", in, format.ChunkSize)
	}
}

// A row costs no allocation, whatever evidence it has: those of a chunk do not
// grow with its rows.
func TestRowsDoNotAllocate(t *testing.T) {
	quoted := strings.ReplaceAll(hopLog(400, true), "checkout", `"check,out"`)
	for name, in := range map[string]string{
		"ndjson":     hopLog(400, false),
		"csv":        hopLog(400, true),
		"quoted csv": quoted,
		"evidence": strings.Repeat(`{"hop":"x","took":"1m3.5ms","start":"2026-03-01 10:00:00.5+02:00","timeout":"5s","error":"Context Deadline exceeded","grpc":{"code":"DeadlineExceeded"},`+
			`"error.type":"SocketTimeoutException","retry":"YES","cut_by":"Caller","traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`+"\n", 400),
		"times": strings.Repeat(`{"hop":"x","start":"2026-03-01T10:00:00.5+02:00","end":"2026-03-01T10:00:01.5+02:00","status":"OK","timed_out":"No","error":"boom: timed out"}`+"\n", 400),
	} {
		c := how{}.config(t)
		_, chunks := chunksOf(t, c, "in", in, format.ChunkSize)
		if n := allocations(t, c, chunks, 400); n > 60 {
			t.Errorf("%s: %v allocations for 400 rows", name, n)
		}
	}
}

// allocations is how often decoding chunks of so many rows allocates, once
// its buffers have grown.
func allocations(t *testing.T, c Config, chunks []*format.Chunk, rows int64) float64 {
	t.Helper()
	d := NewDecoder(c, memory.NewGoAllocator(), spans.Resolutions, false)
	defer d.Release()
	run := func() {
		accepted := int64(0)
		for _, chunk := range chunks {
			accepted += d.Decode(chunk, (*spans.Batch).Release).Accepted
		}
		if accepted != rows {
			t.Fatalf("%d of %d rows", accepted, rows)
		}
	}
	run()
	return testing.AllocsPerRun(10, run)
}
