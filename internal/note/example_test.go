package note_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/note"
)

func Example() {
	fmt.Println(note.Count(1, "span has", "spans have"), "no parent,", note.Count(3, "trace"))
	// Output: 1 span has no parent, 3 traces
}
