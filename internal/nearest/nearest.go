// Package nearest finds the name that somebody meant who wrote another.
package nearest

import (
	"slices"
	"strings"
)

// Name returns the name of the list that is most like one that is not in it: by the
// fewest letters to add, leave out or change (Levenshtein 1966), without regard to case,
// of all or, where that is as near, of one of its words; else the one that begins alike.
// It is "" where none is alike.
func Name(written string, list []string) string {
	best, least := "", 2*(len(written)/3+2) // in half letters
	for _, name := range slices.Sorted(slices.Values(list)) {
		d := 2 * distance(strings.ToLower(written), strings.ToLower(name))
		for _, word := range strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune("_.-/ ", c) }) {
			d = min(d, 2*distance(strings.ToLower(written), word)+3) // a letter, and half of one
		}
		if d >= least && strings.HasSuffix(strings.ToLower(name), "."+strings.ToLower(written)) {
			d = least - 1
		}
		if d < least {
			best, least = name, d
		}
	}
	if best == "" {
		return beginsLike(strings.ToLower(written), list)
	}
	return best
}

// leastBeginning is how many letters two names must share to begin alike, and three
// quarters of what was written.
const leastBeginning = 4

// beginsLike returns the only name that begins as what was written, retries for retry.
func beginsLike(written string, list []string) string {
	best := ""
	least := max(leastBeginning, len(written)-len(written)/4)
	for _, name := range list {
		switch lower := strings.ToLower(name); {
		case len(written) < least || !strings.HasPrefix(lower, written[:least]):
		case best != "" && best != name:
			return ""
		default:
			best = name
		}
	}
	return best
}

// Within returns the name of the list that takes the fewest letters to become the one that
// was written, where that are at most so many; "" where there is none.
func Within(written string, list []string, letters int) string {
	best, least := "", letters+1
	for _, name := range slices.Sorted(slices.Values(list)) {
		if d := distance(strings.ToLower(written), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// longest is the longest name that is compared.
const longest = 256

func distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return longest
	}
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for k := range len(b) {
			change := before
			if a[i] != b[k] {
				change++
			}
			before = row[k+1]
			row[k+1] = min(change, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)]
}
