package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// column of the table.
type column struct {
	head  string
	value func(row) string
}

var columns = []column{
	{"system", func(r row) string { return r.name }},
	{"n", func(r row) string { return strconv.Itoa(r.n) }},
	{"certified", func(r row) string { given, hops, _ := r.certified(); return percent(given, hops) }},
	{"right or none", func(r row) string { _, _, worst := r.certified(); return fmt.Sprintf("%.3f", worst) }},
	{"estimated", func(r row) string { return percent(r.estimates, r.hidden) }},
	{"bound holds", func(r row) string { return r.ifEstimated("%.3f", r.holds()) }},
	{"bound / truth", func(r row) string { return r.ifEstimated("%.2f", median(r.excess)) }},
}

func (r row) ifEstimated(format string, v float64) string {
	if r.estimates == 0 {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// writeTable puts first where the estimate fails.
func writeTable(out io.Writer, rows []row) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.failing(), b.failing()) })
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	fmt.Fprintf(out, "| %s |\n|---|%s\n", strings.Join(heads, " | "), strings.Repeat("---:|", len(columns)-1))
	for _, r := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.value(r))
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
}

// failing orders rows: those without estimates come last.
func (r row) failing() float64 {
	if r.estimates == 0 {
		return 2
	}
	return r.holds()
}

func percent(k, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(k)/float64(of))
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// What certified limits and, on systems of one mode, estimates must reach.
const (
	certifiedAtLeast = .93
	countedAtLeast   = .90 // of traces whose design effect is taken into account
	estimateAtLeast  = .95
)

// verdict names the rows that fall short. Of the largest size too few hops are
// drawn for that.
func verdict(rows []row) error {
	var failed error
	for _, r := range rows {
		if r.n < sizes[len(sizes)-1] {
			failed = errors.Join(failed, r.verdict())
		}
	}
	return failed
}

func (r row) verdict() error {
	_, _, worst := r.certified()
	holds, estimated := r.holds(), r.estimates > 0
	least := certifiedAtLeast
	if r.kind == counteracted {
		least = countedAtLeast
	}
	switch {
	case r.kind != dependent && worst < least:
		return fmt.Errorf("%s, n=%d: certified limits are right or not given in %.3f, below %g", r.name, r.n, worst, least)
	case r.kind == oneMode && estimated && holds < estimateAtLeast:
		return fmt.Errorf("%s, n=%d: bounds of estimates hold in %.3f, below %g", r.name, r.n, holds, estimateAtLeast)
	case r.kind == manyWalls && estimated:
		return fmt.Errorf("%s, n=%d: %d estimates", r.name, r.n, r.estimates)
	}
	return nil
}
