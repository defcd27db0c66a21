package buckets

import (
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile/fit"
	"github.com/tailscope/tailscope/report"
)

// dataRow is a hop and one of its quantiles.
type dataRow struct {
	*Result
	t *Tail
	j int
}

// dataTable has a row a hop and quantile. What is said of the hop repeats in each
// of its rows; n to upper_ns are of first attempts, as in JSON. The three
// quantiles of durations by how attempts ended describe what was recorded: only
// value_ns says what is known of the hop.
func dataTable(hops []Result) report.Table {
	var rows []dataRow
	for i := range hops {
		for j := range hops[i].Tail {
			rows = append(rows, dataRow{&hops[i], &hops[i].Tail[j], j})
		}
	}
	return report.NewTable("", rows, dataColumns[:])
}

var dataColumns = [...]report.Column[dataRow]{
	{Key: "hop", Of: func(r *dataRow) value { return report.String(r.Name) }},
	{Key: "service", Of: func(r *dataRow) value { return report.String(r.Service) }},
	{Key: "operation", Of: func(r *dataRow) value { return report.String(r.Operation) }},
	{Key: "kind", Of: func(r *dataRow) value { return report.String(r.Kind.String()) }},
	{Key: "attempts", Of: func(r *dataRow) value { return report.Count(r.Attempts) }},
	{Key: "first_attempts", Of: func(r *dataRow) value { return report.Count(r.FirstAttempts) }},
	{Key: "retries", Of: func(r *dataRow) value { return report.Count(r.Retries) }},
	{Key: "completed_n", Of: func(r *dataRow) value { return report.Count(r.Completed.All.N) }},
	{Key: "truncated_n", Of: func(r *dataRow) value { return report.Count(r.Truncated.All.N) }},
	{Key: "failed_n", Of: func(r *dataRow) value { return report.Count(r.Failed.All.N) }},
	{Key: "unfinished", Of: func(r *dataRow) value { return report.Count(r.Unfinished) }},
	{Key: "truncated_share", Of: func(r *dataRow) value { return r.share(r.TruncatedShare.Value) }},
	{Key: "truncated_share_lower", Of: func(r *dataRow) value { return r.share(r.TruncatedShare.Lower) }},
	{Key: "truncated_share_upper", Of: func(r *dataRow) value { return r.share(r.TruncatedShare.Upper) }},
	{Key: "failed_share", Of: (*dataRow).failed},
	{Key: "p", Of: func(r *dataRow) value { return report.String(r.t.P.String()) }},
	{Key: "n", Of: func(r *dataRow) value { return report.Count(r.t.N) }},
	{Key: "rank", Of: func(r *dataRow) value { return report.Count(r.t.Rank) }},
	{Key: "status", Of: func(r *dataRow) value { return report.String(r.t.Status.String()) }},
	{Key: "value_ns", Of: func(r *dataRow) value { return known(r.t) }},
	{Key: "lower_ns", Of: func(r *dataRow) value { return report.Maybe(r.t.Lower, report.Nanos) }},
	{Key: "upper_ns", Of: func(r *dataRow) value { return report.Maybe(r.t.Upper, report.Nanos) }},
	{Key: "km_ns", Of: func(r *dataRow) value { return report.Maybe(r.t.KM, report.Nanos) }},
	{Key: "confidence", Of: func(r *dataRow) value { return report.String(r.Confidence.String()) }},
	{Key: "completed_quantile_ns", Of: func(r *dataRow) value { return r.of(&r.Completed) }},
	{Key: "truncated_quantile_ns", Of: func(r *dataRow) value { return r.of(&r.Truncated.Bucket) }},
	{Key: "recorded_quantile_ns", Of: func(r *dataRow) value { return r.of(&r.Recorded) }},
	{Key: "reason", Of: func(r *dataRow) value { return report.String(r.t.Reason) }},
	{Key: "warnings", Of: func(r *dataRow) value { return report.String(note.Codes(r.Warnings)) }},
	{Key: "estimate_ns", Of: func(r *dataRow) value { return report.Maybe(r.estimate().Value, report.Nanos) }},
	{Key: "estimate_bound_ns", Of: func(r *dataRow) value { return report.Maybe(r.estimate().Bound, report.Nanos) }},
	{Key: "estimate_failed_gates", Of: (*dataRow).failedGates},
	{Key: "design_effect", Of: (*dataRow).effect},
	{Key: "n_eff", Of: func(r *dataRow) value { return report.Count(r.t.Size()) }},
	{Key: "at_most_ns", Of: func(r *dataRow) value { return report.Maybe(r.t.AtMost, report.Nanos) }},
	{Key: "clock_step_ns", Of: func(r *dataRow) value { return report.Nanos(r.t.ClockStep) }},
}

func (r *dataRow) share(f float64) value {
	if !r.hasShare() {
		return value{}
	}
	return report.Share(f)
}

func (r *dataRow) failed() value {
	if r.Biased {
		return value{}
	}
	return report.Share(float64(r.FailedShare))
}

func (r *dataRow) of(b *Bucket) value {
	if b.All.N == 0 || r.j >= len(b.All.Quantiles) {
		return value{}
	}
	return report.Nanos(b.All.Quantiles[r.j])
}

// estimate is empty where models were not asked.
func (r *dataRow) estimate() fit.Estimate {
	if r.t.Estimate == nil {
		return fit.Estimate{}
	}
	return *r.t.Estimate
}

// failedGates lists the gates by number.
func (r *dataRow) failedGates() value {
	var numbers []string
	for _, g := range r.estimate().Gates {
		if !g.Passed {
			numbers = append(numbers, strconv.Itoa(int(g.Gate)))
		}
	}
	return report.String(strings.Join(numbers, " "))
}

func (r *dataRow) effect() value {
	if !r.t.Effect.Known() {
		return value{}
	}
	return report.Number(r.t.Effect.Float())
}
