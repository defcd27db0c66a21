// Package report turns results into pages.
//
//  1. A Report holds what one run found; every number carries its warnings.
//  2. The page for people is built once: opening lines, one Table a section,
//     numbered footnotes. Text and Markdown write the same tables.
//  3. JSON and CSV are for machines and get raw integer nanoseconds.
//  4. Names come from logs and are not trusted: every format makes them
//     harmless where it writes them, so tables hold them as they are.
//
// A value that the timeout hides is never printed like a known one: it stands
// behind "≥", or is missing, and a footnote says what would make it known.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tailscope/tailscope/attribution"
	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/orphans"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/retries"
	"github.com/tailscope/tailscope/timeouts"
)

// Report is everything one run found; sections that were not asked for are
// nil. An empty section that was asked for is an empty list.
type Report struct {
	Input     ingest.Summary
	Quantiles []quantile.P     // those of every hop, in the order asked for
	Hops      []buckets.Result // sorted by hop, then kind
	Orphans   *orphans.Result
	Owner     *attribution.Result
	Retries   *retries.Result
	Timeouts  *timeouts.Result

	Paths    []string // of the input files, by their index in rows
	TraceURL string   // template of a trace's address, with {trace}; "" for none
	InFull   bool     // a command of one section shows all of it
}

// Options is how a page is to look; JSON and CSV ignore it.
type Options struct {
	Color bool // bold headers and yellow lower bounds, for terminals
	Width int  // terminal columns to fit into, 0 for any width
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

// Names lists the names of Formats, as help and errors print them.
func Names() string {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// Lookup returns the format of that name; the error lists the choices.
func Lookup(name string) (Format, error) {
	for _, f := range Formats {
		if f.Name == name {
			return f.Write, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: choose one of %s", name, Names())
}
