package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// writeWorlds has a row a world: of each size the worst quantile, all laws together.
func writeWorlds(out io.Writer, cells []*cell) {
	fmt.Fprintln(out, "| world | limits missed, n = 299 | 3000 | 20,000 | values wrong, 3000 | 20,000 | certified, 3000 | 20,000 | certificates wrong, 3000 | 20,000 | canaries too low |")
	fmt.Fprintln(out, "|---|"+strings.Repeat("---:|", 10))
	for each := len(laws()) * len(logSizes); len(cells) > 0; cells = cells[each:] {
		fmt.Fprintf(out, "| %s |\n", strings.Join(rowOf(cells[:each]), " | "))
	}
}

// rowOf is the row of a world, whose cells these are.
func rowOf(group []*cell) []string {
	var all []*cell
	for _, n := range logSizes {
		all = append(all, ofAllLaws(group, n))
	}
	large := all[1:]
	row := []string{group[0].world.name}
	row = append(row, texts(all, func(c *cell) string { return asShare(c.asks.limits, c.missed()) })...)
	row = append(row, texts(large, func(c *cell) string { return asShare(c.asks.values, c.of(slices.Max(c.values))) })...)
	row = append(row, texts(large, func(c *cell) string { return percent(c.certified, c.runs) })...)
	row = append(row, texts(large, func(c *cell) string { return asShare(c.asks.certificates, c.of(c.wrong)) })...)
	return append(row, canaries(large))
}

// ofAllLaws adds up the cells of a world that have one size.
func ofAllLaws(group []*cell, n int) *cell {
	sum := newCell(group[0].world, group[0].law, n, 0)
	for _, c := range group {
		if c.n == n {
			sum.add(c)
		}
	}
	return sum
}

func (c *cell) add(o *cell) {
	for i := range quantiles {
		c.uppers[i] += o.uppers[i]
		c.lowers[i] += o.lowers[i]
		c.values[i] += o.values[i]
	}
	c.runs, c.certified, c.wrong = c.runs+o.runs, c.certified+o.certified, c.wrong+o.wrong
	c.canaries, c.lowCanaries = c.canaries+o.canaries, c.lowCanaries+o.lowCanaries
}

func texts(cells []*cell, of func(*cell) string) (list []string) {
	for _, c := range cells {
		list = append(list, of(c))
	}
	return list
}

func asShare(asked bool, share float64) string {
	if !asked {
		return "–"
	}
	return fmt.Sprintf("%.3f", share)
}

func canaries(cells []*cell) string {
	low, all := 0, 0
	for _, c := range cells {
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
