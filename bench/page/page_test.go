package page

import (
	"strings"
	"testing"
)

func TestOnlyWhatStandsBetweenTheMarksIsReplaced(t *testing.T) {
	page := "# A\n<!-- measured: rows -->\nold\n<!-- end of rows -->\nB\n"
	got, err := between(page, "rows", "new\n")
	if want := strings.Replace(page, "old", "new", 1); err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, broken := range []string{"", "<!-- measured: rows -->\nopen"} {
		if _, err := between(broken, "rows", ""); err == nil {
			t.Errorf("%q: no error", broken)
		}
	}
}
