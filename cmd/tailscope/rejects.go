package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/ingest"
	"github.com/tailscope/tailscope/internal/output"
	"github.com/tailscope/tailscope/quantile"
)

// rejectWriter writes rejects as NDJSON in the order of the input, whatever the
// order in which chunks were decoded. Without a file it does nothing.
type rejectWriter struct {
	file   output.File
	buffer *bufio.Writer
	json   *json.Encoder
	files  map[int32]*fileRejects // not yet written, by the file's index
	next   int32                  // file to be written
}

// fileRejects are the rejects of one file that wait for earlier chunks.
type fileRejects struct {
	next    int // chunk to be written
	chunks  int // how many there are, -1 until the file was read
	waiting map[int][]ingest.Reject
}

func (p *plan) newRejectWriter() (*rejectWriter, error) {
	w := &rejectWriter{files: map[int32]*fileRejects{}}
	if p.rejects == "" {
		return w, nil
	}
	f, err := p.outputs().Create(p.rejects)
	if err != nil {
		return nil, err
	}
	w.file, w.buffer = f, bufio.NewWriter(f)
	w.json = json.NewEncoder(w.buffer)
	w.json.SetEscapeHTML(false)
	return w, nil
}

func (w *rejectWriter) of(f *ingest.File) *fileRejects {
	r := w.files[f.Index]
	if r == nil {
		r = &fileRejects{chunks: -1, waiting: map[int][]ingest.Reject{}}
		w.files[f.Index] = r
	}
	return r
}

func (w *rejectWriter) add(t *ingest.Tally) error {
	if w.file == nil {
		return nil
	}
	w.of(t.Chunk.File).waiting[t.Chunk.Seq] = t.Rejects
	return w.write()
}

func (w *rejectWriter) done(f *ingest.File) error {
	if w.file == nil {
		return nil
	}
	w.of(f).chunks = f.Chunks()
	return w.write()
}

// write writes what no earlier chunk holds up any more.
func (w *rejectWriter) write() error {
	for r := w.files[w.next]; r != nil; r = w.files[w.next] {
		for {
			rejects, ok := r.waiting[r.next]
			if !ok {
				break
			}
			delete(r.waiting, r.next)
			r.next++
			if err := w.lines(rejects); err != nil {
				return err
			}
		}
		if r.next != r.chunks {
			return nil
		}
		delete(w.files, w.next)
		w.next++
	}
	return nil
}

// rejectLine is one line of the file.
type rejectLine struct {
	File   string        `json:"file"`
	Line   int64         `json:"line"`
	Offset int64         `json:"offset"`
	Reason ingest.Reason `json:"reason"`
	Detail string        `json:"detail"`
}

func (w *rejectWriter) lines(rejects []ingest.Reject) error {
	for _, r := range rejects {
		if err := w.json.Encode(rejectLine(r)); err != nil {
			return err
		}
	}
	return nil
}

// sync makes sure that all lines are there to stay: what can fail, fails before the
// report takes its place.
func (w *rejectWriter) sync() error {
	if w.file == nil {
		return nil
	}
	if err := w.buffer.Flush(); err != nil {
		return err
	}
	return w.file.Sync()
}

// commit puts the file in its place; sync comes before.
func (w *rejectWriter) commit() error {
	if w.file == nil {
		return nil
	}
	return w.file.Replace()
}

func (w *rejectWriter) syncAndCommit() error {
	if err := w.sync(); err != nil {
		return err
	}
	return w.commit()
}

// discard removes what was written of a run that did not end; after commit it
// does nothing.
func (w *rejectWriter) discard() {
	if w.file != nil {
		w.file.Cleanup()
	}
}

// outputs are the streams that a path may name.
func (p *plan) outputs() output.Streams {
	return output.Streams{Out: p.streams.out, Err: p.streams.err}
}

// checkOutputs makes sure that no output replaces another or an input.
func (p *plan) checkOutputs() error {
	streams := p.outputs()
	if p.rejects != "" && streams.Stream(p.rejects) == p.streams.out && streams.Stream(p.output) == p.streams.out {
		return errors.New("--rejects and the report cannot both go to stdout")
	}
	if p.rejects != "" && streams.Stream(p.output) == nil && output.Same(p.output, p.rejects) {
		return fmt.Errorf("-o and --rejects are the same file, %s", p.output)
	}
	for _, out := range [...]string{p.output, p.rejects} {
		if out == "" || streams.Stream(out) != nil {
			continue
		}
		info, err := os.Stat(out)
		if err == nil && info.Mode().IsRegular() && slices.ContainsFunc(p.sources, func(s ingest.Source) bool { return s.Is(out, info) }) {
			return fmt.Errorf("%s is an input: it would be replaced", out)
		}
	}
	return nil
}

// limit is the most rejects that a run may have.
type limit struct {
	set   bool
	count int64
	share *quantile.P // of the records
}

func parseLimit(s string) (limit, error) {
	if s == "" {
		return limit{}, nil
	}
	if strings.ContainsAny(s, "%.") && !strings.HasPrefix(s, "p") {
		share, err := quantile.ParseLabel(s)
		if err != nil {
			return limit{}, errors.New("a share such as 0.1% or 0.001")
		}
		return limit{set: true, share: &share}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return limit{}, errors.New("a number such as 100, or a percentage such as 0.1%")
	}
	return limit{set: true, count: n}, nil
}

// exceeded reports whether n rejects in that many records are too many.
func (l limit) exceeded(n, records int64) bool {
	switch {
	case !l.set:
		return false
	case l.share != nil:
		num, den := l.share.Fraction()
		hi, lo := bits.Mul64(uint64(n), den)
		mostHi, most := bits.Mul64(uint64(records), num)
		return hi > mostHi || hi == mostHi && lo > most
	}
	return n > l.count
}
