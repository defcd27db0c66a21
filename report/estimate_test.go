package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscope/tailscope/report"
)

const conditioned = "if the tail goes on as below the timeout"

// A figure never stands without its condition, and never as if it were sure.
func TestEstimatesNameTheirConditionAndNoConfidence(t *testing.T) {
	for _, f := range []report.Format{report.Text, report.Markdown} {
		page := write(t, f, estimated(), report.Options{})
		for _, line := range strings.Split(page, "\n") {
			if strings.Contains(line, "estimate ") && !strings.Contains(line, conditioned) || strings.Contains(line, "estimate") && strings.Contains(line, "95 %") {
				t.Errorf("%q", line)
			}
		}
		if n := strings.Count(page, conditioned); n != 2 {
			t.Errorf("%d conditions, want those of two estimates", n)
		}
	}
}

func TestCSVOfEstimatesNamesFailedGates(t *testing.T) {
	var failed []string
	for _, row := range records(t, estimated())[1:] {
		if row["p"] == "0.9" {
			failed = append(failed, row["estimate_ns"]+"|"+row["estimate_bound_ns"]+"|"+row["estimate_failed_gates"])
		}
	}
	if diff := cmp.Diff([]string{"1234000000|2871230000|", "||2", "1234000000|2871230000|", "||1 2 5 6"}, failed); diff != "" {
		t.Error(diff)
	}
}
