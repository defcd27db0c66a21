package disk

import (
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Call is one that is about to be made.
type Call struct {
	Kind string // such as OpenCall
	Path string // of the file; for a file without a name, of its folder
	Size int    // bytes to be read or written
}

// Fault is what happens instead of a call. One without Err does as if the call had
// been made, or moves fewer bytes than asked for.
type Fault struct {
	Bytes int // how many are read or written before
	Err   error
}

func (f *Fault) error(kind, path string) error {
	if f.Err == nil {
		return nil
	}
	return &fs.PathError{Op: kind, Path: path, Err: f.Err}
}

// Hook is asked before each call, by several goroutines; nil lets it be made.
type Hook func(Call) *Fault

func (h Hook) of(kind, path string, size int) *Fault {
	if h == nil {
		return nil
	}
	return h(Call{kind, path, size})
}

// Tests set hooks for the folders that are theirs alone, so they may run side by side.
// Handing a hook down to where a file is opened would make it part of the settings of
// every package between.
var (
	hooks    sync.Map // of Hook, by folder
	hookings atomic.Int32
)

// Intercept has a test asked for every call about a file in or below a folder, files
// opened from now on. It is for one that is not a link.
func Intercept(folder string, h Hook) (stop func()) {
	hooks.Store(folder, h)
	hookings.Add(1)
	return func() {
		hooks.Delete(folder)
		hookings.Add(-1)
	}
}

// asked returns the hook for a path, nil outside of tests.
func asked(path string) Hook {
	if hookings.Load() == 0 {
		return nil
	}
	full, err := filepath.Abs(path)
	for err == nil {
		if h, found := hooks.Load(full); found {
			return h.(Hook)
		}
		above := filepath.Dir(full)
		if above == full {
			break
		}
		full = above
	}
	return nil
}
