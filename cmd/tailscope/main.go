// Command tailscope reads hop logs and traces and says, per hop, which quantiles of
// the latency are exact, which the timeout hides, and what it should be.
//
// A run is a pipeline:
//
//	files ── ingest.Open ── File.Next ──> chunks of whole records
//	chunks ── ingest.Decoder ──> spans.Batch, rejects       (a worker each)
//	batches ── buckets.Accumulator.AddBatch                 (the same worker)
//	sets ── Merge ── Results ── timeouts.Advise ── report.Format ──> stdout
//
// run.go is that pipeline; every command has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/spf13/cobra"
	"github.com/tailscope/tailscope/internal/spill"
	"github.com/tailscope/tailscope/report"
)

func main() {
	boundGarbage()
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// mostGarbage is how many percent of what a run keeps may lie in memory beside it
// until it is collected. Hops, samples and waiting spans are kept to the end, so a
// higher number takes more memory and saves little time.
const mostGarbage = 50

// firstGarbage is the same until the first collection, which comes at 8 MiB then: what a run
// begins with is not worth more.
const firstGarbage = 200

// boundGarbage sets these, unless the environment says otherwise.
func boundGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(firstGarbage)
	runtime.AddCleanup(new([16]byte), func(percent int) {
		if other := debug.SetGCPercent(percent); other != firstGarbage {
			debug.SetGCPercent(other) // set since
		}
	}, mostGarbage)
}

// Exit codes; 129, 130 and 143 tell that a signal ended the run.
const (
	exitFine       = 0
	exitFailed     = 1 // the run failed
	exitUsage      = 2 // usage or configuration
	exitFinding    = 3 // a --fail-on rule was hit
	exitIncomplete = 4 // the report stands, but the input was incomplete
)

// Main runs the tool and returns its exit code. Data goes to stdout, all else
// to stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(args, streams{stdin, stdout, stderr, memory.DefaultAllocator})
}

func execute(args []string, s streams) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	cmd := newRoot(s)
	cmd.SetArgs(args)
	err := untilTold(ctx, patience, func() error { return cmd.ExecuteContext(ctx) })
	if err != nil {
		complain(s.err, err)
	}
	return exitCode(err)
}

// patience is how long a run that a signal ends may take to leave what it is doing.
const patience = 700 * time.Millisecond

// untilTold runs a command to its end. Once ctx has ended it waits only so long: what
// the run is at, be it a read from a disk that hangs, does not keep the process. Files
// that are not in their place have no name then, where the system allows that.
func untilTold(ctx context.Context, patience time.Duration, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return context.Cause(ctx)
	}
}

// complain prints an error. It may quote a log or a file's name, so what could
// steer a terminal is made visible; an error of several lines keeps them.
func complain(stderr io.Writer, err error) {
	if own := (*spill.Error)(nil); errors.As(err, &own) {
		err = fmt.Errorf("%w; --temp-dir names another folder", err)
	}
	for i, line := range strings.Split(err.Error(), "\n") {
		prefix := ""
		if i == 0 {
			prefix = "tailscope: "
		}
		fmt.Fprintln(stderr, prefix+report.Visible(line))
	}
}

// streams is where a run reads and writes, and what its Arrow memory comes from.
type streams struct {
	in       io.Reader
	out, err io.Writer
	memory   memory.Allocator
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// incompleteError says that the report stands on less than the whole input.
type incompleteError struct{ error }

// signalError ends a run from outside.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return "stopped: " + e.signal.String() }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var (
		usage      usageError
		finding    findingError
		incomplete incompleteError
		stopped    signalError
	)
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &stopped):
		return 128 + int(stopped.signal)
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &finding):
		return exitFinding
	case errors.As(err, &incomplete):
		return exitIncomplete
	}
	return exitFailed
}

// withSignals returns a context that ends with a signalError. A second signal
// ends the process at once, as signals do.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-ch:
			signal.Stop(ch)
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(ch); cancel(nil) }
}

// newRoot builds the command tree. Without a command it is analyze, by flags of its own.
func newRoot(s streams) *cobra.Command {
	list := commands(s)
	root := &cobra.Command{
		Use:               "tailscope [FILE…]",
		Short:             "Which hop owns the tail, and what its timeout should be",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
	}
	whole := newWhole(s)
	// Cobra would fill in a template, and with templates in it the linker drops no method.
	tell := root.Flags().Bool("version", false, "print the version")
	root.Flags().AddFlagSet(whole.Flags())
	complete(root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *tell {
			return writeVersion(s.out)
		}
		if len(args) == 0 && cmd.Flags().NFlag() == 0 && !piped(s.in) {
			return cmd.Help()
		}
		if err := isCommand(cmd, args); err != nil {
			return err
		}
		return whole.RunE(cmd, args)
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(list...)
	root.AddCommand(newInspect(s), newRules(s), newVersion(s))
	setHelp(root, s.out)
	return root
}

// noFiles makes an argument of a command that reads nothing a usage error.
func noFiles(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%q: %s takes no files, it reads none\nsee '%s --help'", args[0], cmd.Name(), cmd.CommandPath())}
	}
	return nil
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noFiles,
		RunE:  func(*cobra.Command, []string) error { return writeVersion(s.out) },
	}
}

func writeVersion(out io.Writer) error {
	_, err := fmt.Fprintf(out, "tailscope %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the module's version, or that of the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
