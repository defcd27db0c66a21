// Coverage draws hops whose true quantiles are known, cuts them at a wall, and
// counts how often certified limits and estimates lie above the truth. The same
// flags draw the same hops.
//
//	go run ./bench/coverage -into docs/statistics.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/tailscope/tailscope/bench/page"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("coverage", flag.ContinueOnError)
	reps := flags.Int("reps", 1000, "hops drawn of each system, size and wall; of 20,000 attempts a tenth of them")
	seed := flags.Uint64("seed", 1, "other hops of the same systems")
	jobs := flags.Int("jobs", runtime.GOMAXPROCS(0), "workers")
	into := flags.String("into", "", "replace the table in `FILE`, between its marks, instead of printing it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *reps < 1 || *jobs < 1 {
		return errors.New("give flags only, and numbers above 0")
	}
	rows := measure(systems(), *reps, *seed, *jobs)
	var text strings.Builder
	fmt.Fprintf(&text, "%d hops of each size and wall, seed %d.\n\n", *reps, *seed)
	writeTable(&text, rows)
	return errors.Join(page.Deliver(out, *into, "coverage", text.String()), verdict(rows))
}
