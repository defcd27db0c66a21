package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// retiredWords are those that readers do not know from elsewhere. JSON fields, names of
// rules and flags keep them.
var retiredWords = regexp.MustCompile(`(?i)\bin vain\b|\bfresh draws?\b|\bsame slowness\b|\bgranted\b|\bwalls?\b|\bbody\b|\bcuts?\b|\bthe rest as in\b`)

// retired lists the retired words of a text.
func retired(text string) (words []string) {
	for _, w := range retiredWords.FindAllString(text, -1) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

func TestRetiredWordsAreFound(t *testing.T) {
	got := retired("A wall cut some Cuts in vain: fresh draw, the same slowness, granted; body, cut_by, shortcut, the rest as in [1]")
	if d := cmp.Diff([]string{"wall", "cut", "Cuts", "in vain", "fresh draw", "same slowness", "granted", "body", "the rest as in"}, got); d != "" {
		t.Error(d)
	}
}

func TestNoHelpHasARetiredWord(t *testing.T) {
	t.Parallel()
	root := tree()
	texts := map[string]func(*strings.Builder){"help": func(b *strings.Builder) { writeHelp(b, root) }, "help flags": func(b *strings.Builder) { writeAllFlags(b, root) }}
	for _, cmd := range root.Commands() {
		texts[cmd.Name()] = func(b *strings.Builder) { writeCommandHelp(b, cmd) }
	}
	for name, write := range texts {
		var b strings.Builder
		write(&b)
		if words := retired(b.String()); len(words) > 0 {
			t.Errorf("%s has %q", name, words)
		}
	}
}

// TestNoSectionHasARetiredWord reads what the commands print of the kept inputs. Markdown is
// the same page as text; a name in backquotes or JSON is no word.
func TestNoSectionHasARetiredWord(t *testing.T) {
	t.Parallel()
	commands := [][]string{{"analyze", "--verbose"}, {"quantiles"}, {"owner"}, {"retries"}, {"orphans"}, {"timeouts"}, {"calls"}}
	for _, s := range screens {
		for _, command := range commands {
			for _, format := range []string{"text", "markdown"} {
				args := append(slices.Clone(command), "--format", format, s.file)
				t.Run(strings.Join(args[:len(args)-1], " ")+" "+s.name, func(t *testing.T) {
					t.Parallel()
					r := tailscope("", args...)
					if len(r.out) < 100 {
						t.Skip("not for this input: " + r.stderr)
					}
					for _, word := range retired(inCode.ReplaceAllString(r.out+r.stderr, "")) {
						t.Errorf("says %q", word)
					}
				})
			}
		}
	}
}

// The rules keep their names, in the first cell of a line.
func TestNoRuleHasARetiredWord(t *testing.T) {
	t.Parallel()
	names := regexp.MustCompile(`(?m)^(\| *)?[\w-]+`)
	text := must(t, "", "rules")
	if len(names.FindAllString(text, -1)) < 60 {
		t.Errorf("only so many rules:\n%s", text)
	}
	for _, word := range retired(names.ReplaceAllString(text, "")) {
		t.Errorf("says %q", word)
	}
}

// The README and the pages that explain the first page keep to the words of the reader.
func TestFirstPagesOfTheDocumentationHaveNoRetiredWords(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../README.md", "../../docs/findings.md", "../../docs/cli.md"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range retired(inCode.ReplaceAllString(string(text), "")) {
			t.Errorf("%s says %q", path, word)
		}
	}
}

// inCode is what stands in backquotes: fields, rules and commands keep their names.
var inCode = regexp.MustCompile("`[^`\\n]*`")
