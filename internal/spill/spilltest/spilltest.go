// Package spilltest finds spill files for tests: they have no names.
package spilltest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Open returns a path to each file without a name that this process has open in a
// folder, to be looked at or damaged. Where the system does not tell, it skips the
// test.
func Open(t testing.TB, folder string) []string {
	t.Helper()
	return OpenBy(t, os.Getpid(), folder)
}

// OpenBy is Open for another process.
func OpenBy(t testing.TB, pid int, folder string) (paths []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("open files are listed on Linux only")
	}
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		file, err := os.Readlink(path)
		if err == nil && filepath.Dir(file) == folder && strings.HasSuffix(file, " (deleted)") {
			paths = append(paths, path)
		}
	}
	return paths
}

// Bytes is how much lies in the files of Open.
func Bytes(t testing.TB, folder string) (bytes int64) {
	t.Helper()
	for _, path := range Open(t, folder) {
		if info, err := os.Stat(path); err == nil { // else it was closed meanwhile
			bytes += info.Size()
		}
	}
	return bytes
}

// Damage changes the content of each such file by a function of its path, and is
// fatal where there is none.
func Damage(t testing.TB, folder string, change func(path string) error) {
	t.Helper()
	paths := Open(t, folder)
	if len(paths) == 0 {
		t.Fatal("nothing was spilled")
	}
	for _, path := range paths {
		if err := change(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Cut empties a file.
func Cut(path string) error { return os.Truncate(path, 0) }

// Overwrite changes every byte of a file.
func Overwrite(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(strings.Repeat("\xff\x03", int(info.Size()/2+1))), 0)
	return err
}
