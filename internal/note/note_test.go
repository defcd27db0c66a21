package note

import (
	"encoding/json"
	"testing"
)

// The keys are part of the JSON contract.
func TestWarningInJSON(t *testing.T) {
	got, err := json.Marshal(Warning{Code: "is_maximum", Text: "max of 60"})
	if want := `{"code":"is_maximum","text":"max of 60"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestCountedNouns(t *testing.T) {
	for want, got := range map[string]string{
		"0 spans": Count(0, "span"), "1 span": Count(uint64(1), "span"), "2 spans": Count(int64(2), "span"),
		"1 retry": Count(1, "retry", "retries"), "3 retries": Count(3, "retry", "retries"),
		"it is": Form(1.0, "it is", "they are"), "they are": Form(1.5, "it is", "they are"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCodes(t *testing.T) {
	if got := Codes([]Warning{{Code: "drift"}, {Code: "weighted"}}); got != "drift weighted" {
		t.Errorf("%q", got)
	}
}
