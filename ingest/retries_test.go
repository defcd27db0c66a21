package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/spans"
)

func retriesOf(d decoded) (n int) {
	for _, r := range d.rows {
		if r.Retry {
			n++
		}
	}
	return n
}

// An attempt of the same chain and hop that begins after a cut one is its retry, however
// the input is cut into chunks.
func TestRetriesOfALogWithoutAMark(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		at := 1790000000000 + i*1000
		if i%5 == 0 {
			fmt.Fprintf(&b, `{"chain_id":"k%d","hop":"a","start_ms":%d,"duration_ms":100,"truncated":true}`+"\n", i, at)
			at += 120
		}
		fmt.Fprintf(&b, `{"chain_id":"k%d","hop":"a","start_ms":%d,"duration_ms":5,"truncated":false}`+"\n", i, at)
	}
	for _, columns := range []*spans.Columns{nil, &startColumns, &traceColumns, &ownerColumns} {
		for _, chunk := range []int{0, 1000, 50_000} {
			d := decode(t, how{columns: columns, chunk: chunk}, b.String())
			same(t, "retries", []int{len(d.rows), retriesOf(d)}, []int{3600, 600})
		}
	}
	off := how{rules: outcome.Config{Not: []string{outcome.RuleSibling}}}
	same(t, "without the rule", retriesOf(decode(t, off, b.String())), 0)
	table := "chain_id,hop,start_ms,duration_ms,error\n" + strings.Repeat("k,a,1790000000000,100,boom\nk,a,1790000000100,5,\nk,a,1790000000200,5,\n", 3)
	same(t, "in a table", retriesOf(decodeAnyhow(t, how{}, table)), 3)
}

// In a log that marks nothing an attempt as long as its timeout gave up, for all that is known.
func TestRetriesOfALogThatMarksNothing(t *testing.T) {
	log := `{"chain_id":"k","hop":"a","start_ms":1790000000000,"duration_ms":100}` + "\n" + `{"chain_id":"k","hop":"a","start_ms":1790000000120,"duration_ms":5}` + "\n"
	given := func(ms int64) how { return how{rules: outcome.Config{Timeouts: map[string]int64{"a": ms * 1e6}}} }
	same(t, "without a timeout", retriesOf(decodeAnyhow(t, how{}, log)), 0)
	same(t, "as long as it", retriesOf(decodeAnyhow(t, given(100), log)), 1)
	same(t, "shorter", retriesOf(decodeAnyhow(t, given(101), log)), 0)
	same(t, "as long as the recorded one", retriesOf(decodeAnyhow(t, how{}, strings.ReplaceAll(log, `"duration_ms":`, `"timeout_ms":100,"duration_ms":`))), 1)
	marked := strings.ReplaceAll(log, `"duration_ms"`, `"truncated":false,"duration_ms"`)
	same(t, "where it says that it completed", retriesOf(decodeAnyhow(t, given(100), marked)), 0)
}

// What is no retry.
func TestAttemptsThatRetryNothing(t *testing.T) {
	cut := `{"chain_id":"k","hop":"a","start_ms":1790000000000,"duration_ms":100,"truncated":true%s}` + "\n"
	for more, next := range map[string]string{
		"at the same time":  `{"chain_id":"k","hop":"a","start_ms":1790000000099,"duration_ms":100,"truncated":false}`,
		"another hop":       `{"chain_id":"k","hop":"b","start_ms":1790000000120,"duration_ms":100,"truncated":false}`,
		"another chain":     `{"chain_id":"l","hop":"a","start_ms":1790000000120,"duration_ms":100,"truncated":false}`,
		"no chain":          `{"hop":"a","start_ms":1790000000120,"duration_ms":100,"truncated":false}`,
		"no time":           `{"chain_id":"k","hop":"a","duration_ms":100,"truncated":false}`,
		"marked as a first": `{"chain_id":"k","hop":"a","start_ms":1790000000120,"duration_ms":100,"truncated":false,"retry":false}`,
	} {
		same(t, more, retriesOf(decodeAnyhow(t, how{}, fmt.Sprintf(cut, "")+next)), 0)
	}
}

// A row that counts its tries is one call.
func TestARowThatCountsItsTriesIsOneCall(t *testing.T) {
	for in, want := range map[string]uint8{
		`"retry_count":2`: 3, `"retries":"0"`: 1, `"RetryAttempts":1`: 2, `"attempt_count":2`: 2, `"attempts":1`: 1, `"upstream_request_attempt_count":0`: 0, `"x-envoy-attempt-count":3`: 3,
		`"num_retries":1000`: 255, `"retry_count":null`: 0, `"retry_count":"x"`: 0, `"retry_count":-1`: 0, `"tags":{"retryCount":4}`: 5,
	} {
		d := decodeAnyhow(t, how{}, `{"hop":"x","duration_ms":1,`+in+`}`)
		same(t, in, []any{d.rows[0].Tries, d.rows[0].Retry}, []any{want, false})
	}
	span := readTraces(t, traceHow{}, withField(`"tags":[{"key":"retry.count","value":2}]`)).rows[0]
	same(t, "of a span", []any{span.Tries, span.Ties}, []any{uint8(3), ""})
	d := decode(t, how{}, fixture(t, "found/p18-retry-count-summary.ndjson"))
	same(t, "calls", []any{len(d.rows), retriesOf(d), d.rows[0].Tries, d.warned("numbered_tries")}, []any{20, 0, uint8(3), ""})
}

// A count that goes up by one with each line of a chain and hop numbers the attempts.
func TestCountsThatNumberAttemptsAreWarnedOf(t *testing.T) {
	in := ""
	for i := range 3 {
		in += fmt.Sprintf(`{"chain_id":"k","hop":"a","duration_ms":5,"retry_count":%d}`+"\n", i)
	}
	d := decodeAnyhow(t, how{}, in)
	if text := d.warned("numbered_tries"); !strings.HasPrefix(text, "2 records count") || !strings.Contains(text, "--field attempt=KEY") {
		t.Errorf("%q", text)
	}
	named := decode(t, how{fields: []string{"attempt=retry_count"}}, in)
	same(t, "named", []any{retriesOf(named), named.warned("numbered_tries")}, []any{2, ""})
}
