//go:build !unix

package disk

import "os"

func openRegular(path string) (*os.File, error) { return os.Open(path) }
