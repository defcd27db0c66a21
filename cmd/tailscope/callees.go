package main

import (
	"github.com/tailscope/tailscope/callees"
	"github.com/tailscope/tailscope/spans"
)

// tellCallees finds the client hops whose calls go to several services, and has every
// worker tell them apart.
func (l *pipeline) tellCallees(f *merged) error {
	if !mayCallSeveral(l.traces.Hops()) {
		return nil
	}
	surveys := make([]*callees.Survey, len(l.workers))
	for i := range surveys {
		surveys[i] = callees.NewSurvey()
	}
	err := l.traces.Sample(l.ctx, len(l.workers), func(worker int, t *spans.Trace) error {
		l.workers[worker].markRetries(t)
		surveys[worker].AddTrace(t)
		return nil
	})
	for _, s := range surveys[1:] {
		surveys[0].Merge(s)
	}
	apart, warnings := surveys[0].Apart()
	f.notes = append(f.notes, warnings...)
	for _, w := range l.workers {
		w.splitter = callees.NewSplitter(apart)
	}
	return err
}

// mayCallSeveral reports whether there are calls, and more than one service to call
// besides the caller's.
func mayCallSeveral(hops []spans.Hop) bool {
	calls, services := false, map[string]bool{}
	for _, h := range hops {
		calls = calls || h.Kind == spans.Client
		if h.Kind == spans.Server && len(services) < 2 {
			services[h.Service] = true
		}
	}
	return calls && len(services) > 1
}
