package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/internal/unnamed"
)

// unnamedOutput has no name until it is whole: whatever ends the run before that, even
// SIGKILL, leaves nothing beside the report.
type unnamedOutput struct {
	*disk.File
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
func createHidden(path string) (output, error) {
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
