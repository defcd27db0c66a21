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
