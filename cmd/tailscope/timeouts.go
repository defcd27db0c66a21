package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans/assembly"
	"github.com/tailscope/tailscope/timeouts"
)

var timeoutsKind = kind{
	name: "timeouts",
	command: cobra.Command{
		Use:   "timeouts [FILE…]",
		Short: "What each timeout should be, and the whole request's, with the evidence",
		Long: `timeouts says, for each hop whose timeout a caller sets, what it should be so that
no more than a given share of the attempts times out needlessly, and what that stands on:

  certified       the quantile has an upper limit: with headroom, rounded up
  identified      the quantile is known, but timeouts or slow failures leave it without a limit
  too_few         nothing timed out, but too few attempts bound the quantile: what they allow
  not_identified  today's timeout hides it: no figure, but a canary that would tell
  none            the input says nothing of it

A call that makes calls itself gets the smaller of its own limit and of what its parts
take at most. The deadline of a request adds up calls in a row, takes the longest of
those side by side and reserves retries that were seen once. No model's guess ever
sets a timeout.`,
		Example: `  tailscope timeouts hops.ndjson.gz
  tailscope timeouts --false-timeout 1% --allowance 1s --entry-budget 5s traces.json.gz`,
	},
	rests: []string{"owner", "calls", "retries", "orphans"},
	keep:  assembly.KeepAll,
	new:   func() settings { return new(timeoutSettings) },
	merge: merges[*callgraph.Accumulator],
	rules: rulesOf("timeout_rules", timeouts.Rules[:]),
}

type timeoutSettings struct {
	falseTimeout, per, headroom   string
	allowance, floor, entryBudget time.Duration

	advice timeouts.Settings
}

func (s *timeoutSettings) declare(o *options, f *pflag.FlagSet, alone bool) {
	if alone {
		o.limitFlags(f)
	}
	f.StringVar(&s.falseTimeout, "false-timeout", "0.1%", "`SHARE` of attempts that may time out needlessly: they would have completed; auto: 0.1%, and what they allow where too few attempts were seen")
	f.StringVar(&s.per, "false-timeout-per", "call", "what --false-timeout is a share of: call, or request, which makes several")
	f.StringVar(&s.headroom, "headroom", "1.33", "timeout over the bound of the quantile, as a `FACTOR`")
	f.DurationVar(&s.allowance, "allowance", 10*time.Millisecond, "least that a timeout is above the bound")
	f.DurationVar(&s.floor, "floor", 10*time.Millisecond, "least timeout")
	f.DurationVar(&s.entryBudget, "entry-budget", 0, "deadline of a request, to be handed down (default: as much as its calls need)")
}

func (s *timeoutSettings) check(*plan, bool) (err error) {
	a := &s.advice
	if a.Allowed = s.falseTimeout == "auto"; a.Allowed {
		s.falseTimeout = "0.1%"
	}
	if a.FalseTimeout, err = timeouts.ParseShare(s.falseTimeout); err != nil {
		return fmt.Errorf("--false-timeout: %w", err)
	}
	if err := oneOf("--false-timeout-per", s.per, "call", "request"); err != nil {
		return err
	}
	if a.Headroom, err = timeouts.ParseFactor(s.headroom); err != nil {
		return fmt.Errorf("--headroom %q: %w", s.headroom, err)
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"allowance", s.allowance}, {"floor", s.floor}, {"entry-budget", s.entryBudget}} {
		if f.d < 0 {
			return fmt.Errorf("--%s %s: a time of at least 0", f.name, f.d)
		}
	}
	a.PerRequest = s.per == "request"
	a.Allowance, a.Floor, a.EntryBudget = int64(s.allowance), int64(s.floor), int64(s.entryBudget)
	return nil
}

func (*timeoutSettings) collect(p *plan) any {
	return callgraph.NewAccumulator(callgraph.Config{Memory: p.memory / 8 / int64(p.jobs), TempDir: p.tempDir})
}

func (s *timeoutSettings) result(r *results, collected any) func() report.Section {
	first := r.merged.hops().FirstCompleted()
	confidence, kind := r.plan.confidence, r.sampling.Kind
	if len(r.hops) > 0 {
		confidence = r.hops[0].Confidence // of each limit, where all hold at once
	}
	advice := timeouts.Advise(timeouts.Query{
		Settings: s.advice, Hops: r.hops, Target: *r.query.Target, Confidence: confidence, Graph: collected.(*callgraph.Accumulator).Graph(), Retries: r.retries,
		FirstCompleted: first,
		Biased:         kind == sampling.Biased,
		Sampled:        kind == sampling.Biased || kind == sampling.Probability || r.sampling.Weighted,
		Weighted:       r.sampling.Weighted,
		Queue:          r.queueOf,
	})
	r.timeouts = &advice
	return func() report.Section { return advice.Section(&r.view) }
}

func (o *options) planTimeouts(p *plan) error {
	p.timeouts = map[string]int64{}
	for _, s := range o.timeouts {
		at := strings.LastIndexByte(s, '=')
		if at <= 0 {
			return fmt.Errorf("--timeout %q: write HOP=DURATION, such as orders=300ms", s)
		}
		hop := s[:at]
		if first, ok := severalTimeouts(hop); ok {
			return fmt.Errorf("--timeout %q: give --timeout once for each hop: --timeout %s --timeout %s", s, quoted(first), quoted(s[len(first)+1:]))
		}
		d, err := time.ParseDuration(s[at+1:])
		if err != nil || d <= 0 {
			return fmt.Errorf("--timeout %q: %q is no duration above zero, such as 300ms or 5s", s, s[at+1:])
		}
		if _, twice := p.timeouts[hop]; twice {
			return fmt.Errorf("--timeout names hop %q twice", hop)
		}
		p.timeouts[hop] = int64(d)
	}
	return nil
}

// severalTimeouts returns the first of several HOP=DURATION with commas between them.
func severalTimeouts(hop string) (first string, ok bool) {
	for at := range len(hop) {
		if hop[at] != ',' {
			continue
		}
		_, d, found := strings.Cut(hop[:at], "=")
		if _, err := time.ParseDuration(strings.TrimSpace(d)); found && err == nil {
			return hop[:at], true
		}
	}
	return "", false
}

// quoted is a word of the command line.
func quoted(s string) string {
	if s = strings.TrimSpace(s); strings.ContainsAny(s, " <>'") {
		return fmt.Sprintf("%q", s)
	}
	return s
}
