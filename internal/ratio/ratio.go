// Package ratio writes shares for people.
package ratio

import (
	"math"
	"strconv"
	"strings"
)

// Percent writes a share of 0 to 1 with three significant digits or two
// decimals, whichever is less: "16.5 %", "4.64 %", "0.1 %". A share that is
// neither nothing nor everything never looks as if it were.
func Percent(share float64) string { return Number(share) + " %" }

// Number is Percent without the sign.
func Number(share float64) string {
	v := share * 100
	digits := 2
	if v >= 10 {
		digits = 1
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	switch {
	case share > 0 && v < 0.01:
		text = strconv.FormatFloat(v, 'g', 1, 64)
	case share < 1 && v > 99.9:
		text = strconv.FormatFloat(math.Floor(v*1e4)/1e4, 'f', -1, 64)
	}
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
