//go:build unix

package ingest

import "syscall"

// identity is equal for sources that are one file, by whatever name.
func identity(s Source) any {
	st := s.info.Sys().(*syscall.Stat_t)
	return [2]uint64{uint64(st.Dev), uint64(st.Ino)}
}
