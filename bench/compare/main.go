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
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	binary := flags.String("tailscope", "./tailscope", "the built `BINARY`")
	peers := flags.String("peers", "duckdb", "what to compare with: duckdb, python, jq, sorted; several by commas")
	pairs := flags.Int("pairs", 5, "interleaved runs of each")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name one hop log that bench/generate wrote")
	}
	file := flags.Arg(0)
	ours := tailscope(*binary, file)
	for _, name := range strings.Split(*peers, ",") {
		peer, err := peerNamed(name, file)
		if err != nil {
			return err
		}
		if err := compare(ours, peer, *pairs, out); err != nil {
			return err
		}
	}
	return nil
}

// compare checks both answers and prints the medians of so many pairs.
func compare(ours, peer tool, pairs int, out io.Writer) error {
	if err := sameAnswer(ours, peer); err != nil {
		return err
	}
	var mine, other runs
	for range pairs {
		a, err := ours.run()
		if err != nil {
			return err
		}
		b, err := peer.run()
		if err != nil {
			return err
		}
		mine, other = append(mine, a), append(other, b)
	}
	fmt.Fprintf(out, "%s and %s: the same answer\n", ours.name, peer.name)
	if pairs > 0 {
		report(out, ours.name, mine, peer.name, other)
	}
	return nil
}

func report(out io.Writer, name string, mine runs, peer string, other runs) {
	for _, m := range measures {
		fmt.Fprintf(out, "  %-11s %-9s %10.3f   %-9s %10.3f   ratio %.2f (median of %d pairs)\n",
			m.name, name, mine.median(m.of), peer, other.median(m.of), medianRatio(mine, other, m.of), len(mine))
	}
}
