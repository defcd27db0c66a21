package waterfall

import (
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/durations"
)

// lone writes one time in its own unit.
func lone(ns int64) string { return brief.Duration(ns, brief.Nearest) }

// figure writes one time on the scale of all.
func figure(ns int64, s brief.Scale) string {
	if ns == 0 {
		return "0"
	}
	return s.Text(ns, brief.Nearest)
}

// unitOf is the unit of a scale.
func unitOf(s brief.Scale) durations.Unit {
	for _, u := range durations.Units {
		if u.Name == s.Unit() {
			return u
		}
	}
	return durations.Units[0]
}
