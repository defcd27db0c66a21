package main

import "github.com/spf13/cobra"

func newQuantiles(s streams) *cobra.Command {
	o := newOptions(s)
	cmd := &cobra.Command{
		Use:   "quantiles [FILE…]",
		Short: "Only the hop table: buckets and quantiles per hop, the fastest path",
		Long: `quantiles prints the hop table of analyze and nothing else, and decodes only
the fields that it needs.`,
		Example: `  tailscope quantiles --quantiles 0.5,0.99 --format csv hops.ndjson`,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd.Flags())
	o.limitFlags(cmd.Flags())
	return cmd
}
