// Package output writes files that take their places only when they are whole.
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/internal/unnamed"
)

// File is a file being written that takes its place only when it is whole.
type File interface {
	io.Writer
	// Sync makes sure that what was written is there to stay.
	Sync() error
	// Replace closes the file and puts it in its place.
	Replace() error
	// Cleanup gives up what is not in its place.
	Cleanup() error
}

// Streams are those that are open already.
type Streams struct{ Out, Err io.Writer }

// Create opens an output: a file without a name in the folder of path, or a hidden
// one where that cannot be, to be synced and renamed, with the mode of the file that
// it replaces. What a link points to is replaced, not the link. A stream, a device or
// a pipe cannot be replaced and is written to as it is.
func (s Streams) Create(path string) (File, error) {
	if w := s.Stream(path); w != nil {
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
	f, err := createUnnamed(path)
	if err != nil {
		f, err = createHidden(path)
	}
	return replacement{f, path}, notWritten(path, err)
}

// replacement is a file that takes the place of what path names. Its errors tell that
// path: the file has another name until then, or none.
type replacement struct {
	File
	path string
}

func (r replacement) Write(p []byte) (int, error) {
	n, err := r.File.Write(p)
	return n, notWritten(r.path, err)
}

func (r replacement) Sync() error { return notWritten(r.path, r.File.Sync()) }

func (r replacement) Replace() error { return notWritten(r.path, r.File.Replace()) }

// notWritten says of which output an error is.
func notWritten(path string, err error) error {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &file):
		err = file.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s cannot be written: %w; what was there stays", path, err)
}

// Stream returns the open stream that path is another name of, nil if it is
// none: opened anew it would be written from its start.
func (s Streams) Stream(path string) io.Writer {
	switch path {
	case "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return s.Out
	case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2":
		return s.Err
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

func (stream) Sync() error { return nil }

func (stream) Replace() error { return nil }

func (stream) Cleanup() error { return nil }

// device is an output that is written in place.
type device struct{ *os.File }

// Sync does nothing: not every device can.
func (device) Sync() error { return nil }

func (d device) Replace() error { return d.Close() }

func (d device) Cleanup() error { return d.Close() }

// Same compares two paths, be the files there yet or not.
func Same(a, b string) bool {
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

// unnamedOutput has no name until it is whole: whatever ends the run before that, even
// SIGKILL, leaves nothing beside the report.
type unnamedOutput struct {
	*disk.File
	path string
}

// createUnnamed opens one in the folder of path, with the mode of the file that it
// replaces.
func createUnnamed(path string) (File, error) {
	f, err := unnamed.Open(filepath.Dir(path), os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if !unnamed.CanLink(f) {
		err = errors.ErrUnsupported
	}
	if info, old := os.Stat(path); old == nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return unnamedOutput{f, path}, nil
}

// Replace gives the file its name. A name that is taken cannot be given, so the file
// gets another one for the moment before it is renamed. What Close says afterwards is
// nothing about the content, which Sync has seen.
func (u unnamedOutput) Replace() error {
	defer u.Close()
	err := unnamed.Link(u.File, u.path)
	for errors.Is(err, fs.ErrExist) {
		beside := fmt.Sprintf("%s/.%s%d", filepath.Dir(u.path), filepath.Base(u.path), rand.Int64())
		if err = unnamed.Link(u.File, beside); err == nil {
			return rename(beside, u.path)
		}
	}
	return err
}

// rename renames a file, or removes it.
func rename(from, to string) error {
	err := disk.Rename(from, to)
	if err == nil {
		return nil
	}
	if left := disk.Remove(from); left != nil {
		return fmt.Errorf("%w, and %s could not be removed", err, from)
	}
	return err
}

func (u unnamedOutput) Cleanup() error { return u.Close() }

// hiddenOutput has a hidden name beside path until it is whole.
type hiddenOutput struct {
	file    *disk.File
	pending *renameio.PendingFile
	path    string
}

// createHidden opens one, with the mode of the file that it replaces.
func createHidden(path string) (File, error) {
	if err := disk.Try(disk.CreateCall, path); err != nil {
		return nil, err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return hiddenOutput{disk.Wrap(f.File, path), f, path}, nil
}

func (h hiddenOutput) Write(p []byte) (int, error) { return h.file.Write(p) }

func (h hiddenOutput) Sync() error { return h.file.Sync() }

func (h hiddenOutput) Replace() error {
	if err := disk.Try(disk.RenameCall, h.path); err != nil {
		return err
	}
	return h.pending.CloseAtomicallyReplace()
}

func (h hiddenOutput) Cleanup() error { return h.pending.Cleanup() }
