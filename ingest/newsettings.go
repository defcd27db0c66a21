package ingest

import (
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/hoplog"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/ingest/trace"
)

// NewSettings builds what the formats need to know of the user's wishes. An
// error is a mistake in the rules.
func NewSettings(c field.Config, r outcome.Config) (*format.Settings, error) {
	rules, err := outcome.NewSet(r)
	if err != nil {
		return nil, err
	}
	return &format.Settings{Config: c, Rules: rules, Lines: hoplog.NewTable(c, rules), Tags: trace.NewTable(c, rules)}, nil
}
