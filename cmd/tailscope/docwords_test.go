package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// prose is a page without its fenced blocks, which show what the program prints, and
// without what stands in backquotes.
func prose(page string) string {
	var kept strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			kept.WriteString(line)
		}
	}
	return inCode.ReplaceAllString(kept.String(), "")
}

func TestProseIsWhatStandsOutsideOfCode(t *testing.T) {
	page := "A wall.\n\n```console\n$ cut\n```\n\n| `cut_by` | body |\n\n   ```\n   in vain\n   ```\ngranted\n"
	if d := cmp.Diff("A wall.\n\n\n|  | body |\n\ngranted\n", prose(page)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"wall", "body", "granted"}, retired(prose(page))); d != "" {
		t.Error(d)
	}
}

// ARCHITECTURE.md explains the words of the code; the other pages are for readers.
func TestProseOfTheDocumentationHasNoRetiredWords(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, path := range append(pages, "../../README.md") {
		if filepath.Base(path) == "ARCHITECTURE.md" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range retired(strings.Join(strings.Fields(prose(string(text))), " ")) {
			t.Errorf("%s says %q", path, word)
		}
	}
}
