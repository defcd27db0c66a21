// Coverage draws hops whose true quantiles are known, and counts how often what is said
// of them is right: certified limits and estimates of hops that are cut at a wall, and all
// that is said of logs as they are found. The same flags draw the same hops.
//
//	go run ./bench/coverage -into docs/statistics.md
//	go run ./bench/coverage -only worlds -runs 300 -world "every line twice"
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/bench/page"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// settings are what a run depends on.
type settings struct {
	reps, runs, jobs  int
	seed              uint64
	into, only, world string
}

// part is a table of the page.
type part struct {
	name string
	make func(*settings) (text string, failed error)
}

var parts = []part{{"coverage", (*settings).coverage}, {"worlds", (*settings).worlds}, {"said", (*settings).sayings}, {"owners", (*settings).owners}}

func run(args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("coverage", flag.ContinueOnError)
	flags.IntVar(&s.reps, "reps", 1000, "hops drawn of each system, size and timeout; of 20,000 attempts a tenth of them")
	flags.IntVar(&s.runs, "runs", 100, "logs drawn of each world, law and size")
	flags.Uint64Var(&s.seed, "seed", 1, "other hops of the same systems and worlds")
	flags.IntVar(&s.jobs, "jobs", runtime.GOMAXPROCS(0), "workers")
	flags.StringVar(&s.into, "into", "", "replace the tables in `FILE`, between their marks, instead of printing them")
	flags.StringVar(&s.only, "only", "", "these tables alone: coverage,worlds,said,owners")
	flags.StringVar(&s.world, "world", "", "of the worlds only those whose names hold this")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || s.reps < 1 || s.runs < 1 || s.jobs < 1 {
		return errors.New("give flags only, and numbers above 0")
	}
	for _, name := range strings.Split(s.only, ",") {
		if s.only != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("no table %q: coverage, worlds, said or owners", name)
		}
	}
	return s.deliver(out)
}

func (s *settings) deliver(out io.Writer) (failed error) {
	for _, p := range parts {
		if s.only == "" || slices.Contains(strings.Split(s.only, ","), p.name) {
			text, err := p.make(s)
			failed = errors.Join(failed, page.Deliver(out, s.into, p.name, text), err)
		}
	}
	return failed
}

func (s *settings) coverage() (string, error) {
	rows := measure(systems(), s.reps, s.seed, s.jobs)
	var text strings.Builder
	fmt.Fprintf(&text, "%d hops of each size and timeout, seed %d.\n\n", s.reps, s.seed)
	writeTable(&text, rows)
	return text.String(), verdict(rows)
}

func (s *settings) worlds() (string, error) {
	list := slices.DeleteFunc(worlds(), func(w world) bool { return !strings.Contains(w.name, s.world) })
	cells := measureWorlds(list, logSizes, s.runs, s.seed, s.jobs)
	var text strings.Builder
	fmt.Fprintf(&text, "%d logs of each law and size, seed %d.\n\n", s.runs, s.seed)
	writeWorlds(&text, cells)
	return text.String(), shortfalls(cells)
}
