package hoplog

import (
	"bytes"
	"math"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/digest"
	"github.com/tailscope/tailscope/spans"
)

// Logs without a mark of retries show them all the same: an attempt of the same chain and
// hop that begins after a cut or failed one is its retry. A log is written in the order in
// which attempts end, so that the line of the one that gave up comes first, mostly not
// far. What gave up is remembered within a chunk and what stood before it, so that nothing
// depends on which worker reads what, and memory has a bound.

// recent is what is remembered of the attempts of a chunk, by their chain and hop.
type recent struct {
	gaveUp map[uint64]int64 // when the last that was cut or failed ended, in ns
	tries  map[uint64]uint8 // how many tries the last counted
}

// mostRecent bounds each of the maps.
const mostRecent = 1 << 16

func (r *recent) forget() {
	clear(r.gaveUp)
	clear(r.tries)
}

// prime reads what stood before a chunk, of which only what it shows of retries stays.
func (a *attempts) prime(c *format.Chunk, of lines) {
	if len(c.Before) == 0 {
		return
	}
	before := *c
	before.Data, before.Before, before.Places, before.Open, before.Cut = c.Before, nil, nil, false, false
	tally, sink, unseen := a.tally, a.sink, format.Tally{Chunk: &before}
	a.tally, a.sink = &unseen, noSink{}
	for data := before.Data; len(data) > 0; {
		n := of.end(&before, data)
		if !format.Blank(data[:n]) && !before.File.TooLong(data[:n]) {
			hop, bad := of.record(&before, data, n, false)
			a.settle(&before, hop, bad, 0, 0)
		}
		data = data[n:]
	}
	a.tally, a.sink = tally, sink
}

// noSink takes attempts that were counted already.
type noSink struct{}

func (noSink) Attempt(*spans.Row, []byte, []byte, []byte)          {}
func (noSink) Span(*spans.Row, []byte, []byte, []byte, spans.Kind) {}
func (noSink) Host([]byte) int32                                   { return 0 }
func (noSink) Stratum([]byte) int32                                { return 0 }
func (noSink) Peer([]byte) int32                                   { return 0 }

// tailFor is how much of what stood before its chunks a file needs, of which a record has
// these roles.
func tailFor(has uint64) int {
	if has&(1<<field.Trace) != 0 && (has&marksRetries == 0 || has&(1<<field.Tries) != 0) {
		return format.TailBytes
	}
	return 0
}

// tailOf is tailFor for the records in the head of a file.
func tailOf(head []byte, f *format.Settings) (most int) {
	d := newNDJSON(f, 0)
	records := 0
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, format.ByteOrderMark))
		d.rec.Reset()
		if len(line) == 0 || d.scanner.scan(line) != nil {
			continue
		}
		if most = max(most, tailFor(d.rec.Has)); most > 0 || records == fewRecords {
			break
		}
		records++
	}
	return most
}

// fewRecords are looked at to see what a log is like.
const fewRecords = 64

// marksRetries are the roles that say whether an attempt is a retry.
const marksRetries = 1<<field.RetryMark | 1<<field.Attempt

// infers reports whether retries are looked for among records of these roles.
func (a *attempts) infers(has uint64) bool {
	return !a.linked && has&marksRetries == 0 && has&(1<<field.Trace) != 0 && a.columns.Has(spans.Starts) && a.fields.Rules.On(outcome.RuleSibling)
}

// among places a row among those before it in its chunk.
func (a *attempts) among(row *spans.Row, hop, chain []byte, infers bool) {
	timed := infers && row.HasStart
	gaveUp := row.Outcome == spans.Truncated || row.Outcome == spans.Failed || timed && a.fields.Rules.LastedItsTimeout(hop, row)
	if chain == nil || !(timed && (gaveUp || len(a.recent.gaveUp) > 0)) && row.Tries == 0 {
		return
	}
	key := digest.Sum(digest.Sum(0, hop), chain)
	if timed {
		a.inferRetry(row, key, gaveUp)
	}
	if row.Tries > 0 {
		a.compareTries(row, key)
	}
}

// inferRetry makes a row a retry that begins after one of its chain and hop gave up.
func (a *attempts) inferRetry(row *spans.Row, key uint64, gaveUp bool) {
	if end, known := a.recent.gaveUp[key]; known && row.Start >= end {
		row.Retry = true
		delete(a.recent.gaveUp, key)
	}
	if gaveUp && len(a.recent.gaveUp) < mostRecent && row.Start <= math.MaxInt64-row.Duration {
		if a.recent.gaveUp == nil {
			a.recent.gaveUp = map[uint64]int64{}
		}
		a.recent.gaveUp[key] = row.Start + row.Duration
	}
}

// compareTries counts rows that have one try more than the last of their chain and hop: a
// count that goes up by one with each line numbers the attempts.
func (a *attempts) compareTries(row *spans.Row, key uint64) {
	if before := a.recent.tries[key]; before > 0 && row.Tries == before+1 {
		a.tally.Odd[format.NumberedTries]++
	}
	if len(a.recent.tries) < mostRecent {
		if a.recent.tries == nil {
			a.recent.tries = map[uint64]uint8{}
		}
		a.recent.tries[key] = row.Tries
	}
}
