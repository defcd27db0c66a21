//go:build unix

package ingest

import (
	"io/fs"
	"syscall"
)

// fileID is equal for paths of one file: its device and its number there.
type fileID struct{ device, number uint64 }

func idOf(_ string, info fs.FileInfo) fileID {
	st := info.Sys().(*syscall.Stat_t)
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}
