package report_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/tailscope/tailscope/report"
)

// What is not known of the sample is said once, not once a cell.
func TestUnknownSampleHasOneFootnote(t *testing.T) {
	for name, f := range map[string]report.Format{"text": report.Text, "markdown": report.Markdown} {
		out := write(t, f, unknownSample(), report.Options{})
		if n := strings.Count(out, "how these traces were chosen is not known: values and limits are theirs"); n != 1 {
			t.Errorf("%s: the footnote stands %d times in\n%s", name, n, out)
		}
		if strings.Contains(write(t, f, cutTail(), report.Options{}), "how these traces were chosen") {
			t.Errorf("%s: the footnote stands in a report of all attempts", name)
		}
	}
}

// No duration of a biased sample but its extremes, and no share, in any format.
func TestBiasedSampleShowsCountsAndExtremesOnly(t *testing.T) {
	hop := decode(t, biasedSample())["hops"].([]any)[0].(map[string]any)
	if hop["failed_share"] != nil {
		t.Errorf("failed_share is %v", hop["failed_share"])
	}
	for key, v := range hop["truncated_share"].(map[string]any) {
		if v != nil && key != "confidence" {
			t.Errorf("truncated_share.%s is %v", key, v)
		}
	}
	for _, name := range []string{"completed", "truncated", "failed", "recorded"} {
		b := hop[name].(map[string]any)
		if b["mean_ns"] != nil || len(b["quantiles"].([]any)) > 0 || b["max_ns"] == nil || b["n"] == json.Number("0") {
			t.Errorf("%s is %v", name, b)
		}
	}
	for _, row := range records(t, biasedSample())[1:] {
		for _, key := range []string{"truncated_share", "truncated_share_lower", "truncated_share_upper", "failed_share", "value_ns", "lower_ns", "upper_ns", "km_ns",
			"completed_quantile_ns", "truncated_quantile_ns", "recorded_quantile_ns"} {
			if row[key] != "" {
				t.Errorf("CSV: %s is %q", key, row[key])
			}
		}
	}
	page := write(t, report.Text, biasedSample(), report.Options{})
	tail, _, _ := strings.Cut(page, "Durations by how")
	if found := regexp.MustCompile(`\d (ms|s|%)( |$)`).FindAllString(strings.ReplaceAll(tail, "95 % limits", ""), -1); found != nil {
		t.Errorf("the tail holds %q:\n%s", found, tail)
	}
	if !strings.Contains(page, "biased sample: what was kept") {
		t.Errorf("no footnote:\n%s", page)
	}
}
