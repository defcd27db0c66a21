package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unnamed is an output without a name until it is whole: whatever ends the run
// before that, even SIGKILL, leaves nothing beside the report.
type unnamed struct {
	*os.File
	path string
}

// createUnnamed opens such a file in the folder of path, with the mode of the file
// that it replaces. Not every file system has them.
func createUnnamed(path string) (output, error) {
	f, err := os.OpenFile(filepath.Dir(path), unix.O_TMPFILE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	u := unnamed{f, path}
	_, err = os.Stat(u.descriptor())
	if info, old := os.Stat(path); old == nil {
		err = errors.Join(err, f.Chmod(info.Mode().Perm()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return u, nil
}

// descriptor is the path from which the file gets its name.
func (u unnamed) descriptor() string { return fmt.Sprintf("/proc/self/fd/%d", u.Fd()) }

func (u unnamed) CloseAtomicallyReplace() error {
	err := u.Sync()
	if err == nil {
		err = u.replace()
	}
	return errors.Join(err, u.Close())
}

// replace gives the file its name. A name that is taken cannot be given, so the
// file gets another one for the moment before it is renamed.
func (u unnamed) replace() error {
	err := u.name(u.path)
	for errors.Is(err, fs.ErrExist) {
		beside := fmt.Sprintf("%s/.%s%d", filepath.Dir(u.path), filepath.Base(u.path), rand.Int64())
		if err = u.name(beside); err != nil {
			continue
		}
		if err = os.Rename(beside, u.path); err != nil {
			return errors.Join(err, os.Remove(beside))
		}
	}
	return err
}

func (u unnamed) name(path string) error {
	if err := unix.Linkat(unix.AT_FDCWD, u.descriptor(), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (u unnamed) Cleanup() error { return u.Close() }
