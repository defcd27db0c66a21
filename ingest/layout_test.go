package ingest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/spans"
	"pgregory.net/rapid"
)

// bothWays reads an input in usual chunks, where lines take the fast path if they
// can, and line by line, where they never do: the first line of a chunk names the
// fields. It fails the test where they differ.
func bothWays(t testing.TB, h how, in string) decoded {
	t.Helper()
	h.chunk = 1
	long := decode(t, h, in)
	h.chunk = 0
	short := decode(t, h, in)
	short.chunks = long.chunks
	if !reflect.DeepEqual(long, short) {
		t.Fatalf("%q (-long way +short way):\n%s", in, cmp.Diff(long.parts(), short.parts()))
	}
	return short
}

// ordinaryColumns are columns with which lines can be ordinary.
var ordinaryColumns = spans.Positions | spans.Resolutions

// traceColumns are those of lines that are put together to chains.
var traceColumns = ordinaryColumns | spans.Traces | spans.Starts

// ownerColumns are those of chains whose instances count.
var ownerColumns = traceColumns | spans.Instances

// drawColumns draws which columns a run asks for.
func drawColumns(t *rapid.T) *spans.Columns {
	return rapid.SampledFrom(drawable).Draw(t, "columns")
}

var (
	startColumns = ordinaryColumns | spans.Starts
	drawable     = []*spans.Columns{nil, &ordinaryColumns, &startColumns, &traceColumns, &ownerColumns}
)

// oddValues are what may stand where a number, a mark or a name is expected.
var oddValues = []string{
	"1", "0", "00", "12", "1234567", "12345678", "123456789012", "99999999999999999999", "1.5", "1e3", "-1", "-0", "1.0000000001",
	"true", "false", "null", `""`, `"c-00"`, `"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`, `"none"`,
	`"2026-01-15T02:00:00.123456789Z"`, `"2026-01-15T24:00:00Z"`, `"2026-01-15T02:00:00.Z"`, `"2026-01-15T02:00:00.5+01:00"`, `"1677-10-01T00:00:00Z"`, `"2026-01-15 02:00:61Z"`, "9223372036854775807", `"x"`, `"1"`, `"5ms"`, `"false"`, `"no"`, `"ok"`, `"timeout"`, `" y "`, `"a\"b"`, `"\u0041"`, "\"caf\xe9\"",
	"[]", "{}", "[1, 2]", `{"a":1}`, `{"code":504}`, "[1,\n2]", "\"a\tb\"", "tru", "", "504", "200", "408", "3", `"000"`, `"200 OK"`, `"504 Gateway Timeout"`, `"sH--"`, `"UT"`, `"-"`, `"warn"`, `"it timed out"`, `"timeout=30s"`, `{"a":"deadline exceeded"}`, `"unknown"`, "40", "50", `"2026-01-15T02:00:00Z"`, "1768442400",
	`"1,234"`, `"1,234.5"`, `"5,5"`, `"5,5 ms"`, `"1 min"`, `"12 msec"`, `"00:00:01.2345678"`, `"1 day, 0:00:01"`, `"P1DT2H"`, `"> 30 s"`, `"01/May/2024:10:00:00 +0000"`, `"Wed May  1 10:00:00 2024"`,
	`"2024-05-01 12:00:00.5 +0200 CEST"`, "1714557600000000000", "1e18", `"1,234,567"`,
}

// forms are the lines of a log, with a mark for each value.
var forms = []string{
	`{"hop":"a","duration_ms":%,"truncated":%,"attempt":%}`,
	`{"ts":"2026-01-15T02:00:00.5Z","chain_id":%,"hop":%,"duration_us":%,"retry":%,"attempt":%}`,
	`{ "hop" : "b", "took" : %, "timeout_ms" : %, "status" : % }`,
	`{"hop":"c","duration_ns":%,"http":{"status_code":%},"error":%,"more":%}`,
	`{"hop":"d","duration_ms":%,"hop":%,"x":{"y":%}}`,
	`{"service":"e","operation":%,"duration":%,"outcome":%,"a key that is longer than the words it is compared by":%}`,
	`{"start":%,"end":%,"hop":"f","duration_ms":%,"rpc":{"grpc":{"status_code":%}}}`,
	`{"hop":"g","duration_s":%,"timed_out":%,"is_retry":%,"time":%}`,
	`{"time":%,"trace_id":%,"hop":"h","duration_ns":%}`,
	`{"hop":"i","pod":%,"hostname":%,"duration_ns":1}`,
	`{"hop":"j","kubernetes":{"pod_name":%,"more":%},"host":{"name":%},"duration_ns":%}`,
	`{"hop":"k","node":%,"NODE":%,"duration_ns":5}`,
	`{"hop":"l","duration_ms":1,"status":%,"response_flags":%,"response_code_details":%}`,
	`{"hop":"m","duration_ms":1,"code":%,"method":"GET","url":"http://a/%"}`,
	`{"hop":"n","duration_ms":1,"code":%,"result":%,"level":%,"msg":%}`,
	`{"hop":"o","duration_ms":1,"msg":%,"deep":{"x":%},"y":[%]}`,
	`{"hop":"p","duration_ms":1,"success":%,"retries":%,"error_code":%}`,
	`{"hop":"q","duration_ms":1,"data":{"status_code":%,"attempts":%},"span_id":%,"level":%}`,
	`{"hop":"s","chain_id":%,"duration_ms":%,"start_ms":%,"truncated":%}`,
	`{"hop":"t","chain_id":"c-7","duration_ms":%,"start_ms":%,"error":%}`,
	`{"hop":"u","chain_id":"c-7","duration_ms":%,"start_ms":%,"retries":%}`,
	`{"hop":"r","duration_ms":1,"termination_state":%,"rpc.system":%,"error":%}`,
}

// drawLog draws a log of a few forms, whose values are mostly the same.
func drawLog(t *rapid.T) string {
	usual := rapid.SampledFrom([]string{"1", "false", "25", `"x"`, "null"})
	value := rapid.OneOf(usual, usual, usual, rapid.SampledFrom(oddValues), rapid.Map(rapid.Uint64(), func(n uint64) string { return strconv.FormatUint(n, 10) }))
	some := rapid.SliceOfN(rapid.SampledFrom(forms), 1, 3).Draw(t, "forms")
	var b strings.Builder
	for range rapid.IntRange(2, 30).Draw(t, "lines") {
		for _, c := range rapid.SampledFrom(some).Draw(t, "form") {
			if c == '%' {
				b.WriteString(value.Draw(t, "value"))
			} else {
				b.WriteRune(c)
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n", "x\n", "\n\n"}).Draw(t, "end"))
	}
	return b.String()
}

func TestTheFastPathGivesTheRowsOfTheGeneralPath(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := how{format: "ndjson", unit: rapid.SampledFrom([]string{"", "ms"}).Draw(rt, "unit"), columns: drawColumns(rt)}
		h.timeIs = rapid.SampledFrom([]string{"", "start"}).Draw(rt, "time is")
		bothWays(t, h, drawLog(rt))
	})
}

// drawTable draws a table in which rows are mostly ordinary.
func drawTable(t *rapid.T) string {
	header := rapid.SampledFrom([]string{
		"time,hop,duration_us,truncated,attempt", "time,chain_id,hop,duration_us", "hop,took,timeout_ms,status,retry", "service,operation,duration_ms", "hop,duration_ns,error,outcome",
		"x,start,end,hop,latency_ms", "hop,pod,duration_us,node", "hop,instance,Instance,duration_ms", "hop,duration_ms,status,url,msg", "hop,duration_ms,code,path,level,retries", "hop,duration_ms,note,more", "hop\tduration_ms\tretry\tattempt",
		"hop;duration_ms;time;timeout_ms;attempt", "hop|duration_ms|retry",
	}).Draw(t, "header")
	columns := strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune(",\t;|", r) })
	usual := rapid.SampledFrom([]string{"1", "false", "25", "x", ""})
	value := rapid.OneOf(usual, usual, usual, usual, usual, rapid.SampledFrom(oddValues))
	var b strings.Builder
	b.WriteString(header + "\n")
	for range rapid.IntRange(2, 30).Draw(t, "rows") {
		cells := rapid.SliceOfN(value, len(columns), len(columns)).Draw(t, "cells")
		b.WriteString(strings.Join(cells, header[len(columns[0]):][:1]))
		b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", " \n", ",\n", "\r\r\n", "\n" + header + "\n", "\n\xef\xbb\xbf"}).Draw(t, "end"))
	}
	return b.String()
}

func TestOrdinaryRowsGiveWhatTheGeneralPathGives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := drawTable(rt)
		h := how{format: "csv", unit: rapid.SampledFrom([]string{"", "ms"}).Draw(rt, "unit"), columns: drawColumns(rt)}
		if strings.Contains(in[:strings.IndexByte(in, '\n')], "\t") {
			h.format = "tsv"
		}
		bothWays(t, h, in)
	})
}

func FuzzTheFastPathGivesTheRowsOfTheGeneralPath(f *testing.F) {
	for i, form := range forms {
		line := strings.ReplaceAll(form, "%", oddValues[i]) + "\n"
		f.Add(line + line + line + strings.ReplaceAll(form, "%", oddValues[len(oddValues)-1-i]) + "\n" + line)
	}
	for _, in := range realSeeds(f, ".ndjson", ".ndjson.gz", ".csv.gz") {
		f.Add(in)
	}
	f.Add("hop;duration_ms;time\n" + strings.Repeat("a;5,5;2024-05-01 10:00:00,5\n", 5) + "b;1.234,5;\nc;1,234;x\n")
	f.Add("hop,duration_us,truncated\n" + strings.Repeat("a,5,false\n", 5) + "b,6,\"no\"\r\nc,7,\n")
	f.Fuzz(func(t *testing.T, in string) {
		bothWays(t, how{format: "ndjson", columns: &ordinaryColumns}, in)
		bothWays(t, how{format: "ndjson", columns: &ownerColumns}, in)
		bothWays(t, how{format: "ndjson", unit: "ms"}, in)
		bothWays(t, how{format: "csv", columns: &ordinaryColumns}, in)
	})
}

// Lines that were taken out of something are read as those that stand alone.
func TestTheFastPathReadsWrappedLinesAsTheGeneralPathDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		wrap := rapid.SampledFrom([]string{"api-1  | %s", "2024-05-01T10:00:00.5Z INFO %s", "docker"}).Draw(rt, "wrapper")
		first := `{"hop":"a","duration_ms":1}`
		for line := range strings.Lines(first + "\n" + drawLog(rt)) {
			if line = strings.TrimRight(line, "\r\n"); wrap == "docker" {
				text, _ := json.Marshal(line + "\n")
				fmt.Fprintf(&b, "{\"log\":%s,\"stream\":\"stdout\",\"time\":\"2024-05-01T10:00:00Z\"}\n", text)
			} else {
				fmt.Fprintf(&b, wrap+"\n", line)
			}
		}
		bothWays(t, how{unit: "ms", columns: drawColumns(rt)}, b.String())
	})
}

func TestALayoutIsLearnedInPlaceOfAnOldOne(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		line := `{"hop":"a","k` + strconv.Itoa(i) + `":1,"duration_ms":` + strconv.Itoa(i) + "}\n"
		b.WriteString(strings.Repeat(line, 2*64))
	}
	d := bothWays(t, how{columns: &ordinaryColumns}, b.String())
	same(t, "rows", len(d.rows), 20*2*64)
}
