package hoplog_test

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/moment"
)

func ExampleNewTable() {
	rules, _ := outcome.NewSet(outcome.Config{})
	keys := hoplog.NewTable(field.Config{Unit: moment.NoUnitGiven}, rules)
	for _, use := range keys.Uses("elapsed_ms") {
		fmt.Println(use.Role, use.Unit)
	}
	// Output: duration ms
}
