package main

import (
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/report/mirror"
	"github.com/tailscope/tailscope/timeouts"
)

var tmpOwner *attribution.Result
var tmpTimeouts *timeouts.Result

func (r *results) mirrored(s report.Section) report.Section {
	switch s.Key {
	case "input":
		s.JSON = func() any { return mirror.Input(r.input) }
	case "hops":
		s.JSON = func() any { return mirror.Hops(r.hops, r.view.Quantiles) }
	case "owner":
		s.JSON = func() any { return mirror.Owner(tmpOwner, r.view.Quantiles) }
	case "retries":
		s.JSON = func() any { return mirror.Retries(r.retries) }
	case "orphans":
		s.JSON = func() any { return mirror.Orphans(r.orphans, &r.view) }
	case "timeouts":
		s.JSON = func() any { return mirror.Timeouts(tmpTimeouts) }
	}
	return s
}
