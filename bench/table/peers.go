package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/tailscope/tailscope/bench/trial"
)

// writePeers asks every peer on a tenth of the records: the slower ones take
// minutes, and gigabytes, for the whole.
func writePeers(l *lab, out io.Writer) (failed error) {
	fmt.Fprintln(out, "| input | peer | elapsed × | CPU × | memory × | peer | tailscope |\n|---|---|---|---|---|---|---|")
	n, traces := max(1, l.lines/10), max(1, l.traces/10)
	for _, in := range []struct {
		what string
		input
	}{
		{millions(n) + " lines of NDJSON", input{"hops", n, "us", ""}}, {"the same, ns", input{"hops", n, "ns", ""}},
		{"NDJSON.gz", input{"hops", n, "us", ".gz"}}, {"NDJSON.zst", input{"hops", n, "us", ".zst"}}, {"CSV", input{"hops-csv", n, "us", ""}},
		{fmt.Sprintf("Jaeger document, %d traces", traces), input{"jaeger", traces, "us", ""}}, {"OTLP lines of these", input{"otlp", traces, "us", ""}},
	} {
		for _, peer := range []string{"duckdb", "python", "jq"} {
			o := l.against(peer, in.input)
			fmt.Fprintf(out, "| %s | %s | %s |\n", in.what, peer, o.cells())
			failed = errors.Join(failed, unexpected(o.err))
		}
	}
	return failed
}

// cells are the three ratios and what both took.
func (o outcome) cells() string {
	switch {
	case o.err != nil:
		return fmt.Sprintf("| | | %v |", o.err)
	case len(o.ours) == 0:
		return "| | | not timed |"
	}
	text := ""
	for _, of := range []func(trial.Usage) float64{trial.Wall, trial.CPU, trial.Peak} {
		text += fmt.Sprintf("%.1f | ", trial.Ratio(o.ours, o.theirs, of))
	}
	return text + taken(o.theirs) + " | " + taken(o.ours)
}

func taken(r trial.Runs) string {
	return fmt.Sprintf("%.2f s, CPU %.2f s, %.0f MiB", r.Median(trial.Wall), r.Median(trial.CPU), r.Median(trial.Peak))
}
