// Package findings says what is wrong with a system, and with what is known of it: an
// ordered list of causes with their figures.
//
//  1. Each code is a row of Codes and a function over the results of the analyses.
//  2. Those of one call are joined under the worst of them: one finding a cause.
//  3. They are sorted: an incomplete input, then by severity, requests harmed, time
//     wasted, hop and code.
//
// A sentence rounds lower limits down and upper limits up; Figures has the same figures
// as they are, durations in ns.
package findings

import (
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/spans"
)

// Severity says how much a finding matters.
type Severity string

// Fail: users are hit, or a figure would deceive its reader. Warn: something is wrong.
// Info: good to know.
const (
	Fail Severity = "fail"
	Warn Severity = "warn"
	Info Severity = "info"
)

// rank orders severities, the worst first.
func (s Severity) rank() int {
	switch s {
	case Fail:
		return 0
	case Warn:
		return 1
	}
	return 2
}

// Finding is a cause with its figures. Each text is a sentence or two.
type Finding struct {
	Code     Code                   `json:"code"`
	Severity Severity               `json:"severity"`
	Hop      jsontype.Text          `json:"hop"` // null where it is about the whole input
	Text     string                 `json:"text"`
	Why      jsontype.List[string]  `json:"why"`
	Cost     jsontype.List[string]  `json:"cost"`
	Do       jsontype.List[string]  `json:"do"`
	Joined   jsontype.List[Finding] `json:"joined"` // of the same call, less bad than this one
	Figures  jsontype.Map[any]      `json:"figures"`

	// Call is the hop, of a server the call that it serves; none where the finding is about
	// the whole input.
	Call spans.Hop `json:"-"`
	// Harmed is how many requests are hurt, Wasted how long somebody worked for nobody, in ns.
	Harmed uint64 `json:"-"`
	Wasted int64  `json:"-"`
}
