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

// Count is a number with its noun: "1 span", "2 spans".
func Count[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
