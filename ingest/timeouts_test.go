package ingest

import (
	"testing"
	"time"
)

// The timeout of a call, as a tag of its span and as a field of a line.
func TestTimeoutsOfSpans(t *testing.T) {
	for _, c := range []struct {
		unit, key, value string
		want             time.Duration
		unused           bool
	}{
		{"", "rpc.request.timeout", `"500ms"`, 500 * time.Millisecond, false},
		{"", "rpc.request.timeout_ms", `500`, 500 * time.Millisecond, false},
		{"", "timeout_ms", `"250"`, 250 * time.Millisecond, false},
		{"", "timeoutMs", `250`, 250 * time.Millisecond, false},
		{"", "grpc-timeout", `"500m"`, 500 * time.Millisecond, false},
		{"", "rpc.request.metadata.grpc-timeout", `"5S"`, 5 * time.Second, false},
		{"", "x-envoy-expected-rq-timeout-ms", `"15000"`, 15 * time.Second, false},
		{"", "http.request.timeout", `"PT2S"`, 2 * time.Second, false},
		{"", "rpc.request.timeout", `500`, 0, true},
		{"ms", "rpc.request.timeout", `500`, 500 * time.Millisecond, false},
		{"", "rpc.request.timeout", `"soon"`, 0, true},
		{"", "timeout_ms", `1790000000000`, 0, true},
	} {
		line := `{"hop":"x","duration_ms":1,"` + c.key + `":` + c.value + `}`
		d := decode(t, how{unit: c.unit}, line)
		same(t, line, []any{d.rows[0].Timeout, d.warned("unused_timeouts") != ""}, []any{c.want, c.unused})
		span := withField(`"tags":[{"key":"` + c.key + `","value":` + c.value + `}]`)
		s := readTraces(t, traceHow{unit: c.unit}, span)
		same(t, "span of "+line, []any{s.rows[0].Timeout, s.warned("unused_timeouts") != ""}, []any{c.want, c.unused})
	}
}

func TestNamedTagsOfSpans(t *testing.T) {
	h := traceHow{fields: []string{"timeout=limit:s", "truncated=gave_up", "retry=again", "attempt=try", "success=fine"}}
	for tags, want := range map[string]spanRow{
		`{"key":"limit","value":3},{"key":"gave_up","value":"yes"}`:             {Timeout: 3 * time.Second, End: "truncated own", Marked: true},
		`{"key":"timeout_ms","value":3},{"key":"timed_out","value":true}`:       {},
		`{"key":"again","value":true}`:                                          {Ties: "retry"},
		`{"key":"try","value":1}`:                                               {Ties: "retry"},
		`{"key":"fine","value":false}`:                                          {End: "failed unknown", Marked: true},
		`{"key":"http.status_code","value":504},{"key":"gave_up","value":"no"}`: {End: "truncated below", Marked: true},
	} {
		got := readTraces(t, h, withField(`"tags":[`+tags+`]`)).rows[0]
		same(t, tags, spanRow{Timeout: got.Timeout, End: got.End, Marked: got.Marked, Ties: got.Ties}, want)
	}
}

func TestTheTimeoutOfACallIsRecorded(t *testing.T) {
	for _, h := range []traceHow{{}, {fields: []string{"timeout=rpc.request.timeout"}}} {
		d := readTraces(t, h, fixture(t, "found/timeout-attribute.json"))
		cut := 0
		for _, r := range d.rows {
			if r.End == "truncated own" {
				cut++
			}
			same(t, r.Span, r.Timeout, 500*time.Millisecond)
		}
		same(t, "spans and cuts", []int{len(d.rows), cut}, []int{40, 10})
	}
}

// A point in time is a deadline: from the start on there is so much left.
func TestATimeoutThatIsAPointInTimeIsADeadline(t *testing.T) {
	for _, c := range []struct {
		times  string
		want   time.Duration
		unused bool
	}{
		{`"start_ms":1790000000000,"deadline_ms":1790000000250`, 250 * time.Millisecond, false},
		{`"start":"2026-09-21T10:00:00Z","deadline":"2026-09-21T10:00:01.5Z"`, 1500 * time.Millisecond, false},
		{`"end_ms":1790000000100,"deadline_ms":1790000000200`, 101 * time.Millisecond, false},
		{`"deadline_ms":1790000000200`, 0, true},
		{`"start_ms":1790000000000,"deadline_ms":1790000000000`, 0, true},
		{`"start_ms":1790000000000,"deadline_ms":1790090000000`, 0, true}, // in 25 hours
		{`"start_ms":1790000000000,"deadline_ms":500`, 500 * time.Millisecond, false},
	} {
		line := `{"hop":"x","duration_ms":1,` + c.times + `}`
		d := decode(t, how{}, line)
		same(t, line, []any{d.rows[0].Timeout, d.warned("unused_timeouts") != ""}, []any{c.want, c.unused})
	}
}

// So are those of spans, which say the unit by their key, their size or as text.
func TestADeadlineOfASpanIsATimeout(t *testing.T) {
	for _, c := range []struct {
		key, value string // of a span that starts at 1700000000 s
		want       time.Duration
		unused     bool
	}{
		{"rpc.deadline", `1700000000250`, 250 * time.Millisecond, false},
		{"rpc.deadline", `1700000000250000000`, 250 * time.Millisecond, false},
		{"grpc.deadline", `1700000002`, 2 * time.Second, false},
		{"deadline", `"2023-11-14T22:13:21.5Z"`, 1500 * time.Millisecond, false},
		{"rpc.request.timeout_ms", `1700000000250`, 250 * time.Millisecond, false},
		{"deadline_ns", `1700000000250000000`, 250 * time.Millisecond, false},
		{"deadline_ms", `500`, 500 * time.Millisecond, false},
		{"rpc.deadline", `1700000000000`, 0, true},
		{"rpc.deadline", `1700090000000`, 0, true}, // in 25 hours
		{"rpc.deadline", `250`, 0, true},
	} {
		number := `{"intValue":"` + c.value + `"}`
		if c.value[0] == '"' {
			number = `{"stringValue":` + c.value + `}`
		}
		for _, in := range []string{
			withField(`"tags":[{"key":"` + c.key + `","value":` + c.value + `}]`),
			otlpField(`"attributes":[{"key":"` + c.key + `","value":` + number + `}]`),
		} {
			d := readTraces(t, traceHow{}, in)
			same(t, in, []any{d.rows[0].Timeout, d.warned("unused_timeouts") != ""}, []any{c.want, c.unused})
		}
	}
}
