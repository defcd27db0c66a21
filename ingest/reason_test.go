package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
)

// wantReject is a reject at a place of the input, which the test finds itself.
type wantReject struct {
	record string // text at which the record starts
	reason format.Reason
	detail string
}

// TestEveryReasonHasItsPlaceAndText decodes an input for each format and checks
// every reject to the byte; all reasons occur.
func TestEveryReasonHasItsPlaceAndText(t *testing.T) {
	seen := map[format.Reason]bool{}
	for _, c := range []struct {
		name string
		h    how
		in   string
		want []wantReject
		hops string // of the accepted
	}{
		{
			name: "ndjson", h: how{maxLine: 120},
			in: `{"hop":"first","duration_ms":1}
{"hop":"cut","durati
null
[1,2]
"text"
not json
{"hop":"x","duration_ms":NaN}
{"hop":"x","duration_ms":1}}

{"duration_ms":1}
{"hop":"","duration_ms":1}
{"hop":"  ","service":"y","duration_ms":1}
{"hop":null,"duration_ms":1}
{"hop":"x"}
{"hop":"x","start":"2024-02-29T12:00:00Z"}
{"hop":"x","duration_ms":null}
{"hop":"x","duration":5}
{"hop":"x","start":5,"end":7}
{"hop":"x","duration_ms":"+Inf"}
{"hop":"x","duration_ms":"soon"}
{"hop":"x","duration_ms":true}
{"hop":"x","duration_s":99999999999}
{"hop":"x","duration_ms":-1}
{"hop":"x","duration_us":18446744073709550616}
{"hop":"x","start_ms":7,"end_ms":5}
{"hop":"x","start_ns":-9000000000000000000,"end_ns":9000000000000000000}
{"hop":"x","start":"soon","end":"2024-02-29T12:00:00Z"}
{"hop":"x","start":"2024-02-29T12:00:00Z","end":"later"}
{"hop":"x","duration_ms":1,"timed_out":"maybe"}
{"hop":"x","duration_ms":1,"timed_out":-1}
{"hop":"x","duration_ms":1,"retry":"maybe"}
{"hop":"x","duration_ms":1,"attempt":"second"}
{"hop":"x","duration_ms":1,"attempt":-1}
{"hop":"x","duration_ms":1,"attempt":1.5}
{"hop":"x","duration_ms":1,"attempt":1e30}
{"hop":"x","duration_ms":1,"attempt":true}
{"hop":"x","duration_ms":"` + strings.Repeat("9", 70) + `"}
{"hop":"long","duration_ms":1,"pad":"` + strings.Repeat("x", 100) + `"}
{"hop":"last","duration_ms":1}
{"hop":"end","duration_ms":1`,
			want: []wantReject{
				{`{"hop":"cut"`, format.Malformed, "control character in a string at byte 21"},
				{"null\n", format.NotARecord, "not a JSON object"},
				{"[1,2]", format.NotARecord, "not a JSON object"},
				{`"text"`, format.NotARecord, "not a JSON object"},
				{"not json", format.Malformed, "not JSON at byte 1"},
				{`{"hop":"x","duration_ms":NaN}`, format.Malformed, "expected a value at byte 26"},
				{`{"hop":"x","duration_ms":1}}`, format.Malformed, "data after the object at byte 28"},
				{`{"duration_ms":1}`, format.NoHop, "no hop: none of the known keys is there"},
				{`{"hop":"",`, format.NoHop, "no hop: hop is empty"},
				{`{"hop":"  ",`, format.NoHop, "no hop: hop is empty"},
				{`{"hop":null,`, format.NoHop, "no hop: hop is empty"},
				{`{"hop":"x"}`, format.NoDuration, "neither a duration nor both start and end"},
				{`{"hop":"x","start":"2024-02-29T12:00:00Z"}`, format.NoDuration, "neither a duration nor both start and end"},
				{`{"hop":"x","duration_ms":null}`, format.NoDuration, "neither a duration nor both start and end"},
				{`{"hop":"x","duration":5}`, format.NoUnit, "duration 5: no unit"},
				{`{"hop":"x","start":5,`, format.NoUnit, "start 5: no unit"},
				{`{"hop":"x","duration_ms":"+Inf"}`, format.BadDuration, "duration_ms +Inf: not a finite number"},
				{`{"hop":"x","duration_ms":"soon"}`, format.BadDuration, "duration_ms soon: not a number"},
				{`{"hop":"x","duration_ms":true}`, format.BadDuration, "duration_ms true: not a number"},
				{`{"hop":"x","duration_s":9999`, format.BadDuration, "duration_s 99999999999: larger than 292 years"},
				{`{"hop":"x","duration_ms":-1}`, format.NegativeDuration, "duration_ms -1: negative"},
				{`{"hop":"x","duration_us":1844`, format.NegativeDuration, "duration_us 18446744073709550616: negative, written without its sign"},
				{`{"hop":"x","start_ms":7,`, format.NegativeDuration, "end_ms 5 is before start_ms 7"},
				{`{"hop":"x","start_ns":-9`, format.BadDuration, "start_ns -9000000000000000000, end_ns 9000000000000000000: larger than 292 years"},
				{`{"hop":"x","start":"soon"`, format.BadTime, "start soon: not a time"},
				{`{"hop":"x","start":"2024-02-29T12:00:00Z","end":"later"`, format.BadTime, "end later: not a time"},
				{`{"hop":"x","duration_ms":1,"timed_out":"maybe"`, format.BadMark, "timed_out maybe: neither yes nor no"},
				{`{"hop":"x","duration_ms":1,"timed_out":-1`, format.BadMark, "timed_out -1: neither yes nor no"},
				{`{"hop":"x","duration_ms":1,"retry":"maybe"`, format.BadMark, "retry maybe: neither yes nor no"},
				{`{"hop":"x","duration_ms":1,"attempt":"second"`, format.BadAttempt, "attempt second: not a count"},
				{`{"hop":"x","duration_ms":1,"attempt":-1`, format.BadAttempt, "attempt -1: not a count"},
				{`{"hop":"x","duration_ms":1,"attempt":1.5`, format.BadAttempt, "attempt 1.5: not a count"},
				{`{"hop":"x","duration_ms":1,"attempt":1e30`, format.BadAttempt, "attempt 1e30: not a count"},
				{`{"hop":"x","duration_ms":1,"attempt":true`, format.BadAttempt, "attempt true: not a count"},
				{`{"hop":"x","duration_ms":"9999`, format.BadDuration, "duration_ms " + strings.Repeat("9", 60) + "…: larger than 292 years"},
				{`{"hop":"long"`, format.LineTooLong, "a line of 139 bytes: see --max-line"},
				{`{"hop":"end"`, format.Incomplete, "the input ends inside the record: expected , or } at byte 29"},
			},
			hops: "first last",
		},
		{
			name: "csv", h: how{maxLine: 80},
			in: `service,duration_ms,rt,start,end,timed_out,retry,attempt
first,1,,,,,,
short,1
long,1,,,,,,,,
bad"quote,1,,,,,,
"after"quote,1,,,,,,

service,duration_ms,rt,start,end,timed_out,retry,attempt
,1,,,,,,
x,,,,,,,
x,,5,,,,,
x,fast,,,,,,
x,-5,,,,,,
x,,,5,6,,,
x,,,2024-02-29T12:00:01Z,2024-02-29T12:00:00Z,,,
x,,,now,then,,,
x,1,,,,maybe,,
x,1,,,,,maybe,
x,1,,,,,,many
` + strings.Repeat("l", 90) + `,1,,,,,,
"two
lines",1,,,,,,
"unclosed,1,,,,,,
last,1,,,,,,
end,1,,,`,
			want: []wantReject{
				{"short,1\n", format.WrongFieldCount, "2 fields where the header has 8"},
				{"long,1", format.WrongFieldCount, "10 fields where the header has 8"},
				{`bad"quote`, format.Malformed, "a quote inside a field that does not start with one"},
				{`"after"quote`, format.Malformed, "text after a closing quote"},
				{"service,duration_ms", format.RepeatedHeader, "the header once more"},
				{",1,,,,,,\n", format.NoHop, "no hop: service is empty"},
				{"x,,,,,,,\n", format.NoDuration, "neither a duration nor both start and end"},
				{"x,,5,", format.NoUnit, "rt 5: no unit"},
				{"x,fast", format.BadDuration, "duration_ms fast: not a number"},
				{"x,-5", format.NegativeDuration, "duration_ms -5: negative"},
				{"x,,,5,6", format.NoUnit, "start 5: no unit"},
				{"x,,,2024", format.NegativeDuration, "end 2024-02-29T12:00:00Z is before start 2024-02-29T12:00:01Z"},
				{"x,,,now", format.BadTime, "start now: not a time"},
				{"x,1,,,,maybe", format.BadMark, "timed_out maybe: neither yes nor no"},
				{"x,1,,,,,maybe", format.BadMark, "retry maybe: neither yes nor no"},
				{"x,1,,,,,,many", format.BadAttempt, "attempt many: not a count"},
				{"llll", format.LineTooLong, "a line of 98 bytes: see --max-line"},
				{`"unclosed`, format.Malformed, "a quote that is not closed, or not within the 1 MiB that a cell with line breaks may have"},
				{"end,1", format.Incomplete, "the input ends inside the record"},
			},
			hops: "first two\nlines last",
		},
		{
			name: "tsv", h: how{unit: "ms"},
			in: "hop\ttook\nfirst\t5\nshort\n\"two\nlines\"\t7\nx\tNaN\nhop\ttook\nx\t-1\n\t1\nq\"\t1\nlast\t2",
			want: []wantReject{
				{"short", format.WrongFieldCount, "1 field where the header has 2"},
				{"x\tNaN", format.BadDuration, "took NaN: not a finite number"},
				{"hop\ttook\nx", format.RepeatedHeader, "the header once more"},
				{"x\t-1", format.NegativeDuration, "took -1: negative"},
				{"\t1\n", format.NoHop, "no hop: hop is empty"},
				{"q\"\t1", format.Malformed, "a quote inside a field that does not start with one"},
			},
			hops: "first two\nlines last",
		},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			in := strings.ReplaceAll(c.in, "\n", eol)
			d := decodeAnyhow(t, c.h, in)
			if d.err != nil {
				t.Fatalf("%s: %v", c.name, d.err)
			}
			same(t, c.name+" format", d.summary.Files[0].Format, c.name)
			same(t, c.name+" hops", strings.Join(pick(d.rows, hopOf), " "), c.hops)
			same(t, c.name+" rejects", pick(d.rejects, adjusted(eol)), places(t, in, eol, c.want))
			for _, r := range d.rejects {
				seen[r.Reason] = true
			}
		}
	}
	for _, r := range decodeAnyhow(t, how{}, fixture(t, "jaeger/bad.json")).rejects {
		seen[r.Reason] = true
	}
	for _, r := range format.Reasons {
		if !seen[r] {
			t.Errorf("no input has a reject for %q", r)
		}
	}
}

// adjusted leaves out of details what CRLF makes different: where the newline
// is, and the length of a line.
func adjusted(eol string) func(format.Reject) format.Reject {
	return func(r format.Reject) format.Reject {
		if eol == "\r\n" && r.Reason == format.LineTooLong {
			var n int
			fmt.Sscanf(r.Detail, "a line of %d bytes", &n)
			r.Detail = fmt.Sprintf("a line of %d bytes: see --max-line", n-1)
		}
		return r
	}
}

// places finds the line and the offset of each record, in the order given.
func places(t *testing.T, in, eol string, want []wantReject) (all []format.Reject) {
	t.Helper()
	at := strings.Index(in, "\n") + 1
	for _, w := range want {
		text := strings.ReplaceAll(w.record, "\n", eol)
		i := strings.Index(in[at:], text)
		for i >= 0 && in[at+i-1] != '\n' {
			n := strings.Index(in[at+i+1:], text)
			if n < 0 {
				break
			}
			i += 1 + n
		}
		if i < 0 {
			t.Fatalf("%q is not in the input", w.record)
		}
		at += i
		all = append(all, format.Reject{File: "in", Line: int64(strings.Count(in[:at], "\n") + 1), Offset: int64(at), Reason: w.reason, Detail: w.detail})
		at++
	}
	return all
}

func TestReasonsAreDistinctWords(t *testing.T) {
	seen := map[format.Reason]bool{}
	for _, r := range format.Reasons {
		if seen[r] || strings.ToLower(strings.ReplaceAll(string(r), " ", "")) != string(r) {
			t.Errorf("%q", r)
		}
		seen[r] = true
	}
	same(t, "number of reasons", len(seen), 15)
}

func TestTallyKeepsTheFirstRejectOfEachReason(t *testing.T) {
	in := "{\"hop\":\"x\",\"duration_ms\":1}\nbad\n{}\nbad\n{}\n{\"hop\":\"\"}\n"
	d := decode(t, how{firstRejects: true}, in)
	same(t, "kept", pick(d.rejects, func(r format.Reject) string { return fmt.Sprint(r.Line, r.Reason) }), []string{"2malformed", "3no_hop"})
	same(t, "counted", d.summary.Rejects, []RejectCount{
		{format.Malformed, 2, Reject{File: "in", Line: 2, Offset: 28, Reason: format.Malformed, Detail: "not JSON at byte 1"}},
		{format.NoHop, 3, Reject{File: "in", Line: 3, Offset: 32, Reason: format.NoHop, Detail: "no hop: none of the known keys is there"}},
	})
}
