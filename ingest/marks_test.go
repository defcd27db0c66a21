package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/spans"
)

func columnsOf(c spans.Columns) spans.Columns { return c }

// How an attempt ended, by every row of the decision table that hop logs can
// show. "?" after an ending: nothing in the record says so.
func TestEndingsByEvidence(t *testing.T) {
	t.Parallel()
	for ending, records := range map[string][]string{
		"completed?": {``, `"cut_by":"own"`, `"timeout":"5s"`, `"timeout_ms":0`, `"timeout_ms":1`, `"deadline":"x"`, `"status":{"code":2}`, `"error":[]`, `"error":{ }`},
		"completed": {
			`"timeout":false`, `"timed_out":0`, `"is_timeout":"no"`, `"truncated":null`, `"truncated":""`, `"timeout":0`, `"timeout":"0"`, `"timeout":"False"`,
			`"error":null`, `"error":""`, `"error":false`, `"error":0`, `"err":"-"`, `"error":"none"`, `"error":"OK"`, `"error":"false"`,
			`"status":200`, `"status":"204"`, `"status":302`, `"status":100`, `"status":"ok"`, `"status":"Success"`, `"status":"completed"`, `"status":"2xx"`, `"status":"3xx"`,
			`"status":0`, `"status":"STATUS_CODE_OK"`, `"status":"STATUS_CODE_UNSET"`, `"outcome":"success"`, `"outcome":"succeeded"`, `"outcome":"done"`,
			`"http.response.status_code":200`, `"grpc.code":"OK"`, `"rpc.grpc.status_code":0`, `"rpc.grpc.status_code":"0"`, `"grpc.code":null`, `"error.type":""`,
		},
		"truncated own": {
			`"timeout":true`, `"timeout":1`, `"timeout":"1"`, `"timeout":"TRUE"`, `"timeout":"yes"`, `"timed_out":true`, `"timedOut":1`, `"is_timeout":"true"`, `"truncated":"T"`,
			`"truncated":true,"status":200`, `"timeout":true,"error":"boom"`, `"truncated":true,"cut_by":"nobody"`, `"truncated":true,"cut_by":3`,
			`"rpc.grpc.status_code":4`, `"rpc.grpc.status_code":"4"`, `"rpc.grpc.status_code":4.0`, `"rpc.response.status_code":"DEADLINE_EXCEEDED"`, `"rpc.status_code":"DEADLINE_EXCEEDED"`,
			`"grpc.code":"DeadlineExceeded"`, `"grpc.status_code":"4"`, `"status":4`, `"status":"deadline exceeded"`, `"status":"TIMEOUT"`, `"status":"timed_out"`,
			`"outcome":"timeout"`, `"error":"timeout"`, `"err":"DEADLINE_EXCEEDED"`, `"error.type":"timeout"`, `"error.type":"java.net.SocketTimeoutException"`,
			`"error":{"type":"DEADLINE_EXCEEDED"}`, `"error.type":"context.deadlineExceededError"`, `"outcome":"truncated"`,
			`"error":"boom","status":500,"grpc.code":"DeadlineExceeded"`,
		},
		"truncated below": {
			`"error.type":"gateway timeout"`, `"http.response.status_code":504`, `"http.status_code":"504"`, `"status":504`, `"status":"504"`, `"status":504.0`, `"error.type":"504"`, `"error":504`, `"outcome":504`,
			`"truncated":true,"cut_by":"below"`, `"error":"boom","status":504`,
		},
		"truncated caller": {
			`"http.response.status_code":499`, `"status":460`, `"rpc.grpc.status_code":1`, `"grpc.code":"Canceled"`, `"grpc.code":"CANCELLED"`, `"status":"cancelled"`, `"outcome":"canceled"`,
			`"timeout":true,"cut_by":"Caller"`, `"status":504,"cut_by":"caller"`, `"error.type":"499"`,
		},
		"truncated unknown":   {`"truncated":1,"cut_by":"unknown"`},
		"failed throttled":    {`"status":429`, `"grpc.code":"RESOURCE_EXHAUSTED"`, `"grpc.code":8`, `"error":"too many requests"`},
		"failed unavailable":  {`"status":502`, `"status":503`, `"grpc.code":14`, `"grpc.code":"Unavailable"`, `"error":"Service Unavailable"`},
		"failed server_error": {`"status":500`, `"status":501`, `"status":"5xx"`, `"grpc.code":13`, `"grpc.code":"INTERNAL"`, `"grpc.code":2`},
		"failed client_error": {`"status":400`, `"status":404`, `"status":408`, `"status":"4xx"`, `"grpc.code":3`, `"grpc.code":"NOT_FOUND"`, `"grpc.code":16`},
		"failed refused":      {`"error":"connection refused"`, `"error.type":"ECONNREFUSED"`},
		"failed reset":        {`"error":"connection reset"`, `"error.type":"ECONNRESET"`},
		"failed other": {
			`"error":"boom"`, `"error":"call inventory: context deadline exceeded"`, `"status":"weird"`, `"error":{"message":"boom"}`, `"error":["boom"]`,
			`"error":"a very long message that is longer than any word with a meaning: timeout"`, `"error.type":"IOException"`,
		},
		"failed unknown": {
			`"error":true`, `"error":1`, `"error":"1"`, `"error":"true"`, `"status":"error"`, `"outcome":"failure"`, `"status":"failed"`, `"status":17`, `"status":99`, `"status":600`,
			`"status":-1`, `"status":200.5`, `"status":1e30`, `"grpc.code":17`, `"grpc.code":-1`, `"error.type":true`, `"status":"STATUS_CODE_ERROR"`,
			`"error":true,"status":500`[:12],
		},
	} {
		want, unmarked := strings.CutSuffix(ending, "?")
		for _, fields := range records {
			got := one(t, how{}, strings.Replace(`{"hop":"x","duration_ms":1,`+fields+`}`, `1,}`, `1}`, 1))
			if got.End != want || got.Marked == unmarked {
				t.Errorf("%s: %s, marked %v; want %s", fields, got.End, got.Marked, ending)
			}
		}
	}
}

// All evidence is weighed: any that says cut wins, else the strongest failure.
func TestStrongestEvidenceDecides(t *testing.T) {
	for fields, want := range map[string]string{
		`"status":200,"error":"boom"`:                                     "failed other",
		`"status":500,"error":"boom"`:                                     "failed server_error",
		`"status":"ok","grpc.code":"DeadlineExceeded"`:                    "truncated own",
		`"http.status_code":504,"grpc.code":4`:                            "truncated own",
		`"http.status_code":504,"grpc.code":14`:                           "truncated below",
		`"grpc.code":1,"error":"timeout"`:                                 "truncated caller",
		`"truncated":false,"status":504`:                                  "truncated below",
		`"timeout":false,"error":"boom"`:                                  "failed other",
		`"outcome":"success","error":true`:                                "failed unknown",
		`"status":503,"error.type":"ReadTimeout"`:                         "truncated own",
		`"http.status_code":404,"status":500,"error":"reset"`:             "failed client_error",
		`"error":{"type":"IOException","message":"x"},"status":"5xx"`:     "failed other",
		`"error":{"message":"x"},"http":{"response":{"status_code":429}}`: "failed throttled",
	} {
		same(t, fields, one(t, how{}, `{"hop":"x","duration_ms":1,`+fields+`}`).End, want)
	}
}

func TestNamedErrorFieldSettlesHowAttemptsEnd(t *testing.T) {
	h := how{fields: []string{"error=problem"}}
	for fields, want := range map[string]string{
		`"problem":"boom","status":504`: "failed other",
		`"problem":null,"status":504`:   "completed",
		`"status":504`:                  "completed",
		`"problem":504`:                 "truncated below",
		`"problem":"","timeout":true`:   "truncated own",
	} {
		same(t, fields, one(t, h, `{"hop":"x","duration_ms":1,`+fields+`}`).End, want)
	}
}

func TestNamedTruncationMarkIsRead(t *testing.T) {
	h := how{fields: []string{"truncated=gave_up"}}
	same(t, "yes", one(t, h, `{"hop":"x","duration_ms":1,"gave_up":"Y","timed_out":false}`).End, "truncated own")
	same(t, "no", one(t, h, `{"hop":"x","duration_ms":1,"gave_up":"n","timed_out":true}`).End, "completed")
}

func TestEmptyCellOfAMarkIsANo(t *testing.T) {
	d := decodeAnyhow(t, how{}, "hop,duration_ms,timed_out,error,timeout\nx,1,,,\nx,1,1,,\nx,1,,boom,\nx,1,,,1\nx,1,,,2s\n")
	same(t, "endings", pick(d.rows, func(a attempt) string { return fmt.Sprint(a.End, a.Marked) }),
		[]string{"completedtrue", "truncated owntrue", "failed othertrue", "truncated owntrue", "completedtrue"})
}

func TestTimeoutWithAUnitIsTheAttemptsOwn(t *testing.T) {
	for _, c := range []struct {
		unit, in string
		want     int64
		unused   bool
	}{
		{"", `"timeout":"5s"`, 5e9, false}, {"", `"timeout_ms":250`, 250e6, false}, {"", `"timeoutMs":"250"`, 250e6, false}, {"", `"deadline":"PT2S"`, 2e9, false},
		{"ms", `"timeout":250`, 250e6, false}, {"ms", `"timeout":1`, 1e6, false}, {"", `"timeout_s":1`, 1e9, false}, {"", `"timeout_ms":0`, 0, false},
		{"", `"timeout":5`, 0, true}, {"", `"timeout":2.5`, 0, true}, {"", `"deadline":"soon"`, 0, true}, {"", `"timeout":"-5s"`, 0, true}, {"", `"timeout":null`, 0, false},
		{"", `"timeout":""`, 0, false}, {"", `"timeout":true`, 0, false},
	} {
		d := decodeAnyhow(t, how{unit: c.unit}, `{"hop":"x","duration_ms":1,`+c.in+`}`)
		if len(d.rows) != 1 || int64(d.rows[0].Timeout) != c.want {
			t.Fatalf("%s: %+v, rejects %v", c.in, d.rows, d.rejects)
		}
		if unused := len(d.summary.Warnings) > 0 && d.summary.Warnings[0].Code == "unused_timeouts"; unused != c.unused {
			t.Errorf("%s: warnings %v", c.in, d.summary.Warnings)
		}
	}
}

func TestMessagesThatSpeakOfTimeoutsAreTold(t *testing.T) {
	for fields, want := range map[string]bool{
		`"msg":"read: i/o timeout"`:                           true, // nothing says that it succeeded
		`"status":200,"msg":"read: i/o timeout"`:              false,
		`"status":200,"level":"WARN","msg":"it timed out"`:    true,
		`"status":200,"level":40,"msg":"it timed out"`:        true,
		`"status":200,"level":"info","msg":"it timed out"`:    false,
		`"msg":"settings: timeout=30s, read timeout: 5000"`:   false,
		`"error":"boom","settings":{"timeout":"30s"}`:         false,
		`"error":"boom","path":"/timeout"`:                    false,
		`"error":"boom","deep":{"er":{"why":"ETIMEDOUT"}}`:    true,
		`"truncated":false,"msg":"it timed out"`:              false,
		`"success":false,"why":["boom","context canceled"]`:   true,
		`"error":"call inventory: context deadline exceeded"`: true,
		`"error":"Read Timed Out after 3 tries"`:              true,
		`"err":"read tcp: i/o TIMEOUT"`:                       true,
		`"error":{"message":"i/o timeout"}`:                   true,
		`"status":500,"error":"upstream said: timeout"`:       true,
		`"error":"boom"`:            false,
		`"status":200,"error":null`: false,
		`"timeout":true,"error":"call inventory: context deadline exceeded"`: false,
	} {
		d := decodeAnyhow(t, how{}, `{"hop":"x","duration_ms":1,`+fields+`}`)
		same(t, fields, d.rows[0].Speaks, want)
	}
}

func TestSummarySaysWhereTheMarksCameFrom(t *testing.T) {
	for _, c := range []struct {
		fields     string
		configured bool
		want       string
	}{
		{``, false, "none"}, {``, true, "configured"}, {`,"timeout":false`, true, "field"}, {`,"timed_out":null`, false, "field"}, {`,"error":null`, true, "rules"}, {`,"timeout":"5s"`, false, "none"},
	} {
		h := how{format: "ndjson"}.config(t)
		_, chunks := chunksOf(t, h, "in", `{"hop":"x","duration_ms":1`+c.fields+"}\n", 0)
		ledger := NewLedger()
		d := NewDecoder(h, newChecked(t), 0, false)
		defer d.Release()
		tally := d.Decode(chunks[0], func(*spans.Batch) {})
		if err := ledger.Add(tally); err != nil {
			t.Fatal(err)
		}
		same(t, c.fields, ledger.Summary(c.configured).TruncationMarks, c.want)
		same(t, c.fields+" marked", ledger.Marked(), c.want == "field" || c.want == "rules")
	}
}
