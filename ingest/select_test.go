package ingest

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSelectionKeepsWhatMeetsAllConditions holds what is read of lines against a filter
// that looks at each by itself, in every format and at every size of chunks.
func TestSelectionKeepsWhatMeetsAllConditions(t *testing.T) {
	conditions := map[string]func(tenant, zone string) bool{
		"tenant=x":    func(tenant, _ string) bool { return tenant == "x" },
		"Tenant!=x":   func(tenant, _ string) bool { return tenant != "x" },
		"tenant~x*":   func(tenant, _ string) bool { return strings.HasPrefix(tenant, "x") },
		"tenant=":     func(tenant, _ string) bool { return tenant == "" },
		"tenant!=":    func(tenant, _ string) bool { return tenant != "" },
		"net.zone=1":  func(_, zone string) bool { return zone == "1" },
		"net.zone!~?": func(_, zone string) bool { return len(zone) != 1 },
	}
	rapid.Check(t, func(r *rapid.T) {
		where := rapid.SliceOfN(rapid.SampledFrom([]string{"tenant=x", "Tenant!=x", "tenant~x*", "tenant=", "tenant!=", "net.zone=1", "net.zone!~?"}), 1, 2).Draw(r, "where")
		var json, csv strings.Builder
		csv.WriteString("hop,duration_ms,truncated,tenant,net.zone\n")
		var want []string
		for i := range rapid.IntRange(1, 60).Draw(r, "lines") {
			tenant := rapid.SampledFrom([]string{"x", "xy", "y", ""}).Draw(r, "tenant")
			zone := rapid.SampledFrom([]string{"1", "22", ""}).Draw(r, "zone")
			fmt.Fprintf(&json, `{"hop":"h%d","duration_ms":%d,"truncated":false`, i, i+1)
			if tenant != "" || rapid.Bool().Draw(r, "empty") {
				fmt.Fprintf(&json, `,"tenant":%q`, tenant)
			}
			if zone != "" {
				fmt.Fprintf(&json, `,"net":{"zone":%s}`, zone)
			}
			json.WriteString("}\n")
			fmt.Fprintf(&csv, "h%d,%d,false,%s,%s\n", i, i+1, tenant, zone)
			kept := true
			for _, w := range where {
				kept = kept && conditions[w](tenant, zone)
			}
			if kept {
				want = append(want, fmt.Sprint("h", i))
			}
		}
		for _, in := range []string{json.String(), csv.String()} {
			h := how{where: where, chunk: rapid.SampledFrom([]int{0, 1, 64, 512}).Draw(r, "chunk")}
			d := decode(t, h, in)
			if d.err != nil {
				r.Fatal(d.err)
			}
			got := pick(d.rows, func(a attempt) string { return a.Hop })
			if strings.Join(got, " ") != strings.Join(want, " ") {
				r.Fatalf("%v of\n%s\nkeeps %v, not %v", where, in, got, want)
			}
			if int(d.summary.Accepted) != len(want) || d.summary.Filtered != d.summary.Records-d.summary.Accepted {
				r.Fatalf("%d accepted, %d filtered of %d", d.summary.Accepted, d.summary.Filtered, d.summary.Records)
			}
		}
	})
}

// TestSelectionLooksAtBrokenRecordsToo: a record that cannot be used is filtered where its
// keys or its time show that it is not asked for, else rejected.
func TestSelectionLooksAtBrokenRecordsToo(t *testing.T) {
	in := `{"hop":"a","duration_ms":"bad","tenant":"x","start":"2026-05-01T10:00:00Z"}
{"hop":"a","duration_ms":"bad","tenant":"y","start":"2026-05-01T10:00:00Z"}
{"duration_ms":5,"tenant":"x","time":"2026-05-01T12:00:00Z"}
{"hop":"a","duration_ms":1000,"tenant":"x","time":"2026-05-01T10:00:00.5Z"}
{"hop":"a","duration_ms":1000,"tenant":"x","time":"2026-05-01T10:00:01Z"}
not json
`
	for _, c := range []struct {
		how                          how
		accepted, rejected, filtered int64
	}{
		{how{where: []string{"tenant=x"}}, 2, 3, 1},
		{how{since: "2026-05-01T10:00:00Z", until: "2026-05-01T11:00:00Z"}, 1, 3, 2}, // an end less the duration is the start
		{how{since: "2026-05-01T11:00:00Z"}, 0, 2, 4},
		{how{where: []string{"tenant=y"}, until: "2026-05-01T11:00:00Z"}, 0, 2, 4},
		{how{since: "2026-05-01T10:00:00Z", timeIs: "start"}, 2, 4, 0},
	} {
		s := decodeAnyhow(t, c.how, in).summary
		same(t, fmt.Sprint(c.how.where, c.how.since, c.how.until), []int64{s.Accepted, s.Rejected, s.Filtered}, []int64{c.accepted, c.rejected, c.filtered})
	}
}
