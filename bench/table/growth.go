package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/tailscope/tailscope/bench/trial"
)

// writeGrowth runs tailscope on a tenth, the whole and ten times the records.
func writeGrowth(l *lab, out io.Writer) (failed error) {
	fmt.Fprintln(out, "| input | records | elapsed, s | CPU, s | CPU, ns a record | peak, MiB |\n|---|---|---|---|---|---|")
	for _, in := range []struct {
		what, command, form, unit string
		n, records                int
	}{
		{"hop log, whole µs", "quantiles", "hops", "us", l.lines, 1}, {"hop log, ns values", "quantiles", "hops", "ns", l.lines, 1},
		{"hop log, whole µs, `analyze`", "analyze", "hops", "us", l.lines, 1},
		{"one Jaeger document", "quantiles", "jaeger", "us", l.traces, 8}, {"one Jaeger document, `orphans`", "orphans", "jaeger", "us", l.traces, 8},
		{"OTLP lines, traces mixed", "quantiles", "otlp-interleaved", "us", l.traces, 8},
	} {
		for _, n := range []int{max(1, in.n/10), in.n, in.n * 10} {
			o := l.piped(in.command, input{in.form, n, in.unit, ""})
			failed = errors.Join(failed, o.err)
			cpu := o.ours.Median(trial.CPU)
			fmt.Fprintf(out, "| %s | %s | %.2f | %.2f | %.0f | %.0f |\n", in.what, millions(n*in.records), o.ours.Median(trial.Wall), cpu, cpu*1e9/float64(n*in.records), o.ours.Median(trial.Peak))
		}
	}
	return failed
}
