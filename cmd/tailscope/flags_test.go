package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func tree() *cobra.Command {
	root := newRoot(streams{})
	root.InitDefaultHelpFlag()
	return root
}

func kindCommand(root *cobra.Command, name string) *cobra.Command {
	cmd, _, _ := root.Find([]string{name})
	return cmd
}

// shownFlags counts the flags that the help of a command shows, besides --help.
func shownFlags(cmd *cobra.Command) (n int) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if shown(f) && f.Name != "help" && f.Name != "version" {
			n++
		}
	})
	return n
}

func TestAnalyzeShowsAtMostThirtyFlags(t *testing.T) {
	t.Parallel()
	root := tree()
	for cmd, most := range map[*cobra.Command]int{root: 30, kindCommand(root, "analyze"): 30, kindCommand(root, "timeouts"): 35} {
		if n := shownFlags(cmd); n > most || n < most/2 {
			t.Errorf("%s shows %d flags, at most %d", cmd.Name(), n, most)
		}
	}
}

func TestEveryFlagThatIsShownStandsInOneGroup(t *testing.T) {
	t.Parallel()
	root := tree()
	groupsOf := map[string]int{}
	for _, g := range groups {
		for _, name := range g.flags {
			groupsOf[name]++
		}
	}
	for _, cmd := range append(root.Commands(), root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && groupsOf[f.Name] != 1 {
				t.Errorf("--%s of %s stands in %d groups", f.Name, cmd.Name(), groupsOf[f.Name])
			}
		})
	}
}

func TestEveryCommandStandsInTheHelp(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	root := tree()
	writeHelp(&b, root)
	for _, name := range namesOfCommands(root) {
		if slices.Contains([]string{"analyze", "version", "help"}, name) {
			continue
		}
		if !strings.Contains(b.String(), "  "+name+" ") && !strings.Contains(b.String(), " "+name+"  ") {
			t.Errorf("the help does not show %s", name)
		}
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("line %d of the help has %d columns", i+1, n)
		}
	}
}

func TestCompletionOffersWordsThatAreTaken(t *testing.T) {
	t.Parallel()
	for flag, of := range words {
		for _, word := range of() {
			if strings.HasSuffix(word, "=") || flag == "not-rule" {
				continue
			}
			r := tailscope("{\"hop\":\"a\",\"duration_ms\":5,\"truncated\":false}\n", "analyze", "--format", "csv", "--"+flag, word, "-")
			if r.code == exitUsage {
				t.Errorf("--%s %s: %s", flag, word, r.stderr)
			}
		}
	}
}
