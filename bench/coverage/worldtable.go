package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// writeWorlds has a row a world: of each size the worst quantile and law.
func writeWorlds(out io.Writer, cells []*cell) {
	fmt.Fprintln(out, "| world | limits missed, n = 299 | 3000 | 20,000 | values wrong, 3000 | 20,000 | certified, 3000 | 20,000 | certificates wrong, 3000 | 20,000 | canaries too low |")
	fmt.Fprintln(out, "|---|"+strings.Repeat("---:|", 10))
	for i := 0; i < len(cells); i += len(laws()) * len(logSizes) {
		group := cells[i:][:len(laws())*len(logSizes)]
		row := []string{group[0].world.name}
		row = append(row, worst(group, logSizes, (*cell).missedText)...)
		row = append(row, worst(group, logSizes[1:], func(c *cell) (float64, string) { return asShare(c.asks.values, c.of(slices.Max(c.values))) })...)
		row = append(row, given(group)...)
		row = append(row, worst(group, logSizes[1:], func(c *cell) (float64, string) { return asShare(c.asks.certificates, c.of(c.wrong)) })...)
		row = append(row, canaries(group))
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
	}
}

func (c *cell) missedText() (float64, string) { return asShare(c.asks.limits, c.missed()) }

func asShare(asked bool, share float64) (float64, string) {
	if !asked {
		return 0, "–"
	}
	return share, fmt.Sprintf("%.3f", share)
}

// worst of the laws, for each of the sizes.
func worst(group []*cell, of []int, what func(*cell) (float64, string)) (list []string) {
	for _, n := range of {
		most, text := -1.0, ""
		for _, c := range group {
			if share, said := what(c); c.n == n && share > most {
				most, text = share, said
			}
		}
		list = append(list, text)
	}
	return list
}

// given is the share of certificates in all laws together, for each size.
func given(group []*cell) (list []string) {
	for _, n := range logSizes[1:] {
		certified, runs := 0, 0
		for _, c := range group {
			if c.n == n {
				certified, runs = certified+c.certified, runs+c.runs
			}
		}
		list = append(list, percent(certified, runs))
	}
	return list
}

func canaries(group []*cell) string {
	low, all := 0, 0
	for _, c := range group {
		low, all = low+c.lowCanaries, all+c.canaries
	}
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", low, all)
}

// shortfalls names the cells that state something false too often.
func shortfalls(cells []*cell) (failed error) {
	for _, c := range cells {
		if !c.holds(allowed) {
			failed = errors.Join(failed, fmt.Errorf("%s, %s, n=%d: of %d runs limits miss in %v (upper) and %v (lower), values are wrong in %v, certificates in %d of %d, canaries in %d of %d",
				c.world.name, c.law.name, c.n, c.runs, c.uppers, c.lowers, c.values, c.wrong, c.certified, c.lowCanaries, c.canaries))
		}
	}
	return failed
}
