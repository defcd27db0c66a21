package screen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

// mostAdvised is how many calls have a row in the table of timeouts.
const mostAdvised = 5

// timeouts says what each timeout should be, for the calls of the table in their order.
func (b *builder) timeouts() *report.Block {
	list := b.advised()
	if len(list) == 0 || len(list) == 1 && b.saidInVerdict(list[0]) {
		return nil
	}
	if text := sameForAll(list); text != "" {
		return &report.Block{Label: "Timeout", Lines: []string{text}}
	}
	k := &report.Block{
		Title:   fmt.Sprintf("Timeouts (aim: at most %s needlessly timed out)", b.Timeouts.FalseTimeout.Text()),
		Columns: []report.Pillar{{Head: "call", Text: true}, {Head: "today", Text: true}, {Head: "advice", Text: true}},
	}
	for _, h := range list[:min(mostAdvised, len(list))] {
		k.Rows = append(k.Rows, []report.Cell{{Text: b.Names.Of(h.Hop)}, {Text: b.today(h)}, {Text: b.adviceText(h)}})
	}
	k.Left, k.More = max(0, len(list)-mostAdvised), "tailscope timeouts"
	if text := canarySizes(list[:min(mostAdvised, len(list))], b.mostlyEmpty()); text != "" {
		k.Lines = append(k.Lines, text)
	}
	return k
}

// advised are the calls of the table that have a timeout to set.
func (b *builder) advised() (list []*timeouts.Hop) {
	if b.Timeouts == nil {
		return nil
	}
	of := map[spans.Hop]*timeouts.Hop{}
	for i := range b.Timeouts.Hops {
		of[b.Timeouts.Hops[i].Hop] = &b.Timeouts.Hops[i]
	}
	for _, l := range b.rows {
		if h := of[l.Hop]; h != nil && h.Evidence != timeouts.None && h.N >= fewCalls {
			list = append(list, h)
		}
	}
	return list
}

// saidInVerdict reports whether the verdict says already what there is to say.
func (b *builder) saidInVerdict(h *timeouts.Hop) bool {
	for i := range b.Findings {
		f := &b.Findings[i]
		if f.Severity == findings.Fail && string(f.Hop) == h.Name && h.Canary != nil {
			return true
		}
	}
	return false
}

// sameForAll is a sentence in place of a table whose rows would all be the same.
func sameForAll(list []*timeouts.Hop) string {
	head := list[0]
	if len(list) == 1 && head.Timeout != nil && head.Evidence == timeouts.Certified {
		return certified(head)
	}
	for _, h := range list {
		if h.Allows == nil || h.N != head.N || h.Current != nil {
			return ""
		}
	}
	return fmt.Sprintf("%s: the slowest with headroom needlessly times out at most %s; %d more would do.", note.Count(head.N, "call"),
		brief.Share(head.Allows.FalseTimeout, brief.Up), head.Missing)
}

func certified(h *timeouts.Hop) string {
	return brief.Duration(*h.Timeout, brief.Up) + ": at most the aim (certified)"
}

// today is the timeout of a call today.
func (b *builder) today(h *timeouts.Hop) string {
	if h.Current == nil {
		return "not seen"
	}
	for _, l := range b.rows {
		if wall, known := l.MainWall(); known && l.Hop == h.Hop {
			return findings.Timeout(l.Result, wall)
		}
	}
	return "≤ " + brief.Duration(h.Current.Timeout, brief.Up)
}

// adviceText is what the timeout of a call should be, or what would make it known.
func (b *builder) adviceText(h *timeouts.Hop) string {
	switch {
	case h.Timeout != nil && h.Evidence == timeouts.Certified:
		return certified(h)
	case h.Timeout != nil:
		return brief.Duration(*h.Timeout, brief.Up) + ", without an upper limit (identified)"
	case h.Allows != nil:
		return fmt.Sprintf("%s needlessly times out at most %s of so few; %d more would do", brief.Duration(h.Allows.Timeout, brief.Up), brief.Share(h.Allows.FalseTimeout, brief.Up), h.Missing)
	case h.Canary == nil:
		return "unknown"
	case b.queues(h.Hop):
		return "fix the queue first, then " + canary(h)
	case h.Inner != nil:
		return "depends on its calls; " + canary(h)
	}
	return "unknown; " + canary(h)
}

// canary is the timeout under which some calls make the target known.
func canary(h *timeouts.Hop) string {
	return "canary " + brief.Duration(h.Canary.RaiseTo, brief.Nearest)
}

// canarySizes says how many calls under a canary make the target known, and how long all
// traffic takes for so many: of several calls the range. Where most of the time had no
// traffic, its rate is not known.
func canarySizes(list []*timeouts.Hop, unknownRate bool) string {
	var sizes []timeouts.Size
	for _, h := range list {
		if h.Timeout == nil && h.Allows == nil && h.Canary != nil && len(h.Canary.Sizes) > 0 {
			sizes = append(sizes, h.Canary.Sizes[len(h.Canary.Sizes)-1])
		}
	}
	if len(sizes) == 0 {
		return ""
	}
	least, most := sizes[0].Attempts, sizes[0].Attempts
	rated, fastest, slowest := !unknownRate, int64(math.MaxInt64), int64(0)
	for _, s := range sizes {
		least, most = min(least, s.Attempts), max(most, s.Attempts)
		if rated = rated && s.Takes != nil; rated {
			fastest, slowest = min(fastest, *s.Takes), max(slowest, *s.Takes)
		}
	}
	text := fmt.Sprintf("A canary of %s makes %s known, if none times out", note.Count(most, "call"), sizes[0].P.Label())
	if least != most {
		text = fmt.Sprintf("A canary of %d to %s makes %s known, if none times out", least, note.Count(most, "call"), sizes[0].P.Label())
	}
	if !rated {
		return text + "."
	}
	if a, b := brief.Length(fastest, brief.Up), brief.Length(slowest, brief.Up); a != b {
		return text + ": " + a + " to " + b + " of all traffic."
	}
	return text + ": " + brief.Length(slowest, brief.Up) + " of all traffic."
}

// queues reports whether what serves a call is seen to queue.
func (b *builder) queues(call spans.Hop) bool {
	if b.Calls != nil && slices.ContainsFunc(b.Calls.Pairs, func(p calls.Pair) bool { return p.Call == call && p.Verdict == calls.PoolFull }) {
		return true
	}
	if b.Orphans == nil {
		return false
	}
	for i := range b.Orphans.Pairs {
		if p := &b.Orphans.Pairs[i]; p.Parent == call && p.Orphaned > 0 && p.Verdict == orphans.Queue {
			return true
		}
	}
	return false
}

const mostRetrying = 3

// retries says what retries were worth, where there were any.
func (b *builder) retries() *report.Block {
	if b.Retries == nil {
		return nil
	}
	var parts []string
	more := 0
	for i := range b.Retries.Hops {
		h := &b.Retries.Hops[i]
		if h.Attempts <= h.Calls || b.Shows != nil && !b.Shows(h.Name) {
			continue
		}
		if len(parts) == mostRetrying {
			more++
			continue
		}
		parts = append(parts, b.Names.Of(h.Hop)+": "+retryText(h))
	}
	if parts == nil {
		return nil
	}
	text := strings.Join(parts, "; ") + "."
	if more > 0 {
		text += fmt.Sprintf(" And %d more: tailscope retries.", more)
	} else if b.Shows == nil {
		text += " Nothing else retries."
	}
	return &report.Block{Label: "Retries", Lines: []string{text}}
}

func retryText(h *retries.Hop) string {
	r := &h.Rescue
	if r.Of == 0 {
		return note.Count(h.Attempts-h.Calls, "retry", "retries") + " of " + note.Count(h.Calls, "call")
	}
	text := fmt.Sprintf("%d of %s rescued", r.N, note.Count(r.Of, "timeout"))
	if !r.Biased {
		text += fmt.Sprintf(" (at least %s)", brief.Share(r.Lower, brief.Down))
	}
	return text
}

// orphans says how much was worked for callers that had gone.
func (b *builder) orphans() *report.Block {
	o := b.Orphans
	if o == nil || !o.Checkable || o.Orphaned == 0 {
		return nil
	}
	n, wasted := o.Orphaned, brief.Duration(o.WastedUnion, brief.Nearest)
	if b.Shows != nil {
		n, wasted = b.orphansShown()
	}
	var text string
	switch {
	case n == 0:
		return nil
	case n == 1 && wasted != "":
		text = "1 call worked on after its caller had gone, for " + wasted
	case n == 1:
		text = "1 call worked on after its caller had gone"
	case wasted != "":
		text = fmt.Sprintf("%d calls worked on after their callers had gone, for %s in all", n, wasted)
	default:
		text = fmt.Sprintf("%d calls worked on after their callers had gone", n)
	}
	return &report.Block{Label: "Orphans", Lines: []string{text + ": tailscope orphans"}}
}

// orphansShown counts the orphans of the calls to show, and says how long they worked for
// nobody where they are of one call: what several worked may be the same time.
func (b *builder) orphansShown() (n uint64, wasted string) {
	pairs := 0
	for i := range b.Orphans.Pairs {
		p := &b.Orphans.Pairs[i]
		if p.Orphaned == 0 || !b.Shows(p.Parent.Name) && !b.Shows(p.Child.Name) {
			continue
		}
		n += p.Orphaned
		pairs++
		wasted = brief.Duration(p.Wasted, brief.Nearest)
	}
	if pairs > 1 {
		wasted = ""
	}
	return n, wasted
}
