package retries

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscope/tailscope/spans"
)

// Case is a call that its server ran to a good end more than once.
type Case struct {
	Trace string `json:"trace"`
	Span  string `json:"span"` // of the first attempt
	spans.Hop
	Start      int64 `json:"-"` // ns since the Unix epoch
	Executions int   `json:"executions"`
	Write      bool  `json:"-"` // the operation looks like one that writes
}

// severity is "error" for calls that write, "warning" for those that only cost
// twice.
func (c Case) severity() string {
	if c.Write {
		return "error"
	}
	return "warning"
}

// addServed looks at what the servers made of the calls among the tries.
func (a *Accumulator) addServed(t *spans.Trace) {
	for i := range a.tries {
		first := &a.tries[i]
		if first.Retry || !calls(a.table.hops[first.Hop].Kind) {
			continue
		}
		h := a.table.hops[first.Hop]
		if first.Outcome == spans.Truncated {
			a.addFinished(t, h, first)
		}
		if a.next[i] >= 0 {
			a.addTwice(t, h, int32(i))
		}
	}
}

// addFinished notes whether the server of a cut first attempt came to a good end,
// and how long after the cut.
func (a *Accumulator) addFinished(t *spans.Trace, h *hop, first *try) {
	end, seen, well := served(t, first.span)
	if !seen {
		return
	}
	h.finished.Of++
	if well {
		h.finished.N++
		sample(&h.finishedAfter).Add(minus(end, first.End()))
	}
}

// served looks at the servers right below a call: whether there is one, and the
// first good end of any.
func served(t *spans.Trace, call int32) (end int64, seen, well bool) {
	for _, c := range t.Children(call) {
		s := &t.Spans[c]
		if calls(t.HopOf(c).Kind) {
			continue
		}
		seen = true
		if s.Outcome == spans.Completed && s.Timed() && (!well || s.End() < end) {
			end, well = s.End(), true
		}
	}
	return end, seen, well
}

// addTwice counts the attempts of a retried call whose server came to a good end.
func (a *Accumulator) addTwice(t *spans.Trace, h *hop, first int32) {
	h.twice.Retried++
	ended, seen := 0, 0
	for i := first; i >= 0; i = a.next[i] {
		_, has, well := served(t, a.tries[i].span)
		if has {
			seen++
		}
		if well {
			ended++
		}
	}
	if seen > 1 {
		h.twice.Of++
	}
	if ended > 1 {
		a.listTwice(t, h, &a.tries[first], ended)
	}
}

func (a *Accumulator) listTwice(t *spans.Trace, h *hop, first *try, executions int) {
	c := Case{Hop: h.Hop, Start: first.Start, Executions: executions, Write: a.writes(h) || a.servedByWrite(t, first.span)}
	h.twice.N++
	if c.Write {
		h.twice.Writes++
	}
	if len(a.cases) >= a.config.Limit && (len(a.cases) == 0 || a.cases[len(a.cases)-1].Write && !c.Write) {
		return
	}
	c.Trace, c.Span = t.Name(), t.SpanName(first.span)
	a.keepCase(c)
}

// keepCase keeps the first of all cases in their order: writes before others.
func (a *Accumulator) keepCase(c Case) {
	at, _ := slices.BinarySearchFunc(a.cases, c, compareCases)
	if at >= a.config.Limit {
		return
	}
	a.cases = slices.Insert(a.cases, at, c)
	a.cases = a.cases[:min(len(a.cases), a.config.Limit)]
}

func compareCases(a, b Case) int {
	if a.Write != b.Write {
		if a.Write {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Trace, b.Trace), a.Hop.Compare(b.Hop),
		cmp.Compare(a.Span, b.Span), cmp.Compare(a.Executions, b.Executions))
}

// servedByWrite reports whether a server of the call looks like one that writes.
func (a *Accumulator) servedByWrite(t *spans.Trace, call int32) bool {
	for _, c := range t.Children(call) {
		if !calls(t.HopOf(c).Kind) && a.writes(a.table.hops[a.table.at(t.Hops, t.Spans[c].Hop)]) {
			return true
		}
	}
	return false
}

// writes reports whether a hop looks like one that writes, or was named as such.
func (a *Accumulator) writes(h *hop) bool {
	if !h.writeJudged {
		h.writeJudged = true
		h.looksLikeWrite = slices.Contains(a.config.WriteHops, h.Name) || h.Operation != "" && slices.Contains(a.config.WriteHops, h.Operation) || looksLikeWrite(h.Name)
	}
	return h.looksLikeWrite
}

// unknownWrites are the names of writes that no hop has.
func (a *Accumulator) unknownWrites() (list []string) {
	for _, name := range a.config.WriteHops {
		if !slices.ContainsFunc(a.table.hops, func(h *hop) bool { return h.Name == name || h.Operation == name }) {
			list = append(list, name)
		}
	}
	return list
}

// looksLikeWrite reports whether a name holds POST, PATCH or a word that begins
// with create, which a repetition does again. PUT and DELETE may be repeated.
func looksLikeWrite(name string) bool {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "POST" || word == "PATCH" || strings.HasPrefix(strings.ToLower(word), "create") {
			return true
		}
	}
	return false
}

// addLate notes how long after its caller each retry began.
func (a *Accumulator) addLate(t *spans.Trace) {
	for i := range a.tries {
		one := &a.tries[i]
		caller := a.tree.caller[one.span]
		if !one.Retry || !one.Timed || caller < 0 || !t.Spans[caller].Flags.Has(spans.HasStart) {
			continue
		}
		h := a.table.hops[one.Hop]
		sampleOf(&h.late, a.table.at(t.Hops, t.Spans[caller].Hop)).Add(minus(one.Start, t.Spans[caller].Start))
	}
}
