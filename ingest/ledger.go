package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/internal/note"
)

// Ledger adds up what all decoders did, file by file. It belongs to one
// goroutine and takes tallies in any order.
type Ledger struct {
	open     map[*format.File]*account // until all that a file gave is entered
	files    []FileSummary             // the others
	warnings []note.Warning            // about these
	samples  []fileSample              // of the first files
	total    format.Tally
	rejects  map[format.Reason]*RejectCount
	seen     map[string]bool // keys, where one that was named is missing
}

// account is one file's part.
type account struct {
	summary  FileSummary
	done     bool // all chunks were cut off
	tallies  int
	fieldSeq int // chunk that Fields came from
	// answerErrors are the first errors in an answer, and errorsSeq their chunk.
	answerErrors string
	errorsSeq    int
	sample       format.Sample
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{open: map[*format.File]*account{}, rejects: map[format.Reason]*RejectCount{}, seen: map[string]bool{}}
}

// account is that of a file, from the first that is heard of it.
func (l *Ledger) account(f *format.File) *account {
	a := l.open[f]
	if a == nil {
		a = &account{summary: FileSummary{Index: f.Index, Path: f.Path, Format: f.Format, Compression: f.Compression, Preset: f.PresetName(), Wrapper: f.Wrapper, Complete: true}}
		l.open[f] = a
	}
	return a
}

// Add enters a tally. It fails if the tally does not account for each of its
// records: that is a fault of this program, never of the data.
func (l *Ledger) Add(t *format.Tally) error {
	if t.Records != t.Accepted+t.Rejected+t.Blank+t.Filtered {
		return fmt.Errorf("%s from line %d: %d records, but %d accepted, %d rejected, %d blank and %d filtered: please report this fault",
			t.Chunk.File.Path, t.Chunk.Line, t.Records, t.Accepted, t.Rejected, t.Blank, t.Filtered)
	}
	a := l.account(t.Chunk.File)
	if t.AnswerErrors != "" && (a.answerErrors == "" || t.Chunk.Seq < a.errorsSeq) {
		a.answerErrors, a.errorsSeq = t.AnswerErrors, t.Chunk.Seq
	}
	a.add(t)
	l.total.Add(t)
	for _, key := range t.Seen {
		if len(l.seen) < field.MaxCachedKeys {
			l.seen[key] = true
		}
	}
	l.count(t)
	l.settle(t.Chunk.File, a)
	return nil
}

func (a *account) add(t *format.Tally) {
	s := &a.summary
	a.tallies++
	a.sample.Merge(&t.Sample)
	s.Records += t.Records
	s.Accepted += t.Accepted
	s.Rejected += t.Rejected
	s.OtherLines += t.Others
	s.Blank += t.Blank
	s.Filtered += t.Filtered
	s.Complete = s.Complete && !t.Incomplete
	if t.Fields != nil && (s.Fields == nil || t.Chunk.Seq < a.fieldSeq) {
		s.Fields, a.fieldSeq = t.Fields, t.Chunk.Seq
	}
}

func (l *Ledger) count(t *format.Tally) {
	for _, r := range t.Rejects {
		c := l.rejects[r.Reason]
		if c == nil {
			c = &RejectCount{Reason: r.Reason, First: r}
			l.rejects[r.Reason] = c
		}
		if r.Before(c.First) {
			c.First = r
		}
	}
	for reason, n := range t.Counts {
		l.rejects[reason].Count += n
	}
}

// Done enters what is known of a file once all its chunks were cut off, be there none.
func (l *Ledger) Done(f *format.File) {
	a := l.account(f)
	a.done = true
	a.summary.Bytes = f.Read.Load()
	a.summary.Complete = a.summary.Complete && f.Damage() == nil
	l.settle(f, a)
}

// settle keeps only the sum of a file from which nothing more can come: a run may read
// very many.
func (l *Ledger) settle(f *format.File, a *account) {
	if a.done && a.tallies == f.Chunks() {
		delete(l.open, f)
		l.files = append(l.files, a.summary)
		l.warnings = append(l.warnings, a.warnings(f)...)
		if a.sample.End(); f.Index < mostCompared && len(a.sample.Hashes()) > 0 {
			l.samples = append(l.samples, fileSample{f.Index, f.Path, a.sample})
		}
	}
}

func (a *account) warnings(f *format.File) []note.Warning {
	if a.answerErrors == "" {
		return f.Warnings()
	}
	return append(slices.Clip(f.Warnings()), format.ErrorsInAnswer(f.Path, a.answerErrors))
}

// Accepted is how many records were.
func (l *Ledger) Accepted() int64 { return l.total.Accepted }

// MissingKeys warns of every --field and every --where, and of a --by, whose key no record has.
func (l *Ledger) MissingKeys(c field.Config) (list []note.Warning) {
	for _, f := range field.Flagged(c.Fields, l.total.Flags, false) {
		list = append(list, note.Warning{Code: "field_not_found", Text: fmt.Sprintf("--field %s=%s: ", f.Role, f.Key) + l.missing(f.Key)})
	}
	if c.LacksBy(l.total.Flags) {
		list = append(list, note.Warning{Code: "by_not_found", Text: "--by " + c.By + ": " + l.missing(c.By)})
	}
	for _, w := range c.Selection.Missing(l.total.Selected) {
		list = append(list, note.Warning{Code: "where_not_found", Text: "--where " + w.Text + ": " + l.missing(w.Key)})
	}
	return list
}

// missing says that there is no such key, and names the nearest.
func (l *Ledger) missing(key string) string {
	text := "no record has that key"
	if name := nearest.Name(key, slices.Collect(maps.Keys(l.seen))); name != "" && name != key {
		text += "; did you mean " + name + "?"
	}
	return text
}

// LeaveOut takes accepted spans of files, by their indexes, for filtered: only a whole
// trace shows that the selection leaves it out. All files were read.
func (l *Ledger) LeaveOut(spans map[int32]int64) {
	for i := range l.files {
		n := spans[l.files[i].Index]
		l.files[i].Accepted -= n
		l.files[i].Filtered += n
		l.total.Accepted -= n
		l.total.Filtered += n
	}
}

// Marked reports whether any record said how its attempt ended.
func (l *Ledger) Marked() bool { return l.total.Marks != 0 }

// Summary returns the account of the run. configured tells that timeouts were
// given, which mark attempts where the input does not.
func (l *Ledger) Summary(configured bool) Summary {
	s := Summary{
		Records: l.total.Records, Accepted: l.total.Accepted, Rejected: l.total.Rejected, Blank: l.total.Blank, Filtered: l.total.Filtered,
		OtherLines:        l.total.Others,
		DuplicatesDropped: new(int64),
		TimeBasis:         l.total.TimeBasis(), Unit: l.total.UnitName(),
		TruncationMarks: l.total.MarksName(configured),
		Sampling:        Sampling{Kind: "none", Evidence: "hop logs hold every attempt unless told otherwise"},
	}
	s.Files, s.Warnings = slices.Clone(l.files), slices.Clone(l.warnings)
	for f, a := range l.open {
		s.Files = append(s.Files, a.summary)
		s.Warnings = append(s.Warnings, a.warnings(f)...)
	}
	slices.SortFunc(s.Files, func(a, b FileSummary) int { return strings.Compare(a.Path, b.Path) })
	s.Warnings = append(s.Warnings, sharesLines(l.samples)...)
	slices.SortFunc(s.Warnings, func(a, b note.Warning) int { return strings.Compare(a.Text, b.Text) })
	for _, r := range l.rejects {
		s.Rejects = append(s.Rejects, *r)
	}
	slices.SortFunc(s.Rejects, func(a, b RejectCount) int { return strings.Compare(string(a.Reason), string(b.Reason)) })
	s.Warnings = append(s.Warnings, l.total.Warnings()...)
	return s
}
