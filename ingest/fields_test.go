package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tailscope/tailscope/ingest/format"
)

func TestBestKnownKeyIsChosen(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"service":"a","hop":"b","duration_ms":1}`, "hop"},
		{`{"hop":"b","service":"a","duration_ms":1}`, "hop"},
		{`{"peer":"p","name":"n","duration_ms":1}`, "name"},
		{`{"service":{"name":"x"},"operation":"y","duration_ms":1}`, "service.name"},
		{`{"service.name":"x","operation":"y","duration_ms":1}`, "service.name"},
		{`{"Hop":"x","SERVICE":"y","duration_ms":1}`, "Hop"},
		{`{"hop":null,"service":"y","duration_ms":1}`, "service"},
		{`{"service":"y","hop":null,"duration_ms":1}`, "service"},
		{`{"hop":["a"],"service":"y","duration_ms":1}`, "service"},
		{`{"hop":{"a":"b"},"service":"y","duration_ms":1}`, "service"},
	} {
		d := decodeAnyhow(t, how{}, c.in)
		same(t, c.in, d.summary.Files[0].Fields["hop"], c.want)
	}
	for _, c := range []struct {
		in   string
		want time.Duration
	}{
		{`{"hop":"x","elapsed_ms":7,"duration_ms":5}`, 5 * time.Millisecond},
		{`{"hop":"x","duration_ms":5,"elapsed_ms":7}`, 5 * time.Millisecond},
		{`{"hop":"x","duration_ms":null,"elapsed_ms":7}`, 7 * time.Millisecond},
		{`{"hop":"x","elapsed_ms":7,"duration_ms":null}`, 7 * time.Millisecond},
		{`{"hop":"x","elapsed_ms":7,"duration_ms":""}`, 7 * time.Millisecond},
		{`{"hop":"x","duration":"3ms","duration_us":9}`, 3 * time.Millisecond},
	} {
		same(t, c.in, one(t, how{}, c.in).Duration, c.want)
	}
}

func TestUnitComesFromTheKey(t *testing.T) {
	for key, want := range map[string]time.Duration{
		"duration_ns": 8, "duration_us": 8e3, "duration_ms": 8e6, "duration_s": 8e9, "durationMs": 8e6, "durationNanos": 8, "DURATION_MS": 8e6,
		"elapsed_ms": 8e6, "latency_ms": 8e6, "took_micros": 8e3, "elapsedMillis": 8e6, "elapsed_seconds": 8e9, "request_time_sec": 8e9, "rt_secs": 8e9,
	} {
		same(t, key, one(t, how{}, fmt.Sprintf(`{"hop":"x",%q:8}`, key)).Duration, want)
		same(t, key+" against --unit", one(t, how{unit: "ns"}, fmt.Sprintf(`{"hop":"x",%q:8}`, key)).Duration, want)
		same(t, key+" in CSV", one(t, how{}, "hop,"+key+"\nx,8\n").Duration, want)
	}
}

func TestUnitFlagIsForBareNumbersOnly(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`{"hop":"x","duration":8}`:       8e6,
		`{"hop":"x","duration":"8"}`:     8e6,
		`{"hop":"x","duration":"8s"}`:    8e9,
		`{"hop":"x","duration":"PT8S"}`:  8e9,
		`{"hop":"x","took":8.5}`:         8.5e6,
		`{"hop":"x","duration":1.485e3}`: 1485e6,
	} {
		same(t, in, one(t, how{unit: "ms"}, in).Duration, want)
	}
}

func TestFieldFlagsNameKeys(t *testing.T) {
	for _, c := range []struct {
		fields []string
		in     string
		want   attempt
	}{
		{[]string{"hop=svc", "duration=t:ms"}, `{"hop":"no","svc":"x","duration_ns":1,"t":5}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6}},
		{[]string{"hop=a:b", "duration=t:us"}, `{"a:b":"x","t":5}`, attempt{Hop: "x", Duration: 5e3, Resolution: 3}},
		{[]string{"hop=a.b", "duration=t_ms"}, `{"a":{"b":"x"},"t_ms":5}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6}},
		{[]string{"hop=a.b", "duration=t.ms"}, `{"a.b":"x","t":{"ms":5}}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6}},
		{[]string{"hop=A", "duration=tookMs"}, `{"a":"no","A":"x","tookMs":5}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6}},
		{[]string{"trace=id"}, `{"hop":"x","trace_id":"no","id":"yes","duration_ms":5}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6, Trace: "yes"}},
		{[]string{"duration=a:ms", "duration=b:s"}, `{"hop":"x","b":9,"a":5}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6}},
		{[]string{"duration=a:ms", "duration=b:s"}, `{"hop":"x","b":9}`, attempt{Hop: "x", Duration: 9e9, Resolution: 9}},
		{[]string{"attempt=try"}, `{"hop":"x","duration_ms":5,"try":2}`, attempt{Hop: "x", Duration: 5e6, Resolution: 6, Retry: true}},
	} {
		c.want.Line, c.want.End = 1, "completed"
		same(t, c.in, one(t, how{fields: c.fields}, c.in), c.want)
	}
}

// A key that ends in the letters of a unit by chance states none.
func TestKeyThatOnlyLooksLikeAUnitStatesNone(t *testing.T) {
	for _, key := range []string{"items", "status", "columns"} {
		d := decode(t, how{fields: []string{"duration=" + key}}, fmt.Sprintf(`{"hop":"x",%q:8}`, key))
		if _, ok := d.err.(*format.UnitError); !ok {
			t.Errorf("%s: %v, %v", key, d.err, d.rows)
		}
	}
	same(t, "a key that is the unit", one(t, how{fields: []string{"duration=ms"}}, `{"hop":"x","ms":8}`).Duration, 8e6)
}

func TestMissingUnitIsAUsageErrorWithARemedy(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"took":295165694,"hop":"x"}`, `in: the field "took" holds bare numbers and its unit is not known: give --unit ns|us|ms|s, or --field duration=took:UNIT`},
		{`{"took":"0.295","hop":"x"}`, `in: the field "took" holds bare numbers and its unit is not known: give --unit ns|us|ms|s, or --field duration=took:UNIT`},
		{"hop,rt\nx,5\n", `in: the field "rt" holds bare numbers and its unit is not known: give --unit ns|us|ms|s, or --field duration=rt:UNIT`},
		{"hop\tstart\tend\nx\t5\t6\n", `in: the field "start" holds bare numbers and its unit is not known: give --field start=start:UNIT with ns, us, ms or s`},
		{`{"hop":"x","start":"2024-02-29T12:00:00Z","end":7}`, `in: the field "end" holds bare numbers and its unit is not known: give --field end=end:UNIT with ns, us, ms or s`},
		{"{\"hop\":\"x\",\"rt\":null}\n{\"hop\":\"x\",\"rt\":7}", `in: the field "rt" holds bare numbers and its unit is not known: give --unit ns|us|ms|s, or --field duration=rt:UNIT`},
		{"hop,rt\nx,\nx,7\n", `in: the field "rt" holds bare numbers and its unit is not known: give --unit ns|us|ms|s, or --field duration=rt:UNIT`},
	} {
		for _, h := range []how{{}, {format: "ndjson"}, {format: "csv"}, {format: "tsv"}} {
			d := decode(t, h, c.in)
			if _, ok := d.err.(*format.UnitError); h.format == "" && (!ok || d.err.Error() != c.want) {
				t.Errorf("%s: %v", c.in, d.err)
			}
		}
	}
}

func TestRemediesOfTheUnitErrorWork(t *testing.T) {
	same(t, "--unit", one(t, how{unit: "s"}, `{"hop":"x","took":2}`).Duration, 2e9)
	same(t, "--field duration", one(t, how{fields: []string{"duration=took:us"}}, `{"hop":"x","took":2}`).Duration, 2e3)
	h := how{fields: []string{"start=start:ms", "end=end:ms"}}
	same(t, "--field start and end", one(t, h, `{"hop":"x","start":2,"end":5}`).Duration, 3e6)
}

func TestNestedAndDottedKeysAreTheSame(t *testing.T) {
	nested := one(t, how{}, `{"service":{"name":"x"},"duration_ms":1,"rpc":{"grpc":{"status_code":4}},"trace":{"id":"t"}}`)
	dotted := one(t, how{}, `{"service.name":"x","duration_ms":1,"rpc.grpc.status_code":4,"trace.id":"t"}`)
	mixed := one(t, how{}, `{"service":{"name":"x"},"duration_ms":1,"rpc.grpc":{"status_code":4},"trace":{"id":"t","other":{"id":1}}}`)
	same(t, "nested", nested, dotted)
	same(t, "mixed", mixed, dotted)
	same(t, "end", dotted.End, "truncated own")
}

func TestLastOfADuplicateKeyCounts(t *testing.T) {
	d := decodeAnyhow(t, how{unit: "ms"}, `{"trace_id":"a","hop":"x","duration":5,"duration":7}`)
	same(t, "duration", d.rows[0].Duration, 7e6)
	same(t, "warnings", fmt.Sprint(d.summary.Warnings), "[{duplicate_keys 1 field came twice in its record: the last one counts}]")
	d = decodeAnyhow(t, how{unit: "ms"}, "hop,duration,duration\nx,5,7\nx,5,\n")
	same(t, "CSV", fmt.Sprint(d.rows[0].Duration, d.rows[1].Duration), "7ms 5ms")
	same(t, "case", one(t, how{}, `{"traceID":"a","traceid":"b","hop":"x","duration_ms":1}`).Trace, "b")
}

func TestTraceIsReadFromIdsOfAllKinds(t *testing.T) {
	for in, want := range map[string]string{
		`"trace_id":"abc"`: "abc", `"trace_id":12`: "12", `"trace_id":" abc "`: "abc", `"trace_id":true`: "", `"trace_id":null`: "", `"trace_id":""`: "",
		`"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`: "4bf92f3577b34da6a3ce929d0e0e4736",
		`"traceparent":"00-4bf9-00f0-01"`:                                         "00-4bf9-00f0-01",
		`"traceparent":"x","request_id":"r"`:                                      "r",
		`"guid:x-request-id":"g"`:                                                 "g",
		`"trace_id":"a\u0062c"`:                                                   "abc",
	} {
		same(t, in, one(t, how{}, `{"hop":"x","duration_ms":1,`+in+`}`).Trace, want)
	}
}

func TestAttemptNumbersTellRetries(t *testing.T) {
	for _, c := range []struct {
		first, in string
		retry     bool
	}{
		{"", `"attempt":1`, false}, {"", `"attempt":2`, true}, {"", `"ATTEMPT":"2"`, true}, {"", `"attempt":0`, false},
		{"", `"retry_count":0`, false}, {"", `"retry_count":1`, false}, {"", `"resend_count":1`, true}, {"", `"retryAttempt":1`, true}, {"", `"http.request.resend_count":1`, true},
		{"0", `"attempt":1`, true}, {"0", `"attempt":0`, false}, {"1", `"resend_count":1`, false}, {"1", `"resend_count":2`, true},
		{"", `"attempt":2.0`, true}, {"", `"attempt":2e0`, true}, {"", `"attempt":null`, false}, {"", `"attempt":""`, false}, {"", `"x":1`, false},
	} {
		got := one(t, how{first: c.first}, `{"hop":"x","duration_ms":1,`+c.in+`}`)
		if got.Retry != c.retry {
			t.Errorf("%s, first %q: retry %v; want %v", c.in, c.first, got.Retry, c.retry)
		}
	}
	d := decode(t, how{}, `{"hop":"x","duration_ms":1,"attempt":0}`)
	same(t, "warning", d.summary.Warnings[0].Code, "attempt_below_first")
}

func TestRetryMarksOfAllKinds(t *testing.T) {
	for in, want := range map[string]bool{
		`"retry":true`: true, `"retry":false`: false, `"retry":1`: true, `"retry":0`: false, `"retry":2`: true, `"is_retry":"yes"`: true, `"retried":"NO"`: false,
		`"retry":"true"`: true, `"retry":"T"`: true, `"retry":"y"`: true, `"retry":"-"`: false, `"retry":"f"`: false, `"retry":null`: false, `"retry":""`: false,
		`"retry":false,"attempt":3`: false, `"retry":true,"attempt":1`: true, `"retry":null,"attempt":3`: true, `"retry":"","attempt":3`: true, `"retry":0.0`: false,
	} {
		same(t, in, one(t, how{}, `{"hop":"x","duration_ms":1,`+in+`}`).Retry, want)
	}
}

func TestTimestampIsTheEndUnlessToldOtherwise(t *testing.T) {
	const stamp = "2024-02-29T12:00:01Z"
	for _, c := range []struct{ timeIs, in, start, basis string }{
		{"", `"time":"` + stamp + `"`, "2024-02-29T12:00:00.995Z", "end"},
		{"end", `"ts":"` + stamp + `"`, "2024-02-29T12:00:00.995Z", "end"},
		{"start", `"@timestamp":"` + stamp + `"`, stamp, "start"},
		{"start", `"end":"` + stamp + `"`, "2024-02-29T12:00:00.995Z", "end"},
		{"end", `"start":"` + stamp + `","time":"2020-01-01T00:00:00Z"`, stamp, "start"},
		{"", `"start":null,"time":"` + stamp + `"`, "2024-02-29T12:00:00.995Z", "end"},
		{"", `"ts":1709208001.5`, "2024-02-29T12:00:01.495Z", "end"},
		{"", `"ts":1709208001500`, "2024-02-29T12:00:01.495Z", "end"},
		{"", `"start_us":1709208001500000`, "2024-02-29T12:00:01.5Z", "start"},
		{"", `"x":1`, "", "none"},
		{"", `"time":"soon"`, "", "end"},
	} {
		d := decodeAnyhow(t, how{timeIs: c.timeIs}, `{"hop":"x","duration_ms":5,`+c.in+`}`)
		if d.rows[0].Start != c.start || d.summary.TimeBasis != c.basis {
			t.Errorf("%s, time is %q: start %s, basis %s; want %s, %s", c.in, c.timeIs, d.rows[0].Start, d.summary.TimeBasis, c.start, c.basis)
		}
	}
	d := decode(t, how{}, "{\"hop\":\"x\",\"duration_ms\":5,\"start\":1709208001}\n{\"hop\":\"x\",\"duration_ms\":5,\"time\":1709208001}")
	same(t, "both", d.summary.TimeBasis, "mixed")
}

func TestDurationIsEndLessStartWhereNoneIsLogged(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`"start":"2024-02-29T12:00:00Z","end":"2024-02-29T12:00:01.5Z"`:                1500e6,
		`"start":"2024-02-29T12:00:00Z","end":"2024-02-29T14:00:00.25+02:00"`:          250e6,
		`"start_ms":10,"end_ms":15`:                                                    5e6,
		`"start_us":10,"end_ms":15`:                                                    14990e3,
		`"started_at":"2024-02-29 12:00:00","finished_at":"2024-02-29 12:00:00"`:       0,
		`"duration_ms":null,"start_s":1,"end_s":2`:                                     1e9,
		`"duration_ms":"","startTime":"2024-02-29T12:00:00Z","end_s":"1709208001"`:     1e9,
		`"start_ms":-5,"end_ms":5`:                                                     10e6,
		`"start_ns":"1709208000000000000","end_ns":1709208000000000001`:                1,
		`"duration_ms":7,"start":"2024-02-29T12:00:00Z","end":"nonsense"`:              7e6,
		`"start":"2024-02-29T12:00:00.123456789Z","end":"2024-02-29T12:00:00.123457Z"`: 211,
	} {
		same(t, in, one(t, how{}, `{"hop":"x",`+in+`}`).Duration, want)
	}
	same(t, "resolution", one(t, how{}, `{"hop":"x","start":"2024-02-29T12:00:00.123Z","end":"2024-02-29T12:00:01.5Z"}`).Resolution, 8)
	same(t, "unit", decode(t, how{}, `{"hop":"x","start":"2024-02-29T12:00:00Z","end":"2024-02-29T12:00:01Z"}`).summary.Unit, "value")
}

func TestUnreadableTimeThatIsNotNeededIsCounted(t *testing.T) {
	d := decodeAnyhow(t, how{}, `{"hop":"x","duration_ms":1,"start":"soon","end":"later","time":5}`)
	same(t, "warnings", fmt.Sprint(d.summary.Warnings), "[{unreadable_times 3 start or end times could not be read and were left out (the first: start soon)}]")
	none := decode(t, how{columns: new(columnsOf(0))}, `{"hop":"x","duration_ms":1,"start":"soon"}`)
	same(t, "nobody asked for starts", len(none.summary.Warnings), 0)
}

func TestUnitOfARunIsNamed(t *testing.T) {
	for in, want := range map[string]string{
		"{\"hop\":\"x\",\"duration_ms\":1}":                                    "ms",
		"{\"hop\":\"x\",\"duration_ns\":1}":                                    "ns",
		"{\"hop\":\"x\",\"duration\":\"1ms\"}":                                 "value",
		"{\"hop\":\"x\",\"duration_ms\":\"1s\"}":                               "value",
		"{\"hop\":\"x\",\"duration_ms\":1}\n{\"hop\":\"x\",\"duration_us\":1}": "mixed",
		"{\"hop\":\"\",\"duration_ms\":1}":                                     "none",
	} {
		same(t, in, decode(t, how{}, in).summary.Unit, want)
	}
}

func TestStratumIsTheValueOfTheKeyGiven(t *testing.T) {
	d := decodeAnyhow(t, how{by: "zone.name"}, "{\"hop\":\"x\",\"duration_ms\":1,\"zone\":{\"name\":\"eu\"}}\n{\"hop\":\"x\",\"duration_ms\":1}\n{\"hop\":\"x\",\"duration_ms\":1,\"zone.name\":3}")
	same(t, "strata", pick(d.rows, func(a attempt) string { return a.Stratum }), []string{"eu", "", "3"})
	same(t, "a key with a meaning of its own", one(t, how{by: "service"}, `{"hop":"x","service":"y","duration_ms":1}`).Stratum, "y")
}

func TestChosenKeysAreThoseOfTheFirstAcceptedRecord(t *testing.T) {
	d := decodeAnyhow(t, how{}, "{\"service\":\"a\"}\n{\"hop\":\"a\",\"took_ms\":1,\"err\":null}\n{\"service\":\"a\",\"duration_ms\":1}")
	same(t, "fields", d.summary.Files[0].Fields, map[string]string{"hop": "hop", "duration": "took_ms"})
}

func TestServiceAndOperationNameTheHop(t *testing.T) {
	const line = `{"svc":" web","op":"GET /","name":"n","duration_ms":5}`
	for _, c := range []struct {
		fields  string
		hopName string
		want    string
	}{
		{"service=svc operation=op", "", "web GET /"},
		{"service=svc operation=op", "service", "web"},
		{"service=svc operation=op", "operation", "GET /"},
		{"hop=name service=svc operation=op", "", "web GET /"},
		{"operation=op", "", "GET /"},
		{"operation=none", "", ""},
		{"service=svc", "", "n"}, // a name that is known goes before
		{"service=svc hop=name", "", "n"},
		{"service=svc hop=none", "", ""},
	} {
		d := decode(t, how{fields: strings.Fields(c.fields), hopName: c.hopName}, line+"\n")
		if got := strings.Join(pick(d.rows, hopOf), " "); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.fields, c.hopName, got, c.want)
		}
	}
	d := decode(t, how{fields: []string{"service=svc"}}, `{"svc":"web","duration_ms":5}`+"\n")
	same(t, "only a service", pick(d.rows, hopOf), []string{"web"})
}
