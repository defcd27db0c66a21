package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/tailscope/tailscope/ingest"
)

// writeFile writes a file whole or not at all.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// output is a file being written that takes its place only when it is whole.
type output interface {
	io.Writer
	CloseAtomicallyReplace() error
	Cleanup() error
}

// create opens an output: a temporary file beside path, to be synced and
// renamed. What a link points to is replaced, not the link; a device or a pipe
// cannot be replaced and is written to as it is.
func create(path string) (output, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return device{f}, err
	}
	return renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
}

// device is an output that is written in place.
type device struct{ *os.File }

func (d device) CloseAtomicallyReplace() error { return d.Close() }

func (d device) Cleanup() error { return d.Close() }

// rejectWriter writes rejects as NDJSON in the order of the input, whatever the
// order in which chunks were decoded. Without a file it does nothing.
type rejectWriter struct {
	file   output
	buffer *bufio.Writer
	json   *json.Encoder
	queue  []*fileRejects // files not yet written, in the order of reading
	byFile map[*ingest.File]*fileRejects
}

// fileRejects are the rejects of one file that wait for earlier chunks.
type fileRejects struct {
	next    int // chunk to be written
	chunks  int // how many there are, -1 until the file was read
	waiting map[int][]ingest.Reject
}

func newRejectWriter(path string) (*rejectWriter, error) {
	w := &rejectWriter{byFile: map[*ingest.File]*fileRejects{}}
	if path == "" {
		return w, nil
	}
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	w.file, w.buffer = f, bufio.NewWriter(f)
	w.json = json.NewEncoder(w.buffer)
	w.json.SetEscapeHTML(false)
	return w, nil
}

func (w *rejectWriter) opened(f *ingest.File) {
	r := &fileRejects{chunks: -1, waiting: map[int][]ingest.Reject{}}
	w.byFile[f] = r
	w.queue = append(w.queue, r)
}

func (w *rejectWriter) add(t *ingest.Tally) error {
	w.byFile[t.Chunk.File].waiting[t.Chunk.Seq] = t.Rejects
	return w.write()
}

func (w *rejectWriter) done(f *ingest.File) error {
	w.byFile[f].chunks = f.Chunks()
	return w.write()
}

// write writes what no earlier chunk holds up any more.
func (w *rejectWriter) write() error {
	for len(w.queue) > 0 {
		r := w.queue[0]
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
		w.queue = w.queue[1:]
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
	if w.file == nil {
		return nil
	}
	for _, r := range rejects {
		if err := w.json.Encode(rejectLine(r)); err != nil {
			return err
		}
	}
	return nil
}

// commit puts the file in its place.
func (w *rejectWriter) commit() error {
	if w.file == nil {
		return nil
	}
	if err := w.buffer.Flush(); err != nil {
		return err
	}
	return w.file.CloseAtomicallyReplace()
}

// discard removes what was written of a run that did not end; after commit it
// does nothing.
func (w *rejectWriter) discard() {
	if w.file != nil {
		w.file.Cleanup()
	}
}
