package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/tailscope/tailscope/ingest"
)

// output is a file being written that takes its place only when it is whole.
type output interface {
	io.Writer
	CloseAtomicallyReplace() error
	Cleanup() error
}

// create opens an output: a file without a name in the folder of path, or a hidden
// one where that cannot be, to be synced and renamed, with the mode of the file that
// it replaces. What a link points to is replaced, not the link. A stream, a device or
// a pipe cannot be replaced and is written to as it is.
func (p *plan) create(path string) (output, error) {
	if w := p.stream(path); w != nil {
		return stream{w}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder", path)
	} else if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return device{f}, err
	}
	if f, err := createUnnamed(path); err == nil {
		return f, nil
	}
	return renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// stream returns the open stream that path is another name of, nil if it is
// none: opened anew it would be written from its start.
func (p *plan) stream(path string) io.Writer {
	switch path {
	case "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return p.streams.out
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return p.streams.err
	}
	for _, folder := range [...]string{"/dev/fd/", "/proc/self/fd/"} {
		if digits, ok := strings.CutPrefix(path, folder); ok {
			if n, err := strconv.ParseUint(digits, 10, 16); err == nil {
				return os.NewFile(uintptr(n), path)
			}
		}
	}
	return nil
}

// stream is an output that is somebody else's and stays open.
type stream struct{ io.Writer }

func (stream) CloseAtomicallyReplace() error { return nil }

func (stream) Cleanup() error { return nil }

// device is an output that is written in place.
type device struct{ *os.File }

func (d device) CloseAtomicallyReplace() error { return d.Close() }

func (d device) Cleanup() error { return d.Close() }

// checkOutputs makes sure that no output replaces another or an input.
func (p *plan) checkOutputs() error {
	if p.rejects != "" && p.stream(p.rejects) == p.streams.out && p.stream(p.output) == p.streams.out {
		return errors.New("--rejects and the report cannot both go to stdout")
	}
	if p.rejects != "" && p.stream(p.output) == nil && sameFile(p.output, p.rejects) {
		return fmt.Errorf("-o and --rejects are the same file, %s", p.output)
	}
	for _, out := range [...]string{p.output, p.rejects} {
		if out == "" || p.stream(out) != nil {
			continue
		}
		info, err := os.Stat(out)
		if err == nil && info.Mode().IsRegular() && slices.ContainsFunc(p.sources, func(s ingest.Source) bool { return s.Is(out, info) }) {
			return fmt.Errorf("%s is an input: it would be replaced", out)
		}
	}
	return nil
}

// sameFile compares two paths, be the files there yet or not.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return os.SameFile(x, y)
	}
	return errX != nil && errY != nil && absolute(a) == absolute(b)
}

func absolute(path string) string {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		folder = filepath.Dir(path)
	}
	full, err := filepath.Abs(filepath.Join(folder, filepath.Base(path)))
	if err != nil {
		return path
	}
	return full
}
