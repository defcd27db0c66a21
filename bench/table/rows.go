package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/tailscope/tailscope/bench/trial"
)

// unit of a row: how its figure is written, and whether less is better.
type unit struct {
	format string
	less   bool
}

var (
	times      = unit{"%.2f", false}
	atMost     = unit{"%.2f", true}
	mebibytes  = unit{"%.0f MiB", true}
	throughput = unit{"%.0f MB/s", false}
)

// row is one demand. A zero aim is none.
type row struct {
	what      string
	must, aim float64
	unit      unit
	measured
}

// measured is a run with the figure that is made of it, and of what it was made.
type measured struct {
	run    func(*lab) outcome
	figure func(outcome) (value float64, from string)
}

func (l *lab) rows() []row {
	hops := input{"hops", l.lines, "us", ""}
	csv := input{"hops-csv", l.lines, "us", ""}
	gz, zst := input{"hops", l.lines, "us", ".gz"}, input{"hops", l.lines, "us", ".zst"}
	jaeger, otlp, mixed := input{"jaeger", l.traces, "us", ""}, input{"otlp", l.traces, "us", ""}, input{"otlp-interleaved", l.traces, "us", ""}
	many, fine := input{"hops", 10 * l.lines, "us", ""}, input{"hops", 10 * l.lines, "ns", ""}
	lines, ten := millions(l.lines)+" lines", millions(10*l.lines)+" lines"
	return []row{
		{"DuckDB / `quantiles`, " + lines + " of NDJSON, elapsed", 1.6, 3, times, duckdb(hops, trial.Wall)},
		{"the same, CPU", 1.6, 2.5, times, duckdb(hops, trial.CPU)},
		{"DuckDB / `quantiles`, CSV, elapsed", 1.6, 2.5, times, duckdb(csv, trial.Wall)},
		{"DuckDB / `quantiles`, NDJSON.gz, elapsed", 1.6, 3, times, duckdb(gz, trial.Wall)},
		{"DuckDB / `quantiles`, NDJSON.zst, elapsed", 1.6, 3, times, duckdb(zst, trial.Wall)},
		{"peak memory, " + lines + ", whole µs", 100, 64, mebibytes, peak("quantiles", hops)},
		{"peak memory, " + ten + ", whole µs", 128, 64, mebibytes, pipedPeak("quantiles", many)},
		{"peak memory, " + ten + ", ns values", 400, 128, mebibytes, pipedPeak("quantiles", fine)},
		{"one Jaeger document, `quantiles`", 400, 800, throughput, speed("quantiles", jaeger)},
		{"the same, peak memory", 96, 48, mebibytes, peak("quantiles", jaeger)},
		{"one Jaeger document, `orphans`", 300, 700, throughput, speed("orphans", jaeger)},
		{"the same, peak memory", 96, 0, mebibytes, peak("orphans", jaeger)},
		{"one Jaeger document, `owner`", 250, 0, throughput, speed("owner", jaeger)},
		{"the same, peak memory", 96, 0, mebibytes, peak("owner", jaeger)},
		{"OTLP lines of the same spans, `quantiles`", 250, 700, throughput, speed("quantiles", otlp)},
		{"the same, the spans of 1,000 traces mixed", 250, 700, throughput, speed("quantiles", mixed)},
		{"one worker / two workers, NDJSON, elapsed", 1.4, 1.7, times, ratio("quantiles", 1, hops)},
		{"one worker / two workers, Jaeger, elapsed", 1.4, 1.7, times, ratio("quantiles", 1, jaeger)},
		{"`analyze` / `quantiles`, " + lines + " of NDJSON, elapsed", 2.5, 1.5, atMost, ratio("analyze", trial.Workers, hops)},
	}
}

func duckdb(in input, of func(trial.Usage) float64) measured {
	return measured{func(l *lab) outcome { return l.against("duckdb", in) }, func(o outcome) (float64, string) {
		value, from := o.ratio("DuckDB", "tailscope", of)
		return value, from + fmt.Sprintf(" (%.0f MB/s, %.0f and %.0f MiB)", o.size/o.ours.Median(trial.Wall), o.theirs.Median(trial.Peak), o.ours.Median(trial.Peak))
	}}
}

func ratio(command string, workers int, in input) measured {
	return measured{func(l *lab) outcome { return l.otherWay(command, workers, in) }, func(o outcome) (float64, string) {
		return o.ratio(fmt.Sprintf("`%s -j %d`", command, workers), fmt.Sprintf("`quantiles -j %d`", trial.Workers), trial.Wall)
	}}
}

func peak(command string, in input) measured {
	return measured{func(l *lab) outcome { return l.alone(command, in) }, outcome.peak}
}

func pipedPeak(command string, in input) measured {
	return measured{func(l *lab) outcome { return l.piped(command, in) }, outcome.peak}
}

func speed(command string, in input) measured {
	return measured{func(l *lab) outcome { return l.alone(command, in) }, outcome.speed}
}

func (o outcome) ratio(theirs, ours string, of func(trial.Usage) float64) (float64, string) {
	return trial.Ratio(o.ours, o.theirs, of), fmt.Sprintf("%s %.2f s, %s %.2f s", theirs, o.theirs.Median(of), ours, o.ours.Median(of))
}

func (o outcome) peak() (float64, string) {
	return o.ours.Median(trial.Peak), fmt.Sprintf("CPU %.2f s", o.ours.Median(trial.CPU))
}

func (o outcome) speed() (float64, string) {
	wall := o.ours.Median(trial.Wall)
	return o.size / wall, fmt.Sprintf("%.0f MB in %.2f s, CPU %.2f s, %.0f MiB", o.size, wall, o.ours.Median(trial.CPU), o.ours.Median(trial.Peak))
}

func writeRows(l *lab, out io.Writer) (failed error) {
	fmt.Fprintln(out, "| | must | aim | measured | | from |\n|---|---|---|---|---|---|")
	for _, r := range l.rows() {
		o := r.run(l)
		fmt.Fprintln(out, r.markdown(o))
		failed = errors.Join(failed, unexpected(o.err))
	}
	return failed
}

func (r row) markdown(o outcome) string {
	begin := fmt.Sprintf("| %s | %s | %s | ", r.what, r.demand(r.must), r.demand(r.aim))
	switch {
	case o.err != nil:
		return begin + fmt.Sprintf("| not measured | %v |", o.err)
	case len(o.ours) == 0: // no pairs were asked for
		return begin + "| not timed | |"
	}
	value, from := r.figure(o)
	return begin + fmt.Sprintf(r.unit.format+" | %s | %s |", value, r.verdict(value), from)
}

func (r row) demand(bound float64) string {
	if bound == 0 {
		return ""
	}
	return fmt.Sprintf("%s%g", map[bool]string{true: "≤ ", false: "≥ "}[r.unit.less], bound)
}

func (r row) verdict(value float64) string {
	reaches := func(bound float64) bool { return bound != 0 && (value == bound || value < bound == r.unit.less) }
	switch {
	case reaches(r.aim):
		return "aim met"
	case reaches(r.must):
		return "met"
	}
	return "**missed**"
}

// unexpected leaves out that a tool is not there or cannot read a file.
func unexpected(err error) error {
	if errors.As(err, new(trial.Absent)) {
		return nil
	}
	return err
}

// millions is a number of records, in millions if it is whole ones.
func millions(n int) string {
	if n%1_000_000 == 0 {
		return fmt.Sprintf("%d M", n/1_000_000)
	}
	return fmt.Sprint(n)
}
