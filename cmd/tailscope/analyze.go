package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newAnalyze(s streams) *cobra.Command {
	o := newOptions(s)
	o.sections |= sectionOrphans | sectionOwner | sectionRetries | sectionTimeouts
	cmd := &cobra.Command{
		Use:   "analyze [FILE…]",
		Short: "The main job: per hop, what completed, what was cut, and the honest tail",
		Long: `analyze reads hop logs and prints, per hop, how many attempts completed, were
cut by a timeout or failed, the exact quantiles of each, and the tail of the
first attempts: exact where the timeout does not touch it, a lower bound (≥)
with the reason where it does.

A FILE is a path, a glob, a folder or - for stdin; plain, gzip or zstd; NDJSON,
CSV or TSV with a header. Without a FILE it reads stdin.`,
		Example: `  tailscope analyze hops.ndjson.gz
  tailscope analyze --timeout 'orders=300ms' --timeout 'stock=400ms' logs/
  kubectl logs deploy/gateway | tailscope analyze --unit ms -`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&o.table, "table", "", "table that --format csv writes: `NAME`, one of "+strings.Join(o.sections.names(), ", ")+" (default: the first)")
	o.limitFlags(cmd.Flags())
	o.orphanFlags(cmd.Flags())
	o.ownerFlags(cmd.Flags())
	o.retryFlags(cmd.Flags())
	o.timeoutFlags(cmd.Flags())
	return cmd
}
