package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/report"
	"github.com/tailscope/tailscope/spans"
	"golang.org/x/term"
)

// sayInput says on stderr what was rejected, what broke off, and with -v how each
// file was read.
func (p *plan) sayInput(in ingest.Summary, f *merged) {
	for _, file := range in.Files {
		if p.verbose {
			p.say("%s: %s", file.Path, readAs(file))
		}
	}
	if p.csv && p.config != nil {
		p.say("settings of %s count", p.config.File)
	}
	for _, r := range in.Rejects {
		p.say("%s:%d: %s: %s (byte %d)", r.First.File, r.First.Line, r.Reason, r.First.Detail, r.First.Offset)
		if r.Count > 1 {
			p.say("… and %d more: %s", r.Count-1, r.Reason)
		}
	}
	for _, err := range f.damages {
		p.say("%v", err)
	}
	for _, w := range p.foldedIDs() {
		p.say("warning: %s", w.Text)
	}
	if in.Accepted == 0 { // no report follows that would hold them
		for _, w := range in.Warnings {
			p.say("warning: %s", w.Text)
		}
	}
}

// sayLeftOut says what a CSV does not have, unless its table was chosen, and that a file's
// name speaks of another format.
func (p *plan) sayLeftOut(r *report.Report) {
	if p.misnamed != "" {
		p.say("%s", p.misnamed)
	}
	written, others := r.CSVTables()
	if p.csv && p.table == "" && len(others) > 0 {
		p.say("the CSV holds the %s table only; left out: %s (--table NAME writes one of them, --format json has all)", written, strings.Join(others, ", "))
	}
}

// say writes one line to stderr. What it quotes comes from logs, so what could
// steer a terminal is made visible.
func (p *plan) say(format string, args ...any) {
	fmt.Fprintf(p.streams.err, "tailscope: %s\n", report.Visible(fmt.Sprintf(format, args...)))
}

// readAs says how a file was read. One that is empty has no format, and traces list no
// fields.
func readAs(f ingest.FileSummary) string {
	text := note.Count(f.Records, "record")
	if f.Format != "" {
		text = formatOf(f) + ", " + f.Compression + ", " + text
	}
	if len(f.Fields) > 0 {
		text += "; " + fieldList(f.Fields)
	}
	return text
}

// formatOf names the format of a file, and what its records lie in.
func formatOf(f ingest.FileSummary) string {
	text := f.Format
	if f.Preset != "" {
		text += " by preset " + string(f.Preset)
	}
	if f.Wrapper != "" {
		text += " in " + f.Wrapper
	}
	return text
}

func fieldList(fields map[string]string) string {
	var parts []string
	for _, role := range slices.Sorted(maps.Keys(fields)) {
		parts = append(parts, role+"="+fields[role])
	}
	return "fields " + strings.Join(parts, " ")
}

// inputWarnings are those that only the whole run can give.
func (p *plan) inputWarnings(in ingest.Summary, f *merged) []note.Warning {
	list := append(f.ledger.MissingKeys(p.ingest.Fields.Config), f.leftOut.Warnings()...)
	if p.leavesChains(in) {
		list = append(list, note.Warning{Code: "chains_not_seen", Text: "records name their chains, which 'quantiles' does not put together: where calls of one chain go the same way, fewer of them are independent and the limits are too narrow; 'tailscope analyze' sees that"})
	}
	names := f.hops().Names()
	list = append(list, p.foldedIDs()...)
	if n := f.traces.Cycles; n > 0 {
		list = append(list, note.Warning{Code: "parent_cycles", Text: note.Count(n, "span names itself or one below it as its parent: it counts as a root", "spans name themselves or one below them as their parent: they count as roots")})
	}
	if f.unnested > 0 {
		list = append(list, note.Warning{Code: "nesting_not_inferred", Text: fmt.Sprintf("%s more than %d attempts%s count as roots", note.Count(f.unnested, "chain holds", "chains hold"), spans.MostNested, note.Form(f.unnested, ": too many to infer what called what, so all of its", " each: too many to infer what called what, so all of theirs"))})
	}
	bad := 0
	for name := range names {
		if !utf8.ValidString(name) {
			bad++
		}
	}
	if bad > 0 {
		list = append(list, note.Warning{Code: "invalid_utf8", Text: note.Count(bad, "hop name is not UTF-8; its", "hop names are not UTF-8; their") + " bad bytes are shown as U+FFFD, so two names may look alike"})
	}
	return list
}

// foldedIDs says that names which differ in ids are one hop.
func (p *plan) foldedIDs() []note.Warning {
	hops, example := p.naming.Met()
	if example.From == "" {
		return nil
	}
	why := "as --fold-ids always has it"
	if p.naming.Mode() == spans.FoldAuto {
		why = fmt.Sprintf("as there are more than %d hops", spans.MostHops)
	}
	return []note.Warning{{Code: "ids_folded", Text: fmt.Sprintf("the ids in the names of hops were folded, %s: %s left; %q counts as %q", why, note.Count(hops, "hop is", "hops are"), example.From, example.To)}}
}

// leavesChains reports whether limits are shown that do not know of the chains which
// a hop log names. Where lines are read as spans, traces tell the same.
func (p *plan) leavesChains(in ingest.Summary) bool {
	if !p.shows("hops") || p.runs("timeouts") || p.infer {
		return false
	}
	return slices.ContainsFunc(in.Files, func(f ingest.FileSummary) bool {
		return f.Fields[field.Trace.String()] != "" && f.Fields[field.SpanKey.String()] == ""
	})
}

// nothingAccepted is a sentence in place of an empty table.
func nothingAccepted(in ingest.Summary, skipped []note.Warning) error {
	switch {
	case in.Records == in.Blank && slices.ContainsFunc(in.Warnings, func(w note.Warning) bool { return w.Code == "other_signals" }):
		return errors.New("no spans: only logs or metrics")
	case len(in.Files) == 0 && len(skipped) > 0:
		return errors.New("nothing was read: " + skipped[0].Text)
	case in.Records == in.Blank+in.Filtered && in.Filtered > 0:
		return fmt.Errorf("nothing selected: %s left out by --where, --since or --until", note.Form(in.Filtered, "the only record was", fmt.Sprintf("all %d records were", in.Filtered)))
	case in.Records == in.Blank:
		return errors.New("no records: the input is empty")
	}
	if in.Filtered > 0 {
		return fmt.Errorf("nothing accepted: %d of %s left out by --where, --since or --until, and %d %s rejected", in.Filtered,
			note.Count(in.Records, "record")+note.Form(in.Records, " was", " were"), in.Rejected, note.Form(in.Rejected, "was", "were"))
	}
	worst := slices.MaxFunc(in.Rejects, func(a, b ingest.RejectCount) int { return int(a.Count - b.Count) })
	return fmt.Errorf("nothing accepted: %s as %s", note.Form(in.Rejected, "the only record was rejected", fmt.Sprintf("all %d records were rejected, most of them", in.Rejected)), worst.Reason)
}

// incomplete is the error of a report that stands on less than the whole input.
func (p *plan) incomplete(in ingest.Summary) error {
	if why := p.whyIncomplete(in); why != nil {
		return incompleteError{errors.New(strings.Join(why, "; "))}
	}
	return nil
}

// whyIncomplete says why a report stands on less than the whole input.
func (p *plan) whyIncomplete(in ingest.Summary) (why []string) {
	for _, file := range in.Files {
		if !file.Complete {
			why = append(why, file.Path+" is incomplete: what was whole is in the report")
		}
	}
	if lost := in.Rejected - in.OtherLines; !p.maxRejects.set && lost > in.Accepted+in.Filtered {
		why = append(why, fmt.Sprintf("of the records that name a hop, a trace or a duration %d %s rejected and only %d accepted (--max-rejects allows more)",
			lost, note.Form(lost, "was", "were"), in.Accepted))
	}
	if p.maxRejects.exceeded(in.Rejected, in.Records) {
		why = append(why, fmt.Sprintf("%d of %s rejected, more than --max-rejects allows", in.Rejected, note.Count(in.Records, "record")+note.Form(in.Rejected, " was", " were")))
	}
	return why
}

// textOptions says how the report is to look on stdout.
func (p *plan) textOptions() report.Options {
	f, ok := p.streams.out.(*os.File)
	if !ok || p.outputs().Stream(p.output) != p.streams.out || !isTerminal(f) {
		return report.Options{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	plain := os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb"
	return report.Options{Color: !plain, Width: width, Closing: true}
}

// bar shows on stderr how far the reading is: bytes of input, rate, time left.
type bar struct {
	stopped chan struct{}
	ended   chan struct{}
}

// newBar starts a bar that follows read; without progress it does nothing.
func newBar(p *plan, read *atomic.Int64) *bar {
	b := &bar{make(chan struct{}), make(chan struct{})}
	if !p.progress {
		close(b.ended)
		return b
	}
	total := int64(0)
	for _, s := range p.sources {
		if s.Stdin != nil {
			total = -1 // not known: a spinner
			break
		}
		total += s.Size
	}
	pb := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.streams.err),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetDescription("reading"),
		// The library would turn the spinner from a goroutine of its own, without a
		// lock; follow draws often enough.
		progressbar.OptionSetSpinnerChangeInterval(0),
	)
	go b.follow(pb, read)
	return b
}

// leastRead is how long is read before there is a rate: one of less says nothing.
const leastRead = 500 * time.Millisecond

func (b *bar) follow(pb *progressbar.ProgressBar, read *atomic.Int64) {
	defer close(b.ended)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	select {
	case <-time.After(leastRead):
	case <-b.stopped:
		return
	}
	for {
		select {
		case <-tick.C:
			// A bar that cannot be drawn is no reason to stop reading.
			_ = pb.Set64(read.Load())
		case <-b.stopped:
			_ = pb.Set64(read.Load())
			_ = pb.Finish()
			return
		}
	}
}

// stop removes the bar, so that what is said next starts on a clean line.
func (b *bar) stop() {
	close(b.stopped)
	<-b.ended
}
