package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/report"
	"golang.org/x/term"
)

// sections are those of the list of commands in the help, with a line for each command.
var sections = []struct {
	name     string
	commands [][2]string
}{
	{"Ask one question", [][2]string{
		{"owner", "which hop makes slow requests slow"}, {"retries", "does a retry help"},
		{"timeouts", "what each timeout should be"}, {"orphans", "work nobody waits for"},
		{"calls", "queue or slow, for every call"},
		{"explain", "everything about a hop"}, {"trace", "draw one trace: worst, or by id"},
	}},
	{"Data", [][2]string{
		{"inspect", "how a file is understood"}, {"quantiles", "only the table, fast"},
		{"rules", "what counts as a timeout or retry"},
	}},
}

// writeHelp writes the first page of the help.
func writeHelp(w io.Writer, root *cobra.Command) {
	fmt.Fprint(w, `tailscope finds which hop owns your tail latency and what its timeout should be,
without mistaking timed-out requests for latencies.

  tailscope [FILE…]            summary (FILE: hop log, Jaeger or OTLP; folder, glob, - for stdin)
`)
	for _, s := range sections {
		fmt.Fprintf(w, "\n%s\n", s.name)
		there := slices.DeleteFunc(slices.Clone(s.commands), func(c [2]string) bool {
			one, _, err := root.Find(c[:1])
			return err != nil || one == root
		})
		for pair := range slices.Chunk(there, 2) {
			line := ""
			for _, c := range pair {
				line += fmt.Sprintf("  %-9s %-34s", c[0], c[1])
			}
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
	fmt.Fprintf(w, `
Input     --field NAME=KEY  --unit ms  --timeout HOP=5s  --truncated-if KEY=VALUE  --sampling
Select    --hop GLOB  --where KEY=VALUE  --since  --until
Output    --format %s  -o FILE (by extension)  --top N  --sort  -v
Gate      --fail-on 'timed_out(orders) > 1%%'  --max-rejects 1%%
Examples  kubectl logs deploy/gw | tailscope
          tailscope owner traces.json.gz
          tailscope --timeout orders=300ms -o report.md logs/
All flags: tailscope help flags
`, strings.ReplaceAll(report.Names(), ", ", "|"))
}

// groups are those of the flags in the help, in its order.
var groups = []struct {
	name  string
	flags []string
}{
	{"Input", []string{"input-format", "field", "preset", "unit", "timeout", "by", "hop-name", "fold-ids", "match-messages", "truncated-if", "not-rule", "sampling", "config", "records", "of"}},
	{"Select", []string{"where", "since", "until", "hop"}},
	{"Figures", []string{"quantiles", "confidence", "simultaneous", "tail-from", "tolerance", "write-hop"}},
	{"Advice", []string{"false-timeout", "false-timeout-per", "headroom", "allowance", "floor", "entry-budget"}},
	{"Output", []string{"format", "output", "table", "top", "sort", "trace-url", "rejects", "verbose", "quiet"}},
	{"Gate", []string{"fail-on", "max-rejects"}},
	{"Rarely needed", append([]string{"help", "version"}, rare...)},
}

// flagGroups splits flags into those of each group that show passes.
func flagGroups(flags *pflag.FlagSet, show func(*pflag.Flag) bool) []*pflag.FlagSet {
	sets := make([]*pflag.FlagSet, len(groups))
	for i, g := range groups {
		sets[i] = pflag.NewFlagSet(g.name, pflag.ContinueOnError)
		sets[i].SortFlags = false
		for _, name := range g.flags {
			if f := flags.Lookup(name); f != nil && show(f) {
				shown := *f
				shown.Hidden = false
				sets[i].AddFlag(&shown)
			}
		}
	}
	return sets
}

// Help is as wide as the terminal, within limits; where there is none it has helpColumns.
const (
	helpColumns = 80
	leastHelp   = 40
	mostHelp    = 100
)

// helpPage is a text that is folded to the width of what it is written to.
type helpPage struct {
	strings.Builder
	width int
}

// writePage writes a page of help.
func writePage(w io.Writer, fill func(*helpPage)) {
	p := helpPage{width: helpColumns}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = min(max(width, leastHelp), mostHelp)
		}
	}
	fill(&p)
	for line := range strings.Lines(p.String()) {
		fmt.Fprintln(w, folded(strings.TrimSuffix(line, "\n"), p.width))
	}
}

// folded breaks a line that is too long where it has spaces. What is broken off stands
// below the first column after a gap, or below where the line begins.
func folded(line string, width int) string {
	var list []string
	text := []rune(line)
	for indent := hanging(line); len(text) > width; {
		at := breakAt(text, indent, width)
		if at <= indent {
			break // a word that is longer than what there is
		}
		list = append(list, strings.TrimRight(string(text[:at]), " "))
		text = []rune(strings.Repeat(" ", indent) + strings.TrimLeft(string(text[at:]), " "))
	}
	return strings.Join(append(list, string(text)), "\n")
}

// breakAt is the last space up to the width: of those between columns, where the second
// half has one. Without any it is not beyond the indent.
func breakAt(text []rune, indent, width int) int {
	for at := width; at > max(indent, width/2); at-- {
		if text[at] == ' ' && text[at-1] == ' ' {
			return at
		}
	}
	at := width
	for at > indent && text[at] != ' ' {
		at--
	}
	return at
}

// hanging is the column of what is folded: after the first gap of two spaces or more, else
// where the line begins.
func hanging(line string) int {
	text := strings.TrimLeft(line, " ")
	begin := len(line) - len(text)
	if at := strings.Index(text, "  "); at > 0 && at < leastHelp {
		rest := strings.TrimLeft(text[at:], " ")
		return begin + utf8.RuneCountInString(text) - utf8.RuneCountInString(rest)
	}
	return begin
}

// refilled makes each paragraph one line.
func refilled(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}

func writeFlags(w io.Writer, flags *pflag.FlagSet, show func(*pflag.Flag) bool) {
	width := helpColumns
	if p, ok := w.(*helpPage); ok {
		width = p.width
	}
	for i, set := range flagGroups(flags, show) {
		if set.HasFlags() {
			fmt.Fprintf(w, "\n%s\n%s", groups[i].name, set.FlagUsagesWrapped(width))
		}
	}
}

// shown reports whether the help of a command shows a flag.
func shown(f *pflag.Flag) bool { return !f.Hidden }

// writeCommandHelp writes the help of one command.
func writeCommandHelp(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "%s\n\nUsage\n  %s\n", refilled(cmp.Or(cmd.Long, cmd.Short)), cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintln(w, "\nCommands")
		for _, one := range cmd.Commands() {
			if one.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-12s %s\n", one.Name(), one.Short)
			}
		}
	}
	writeFlags(w, cmd.Flags(), shown)
	fmt.Fprintln(w, "\nFlags that are rarely needed: tailscope help flags")
}

// allFlags are the flags of all commands that have a group, each once.
func allFlags(root *cobra.Command) *pflag.FlagSet {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if all.Lookup(f.Name) == nil {
				one := *f
				all.AddFlag(&one)
			}
		})
	}
	if f := all.Lookup("help"); f != nil {
		f.Usage = "help for a command"
	}
	return all
}

// writeAllFlags writes the flags of all commands, with those that have them.
func writeAllFlags(w io.Writer, root *cobra.Command) {
	fmt.Fprintln(w, "All flags. A command takes those that 'tailscope help COMMAND' shows and those rarely needed; analyze takes those of all analyses.")
	writeFlags(w, allFlags(root), func(*pflag.Flag) bool { return true })
}

// setHelp gives the commands their help.
func setHelp(root *cobra.Command, w io.Writer) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		cmd.InitDefaultHelpFlag()
		if cmd == root {
			writePage(w, func(p *helpPage) { writeHelp(p, root) })
			return
		}
		writePage(w, func(p *helpPage) { writeCommandHelp(p, cmd) })
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND | flags]",
		Short: "Help for a command, or for all flags",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(namesOfCommands(root), "flags"), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return help(root, w, args) },
	})
}

func help(root *cobra.Command, w io.Writer, args []string) error {
	switch cmd, _, err := root.Find(args); {
	case len(args) == 1 && args[0] == "flags":
		writePage(w, func(p *helpPage) { writeAllFlags(p, root) })
		return nil
	case len(args) > 0 && (err != nil || cmd == root):
		return usageError{fmt.Errorf("there is no help for %q%s\nsee 'tailscope --help'", args[0], didYouMean(args[0], append(namesOfCommands(root), "flags"), ""))}
	default:
		return cmd.Help()
	}
}

func namesOfCommands(root *cobra.Command) (list []string) {
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			list = append(list, cmd.Name())
		}
	}
	return list
}

// didYouMean ends a message with the name that is nearest to what was written, nothing
// where none is near.
func didYouMean(written string, list []string, prefix string) string {
	if name := nearest.Name(written, list); name != "" {
		return fmt.Sprintf("; did you mean %q?", prefix+name)
	}
	return ""
}

// flagError says which flag may be meant by one that a command does not have.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		text += meantFlag(cmd, cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()))
	}
	return usageError{fmt.Errorf("%s\nsee '%s --help'", text, cmd.CommandPath())}
}

// meantFlag says whose flag a name is, or what is nearest to it. It may have been written
// after one dash, and its value with it.
func meantFlag(cmd *cobra.Command, name string) string {
	if name, _, _ = strings.Cut(name, "="); len(name) < 2 {
		return ""
	}
	if cmd.Flags().Lookup(name) != nil {
		return "; write --" + name
	}
	var names, owners []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for _, other := range cmd.Root().Commands() {
		if other.Flags().Lookup(name) != nil {
			owners = append(owners, other.Name())
		}
	}
	if owners != nil {
		return "; it is a flag of " + strings.Join(owners, ", ")
	}
	return didYouMean(name, names, "--")
}

// isCommand makes an argument that is neither a command nor a file a mistake in the
// command line.
func isCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "-" || strings.ContainsAny(args[0], `./\*?[{`) {
		return nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		return nil
	}
	names := slices.DeleteFunc(namesOfCommands(root), func(n string) bool { return n == "completion" })
	return usageError{fmt.Errorf("unknown command %q, and no file has that name%s\nsee 'tailscope --help'", args[0], didYouMean(args[0], names, ""))}
}

// piped reports whether something was put before the command: a pipe or a file, not a
// terminal and not an empty device.
func piped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}
