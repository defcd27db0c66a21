//go:build !linux

// Package unnamed would open files that have no name.
package unnamed

import (
	"errors"
	"os"
)

// Open says that there are no such files here.
func Open(string, int, os.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

// Link has no file to name.
func Link(*os.File, string) error { return errors.ErrUnsupported }

// CanLink reports false.
func CanLink(*os.File) bool { return false }
