package format_test

import (
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/ingest/format"
)

func ExampleSplitter() {
	file := &format.File{MaxLine: format.DefaultMaxLine, Sizes: format.Sizes{Chunk: 8}}
	file.SetContent(strings.NewReader("one\ntwo\nthree\n"))
	lines := format.NewSplitter(file, format.LastNewline)
	for {
		c, err := lines.Next()
		if err != nil {
			break
		}
		fmt.Printf("line %d: %q\n", c.Line, c.Data)
	}
	// Output:
	// line 1: "one\ntwo\n"
	// line 3: "three\n"
}
