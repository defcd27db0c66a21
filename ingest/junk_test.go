package ingest

import (
	"strings"
	"testing"
)

// What is no document any more is given up, named, with what came before it. A few
// faults are not: what follows them is read.
func TestJunkInsideADocumentIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, junk := range []string{"]", "},", `"x`, "{]", `{"traceID":1,]`, "@"} {
		in := `{"data":[` + uiTrace + "," + strings.Repeat(junk, 5000) + "," + uiTrace + "]}"
		d := decode(t, how{}, in)
		if junk == "@" { // one fault, however long
			if d.damage != nil {
				t.Errorf("%s: %v", junk, d.damage)
			}
			continue
		}
		if d.damage == nil || !strings.Contains(d.damage.Error(), "1000 faults in a row") || d.summary.Accepted == 0 || d.summary.Rejected > 2100 {
			t.Errorf("%s: damage %v, %d accepted, %d rejected", junk, d.damage, d.summary.Accepted, d.summary.Rejected)
		}
		in = `{"data":[` + uiTrace + "," + strings.Repeat(junk, 300) + "," + uiTrace + "]}"
		if d := decode(t, how{}, in); d.damage != nil && strings.Contains(d.damage.Error(), "faults in a row") {
			t.Errorf("300 of %s: %v", junk, d.damage)
		}
	}
}
