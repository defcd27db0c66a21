package unnamed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileHasNoNameBeforeItIsLinked(t *testing.T) {
	folder := t.TempDir()
	f, err := Open(folder, os.O_RDWR, 0o600)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	path := filepath.Join(folder, "name")
	if !CanLink(f) {
		t.Skip("no /proc")
	}
	if err := Link(f, path); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if err := Link(f, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
}

func TestAMissingFolderIsAnError(t *testing.T) {
	if f, err := Open(filepath.Join(t.TempDir(), "gone"), os.O_RDWR, 0o600); err == nil {
		f.Close()
		t.Error("no error")
	}
}
