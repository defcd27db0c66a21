package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected output anew")

func itoa(n int) string { return strconv.Itoa(n) }

// TestDocumentationIsRun runs every "$ tailscope …" of the README and docs/ in
// the root of the repository and compares what the block shows. A block that
// ends in a line "…" shows only the beginning.
func TestDocumentationIsRun(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range append(pages, "README.md") {
		commands += runPage(t, page)
	}
	if commands == 0 {
		t.Error("the documentation has no command")
	}
}

// runPage runs the commands of one page and returns how many there were.
func runPage(t *testing.T, page string) int {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```")
	commands := 0
	for i := 1; i < len(parts); i += 2 {
		if fresh, ok := runBlock(t, page, parts[i]); ok {
			parts[i] = fresh
			commands++
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(strings.Join(parts, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return commands
}

// runBlock runs a block of one command and returns it with fresh output; ok is
// false for blocks of another kind.
func runBlock(t *testing.T, page, block string) (fresh string, ok bool) {
	head, shown, _ := strings.Cut(strings.TrimPrefix(block, "console"), "\n")
	command, shown, _ := strings.Cut(shown, "\n")
	args, ok := commandLine(command)
	if !ok || head != "" {
		return block, false
	}
	out := must(t, "", args...)
	if strings.HasSuffix(shown, "\n…\n") {
		out = cutLike(out, shown)
	}
	if out != shown && !*update {
		t.Errorf("%s: %s\n--- shown\n%s--- printed\n%s", page, command, shown, out)
	}
	return "console\n" + command + "\n" + out, true
}

// commandLine splits "$ tailscope …" into arguments; single quotes group.
func commandLine(s string) (args []string, ok bool) {
	for _, prompt := range []string{"$ tailscope ", "$ go run ./cmd/tailscope "} {
		if rest, found := strings.CutPrefix(s, prompt); found {
			for i, part := range strings.Split(rest, "'") {
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			return args, true
		}
	}
	return nil, false
}

// cutLike keeps as many lines of out as are shown before the "…".
func cutLike(out, shown string) string {
	n := strings.Count(shown, "\n") - 1
	lines := strings.SplitAfter(out, "\n")
	return strings.Join(lines[:min(n, len(lines))], "") + "…\n"
}
