package main

import (
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/sampling"
	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/timeouts"
)

func newTimeouts(s streams) *cobra.Command {
	o := newOptions(s)
	o.sections = sectionTimeouts
	cmd := &cobra.Command{
		Use:   "timeouts [FILE…]",
		Short: "What each timeout should be, and the whole request's, with the evidence",
		Long: `timeouts says, for each hop whose timeout a caller sets, what it should be so that
no more than a given share of the attempts is cut in vain, and what that stands on:

  certified       the quantile has an upper limit: with headroom, rounded up
  identified      the quantile is known, but too few attempts bound it
  not_identified  today's timeout hides it: no figure, but a canary that would tell
  none            the input says nothing of it

A call that makes calls itself is given its own work and what it grants them. The
budget of a request adds up calls in a row, takes the longest of those side by side
and reserves its retries once. No model's guess ever sets a timeout.`,
		Example: `  tailscope timeouts hops.ndjson.gz
  tailscope timeouts --false-timeout 1% --allowance 1s --entry-budget 5s traces.json.gz`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	o.limitFlags(cmd.Flags())
	o.timeoutFlags(cmd.Flags())
	return cmd
}

// adviceFlags are the flags of timeoutFlags as given.
type adviceFlags struct {
	falseTimeout, per, headroom   string
	allowance, floor, entryBudget time.Duration
}

// timeoutFlags declares the flags of the commands that advise timeouts.
func (o *options) timeoutFlags(f *pflag.FlagSet) {
	a := &o.advice
	f.StringVar(&a.falseTimeout, "false-timeout", "0.1%", "`SHARE` of attempts that a timeout may cut although they would have come to an end")
	f.StringVar(&a.per, "false-timeout-per", "call", "what --false-timeout is a share of: call, or request, which makes several")
	f.StringVar(&a.headroom, "headroom", "1.33", "timeout over the bound of the quantile, as a `FACTOR`")
	f.DurationVar(&a.allowance, "allowance", 10*time.Millisecond, "least that a timeout is above the bound")
	f.DurationVar(&a.floor, "floor", 10*time.Millisecond, "least timeout")
	f.DurationVar(&a.entryBudget, "entry-budget", 0, "what a request may take in all, to be handed down (default: as much as its calls need)")
}

// planAdvice checks the flags of timeoutFlags.
func (o *options) planAdvice(p *plan) error {
	p.calls = callgraph.Config{Memory: p.memory / 8 / int64(max(1, o.jobs)), TempDir: o.tempDir}
	if !p.sections.has(sectionTimeouts) {
		return nil
	}
	a, s := &o.advice, &p.advice
	var err error
	if s.FalseTimeout, err = timeouts.ParseShare(a.falseTimeout); err != nil {
		return fmt.Errorf("--false-timeout: %w", err)
	}
	if err := oneOf("--false-timeout-per", a.per, "call", "request"); err != nil {
		return err
	}
	if s.Headroom, err = timeouts.ParseFactor(a.headroom); err != nil {
		return fmt.Errorf("--headroom %q: %w", a.headroom, err)
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"allowance", a.allowance}, {"floor", a.floor}, {"entry-budget", a.entryBudget}} {
		if f.d < 0 {
			return fmt.Errorf("--%s %s: a time of at least 0", f.name, f.d)
		}
	}
	s.PerRequest = a.per == "request"
	s.Allowance, s.Floor, s.EntryBudget = int64(a.allowance), int64(a.floor), int64(a.entryBudget)
	return nil
}

func (p *plan) timeoutsQuery(f *found, v sampling.Verdict, hops []buckets.Result, q buckets.Query, worth *retries.Result) timeouts.Query {
	first := byRow(f.set.FirstCompleted())
	confidence := p.confidence
	if len(hops) > 0 {
		confidence = hops[0].Confidence // of each limit, where all hold at once
	}
	return timeouts.Query{
		Settings: p.advice, Hops: hops, Target: *q.Target, Confidence: confidence, Graph: f.calls.Graph(), Retries: worth,
		FirstCompleted: func(r *buckets.Result) quantile.Union { return first[keyOfRow(r)] },
		Biased:         v.Kind == sampling.Biased,
		Sampled:        v.Kind == sampling.Biased || v.Kind == sampling.Probability || v.Weighted,
		Weighted:       v.Weighted,
	}
}

// byRow joins the durations of each row.
func byRow(hops iter.Seq2[spans.Hop, quantile.Union]) map[rowKey]quantile.Union {
	rows := map[rowKey]quantile.Union{}
	for h, u := range hops {
		k := keyOfHop(h)
		rows[k] = append(rows[k], u...)
	}
	return rows
}
