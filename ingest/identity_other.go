//go:build !unix

package ingest

import (
	"io/fs"
	"path/filepath"
)

// fileID is equal for paths of one file through links other than hard ones.
type fileID struct{ path string }

func idOf(path string, _ fs.FileInfo) fileID {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return fileID{path}
}
