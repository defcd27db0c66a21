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

// Closer is Percent with two decimals at least, for what is held against a limit: "13.25 %".
func Closer(share float64) string {
	if v := share * 100; v >= 10 && v < 99.9 {
		return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".") + " %"
	}
	return Percent(share)
}

// Number is Percent without the sign.
func Number(share float64) string { return number(share, nearest) }

// Down is Number, rounded down: a lower limit must never grow. Up is rounded up.
func Down(share float64) string { return number(share, down) }

// Up is Number, rounded up: an upper limit must never shrink.
func Up(share float64) string { return number(share, up) }

// side says which way what is left over is rounded.
type side int8

const (
	down side = iota - 1
	nearest
	up
)

// number writes a share in percent with as many places as its size asks for.
func number(share float64, to side) string {
	v := share * 100
	digits, format := 2, byte('f')
	switch {
	case share > 0 && v < 0.01:
		digits, format = -int(math.Floor(math.Log10(v))), 'g'
	case share < 1 && v > 99.9:
		digits = 4
		if to == nearest {
			to = down // what is not all does not look so
		}
	case v >= 10:
		digits = 1
	}
	text := strconv.FormatFloat(to.round(v, digits), format, map[byte]int{'f': digits, 'g': 1}[format], 64)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// round rounds to so many places, but for what binary fractions add or take.
func (to side) round(v float64, places int) float64 {
	scale := math.Pow10(places)
	whole := math.Floor(v*scale + .5 + 1e-9) // half goes up, as on the first page
	switch far := v*scale - whole; {
	case math.Abs(far) <= 1e-9*math.Max(1, whole):
	case to == down && far < 0:
		whole--
	case to == up && far > 0:
		whole++
	}
	return whole / scale
}
