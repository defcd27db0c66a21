package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/tailscope/tailscope/internal/unnamed"
)

// unnamedOutput has no name until it is whole: whatever ends the run before that, even
// SIGKILL, leaves nothing beside the report.
type unnamedOutput struct {
	*os.File
	path string
}

// createUnnamed opens one in the folder of path, with the mode of the file that it
// replaces.
func createUnnamed(path string) (output, error) {
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

func (u unnamedOutput) CloseAtomicallyReplace() error {
	err := u.Sync()
	if err == nil {
		err = u.replace()
	}
	return errors.Join(err, u.Close())
}

// replace gives the file its name. A name that is taken cannot be given, so the file
// gets another one for the moment before it is renamed.
func (u unnamedOutput) replace() error {
	err := unnamed.Link(u.File, u.path)
	for errors.Is(err, fs.ErrExist) {
		beside := fmt.Sprintf("%s/.%s%d", filepath.Dir(u.path), filepath.Base(u.path), rand.Int64())
		if err = unnamed.Link(u.File, beside); err != nil {
			continue
		}
		if err = os.Rename(beside, u.path); err != nil {
			return errors.Join(err, os.Remove(beside))
		}
	}
	return err
}

func (u unnamedOutput) Cleanup() error { return u.Close() }
