// Package note is the warning that a number carries with it.
package note

// Warning says what the reader of a number must know. Code is stable and made
// for machines, Text is one sentence made for people.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}
