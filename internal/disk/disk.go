// Package disk makes the calls by which a run touches files: each may be made to fail
// by a test.
package disk

import (
	"io/fs"
	"os"
	"path/filepath"
)

// The kinds of call, as their errors name them.
const (
	OpenCall   = "open"
	CreateCall = "create"
	ReadCall   = "read"
	WriteCall  = "write"
	SyncCall   = "sync"
	ChmodCall  = "chmod"
	CloseCall  = "close"
	StatCall   = "stat"
	ListCall   = "list" // the entries of a folder
	LinkCall   = "link"
	RenameCall = "rename"
	RemoveCall = "remove"
)

// Open is os.Open.
func Open(path string) (*File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile.
func OpenFile(path string, flag int, mode os.FileMode) (*File, error) {
	return open(OpenCall, path, func() (*os.File, error) { return os.OpenFile(path, flag, mode) })
}

// OpenRegular is Open for what is known to be a regular file, with fewer calls of the
// system.
func OpenRegular(path string) (*File, error) {
	return open(OpenCall, path, func() (*os.File, error) { return openRegular(path) })
}

// CreateTemp is os.CreateTemp in a folder that is named.
func CreateTemp(folder, pattern string) (*File, error) {
	return open(CreateCall, filepath.Join(folder, pattern), func() (*os.File, error) { return os.CreateTemp(folder, pattern) })
}

func open(kind, path string, call func() (*os.File, error)) (*File, error) {
	ask := asked(path)
	if fault := ask.of(kind, path, 0); fault != nil {
		return nil, fault.error(kind, path)
	}
	f, err := call()
	if err != nil {
		return nil, err
	}
	return &File{f, ask}, nil
}

// Stat is os.Stat.
func Stat(path string) (fs.FileInfo, error) {
	if err := Try(StatCall, path); err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// Rename is os.Rename.
func Rename(from, to string) error {
	if err := Try(RenameCall, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// Remove is os.Remove.
func Remove(path string) error {
	if err := Try(RemoveCall, path); err != nil {
		return err
	}
	return os.Remove(path)
}

// Try returns the error of a call that is made elsewhere, nil if it is to be made.
func Try(kind, path string) error {
	if fault := asked(path).of(kind, path, 0); fault != nil {
		return fault.error(kind, path)
	}
	return nil
}

// File is an open file.
type File struct {
	*os.File
	ask Hook
}

// Wrap makes a File of one that was opened elsewhere, for a path.
func Wrap(f *os.File, path string) *File { return &File{f, asked(path)} }

func (f *File) Read(p []byte) (int, error) {
	return f.move(ReadCall, p, f.File.Read)
}

// ReadAt is that of os.File: it reads all of p, or says why not.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	return f.move(ReadCall, p, func(p []byte) (int, error) { return f.File.ReadAt(p, at) })
}

func (f *File) Write(p []byte) (int, error) {
	return f.move(WriteCall, p, f.File.Write)
}

// WriteString is Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt is that of os.File.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	return f.move(WriteCall, p, func(p []byte) (int, error) { return f.File.WriteAt(p, at) })
}

// move moves bytes: those before a fault, or all.
func (f *File) move(kind string, p []byte, call func([]byte) (int, error)) (int, error) {
	fault := f.ask.of(kind, f.Name(), len(p))
	if fault == nil {
		return call(p)
	}
	n, err := 0, error(nil)
	if most := min(fault.Bytes, len(p)); most > 0 {
		n, err = call(p[:most])
	}
	if err == nil {
		err = fault.error(kind, f.Name())
	}
	return n, err
}

// Sync is that of os.File.
func (f *File) Sync() error {
	if fault := f.ask.of(SyncCall, f.Name(), 0); fault != nil {
		return fault.error(SyncCall, f.Name())
	}
	return f.File.Sync()
}

// Chmod is that of os.File.
func (f *File) Chmod(mode os.FileMode) error {
	if fault := f.ask.of(ChmodCall, f.Name(), 0); fault != nil {
		return fault.error(ChmodCall, f.Name())
	}
	return f.File.Chmod(mode)
}

// Close closes the file, also where it is to fail.
func (f *File) Close() error {
	err := f.File.Close()
	if fault := f.ask.of(CloseCall, f.Name(), 0); fault != nil && err == nil {
		return fault.error(CloseCall, f.Name())
	}
	return err
}
