// Generate writes made-up inputs of any size, the same for the same flags: hop
// logs, Jaeger documents and OTLP lines with cuts, retries and orphans in them.
//
//	go run ./bench/generate -form hops -n 10000000 > hops.ndjson
//	go run ./bench/generate -form jaeger -n 200000 > traces.json
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// settings are what an input depends on, and nothing else.
type settings struct {
	form string
	n    int // lines of a hop log, traces of the others
	unit string
	seed uint64
}

// forms writes n records each. "otlp-interleaved" mixes the spans of a thousand
// traces at a time, as a collector that batches by arrival does.
var forms = map[string]func(io.Writer, settings){
	"hops":             func(w io.Writer, s settings) { writeHops(w, s, hopLine) },
	"hops-csv":         func(w io.Writer, s settings) { io.WriteString(w, hopHeader(s.unit)); writeHops(w, s, hopRow) },
	"jaeger":           writeJaeger,
	"otlp":             func(w io.Writer, s settings) { writeOTLP(w, s, 1) },
	"otlp-interleaved": func(w io.Writer, s settings) { writeOTLP(w, s, 1000) },
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(2)
	}
}

func run(args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	flags.StringVar(&s.form, "form", "hops", "what to write: "+strings.Join(formNames(), ", "))
	flags.IntVar(&s.n, "n", 1_000_000, "lines of a hop log, traces of eight spans of the others")
	flags.StringVar(&s.unit, "unit", "us", "resolution of a hop log's durations: us or ns")
	flags.Uint64Var(&s.seed, "seed", 1, "another seed, another input")
	if err := flags.Parse(args); err != nil {
		return err
	}
	write, known := forms[s.form]
	switch {
	case !known:
		return fmt.Errorf("-form %q: one of %s", s.form, strings.Join(formNames(), ", "))
	case s.unit != "us" && s.unit != "ns":
		return fmt.Errorf("-unit %q: us or ns", s.unit)
	case s.n < 1:
		return fmt.Errorf("-n %d: at least 1", s.n)
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	write(buffered, s)
	return buffered.Flush() // which also tells of the writes before it
}

func formNames() []string {
	var names []string
	for name := range forms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
