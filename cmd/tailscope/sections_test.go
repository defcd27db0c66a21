package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// What --table and JSON call a section is one name.
func TestSectionsAreCalledByTheirKeys(t *testing.T) {
	t.Parallel()
	const input = "../../testdata/chain/jaeger-raw.json.gz"
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(tailscope("", "analyze", "--format", "json", input).out), &members); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if k.command.Use == "" {
			continue // others use it
		}
		if len(members[k.name]) < 10 {
			t.Errorf("JSON has no member %s", k.name)
		}
		r := tailscope("", "analyze", "--format", "csv", "--table", k.name, input)
		if r.code != exitFine || strings.Count(r.out, "\n") < 2 {
			t.Errorf("--table %s: exit code %d, %s\n%s", k.name, r.code, r.stderr, r.out)
		}
	}
}
