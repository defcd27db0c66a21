package ingest

import (
	"fmt"
	"strings"
	"testing"
)

// Every unit that docs/formats.md names as the ending of a key.
func TestKeysStateTheirUnit(t *testing.T) {
	for key, want := range map[string]int64{
		"duration_nanoseconds": 5, "durationNanos": 5, "duration_nsec": 5, "elapsed_microseconds": 5e3, "took_usec": 5e3, "latencyMicros": 5e3,
		"elapsed_milliseconds": 5e6, "ElapsedMilliseconds": 5e6, "durationMillis": 5e6, "duration_msec": 5e6, "latencyMs": 5e6, "duration_secs": 5e9, "DurationSeconds": 5e9,
	} {
		same(t, key, int64(one(t, how{}, fmt.Sprintf(`{"hop":"x",%q:5}`, key)).Duration), want)
		same(t, "named "+key, int64(one(t, how{fields: []string{"duration=" + "call." + key}}, fmt.Sprintf(`{"hop":"x","call.%s":5}`, key)).Duration), want)
	}
}

// A semicolon between cells means that a comma may stand in a number.
func TestSemicolonsSeparateCellsWithDecimalCommas(t *testing.T) {
	for in, want := range map[string]string{
		"hop;duration_ms\na;5,5\na;7,25\na;8\n":           "[5.5ms 7.25ms 8ms]",
		"sep=;\nhop;duration_ms\na;1,234\na;1.234,5\n":    "[1.234ms 1.2345s]",
		"\"hop\";\"duration_ms\"\n\"a;b\";\"5,5\"\nc;6\n": "[5.5ms 6ms]",
		"hop;note;duration_s\na;x,y;0,5\nb;;1\n":          "[500ms 1s]",
	} {
		d := decodeAnyhow(t, how{}, in)
		same(t, in, fmt.Sprint(pick(d.rows, func(a attempt) string { return a.Duration.String() })), want)
		same(t, "rejects", len(d.rejects), 0)
	}
}

func TestATableWithoutAHeaderIsRefusedWithTheWayToNameItsColumns(t *testing.T) {
	for in, header := range map[string]string{"a,5\na,7\n": "hop,duration_ms", "a;x;5,5\na;y;7\n": "hop;column2;duration_ms", "a\t5\nb\t6\n": "hop\tduration_ms"} {
		d := decode(t, how{}, in)
		if d.err == nil || !strings.Contains(d.err.Error(), "a table without a header") || !strings.Contains(d.err.Error(), "(echo '"+header+"'; cat FILE)") {
			t.Errorf("%q: %v", in, d.err)
		}
	}
	for _, prose := range []string{"remember the milk, 5\nand more\n", "one, two\nthree, four\n", "5\n6\n"} {
		if d := decode(t, how{}, prose); d.err == nil || strings.Contains(d.err.Error(), "a table") {
			t.Errorf("%q: %v", prose, d.err)
		}
	}
}

// What stays unread is shown with its key, the first one of the input.
func TestWhatIsUnreadIsShownByItsFirstExample(t *testing.T) {
	var in strings.Builder
	for i := range 50 {
		fmt.Fprintf(&in, "{\"hop\":\"x\",\"duration_ms\":1,\"ts\":\"soon %d\",\"timeout_ms\":\"ever\"}\n", i)
	}
	d := decodeAnyhow(t, how{}, in.String())
	same(t, "warnings", fmt.Sprint(d.summary.Warnings), "[{unreadable_times 50 start or end times could not be read and were left out (the first: ts soon 0)}"+
		" {unused_timeouts 50 timeouts are unreadable or without a unit and were not used: give --unit, or --field timeout=KEY:UNIT (the first: timeout_ms ever)}]")
}

func TestACommaBeforeThreeDigitsIsReadAndTold(t *testing.T) {
	d := decodeAnyhow(t, how{}, strings.Repeat(`{"hop":"x","duration_ms":"1,234"}`+"\n", 3)+`{"hop":"x","duration_ms":"1,234.5"}`+"\n")
	same(t, "durations", fmt.Sprint(pick(d.rows, func(a attempt) string { return a.Duration.String() })), "[1.234s 1.234s 1.234s 1.2345s]")
	same(t, "warnings", fmt.Sprint(d.summary.Warnings), "[{grouped_durations 3 durations have a comma before three digits, which was read as a separator of thousands (the first: duration_ms 1,234)}]")
}

func TestADurationThatIsATimeOrOutlastsTheInputIsWarned(t *testing.T) {
	hour := func(last string) string {
		var in strings.Builder
		for i := range 60 {
			fmt.Fprintf(&in, "{\"hop\":\"x\",\"duration_ms\":%d,\"time\":\"2024-05-01T10:%02d:00Z\"}\n", 5+i, i)
		}
		return in.String() + last
	}
	for in, want := range map[string]string{
		hour(""): "[]",
		hour(`{"hop":"x","duration_ms":1714557600000,"time":"2024-05-01T10:30:00Z"}`): "[{epoch_durations 1 duration is as long as the time since 1970: it is rather a point in time than a duration (the first: duration_ms 1714557600000)}]",
		hour(`{"hop":"x","duration_ms":3600000,"time":"2024-05-01T10:30:00Z"}`):       "[{duration_beyond_window the longest attempt (in:61) lasts 1h0m0s, longer than the 59m0s from the first record to the last: is the unit right?}]",
		hour(`{"hop":"x","duration_ms":3000000,"time":"2024-05-01T10:30:00Z"}`):       "[]",
		// Two lines of one moment say nothing about how long calls may take.
		`{"hop":"x","duration_ms":5,"time":"2024-05-01T10:30:00Z"}` + "\n" + `{"hop":"x","duration_ms":30000,"time":"2024-05-01T10:30:01Z"}`: "[]",
	} {
		same(t, in[max(0, len(in)-60):], fmt.Sprint(decodeAnyhow(t, how{}, in).summary.Warnings), want)
	}
}

// Where the tail is among the rejects, the figures are too good.
func TestRejectsOfTheSlowKindAreTold(t *testing.T) {
	for line, slow := range map[string]bool{
		`{"hop":"x","duration_ms":"> 30 parsecs"}`: true, `{"hop":"x","duration_ms":"timeout"}`: true, `{"hop":"x","duration_ms":"+Inf"}`: true,
		`{"hop":"x","duration_ms":null,"error":"context deadline exceeded"}`: true, `{"hop":"x","duration_ms":"-","http_status":504}`: true, `{"hop":"x","truncated":true}`: true,
		`{"hop":"x","duration_ms":"x"}`: false, `{"hop":"x","duration_ms":"-","http_status":500}`: false, `{"hop":"","duration_ms":5,"truncated":false}`: false, `timeout=30s`: false,
	} {
		d := decodeAnyhow(t, how{}, `{"hop":"x","duration_ms":1}`+"\n"+line+"\n")
		same(t, line, strings.Contains(fmt.Sprint(d.summary.Warnings), "slow_rejects"), slow)
		same(t, "rejected", len(d.rejects), 1)
	}
}

// Lines of other programs are rejects, but of another kind than records that could
// not be read.
func TestLinesThatAreNoRecordsAreCountedApart(t *testing.T) {
	for line, other := range map[string]int64{
		"Started server on port 80": 1, `{"level":"info","msg":"ready"}`: 1, `["a"]`: 1, `{"trace_id":"a1"}`: 0, `{"hop":"a"}`: 0, `{"duration_ms":5}`: 0, `{"hop":"a","duration_ms":"x"}`: 0, `{"hop":"a","duration_ms`: 0,
	} {
		d := decodeAnyhow(t, how{}, `{"hop":"x","duration_ms":1}`+"\n"+line+"\n")
		same(t, line, d.summary.OtherLines, other)
		same(t, "of the file", d.summary.Files[0].OtherLines, other)
		same(t, "rejected", d.summary.Rejected, int64(1))
	}
	d := decode(t, how{format: "otlp"}, "Starting\n"+`{"resourceSpans":[]}`+"\n")
	same(t, "a line among traces", d.summary.OtherLines, int64(1))
	same(t, "a row of a table", decode(t, how{}, "hop,duration_ms\na,1\nfoo\n").summary.OtherLines, int64(0))
}
