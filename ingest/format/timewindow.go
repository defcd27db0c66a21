package format

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/tailscope/tailscope/internal/note"
)

// window is the time from the first record to the last, as they were stamped, and the
// longest attempt, which hardly lasted longer.
type window struct {
	stamped     bool
	first, last int64 // ns since 1970
	longest     longest
}

// longest is the longest attempt and where it stands.
type longest struct {
	ns   int64
	path string
	line int64
}

// Stamp notes the time that a record bears.
func (w *window) Stamp(ns int64) {
	switch {
	case !w.stamped:
		w.stamped, w.first, w.last = true, ns, ns
	case ns < w.first:
		w.first = ns
	case ns > w.last:
		w.last = ns
	}
}

// Lasted notes how long the attempt of a line lasted.
func (t *Tally) Lasted(ns, line int64) {
	if ns > t.longest.ns {
		t.longest = longest{ns, t.Chunk.File.Path, line}
	}
}

// Rows counts ordinary attempts of a chunk, before they are entered into its tally.
type Rows struct {
	N, Rounded    int64 // durations finer than a nanosecond among them
	First, Last   int64 // ns since 1970, as they were stamped
	Longest, Line int64 // ns, and where that stands first
}

// NoRows is no attempts.
var NoRows = Rows{First: math.MaxInt64, Last: math.MinInt64}

// AddRows enters attempts that were accepted.
func (t *Tally) AddRows(r *Rows, stamped bool) {
	t.Records += r.N
	t.Accepted += r.N
	t.Odd[Rounded] += r.Rounded
	w := window{stamped: stamped && r.N > 0, first: r.First, last: r.Last}
	if r.Longest > 0 {
		w.longest = longest{r.Longest, t.Chunk.File.Path, r.Line}
	}
	t.window.add(&w)
}

func (w *window) add(o *window) {
	if o.stamped {
		w.Stamp(o.first)
		w.Stamp(o.last)
	}
	if c := cmp.Compare(o.longest.ns, w.longest.ns); c > 0 || c == 0 && w.longest.after(o.longest) {
		w.longest = o.longest
	}
}

func (l longest) after(o longest) bool {
	return cmp.Or(cmp.Compare(l.path, o.path), cmp.Compare(l.line, o.line)) > 0
}

const (
	// EpochFrom is the time from 1970 to 2001: no attempt takes as long, but a point in
	// time that was logged as a duration does.
	EpochFrom = int64(1e18)
	// In a window shorter than shortWindow calls may well outlast it, but for those of
	// longCall or more.
	shortWindow, longCall = int64(time.Minute), int64(time.Hour)
)

// warnings tells of an attempt that outlasts the input, which mostly has a wrong unit.
func (w *window) warnings() []note.Warning {
	span := w.last - w.first
	if !w.stamped || span < 0 || w.longest.ns <= span || w.longest.ns >= EpochFrom || span < shortWindow && w.longest.ns < longCall {
		return nil
	}
	return []note.Warning{{Code: "duration_beyond_window", Text: fmt.Sprintf("the longest attempt (%s:%d) lasts %s, longer than the %s from the first record to the last: is the unit right?",
		w.longest.path, w.longest.line, time.Duration(w.longest.ns), time.Duration(span))}}
}
