package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/orphans"
)

func newOrphans(s streams) *cobra.Command {
	o := newOptions(s)
	o.sections = sectionOrphans
	cmd := &cobra.Command{
		Use:   "orphans [FILE…]",
		Short: "Work that goes on after its caller gave up, in full",
		Long: `An orphan is a child span that runs on after its parent gave up. It is not a
span whose parent is absent: that is a missing parent, though many tools call it
an orphan.

orphans counts them, says how much time they wasted, which calls reach them, how
many callees honour a cancellation, which timeouts are inverted, and lists the
worst cases. It needs parent ids, so a hop log is not checkable.`,
		Example: `  tailscope orphans traces.json.gz
  tailscope orphans --trace-url 'https://jaeger.example.com/trace/{trace}' traces.json
  tailscope orphans --fail-on 'orphans>0' traces.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	o.orphanFlags(cmd.Flags())
	return cmd
}

// orphanFlags declares the flags of the commands that look for orphans.
func (o *options) orphanFlags(f *pflag.FlagSet) {
	f.DurationVar(&o.tolerance, "tolerance", time.Millisecond, "how long a child may outlast its parent and still count as contained")
	f.IntVar(&o.limit, "limit", 20, "most orphans to list")
	f.StringVar(&o.sort, "sort", "wasted", "what makes an orphan worse: wasted or overrun")
	f.StringVar(&o.traceURL, "trace-url", "", "address of a trace, with {trace} for its id: `URL`")
	f.StringArrayVar(&o.failOn, "fail-on", nil, "exit 3 if it holds: `RULE`, such as 'orphans>0'; names: "+ruleNames()+"; repeatable")
}

// planOrphans checks the flags of orphanFlags.
func (o *options) planOrphans(p *plan) error {
	if o.tolerance < 0 {
		return fmt.Errorf("--tolerance %s: at least 0", o.tolerance)
	}
	if o.limit < 0 {
		return fmt.Errorf("--limit %d: at least 0", o.limit)
	}
	if err := oneOf("--sort", o.sort, "", "wasted", "overrun"); err != nil {
		return err
	}
	if o.traceURL != "" && !strings.Contains(o.traceURL, "{trace}") {
		return fmt.Errorf("--trace-url %q: write {trace} where the id belongs", o.traceURL)
	}
	p.orphans = orphans.Config{Tolerance: int64(o.tolerance), Limit: o.limit, ByOverrun: o.sort == "overrun"}
	p.traceURL = o.traceURL
	for _, s := range o.failOn {
		rule, err := parseRule(s)
		if err != nil {
			return err
		}
		p.failOn = append(p.failOn, rule)
	}
	return nil
}
