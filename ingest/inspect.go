package ingest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/spans"
)

// Inspection is how a file is understood, as far as it was looked at.
type Inspection struct {
	FileSummary
	Error     jsontype.Text              `json:"error"` // why the file cannot be read, null where it can
	Whole     bool                       `json:"whole"` // all of it was looked at
	Unit      string                     `json:"unit"`
	TimeBasis string                     `json:"time_basis"`
	From      jsontype.Text              `json:"first_start"` // RFC 3339, null where no record has a time
	To        jsontype.Text              `json:"last_start"`
	Keys      jsontype.List[SeenKey]     `json:"keys"` // sorted
	Marks     jsontype.List[Mark]        `json:"marks"`
	Outcomes  jsontype.List[HowMany]     `json:"outcomes"`
	Samples   jsontype.List[Sample]      `json:"samples"` // the first records that are attempts
	Rejects   jsontype.List[RejectCount] `json:"rejects"`
}

// SeenKey is a key of the records.
type SeenKey struct {
	Key     string                `json:"key"`
	Records *int64                `json:"records"`    // that have it; nil where not counted
	Roles   jsontype.List[string] `json:"roles"`      // it may have; none: it is not used
	Used    bool                  `json:"used"`       // it has the role in the first record that was accepted
	Unit    jsontype.Text         `json:"unit"`       // of its bare numbers, null for none
	Like    jsontype.Text         `json:"looks_like"` // the role that an unused one looks like
	Example string                `json:"example"`
}

// Use says in a word what a key is to the tool.
func (k *SeenKey) Use() string {
	switch {
	case len(k.Roles) == 0 && k.Like != "":
		return "not used; looks like " + string(k.Like)
	case len(k.Roles) == 0:
		return "not used"
	case !k.Used:
		return strings.Join(k.Roles, ", ") + " (where no other key says it)"
	}
	return strings.Join(k.Roles, ", ")
}

// Mark is a rule by which records count as cut, and how many do.
type Mark struct {
	Rule string `json:"rule"`
	N    int64  `json:"records"`
}

// HowMany is how many attempts ended in one way.
type HowMany struct {
	Outcome string `json:"outcome"`
	N       int64  `json:"records"`
}

// Sample is a record as it is understood.
type Sample struct {
	Line     int64         `json:"line"`
	Hop      string        `json:"hop"`
	Duration *int64        `json:"duration_ns"` // nil for an unfinished span
	Outcome  string        `json:"outcome"`
	Start    jsontype.Text `json:"start"` // RFC 3339, null for none
	Trace    jsontype.Text `json:"trace"`
	Retry    bool          `json:"retry"`
	Timeout  *int64        `json:"timeout_ns"`
}

// mostSamples is how many records are shown.
const mostSamples = 3

// Inspect reads a file as a run does, until most records were read, and says how it was
// understood. A file that cannot be read has an Error, which names what is nearest.
func Inspect(src Source, c Config, most int64, mem memory.Allocator) (*Inspection, error) {
	f, err := Open(src, c, new(atomic.Int64))
	if err != nil {
		return &Inspection{FileSummary: FileSummary{Path: src.Path}, Error: jsontype.Text(err.Error())}, nil
	}
	defer f.Close()
	i := inspector{decoder: NewDecoder(c, mem, spans.Starts|spans.Traces|spans.Positions, false), ledger: NewLedger(), keys: keyCounts{}, file: f,
		outcomes: map[string]int64{}, cuts: map[string]int64{}}
	defer i.decoder.Release()
	i.decoder.inspects = i.look
	if err := i.read(most); err != nil {
		return nil, err
	}
	return i.result(), nil
}

// inspector reads a file.
type inspector struct {
	decoder        *Decoder
	ledger         *Ledger
	file           *format.File
	keys           keyCounts
	whole          bool
	outcomes, cuts map[string]int64
	samples        []Sample
	timed          bool
	first, last    int64 // starts, in ns since 1970
}

func (i *inspector) read(most int64) error {
	for read := int64(0); read < most; {
		c, err := i.file.Next()
		if errors.Is(err, io.EOF) {
			i.whole = true
			break
		}
		if err != nil {
			return err
		}
		t := i.decoder.Decode(c, i.take)
		for rule, n := range t.Cuts {
			i.cuts[rule] += n
		}
		read += t.Records
		if err := i.ledger.Add(t); err != nil {
			return err
		}
		c.Release()
	}
	i.decoder.Flush(i.take)
	return nil
}

// look counts the keys of the lines of a chunk.
func (i *inspector) look(c *format.Chunk) {
	if c.File.Kind().Name == "ndjson" {
		for line := range bytes.Lines(c.Data) {
			i.keys.add(line)
		}
	}
}

func (i *inspector) take(b *spans.Batch) {
	defer b.Release()
	for row := range b.Len() {
		how := strings.TrimSpace(spans.Outcome(b.Outcome[row]).String() + " " + spans.CutBy(b.CutBy[row]).String())
		i.outcomes[how]++
		if ns, ok := b.Start(row); ok {
			if !i.timed {
				i.timed, i.first, i.last = true, ns, ns
			}
			i.first, i.last = min(i.first, ns), max(i.last, ns)
		}
		if len(i.samples) < mostSamples {
			i.samples = append(i.samples, sampleOf(b, row, how))
		}
	}
}

func sampleOf(b *spans.Batch, row int, how string) Sample {
	s := Sample{Line: b.Line[row], Hop: b.Hops[b.Hop[row]].Name, Outcome: how, Retry: b.Retry(row), Trace: jsontype.Text(b.Trace(row))}
	if b.HasDuration(row) {
		s.Duration = &[]int64{b.Duration[row]}[0]
	}
	if b.HasTimeout(row) {
		s.Timeout = &[]int64{b.Timeout[row]}[0]
	}
	if ns, ok := b.Start(row); ok {
		s.Start = timeText(ns)
	}
	return s
}

func timeText(ns int64) jsontype.Text {
	return jsontype.Text(time.Unix(0, ns).UTC().Format(time.RFC3339Nano))
}

func (i *inspector) result() *Inspection {
	i.ledger.Done(i.file)
	s := i.ledger.Summary(false)
	r := &Inspection{FileSummary: s.Files[0], Whole: i.whole, Unit: s.Unit, TimeBasis: s.TimeBasis, Samples: i.samples, Rejects: s.Rejects}
	if i.timed {
		r.From, r.To = timeText(i.first), timeText(i.last)
	}
	for _, rule := range slices.Sorted(maps.Keys(i.cuts)) {
		r.Marks = append(r.Marks, Mark{rule, i.cuts[rule]})
	}
	for _, how := range slices.Sorted(maps.Keys(i.outcomes)) {
		r.Outcomes = append(r.Outcomes, HowMany{how, i.outcomes[how]})
	}
	r.Keys = i.describe(r.Fields)
	return r
}

// describe says of each key what it is to the tool. Keys of lines are counted, those of
// tables are in all their rows, and of traces the tags are listed.
func (i *inspector) describe(used map[string]string) (list []SeenKey) {
	table := i.file.Settings.Lines
	if slices.Contains(ofTraces, i.file.Kind()) {
		table = i.file.Settings.Tags
	}
	for _, key := range i.decoder.seenKeys() {
		if i.keys[key] == nil {
			i.keys[key] = &keyCount{}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(i.keys)) {
		seen := i.keys[key]
		k := describeKey(table, key, seen.example, used)
		if seen.records > 0 {
			k.Records = &seen.records
		}
		if len(k.Roles) > 0 || !seen.opened {
			list = append(list, k)
		}
	}
	return list
}

func describeKey(t *field.Table, key, example string, used map[string]string) SeenKey {
	k := SeenKey{Key: key, Example: example}
	for _, u := range t.Uses(key) {
		role := u.Role.String()
		if !slices.Contains(k.Roles, role) {
			k.Roles = append(k.Roles, role)
		}
		if u.Role.HasUnit() && k.Unit == "" {
			k.Unit = jsontype.Text(u.Unit.String())
		}
		k.Used = k.Used || used[role] == key || used == nil || used[role] == ""
	}
	if len(k.Roles) == 0 {
		k.Like = jsontype.Text(looksLike(key, example))
	}
	return k
}
