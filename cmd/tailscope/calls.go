package main

import (
	"cmp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/calls"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

var callsKind = kind{
	name: "calls",
	command: cobra.Command{
		Use:   "calls [FILE…]",
		Short: "Queue or slow: why each call is slow, and how busy its callee is, in full",
		Long: `calls holds each call against the server's span that answers it: how long it waited,
there and back, and how long it was worked on. It says of each call why the slow ones
are slow:

  slow_instance     one instance works several times as long as the others
  pool_full         calls wait until another one gives up its place
  network_or_clock  the time is between the two spans, and nothing queues
  slow_work         the time is the server's work
  unknown           the data do not tell, and what would

A full pool is shown by hand-overs, not by a plateau of calls open at once, which a
load generator makes too. It needs traces with spans of both sides.`,
		Example: `  tailscope calls traces.json.gz
  tailscope calls --format json traces.json | jq '.calls.pairs[] | {call, verdict}'`,
	},
	reads: spans.Hosts | spans.Instances,
	new:   func() settings { return new(callSettings) },
	merge: merges[*calls.Accumulator],
	rules: rulesOf("call_rules", calls.Rules[:]),
}

type callSettings struct{}

func (*callSettings) declare(*options, *pflag.FlagSet, bool) {}

func (*callSettings) check(*plan, bool) error { return nil }

// callShare is what part of --memory the moments of calls have, and the samples of one
// callee after them.
const callShare = 4

func (*callSettings) collect(p *plan) any {
	return calls.NewAccumulator(calls.Config{Memory: p.memory / callShare / int64(p.jobs), TempDir: p.tempDir})
}

func (s *callSettings) result(r *results, _ any) func() report.Section {
	result := r.whyCalls()
	return func() report.Section { return result.Section(&r.view) }
}

// whyCalls makes the result of calls, which others rest on, once.
func (r *results) whyCalls() *calls.Result {
	if r.calls != nil {
		return r.calls
	}
	_, collected := collectedBy[*callSettings, *calls.Accumulator](r)
	if collected == nil {
		return nil
	}
	kind := r.sampling.Kind
	result := collected.Result(calls.Query{
		Quantiles: r.plan.quantiles, Memory: r.plan.memory / callShare, Jobs: r.plan.jobs,
		Biased: kind == sampling.Biased, Sampled: kind == sampling.Biased || kind == sampling.Probability || r.sampling.Weighted,
	})
	r.calls = &result
	return r.calls
}

// whyHop returns why the calls of a hop are slow, or those that it answers, by its name;
// nil where that is not known.
func (r *results) whyHop(name string) *calls.Pair {
	all := r.whyCalls()
	if p := all.Of(name); p != nil {
		return p
	}
	for i := range r.hops {
		if h := r.hops[i].Hop; h.Name == name && h.Kind == spans.Server {
			return all.OfCallee(cmp.Or(h.Service, h.Name))
		}
	}
	return nil
}

// causeOf says for the owner of the tail, and where failures sit, why a hop is slow.
func (r *results) causeOf(name string) *attribution.Cause {
	p := r.whyHop(name)
	if p == nil {
		return nil
	}
	return &attribution.Cause{Verdict: string(p.Verdict), Text: p.Sentence(), Brief: p.Brief()}
}

// whyOrphans says why callees outlast their calls, as all calls show it.
func (r *results) whyOrphans(call, _ spans.Hop) orphans.Verdict {
	p := r.whyCalls().Of(call.Name)
	if p == nil {
		return ""
	}
	return map[calls.Verdict]orphans.Verdict{
		calls.PoolFull: orphans.Queue, calls.SlowWork: orphans.Slow, calls.SlowInstance: orphans.Slow, calls.NetworkOrClock: orphans.OnTheWay,
	}[p.Verdict]
}

// fullPoolOf returns the pair of a hop's calls if they wait for a full pool, else nil.
func (r *results) fullPoolOf(call spans.Hop) *calls.Pair {
	if p := r.whyCalls().Of(call.Name); p != nil && p.Verdict == calls.PoolFull {
		return p
	}
	return nil
}

// queueOf says what calls wait for before the advice on their timeout.
func (r *results) queueOf(call spans.Hop) *timeouts.Queue {
	p := r.fullPoolOf(call)
	if p == nil {
		return nil
	}
	f := &p.Figures
	return &timeouts.Queue{Callee: p.Callee, Side: string(p.Side), Size: f.Size, Utilisation: f.Utilisation, ForSeventy: f.ForSeventy, Brief: p.Brief()}
}

// queueText says it in a few words.
func (r *results) queueText(call spans.Hop) string {
	if p := r.fullPoolOf(call); p != nil {
		return p.Brief()
	}
	return ""
}
