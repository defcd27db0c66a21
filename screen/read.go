package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/findings"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
)

// readLine says what was read.
func (b *builder) readLine() string {
	text := b.whatWasRead()
	if w := b.window(); w > 0 {
		text += ", " + b.traffic(w)
	}
	text += ". " + note.Count(len(b.Read.Files), "file") + ", " + b.leftOut() + "."
	if b.Settings != "" {
		text += " Settings of " + b.Settings + "."
	}
	return text
}

func (b *builder) whatWasRead() string {
	if t, s := b.Read.Traces, b.Read.Spans; t != nil && s != nil && *t > 0 {
		return note.Count(*t, "trace") + ", " + note.Count(*s, "span")
	}
	attempts := uint64(0)
	for i := range b.Hops {
		attempts += b.Hops[i].Attempts
	}
	text := note.Count(attempts, "attempt") + " of " + note.Count(len(b.Hops), "hop")
	if n := b.requests(); n > 0 && n != attempts {
		text = note.Count(n, "request") + ", " + text
	}
	return text
}

// requests is how many whole requests were seen; 0 where nothing tells them apart.
func (b *builder) requests() (n uint64) {
	if b.Owner == nil {
		return 0
	}
	for _, o := range b.Owner.Outcomes {
		n += o.N
	}
	return n
}

// window is from the first start to the last, 0 where not known.
func (b *builder) window() int64 {
	if b.Timeouts == nil || b.Timeouts.Window == nil {
		return 0
	}
	return *b.Timeouts.Window
}

// traffic says how long the input covers, and where most of that is empty in how many
// minutes anything began.
func (b *builder) traffic(window int64) string {
	if b.mostlyEmpty() {
		return fmt.Sprintf("traffic in %s of %s", note.Count(b.Retries.Ratio.Minutes, "minute"), brief.Length(window, brief.Down))
	}
	return brief.Length(window, brief.Down) + " of traffic"
}

// mostlyEmpty reports whether nothing began in most minutes of the window, as between two
// runs. Of so few calls that a minute may well have none nothing is said.
func (b *builder) mostlyEmpty() bool {
	minutes := uint64(b.window() / minute)
	if b.Retries == nil || minutes < fewMinutes {
		return false
	}
	r := &b.Retries.Ratio
	return r.Minutes > 0 && 2*r.Minutes < minutes && r.All.Of >= manyCalls*minutes
}

const (
	fewMinutes = 4  // of a window are too few to say in which of them nothing began
	manyCalls  = 10 // in a minute: one without any is no chance
)

// leftOut says what was read and does not count.
func (b *builder) leftOut() string {
	var parts []string
	if n := b.Read.Rejected; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s rejected", n, note.Count(b.Read.Records, "record")))
	}
	if n := b.Read.Filtered; n > 0 {
		parts = append(parts, fmt.Sprintf("%d filtered", n))
	}
	if n := b.Read.DuplicatesDropped; n != nil && *n > 0 {
		parts = append(parts, note.Count(*n, "duplicate")+" dropped")
	}
	if parts == nil {
		return "nothing rejected"
	}
	return strings.Join(parts, ", ")
}

const longestFiles = 60 // bytes of their names

// more names the commands that show the rest.
func (b *builder) more() string {
	var names []string
	for _, f := range b.Files {
		if f != "-" {
			names = append(names, quoted(f))
		}
	}
	files := strings.Join(names, " ")
	if len(files) > longestFiles && len(names) > 1 {
		files = "FILE…"
	}
	if files != "" {
		files = " " + files
	}
	if hop := b.worstHop(); hop != "" {
		return "tailscope explain " + quoted(hop) + files + "   (also: --verbose, owner, calls, retries, orphans, timeouts, trace worst)"
	}
	return "tailscope --verbose" + files + "   (also: owner, calls, retries, orphans, timeouts, trace worst)"
}

// worstHop is what the first verdict is about, "" where it is about the whole input.
func (b *builder) worstHop() string {
	for i := range b.Findings {
		if f := &b.Findings[i]; !f.Caveat() && f.Severity != findings.Info && b.showsFinding(f) {
			if f.Hop == "" {
				return ""
			}
			return b.Names.Of(f.Call)
		}
	}
	return ""
}

// quoted is a name as a shell takes it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=~", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

const (
	minute = 60e9
	hour   = 3600e9
	day    = 24 * hour
)

// caveats are what changes an answer.
func (b *builder) caveats() (list []string) {
	add := func(text string) {
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	b.warn(add, true)
	for i := range b.Findings {
		if f := &b.Findings[i]; f.Caveat() {
			add(strings.Join(append([]string{f.Text}, f.Do...), " "))
		}
	}
	add(b.coarseClock())
	add(b.shortWindow())
	if b.Read.TimeBasis == "none" && b.Read.Traces == nil {
		add("No start times in the log: times are added up; no orphans, rates or time span.")
	}
	for _, r := range b.Read.Rejects {
		add(fmt.Sprintf("%s rejected as %s, the first at %s:%d.", note.Count(r.Count, "record"), r.Reason, r.First.File, r.First.Line))
	}
	b.warn(add, false)
	return list
}

// warn adds the warnings of the command line, or all others.
func (b *builder) warn(add func(string), ofCommand bool) {
	for _, w := range b.Read.Warnings {
		if !slices.Contains(asFindings, w.Code) && slices.Contains(ofFlags, w.Code) == ofCommand {
			add(b.sentence(&w))
		}
	}
}

// coarseClock says that values are no finer than the clock that they were read from.
func (b *builder) coarseClock() string {
	step := int64(0)
	for _, l := range b.rows {
		for i := range l.Tail {
			if t := &l.Tail[i]; t.Status != quantile.NoValue && t.ClockStep > 1 && t.ClockStep >= t.Value/2 && l.enough() {
				step = max(step, t.ClockStep)
			}
		}
	}
	if step == 0 {
		return ""
	}
	return "Durations are read from a clock of " + brief.Duration(step, brief.Nearest) + ": shorter ones are not told apart."
}

// asFindings are warnings that findings say.
var asFindings = []string{"suspected_biased_sample", "repeated_lines", "ids_folded"}

// ofFlags are warnings of how the command line was understood: what follows may not be what
// was asked for, so they come first and are never left out for want of room.
var ofFlags = []string{"timeout_taken", "timeout_without_hop", "by_not_found", "field_not_found", "where_not_found"}

// sentence is a warning as it stands on the page. The name of a file stays as it is.
func (b *builder) sentence(w *note.Warning) string {
	first, _, _ := strings.Cut(w.Text, " ")
	named := func(f ingest.FileSummary) bool { return strings.HasPrefix(w.Text, f.Path) }
	if strings.ContainsAny(first, `./\`) || slices.ContainsFunc([]ingest.FileSummary(b.Read.Files), named) {
		return withEnd(w.Text)
	}
	return withEnd(capital(w.Text))
}

// withEnd puts a full stop where a sentence has no end of its own.
func withEnd(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// shortWindow says that a timeout is for busier times than were seen.
func (b *builder) shortWindow() string {
	w := b.window()
	switch {
	case w == 0 || len(b.advised()) == 0 || w >= day:
		return ""
	case w < hour:
		return brief.Length(w, brief.Down) + " is not a busy hour."
	}
	return brief.Length(w, brief.Down) + " is not a day."
}
