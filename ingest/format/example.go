package format

import (
	"cmp"

	"github.com/tailscope/tailscope/ingest/field"
)

// example is the first value of the input that was odd in some way.
type example struct {
	path string // of its file
	seq  int    // of its chunk
	text string // key and value, "" for no example
}

// Show counts an oddity of a value; the first of them is shown.
func (t *Tally) Show(o Oddity, v *field.Value) {
	t.Odd[o]++
	if t.examples[o].text == "" && v.Key != nil {
		t.examples[o] = example{t.Chunk.File.Path, t.Chunk.Seq, v.String()}
	}
}

// first is the earlier one in the order of the input.
func (e example) first(o example) example {
	if e.text == "" || o.text != "" && cmp.Or(cmp.Compare(o.path, e.path), cmp.Compare(o.seq, e.seq)) < 0 {
		return o
	}
	return e
}

func (e example) String() string {
	if e.text == "" {
		return ""
	}
	return " (the first: " + e.text + ")"
}
