package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "tailscope",
		Short: "Which hop owns the tail, and what its timeout should be",
		Long: `tailscope reads hop logs, one line an attempt, and says per hop how many
attempts completed and how many a timeout cut, the exact quantiles of each, and
which quantiles the timeout hides.

A p95 made of timed-out requests describes the timeout, not the hop.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())}
	})
	root.AddCommand(commands(s)...)
	root.AddCommand(newInspect(s), newRules(s), newVersion(s))
	return root
}

// usageArgs makes a wrong number of arguments, or an unknown command, a usage
// error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{fmt.Errorf("%w\nsee '%s --help'", err, cmd.CommandPath())}
		}
		return nil
	}
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "tailscope %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// version is the module's version, or that of the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
