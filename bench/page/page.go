// Package page puts what was measured into the pages that show it.
package page

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Deliver writes a part to out, or, where a file is named, in place of what
// stands between the part's two marks there.
func Deliver(out io.Writer, file, part, text string) error {
	if file == "" {
		_, err := fmt.Fprintln(out, text)
		return err
	}
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replaced, err := between(string(page), part, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(replaced), 0o644)
}

// between replaces what stands between a part's two marks.
func between(page, part, text string) (string, error) {
	begin, end := "<!-- measured: "+part+" -->\n", "<!-- end of "+part+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("no marks of %s", part)
	}
	return before + begin + text + end + after, nil
}
