package preset

import (
	"fmt"
	"strings"
	"testing"
)

func TestAPresetIsToldByTheKeysOfOneLine(t *testing.T) {
	const envoy = `{"response_flags":"-","duration":4,"response_code":200}`
	other := strings.Repeat(`{"hop":"a","duration_ms":4,"time":"2026-01-15T02:00:00Z"}`+"\n", mostLines-1)
	for name, c := range map[string]struct{ head, want string }{
		"on the first line":                   {envoy, "envoy"},
		"on the last that counts":             {other + envoy, "envoy"},
		"on the one after":                    {other + "\n" + envoy, ""},
		"blanks around the colons":            {`{"response_flags" : "-", "duration"` + "\t: 4, \"response_code\"  :200}", "envoy"},
		"with a dot for nesting":              {`{"transaction.duration.us":5,"service":{"name":"a"},"trace":{"id":"b"}}`, "elastic-apm"},
		"in objects":                          {`{"transaction":{"duration":{"us":5}},"service":{"name":"a"},"trace":{"id":"b"}}`, "elastic-apm"},
		"on several lines":                    {`{"response_flags":"-"}` + "\n" + `{"duration":4,"response_code":200}`, ""},
		"as values":                           {`{"a":"response_flags","b":"duration","c":"response_code"}`, ""},
		"as ends of other keys":               {`{"no_response_flags":"-","my duration":4,"response_code":200}`, ""},
		"columns":                             {"metric_name,timestamp,metric_value\nhttp_req_duration,1,2", "k6-csv"},
		"columns in quotes":                   {"\ufeff\"metric_name\";\"timestamp\";\"metric_value\"", "k6-csv"},
		"columns of a line that is not first": {"a,b\nmetric_name,timestamp,metric_value", ""},
		"nothing":                             {"", ""},
		"a colon":                             {":", ""},
		"a quote before a colon":              {`":`, ""},
	} {
		got := ""
		if p := Recognise([]byte(c.head)); p != nil {
			got = p.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// Where files are many, most have no preset: none of their lines is read for it.
func TestTheHeadOfAFileWithoutAPresetIsNotReadLineByLine(t *testing.T) {
	var head strings.Builder
	for i := range mostLines {
		fmt.Fprintf(&head, `{"time":"2026-01-15T02:00:00Z","duration_us":%d,"hop":"a","status":"ok"}`+"\n", i)
	}
	b := []byte(head.String())
	if n := testing.AllocsPerRun(100, func() { Recognise(b) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
