package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/quantile"
)

type csvColumn struct {
	name  string
	value func(h *buckets.Result, j int) string // of quantile j
}

// csvColumns are all columns. Those of the hop repeat in each of its rows; n
// to upper_ns are of first attempts, as in JSON. The three quantiles of
// durations by how attempts ended describe what was recorded: only value_ns
// says what is known of the hop.
var csvColumns = [...]csvColumn{
	{"hop", func(h *buckets.Result, _ int) string { return defused(h.Hop) }},
	{"service", func(h *buckets.Result, _ int) string { return defused(string(h.Service)) }},
	{"operation", func(h *buckets.Result, _ int) string { return defused(string(h.Operation)) }},
	{"kind", func(h *buckets.Result, _ int) string { return defused(string(h.Kind)) }},
	{"attempts", func(h *buckets.Result, _ int) string { return natural(h.Attempts) }},
	{"first_attempts", func(h *buckets.Result, _ int) string { return natural(h.FirstAttempts) }},
	{"retries", func(h *buckets.Result, _ int) string { return natural(h.Retries) }},
	{"completed_n", func(h *buckets.Result, _ int) string { return natural(h.Completed.All.N) }},
	{"truncated_n", func(h *buckets.Result, _ int) string { return natural(h.Truncated.All.N) }},
	{"failed_n", func(h *buckets.Result, _ int) string { return natural(h.Failed.All.N) }},
	{"unfinished", func(h *buckets.Result, _ int) string { return natural(h.Unfinished) }},
	{"truncated_share", func(h *buckets.Result, _ int) string { return share(h, h.TruncatedShare.Value) }},
	{"truncated_share_lower", func(h *buckets.Result, _ int) string { return share(h, h.TruncatedShare.Lower) }},
	{"truncated_share_upper", func(h *buckets.Result, _ int) string { return share(h, h.TruncatedShare.Upper) }},
	{"failed_share", func(h *buckets.Result, _ int) string { return failed(h) }},
	{"p", func(h *buckets.Result, j int) string { return h.Tail[j].P.String() }},
	{"n", func(h *buckets.Result, j int) string { return natural(h.Tail[j].N) }},
	{"rank", func(h *buckets.Result, j int) string { return natural(h.Tail[j].Rank) }},
	{"status", func(h *buckets.Result, j int) string { return h.Tail[j].Status.String() }},
	{"value_ns", tailValue},
	{"lower_ns", func(h *buckets.Result, j int) string { return integer(h.Tail[j].Lower) }},
	{"upper_ns", func(h *buckets.Result, j int) string { return integer(h.Tail[j].Upper) }},
	{"km_ns", func(h *buckets.Result, j int) string { return integer(h.Tail[j].KM) }},
	{"confidence", func(h *buckets.Result, _ int) string { return h.Confidence.String() }},
	{"completed_quantile_ns", func(h *buckets.Result, j int) string { return bucketQuantile(h.Completed, j) }},
	{"truncated_quantile_ns", func(h *buckets.Result, j int) string { return bucketQuantile(h.Truncated.Bucket, j) }},
	{"recorded_quantile_ns", func(h *buckets.Result, j int) string { return bucketQuantile(h.Recorded, j) }},
	{"reason", func(h *buckets.Result, j int) string { return defused(h.Tail[j].Reason) }},
	{"warnings", func(h *buckets.Result, _ int) string { return warningCodes(h) }},
	{"estimate_ns", estimateValue},
	{"estimate_bound_ns", estimateBound},
	{"estimate_failed_gates", failedGates},
	{"design_effect", designEffect},
	{"n_eff", func(h *buckets.Result, j int) string { return natural(h.Tail[j].Size()) }},
}

// CSV writes the hop table, one row a hop and quantile, or those of the section
// where only that was asked for; what is null in JSON is an empty field.
func CSV(w io.Writer, r *Report, _ Options) error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	if err := c.WriteAll(csvTable(r)); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func csvTable(r *Report) [][]string {
	switch {
	case r.Hops != nil:
	case r.Orphans != nil:
		return orphanRows(r)
	case r.Owner != nil:
		return ownerRows(r)
	case r.Retries != nil:
		return retryRows(r)
	case r.Timeouts != nil:
		return timeoutRows(r)
	}
	rows := [][]string{csvHeader()}
	for i := range r.Hops {
		rows = append(rows, csvRows(&r.Hops[i])...)
	}
	return rows
}

func csvHeader() []string {
	names := make([]string, len(csvColumns))
	for i, column := range csvColumns {
		names[i] = column.name
	}
	return names
}

func csvRows(h *buckets.Result) [][]string {
	rows := make([][]string, len(h.Tail))
	for j := range rows {
		rows[j] = make([]string, len(csvColumns))
		for i, column := range csvColumns {
			rows[j][i] = column.value(h, j)
		}
	}
	return rows
}

func tailValue(h *buckets.Result, j int) string {
	if h.Tail[j].Status == quantile.NoValue {
		return ""
	}
	return integer(&h.Tail[j].Value)
}

func bucketQuantile(b buckets.Bucket, j int) string {
	if b.All.N == 0 || j >= len(b.All.Quantiles) {
		return ""
	}
	return integer(&b.All.Quantiles[j])
}

func warningCodes(h *buckets.Result) string {
	var codes []string
	for _, w := range h.Warnings {
		codes = append(codes, w.Code)
	}
	return strings.Join(codes, " ")
}

func share(h *buckets.Result, value float64) string {
	if !hasShare(h) {
		return ""
	}
	return decimal(value)
}

func failed(h *buckets.Result) string {
	if h.Biased {
		return ""
	}
	return decimal(float64(h.FailedShare))
}

func decimal(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func natural(n uint64) string { return strconv.FormatUint(n, 10) }

func integer(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
