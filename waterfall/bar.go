package waterfall

import (
	"cmp"
	"slices"
	"strings"
)

// state is what a row is doing at a moment. Of two that share a column as long the later
// one of this list is drawn.
type state uint8

const (
	nothing state = iota
	folded        // something that is not drawn on its own
	calling       // waiting for calls below it
	waiting       // waiting for what serves it
	working
	forNobody // running on after somebody above it gave up
	states
)

var glyphs = [states]string{" ", "┄", "─", "░", "█", "▒"}

const gaveUpGlyph = "│"

// bar is a row's line of time.
type bar struct {
	from, to int64 // offsets in ns
	columns  int
	covered  [][states]int64 // ns, by column
}

func newBar(from, to int64, columns int) *bar {
	return &bar{from, max(to, from+1), columns, make([][states]int64, columns)}
}

// column is where a moment lies, between 0 and the number of columns.
func (b *bar) column(at int64) int {
	share := (float64(at) - float64(b.from)) / (float64(b.to) - float64(b.from))
	return max(0, min(b.columns, int(share*float64(b.columns))))
}

// begins is the first moment of a column.
func (b *bar) begins(column int) int64 {
	return b.from + int64(float64(column)*((float64(b.to)-float64(b.from))/float64(b.columns)))
}

// add says what the row was doing from one moment to another.
func (b *bar) add(s state, from, to int64) {
	for c := b.column(from); c < b.columns && b.begins(c) < to; c++ {
		lo, hi := max(from, b.begins(c)), min(to, b.begins(c+1))
		b.covered[c][s] += max(0, hi-lo)
	}
}

// String draws it, with a mark where the row gave up, -1 for nowhere.
func (b *bar) text(start, gaveUp int64) string {
	var line strings.Builder
	mark := -1
	if gaveUp >= 0 {
		mark = min(b.columns-1, b.column(gaveUp))
	}
	first := min(b.columns-1, b.column(start))
	for c := range b.columns {
		s := b.most(c)
		switch {
		case c == mark && (s == nothing || s == forNobody || c > first):
			line.WriteString(gaveUpGlyph)
		case s == nothing && c == first:
			line.WriteString(glyphs[working]) // however short it is
		default:
			line.WriteString(glyphs[s])
		}
	}
	return line.String()
}

// most is what a row was doing for most of a column.
func (b *bar) most(column int) state {
	best := nothing
	for s := nothing + 1; s < states; s++ {
		if ns := b.covered[column][s]; ns > 0 && ns >= b.covered[column][best] {
			best = s
		}
	}
	return best
}

// stretch is a part of time, in offsets.
type stretch struct{ from, to int64 }

// union joins stretches that overlap.
func union(list []stretch) (joined []stretch) {
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, s := range list {
		if n := len(joined); n > 0 && s.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, s.to)
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// addSplit adds one state, but another where one of the stretches lies, which are sorted
// and do not overlap.
func (b *bar) addSplit(s, other state, from, to int64, stretches []stretch) {
	at := from
	for _, one := range stretches {
		lo, hi := max(one.from, at), min(one.to, to)
		if lo >= hi {
			continue
		}
		b.add(s, at, lo)
		b.add(other, lo, hi)
		at = hi
	}
	if at < to {
		b.add(s, at, to)
	}
}
