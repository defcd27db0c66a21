package main

import (
	"testing"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/timeouts"
)

// What --table and JSON call a section is one name.
func TestSectionsAreCalledByTheirKeys(t *testing.T) {
	r := &results{owner: new(attribution.Result), retries: new(retries.Result), orphans: new(orphans.Result), timeouts: new(timeouts.Result)}
	for _, k := range kinds {
		if s := k.make(r); s.Key != k.name || len(s.Data.Columns) == 0 {
			t.Errorf("%s: key %s, %d columns for CSV", k.name, s.Key, len(s.Data.Columns))
		}
	}
}
