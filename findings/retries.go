package findings

import (
	"fmt"
	"time"

	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/retries"
)

// eachRetrying calls see with every hop that the analysis of retries knows.
func (m *maker) eachRetrying(see func(*retries.Hop)) {
	if m.Retries == nil {
		return
	}
	for i := range m.Retries.Hops {
		see(&m.Retries.Hops[i])
	}
}

func (m *maker) retriesDoNotHelp() {
	m.eachRetrying(func(h *retries.Hop) {
		if h.Rescue.Verdict != retries.SameSlowness {
			return
		}
		f := m.about(RetriesNoHelp, Warn, h.Hop)
		f.count("rescued", h.Rescue.N)
		f.count("retried", h.Rescue.Of)
		f.Text = fmt.Sprintf("Retries of %s do not help: %d of %s that timed out completed then (at most %s).", m.name(h.Hop), h.Rescue.N, note.Count(h.Rescue.Of, "call"),
			f.share("rescued_upper", h.Rescue.Upper, brief.Up))
		f.Do = []string{"Do not retry " + m.name(h.Hop) + " after a timeout: it is as slow again and doubles the load."}
		m.add(f)
	})
}

// mostAttempts is how many attempts one request may become.
const mostAttempts = 10

func (m *maker) retriesAmplify() {
	if m.Retries == nil {
		return
	}
	a := &m.Retries.Amplification
	several := warned(m.Retries.Warnings, "several_layers_retry")
	if a.Possible <= mostAttempts && !several {
		return
	}
	f := m.general(RetriesAmplify, Warn)
	if a.Possible > mostAttempts {
		f.Severity = Fail
	}
	var names []string
	for _, l := range a.Layers {
		names = append(names, m.name(l.Hop))
	}
	f.count("layers", uint64(len(a.Layers)))
	f.Text = fmt.Sprintf("One request may become %d attempts: %s retry.", f.count("possible", a.Possible), few(names))
	f.Do = []string{"Retry in one layer only, and let the others fail fast."}
	m.add(f)
}

// mostRetries is the share of retries in the first attempts of a minute that is too much.
const mostRetries = .1

func (m *maker) retryStorm() {
	if m.Retries == nil || m.biased() {
		return
	}
	worst := m.Retries.Ratio.Worst
	if worst.Of == 0 {
		return
	}
	lower, _ := m.limits(min(worst.N, worst.Of), worst.Of)
	if lower <= mostRetries {
		return
	}
	f := m.general(RetryStorm, Warn)
	f.count("retries", worst.N)
	f.count("first_attempts", worst.Of)
	at := time.Unix(0, m.Retries.Ratio.At).UTC().Format(time.RFC3339)
	f.Figures["at"] = at
	f.Text = fmt.Sprintf("In the minute from %s, %d retries came to %s.", at, worst.N, note.Count(worst.Of, "first attempt"))
	f.Do = []string{"Set a retry budget: at most 10 % of the requests."}
	m.add(f)
}

func (m *maker) retriesInStep() {
	m.eachRetrying(func(h *retries.Hop) {
		if h.Backoff.Jitter != retries.NoJitter || h.Backoff.P50 == nil {
			return
		}
		f := m.about(RetriesInStep, Warn, h.Hop)
		f.count("gaps", h.Backoff.N)
		f.Text = fmt.Sprintf("Retries of %s all wait the same %s: clients that fail together come back together.", m.name(h.Hop), f.ns("gap_p50", *h.Backoff.P50, brief.Nearest))
		f.Do = []string{"Add jitter to the waits before retries of " + m.name(h.Hop) + "."}
		m.add(f)
	})
	if m.Retries == nil || len(m.Retries.InStep) == 0 {
		return
	}
	most := uint64(0)
	for _, one := range m.Retries.InStep {
		most = max(most, one.Traces)
	}
	f := m.general(RetriesInStep, Warn)
	f.count("moments", uint64(len(m.Retries.InStep)))
	f.Text = fmt.Sprintf("Retries come in step: those of up to %s began within 10 ms.", note.Count(f.count("requests", most), "request"))
	if p := m.Retries.Period; p != nil {
		f.Text = fmt.Sprintf("Retries come in pulses %s apart: those of up to %s began within 10 ms.", f.ns("period", *p, brief.Nearest), note.Count(most, "request"))
	}
	f.Do = []string{"Add jitter to the waits before retries."}
	m.add(f)
}

func (m *maker) executedTwice() {
	m.eachRetrying(func(h *retries.Hop) {
		t := h.ExecutedTwice
		if t == nil || t.N == 0 {
			return
		}
		f := m.about(ExecutedTwice, Info, h.Hop)
		f.count("twice", t.N)
		f.count("of", t.Of)
		f.Text = fmt.Sprintf("%d of %s of %s ran on the server more than once.", t.N, note.Count(t.Of, "retried call"), m.name(h.Hop))
		if t.Writes > 0 {
			f.Severity, f.Harmed = Fail, t.Writes
			f.Text = fmt.Sprintf("%d of %s of %s ran on the server more than once, and %d look like writes.", t.N, note.Count(t.Of, "retried call"), m.name(h.Hop), f.count("writes", t.Writes))
			f.Do = []string{"Make " + m.name(h.Hop) + " idempotent, or do not retry it."}
		}
		m.add(f)
	})
}

func (m *maker) retriesTooLate() {
	m.eachRetrying(func(h *retries.Hop) {
		t := h.TooLate
		if t == nil || t.N == 0 {
			return
		}
		f := m.about(RetriesTooLate, Warn, h.Hop)
		f.count("too_late", t.N)
		f.count("retries", t.Of)
		f.Text = fmt.Sprintf("%d of %s of %s began too late to end before the caller gives up.", t.N, note.Count(t.Of, "retry", "retries"), m.name(h.Hop))
		f.Do = []string{"Retry " + m.name(h.Hop) + " only while a whole attempt still fits into the caller's timeout."}
		m.add(f)
	})
}

func (m *maker) permanentRetried() {
	m.eachRetrying(func(h *retries.Hop) {
		if h.Permanent == 0 {
			return
		}
		f := m.about(PermanentRetried, Warn, h.Hop)
		f.count("retries", h.Permanent)
		f.Text = fmt.Sprintf("%s of %s came after a 4xx, which fails again.", note.Count(h.Permanent, "retry", "retries"), m.name(h.Hop))
		f.Do = []string{"Retry " + m.name(h.Hop) + " only after timeouts, resets, 429, 502, 503 and 504."}
		m.add(f)
	})
}
