// Package note is the warning that a number carries with it.
package note

import (
	"fmt"
	"strings"
)

// Warning says what the reader of a number must know. Code is stable and made
// for machines, Text is one sentence made for people.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes lists the codes of warnings, with spaces between.
func Codes(list []Warning) string {
	codes := make([]string, len(list))
	for i, w := range list {
		codes[i] = w.Code
	}
	return strings.Join(codes, " ")
}

// Count is a number with what it counts: "1 span", "2 spans". A second form is that
// of several, where an s does not make it: "span has", "spans have".
func Count[N Number](n N, one string, several ...string) string {
	return fmt.Sprintf("%v %s", n, Form(n, one, append(several, one+"s")[0]))
}

// Form is the word for one thing or that for any other number of things.
func Form[N Number](n N, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Number is what things are counted and measured in.
type Number interface{ int | int64 | uint64 | float64 }
