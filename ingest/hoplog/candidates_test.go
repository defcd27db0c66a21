package hoplog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/ingest/field"
)

func TestEveryKnownKeyIsRead(t *testing.T) {
	for role, sample := range map[field.Role]string{field.Trace: `"id"`, field.Hop: `"x"`, field.Duration: `"5ms"`, field.Start: `"2024-02-29T12:00:00Z"`, field.End: `"2024-02-29T12:00:00Z"`,
		field.Time: `"2024-02-29T12:00:00Z"`, field.TruncatedMark: `true`, field.RetryMark: `true`, field.Attempt: `3`, field.Timeout: `"9s"`, field.Error: `"boom"`, field.Status: `"boom"`,
		field.OutcomeWord: `"boom"`, field.HTTPStatus: `500`, field.GRPCStatus: `13`, field.ErrorType: `"boom"`, field.CutByMark: `"caller"`} {
		for _, key := range candidates[role] {
			for _, written := range []string{key, strings.ToUpper(key)} {
				record := fmt.Sprintf(`{%q:%s}`, written, sample)
				if rec := scanned(t, record); rec.Get(role).Empty() || rec.Get(role).Key.Path != written {
					t.Errorf("%s: %s is not read", record, role)
				}
			}
		}
	}
}

// scanned reads one JSON object.
func scanned(t testing.TB, in string) *field.Record {
	t.Helper()
	d := newNDJSON(settings(t), 0)
	if err := d.scanner.scan([]byte(in)); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return &d.rec
}
