//go:build !linux

package main

import "errors"

// createUnnamed says that there are no files without a name here.
func createUnnamed(string) (output, error) { return nil, errors.ErrUnsupported }
