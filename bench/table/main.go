// Table measures every row of the performance table, beside other tools and over
// growing inputs, and writes Markdown. It makes the inputs that are not there.
//
//	go run ./bench/table -into docs/performance.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/bench/page"
)

// part is a table, by the name that -only and the marks of -into use. Its error is
// what could not be measured and yet should.
type part struct {
	name  string
	write func(*lab, io.Writer) error
}

var parts = []part{
	{"machine", writeMachine}, {"rows", writeRows}, {"peers", writePeers}, {"growth", writeGrowth},
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	var l lab
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	flags.StringVar(&l.tailscope, "tailscope", "", "a built `BINARY` (default: it is built)")
	flags.StringVar(&l.dir, "dir", filepath.Join(os.TempDir(), "tailscope-bench"), "where inputs are kept: 7 GB with the default sizes")
	flags.IntVar(&l.lines, "lines", 10_000_000, "lines of the hop logs; peers also get a tenth, the growth goes to ten times")
	flags.IntVar(&l.traces, "traces", 350_000, "traces of eight spans, likewise")
	flags.IntVar(&l.pairs, "pairs", 5, "interleaved runs of each")
	only := flags.String("only", "machine,rows,peers,growth", "which tables")
	into := flags.String("into", "", "replace the tables in `FILE`, between its marks, instead of printing them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if err := l.build(); err != nil {
		return err
	}
	var failed error
	for _, p := range chosen {
		var text strings.Builder
		failed = errors.Join(failed, p.write(&l, &text))
		if err := page.Deliver(out, *into, p.name, text.String()); err != nil {
			return err
		}
	}
	return failed
}

// choose finds parts by name.
func choose(names string) (chosen []part, err error) {
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only %q: machine, rows, peers or growth", name)
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}
