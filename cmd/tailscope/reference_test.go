package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/internal/configfile"
)

const referencePage = "../../docs/cli.md"

// TestTheReferenceOfTheCommandLineIsThatOfItsDefinitions writes docs/cli.md from the
// commands, flags and keys that there are, and compares.
func TestTheReferenceOfTheCommandLineIsThatOfItsDefinitions(t *testing.T) {
	t.Parallel()
	want := reference(tree())
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/cli.md is not what the definitions say: go test ./cmd/tailscope -run Reference -update writes it anew")
	}
}

func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# The command line

    tailscope [FILE…]

is ` + "`tailscope analyze`" + `: the summary. A FILE is a path, a glob, a folder or - for stdin; what
is piped into tailscope without a FILE is read, too. ` + "`tailscope help COMMAND`" + ` shows the flags
of a command, ` + "`tailscope help flags`" + ` all of them. This page is made from the same definitions.

## Commands

| command | for |
|---|---|
`)
	commands := slices.DeleteFunc(root.Commands(), func(c *cobra.Command) bool { return !c.IsAvailableCommand() || c.Name() == "help" })
	for _, c := range commands {
		fmt.Fprintf(&b, "| `%s` | %s |\n", cell(c.Use), cell(c.Short))
	}
	referenceFlags(&b, commands)
	referenceOld(&b, commands)
	referenceConfig(&b)
	b.WriteString(endOfReference)
	return b.String()
}

// referenceFlags writes a table for each group.
func referenceFlags(b *strings.Builder, commands []*cobra.Command) {
	for _, g := range groups {
		fmt.Fprintf(b, "\n## %s\n\n| flag | of | means |\n|---|---|---|\n", g.name)
		for _, name := range g.flags {
			if f, of := flagOf(commands, name); f != nil {
				fmt.Fprintf(b, "| `%s` | %s | %s |\n", written(f), of, cell(meaning(f)))
			}
		}
	}
}

// flagOf returns a flag and the commands that show it.
func flagOf(commands []*cobra.Command, name string) (flag *pflag.Flag, of string) {
	var names []string
	for _, c := range commands {
		if f := c.Flags().Lookup(name); f != nil && (!f.Hidden || slices.Contains(rare, name)) {
			names = append(names, c.Name())
			if flag == nil {
				flag = f
			}
		}
	}
	if len(names) > len(commands)-3 {
		return flag, "all"
	}
	return flag, strings.Join(names, ", ")
}

func written(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	text := strings.TrimSpace("--" + f.Name + " " + value)
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", " + text
	}
	return text
}

func meaning(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "false", "[]", "0s":
		return usage
	}
	if f.Name == "jobs" {
		return usage + " (default: the processors)"
	}
	return usage + " (default: " + strings.Trim(f.DefValue, "[]") + ")"
}

// cell keeps a text from ending its cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "{", "&#123;", "\n", " ").Replace(s)
}

// referenceOld lists what has another name or place now.
func referenceOld(b *strings.Builder, commands []*cobra.Command) {
	grouped := map[string]bool{}
	for _, g := range groups {
		for _, name := range g.flags {
			grouped[name] = true
		}
	}
	old := map[string]string{}
	for _, c := range commands {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden && !grouped[f.Name] {
				old[f.Name] = meaning(f)
			}
		})
	}
	b.WriteString("\n## Taken, and not shown\n\nThese flags mean what they meant. `analyze` also takes those that only other commands show.\n\n| flag | means |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(old)) {
		fmt.Fprintf(b, "| `--%s` | %s |\n", name, cell(old[name]))
	}
}

func referenceConfig(b *strings.Builder) {
	b.WriteString("\n## The file of settings\n\n`" + usualConfig + "` of the working folder, or the YAML file that `--config` names, holds settings for every run;\n`--config none` leaves it out. The page names the file and what came from it, and so do\n`inspect` and JSON (`config`). The command line wins: of fields and timeouts by name, of all else\nby flag. A key that does not exist ends the run with exit code 2.\n" + `
    fields:
      hop: upstream
      duration: took:us
    timeouts:
      orders: 300ms
      search → catalog: 250ms
    gates:
      - timed_out(orders) > 1%
    headroom: 1.5

| key | is | as |
|---|---|---|
`)
	shapes := map[configfile.Shape]string{configfile.Value: "a value", configfile.List: "a list", configfile.Map: "names with a value each"}
	for _, key := range slices.Sorted(maps.Keys(fileKeys)) {
		flag := key
		if other, ok := fileFlags[key]; ok {
			flag = other
		}
		fmt.Fprintf(b, "| `%s` | %s | `--%s` |\n", key, shapes[fileKeys[key]], flag)
	}
}

const endOfReference = `
## Names and values

- A quantile is ` + "`p99`, `0.99` or `99%`" + `, wherever one is asked for.
- ` + "`-o FILE`" + ` chooses the format by the end of the name: .txt, .json, .csv, .md. A name without an
  end is written as ` + "`--format`" + ` says; one that ends otherwise needs ` + "`--format`" + `.
- A hop in ` + "`--timeout`, `--hop`" + ` and gates is its name, ` + "`search -> catalog`, `search → catalog`" + `
  or any part that no other hop has; of two that match both are named, with exit code 2. A
  ` + "`--timeout`" + ` by another name than the input's has files read twice; stdin must be told the name.
- A hop in ` + "`--timeout`" + ` that the input lacks is a mistake where one of its hops, or services, is one or
  two letters away. Else it is a warning, as it may have no traffic now; one of the file of settings always is.
  One by a part of a name is told on the page with the call that it was taken for. What ` + "`--hop`" + `
  asks for must be there: one that chooses nothing is exit code 2.
- Misspelled commands, flags and keys get the nearest name, and exit code 2.

## Completion

` + "`tailscope completion bash`, `zsh`, `fish` and `powershell`" + ` print what a shell completes commands, flags and
their words with:

    source <(tailscope completion bash)
`
