// Package unnamed opens files that have no name: whatever ends the process, even
// SIGKILL, they are gone with it.
package unnamed

import (
	"fmt"
	"os"

	"github.com/tailscope/tailscope/internal/disk"
	"golang.org/x/sys/unix"
)

// Open makes such a file in a folder; flag is os.O_RDWR or os.O_WRONLY. Not every
// system and file system has them.
func Open(folder string, flag int, mode os.FileMode) (*disk.File, error) {
	return disk.OpenFile(folder, unix.O_TMPFILE|flag, mode)
}

// Link gives a file from Open a name, one that is not taken.
func Link(f *disk.File, path string) error {
	if err := disk.Try(disk.LinkCall, path); err != nil {
		return err
	}
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// CanLink reports whether Link finds the file.
func CanLink(f *disk.File) bool {
	_, err := os.Stat(descriptor(f))
	return err == nil
}

func descriptor(f *disk.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
