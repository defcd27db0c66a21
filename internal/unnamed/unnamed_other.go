//go:build !linux

// Package unnamed would open files that have no name.
package unnamed

import (
	"errors"
	"os"

	"github.com/tailscope/tailscope/internal/disk"
)

// Open says that there are no such files here.
func Open(string, int, os.FileMode) (*disk.File, error) { return nil, errors.ErrUnsupported }

// Link has no file to name.
func Link(*disk.File, string) error { return errors.ErrUnsupported }

// CanLink reports false.
func CanLink(*disk.File) bool { return false }
