package report

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
)

// Section is what one analysis says of a run, for every format. Its texts are
// raw: each writer makes them harmless in its own way.
type Section struct {
	Key      string     // its member of the JSON document, and what --table calls its rows
	JSON     func() any // that member's value, made only where it is asked for
	Lines    []string   // sentences among the first lines of a page
	Warnings []string   // what is wrong with everything, after those lines
	Tables   []Table    // for people, in the order of the page
	Drawings []Drawing  // for people, before the tables
	Data     Table      // the rows for CSV; without columns the section has none
}

// Drawing is lines of characters that stand under each other as they are, for a page that
// looks so. Names in it are Visible.
type Drawing func(Options) []string

// Opening is a section's first line and what to know with it, as sentences: "Of
// retries: the traces were chosen by how they went."
func Opening(first, of string, warnings []note.Warning) []string {
	lines := []string{first + "."}
	for _, w := range warnings {
		lines = append(lines, "Of "+of+": "+w.Text+".")
	}
	return lines
}

// View is what a section must know of the page it stands on.
type View struct {
	Quantiles []quantile.P           // those of every distribution, in the order asked for
	InFull    bool                   // a command of one section shows all of it
	Sampling  string                 // how the traces were chosen: unknown, biased and so on
	Paths     []string               // of the input files, by their index in rows
	TraceURL  string                 // template of a trace's address, with {trace}; "" for none
	Hops      func(name string) bool // those to show; nil: all
	Verbose   bool                   // the whole page, not its first screen
	Top       int                    // hops in the one table of all, 0 for all
	Sort      string                 // of that table: "p99", "share", "n" or "name"; "" for the usual order
}

// Shown returns the rows to show: those of which one of the hops is to be shown.
func Shown[R any](v *View, rows []R, hops func(*R) []string) []R {
	if v.Hops == nil {
		return rows
	}
	var shown []R
	for i := range rows {
		if slices.ContainsFunc(hops(&rows[i]), v.Hops) {
			shown = append(shown, rows[i])
		}
	}
	return shown
}

// TraceAddress is where a trace can be looked at, empty where no template was
// given.
func (v *View) TraceAddress(trace string) string {
	if v.TraceURL == "" {
		return ""
	}
	return strings.ReplaceAll(v.TraceURL, "{trace}", inAddress(trace))
}

// inAddress makes an id that may hold anything safe in the path and in the query
// of an address.
func inAddress(id string) string {
	return strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// Path is the name of an input file by its index in the rows.
func (v *View) Path(file int32) string {
	if int(file) < len(v.Paths) {
		return v.Paths[file]
	}
	return ""
}

// mostArguments are written out; more files are what the shell made of a pattern.
const mostArguments = 3

// Arguments names the input files as a command line does, each behind a blank.
func (v *View) Arguments() string {
	text := ""
	for i, path := range v.Paths {
		if i == mostArguments {
			return text + " …"
		}
		text += " " + Word(path)
	}
	return text
}

// Word is a text as one word of a command line: as it is, or in quotes.
func Word(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
