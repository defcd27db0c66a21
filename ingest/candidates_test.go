package ingest

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryKnownKeyIsRead(t *testing.T) {
	for role, sample := range map[Role]string{Trace: `"id"`, Hop: `"x"`, Duration: `"5ms"`, Start: `"2024-02-29T12:00:00Z"`, End: `"2024-02-29T12:00:00Z"`,
		Time: `"2024-02-29T12:00:00Z"`, TruncatedMark: `true`, RetryMark: `true`, Attempt: `3`, Timeout: `"9s"`, Error: `"boom"`, Status: `"boom"`,
		OutcomeWord: `"boom"`, HTTPStatus: `500`, GRPCStatus: `13`, ErrorType: `"boom"`, CutByMark: `"caller"`} {
		for _, key := range candidates[role] {
			for _, written := range []string{key, strings.ToUpper(key)} {
				record := fmt.Sprintf(`{%q:%s}`, written, sample)
				if rec := scanned(t, record); rec.get(role).empty() || rec.get(role).key.path != written {
					t.Errorf("%s: %s is not read", record, role)
				}
			}
		}
	}
}

// scanned reads one JSON object.
func scanned(t testing.TB, in string) *record {
	t.Helper()
	d := newNDJSON(settings(t), 0)
	if err := d.scanner.scan([]byte(in)); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return &d.rec
}
