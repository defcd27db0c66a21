// Compare puts one question to tailscope and to other tools, checks that their
// answers are the same row by row, and only then prints how long each took.
//
//	go run ./bench/compare -pairs 5 hops.ndjson
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tailscope/tailscope/bench/trial"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

const peerUsage = "what to compare with, several by commas: duckdb, python, jq, sorted; one-worker and analyze, which are tailscope itself; or the path of another build of it"

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	binary := flags.String("tailscope", "./tailscope", "the built `BINARY`")
	peers := flags.String("peers", "duckdb", peerUsage)
	pairs := flags.Int("pairs", 5, "interleaved runs of each")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one file that bench/generate wrote")
	}
	file := flags.Arg(0)
	size, err := trial.Size(file)
	if err != nil {
		return err
	}
	for _, name := range strings.Split(*peers, ",") {
		peer, err := peerNamed(name, *binary, file)
		if err != nil {
			return err
		}
		if err := compare(trial.Tailscope(*binary, "quantiles", file, trial.Workers), peer, *pairs, size, out); err != nil {
			return err
		}
	}
	return nil
}

// peerNamed is another tool, or another way of running tailscope.
func peerNamed(name, binary, file string) (trial.Tool, error) {
	tool := trial.Tool{}
	switch {
	case name == "one-worker":
		tool = trial.Tailscope(binary, "quantiles", file, 1)
	case name == "analyze":
		tool = trial.Tailscope(binary, "analyze", file, trial.Workers)
	case strings.Contains(name, "/"):
		tool = trial.Tailscope(name, "quantiles", file, trial.Workers)
	default:
		return trial.Peer(name, file)
	}
	tool.Name = name
	return tool, nil
}

// compare checks both answers and prints the medians of so many pairs.
func compare(ours, peer trial.Tool, pairs int, size int64, out io.Writer) error {
	mine, other, err := trial.Pairs(ours, peer, pairs)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s and %s: the same answer\n", ours.Name, peer.Name)
	if pairs > 0 {
		report(out, ours.Name, mine, peer.Name, other, float64(size)/1e6)
	}
	return nil
}

func report(out io.Writer, name string, mine trial.Runs, peer string, other trial.Runs, megabytes float64) {
	for _, m := range []struct {
		name string
		of   func(trial.Usage) float64
	}{{"wall, s", trial.Wall}, {"CPU, s", trial.CPU}, {"memory, MiB", trial.Peak}} {
		fmt.Fprintf(out, "  %-11s %-9s %10.3f   %-9s %10.3f   ratio %.2f (median of %d pairs)\n",
			m.name, name, mine.Median(m.of), peer, other.Median(m.of), trial.Ratio(mine, other, m.of), len(mine))
	}
	fmt.Fprintf(out, "  %-11s %-9s %10.0f   %-9s %10.0f   of %.0f MB, decompressed\n",
		"MB/s", name, megabytes/mine.Median(trial.Wall), peer, megabytes/other.Median(trial.Wall), megabytes)
}
