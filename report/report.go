// Package report turns results into pages.
//
//  1. A Report is sections, one for each analysis that was asked for. An analysis
//     brings its own; this package knows none.
//  2. A section has tables of typed values under named columns. One list of
//     columns serves every format that shows the table.
//  3. The page for people is built once: opening lines, tables, numbered
//     footnotes. Text and Markdown write the same page.
//  4. JSON and CSV are for machines and get raw integer nanoseconds.
//  5. Names come from logs and are not trusted: every format makes them
//     harmless where it writes them, so sections hold them as they are.
//
// A value that the timeout hides is never printed like a known one: it stands
// behind "≥", or is missing, and a footnote says what would make it known.
package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Report is what one run found: its sections in the order of the page.
type Report struct {
	Sections []Section
	Table    string // the section whose rows CSV writes; "" for the first with rows
	// Screen is what people read in place of the sections; nil: they read those.
	Screen *Screen
}

// Options is how a page is to look; JSON and CSV ignore it.
type Options struct {
	Color bool // bold headers and yellow lower bounds, for terminals
	Width int  // terminal columns to fit into, 0 for any width
	// Closing repeats the verdict of a Screen at its end, where a terminal stops.
	Closing bool
}

// Wrong paints what went wrong, where there are colors.
func (o Options) Wrong(s string) string { return o.painted("\x1b[31m", s) }

// Doubtful paints what is to be looked at, where there are colors.
func (o Options) Doubtful(s string) string { return o.painted(yellow, s) }

func (o Options) painted(color, s string) string {
	if !o.Color || strings.TrimSpace(s) == "" {
		return s
	}
	return color + s + reset
}

// Format writes a report. It writes nothing when the report cannot be
// rendered, so an error leaves no half page unless w itself fails.
type Format func(w io.Writer, r *Report, o Options) error

// Named is a Format with the name by which it is chosen.
type Named struct {
	Name  string
	Write Format
}

// Formats lists all formats; the first is the default.
var Formats = [...]Named{
	{"text", Text},
	{"json", JSON},
	{"csv", CSV},
	{"markdown", Markdown},
}

// shortNames are other names of formats, by which help and errors call them.
var shortNames = map[string]string{"markdown": "md"}

// Extensions are the ends of file names that say what format a file has.
var Extensions = [...]struct{ Extension, Format string }{
	{".txt", "text"}, {".json", "json"}, {".csv", "csv"}, {".md", "markdown"},
}

// OfExtension returns the name of the format of files whose names end so; ok is false
// where there is none.
func OfExtension(extension string) (format string, ok bool) {
	for _, e := range Extensions {
		if strings.EqualFold(e.Extension, extension) {
			return e.Format, true
		}
	}
	return "", false
}

// ExtensionOf is how the names of files of a format end, "" where it has no end of its own.
func ExtensionOf(format string) string {
	for _, e := range Extensions {
		if format != "" && (e.Format == format || shortNames[e.Format] == format) {
			return e.Extension
		}
	}
	return ""
}

// Names lists the names of Formats, and of others, as help and errors print them.
func Names(others ...Named) string {
	var names []string
	for _, f := range append(Formats[:], others...) {
		names = append(names, cmp.Or(shortNames[f.Name], f.Name))
	}
	return strings.Join(names, ", ")
}

// Lookup returns the format of that name, of Formats or others; the error lists the
// choices.
func Lookup(name string, others ...Named) (Format, error) {
	for _, f := range append(Formats[:], others...) {
		if f.Name == name || name != "" && shortNames[f.Name] == name {
			return f.Write, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: choose one of %s", name, Names(others...))
}
