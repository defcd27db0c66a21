//go:build !unix

package ingest

import "path/filepath"

// identity is equal for sources that are one file through links other than hard
// ones.
func identity(s Source) any {
	path := s.Path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path
}
