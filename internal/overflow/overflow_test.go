package overflow

import (
	"errors"
	"os"
	"testing"
)

func TestBlocksComeBackAsTheyWere(t *testing.T) {
	folder := t.TempDir()
	f, err := New(folder, "blocks-")
	if err != nil {
		t.Fatal(err)
	}
	blocks := []string{"one", "", "another"}
	var pieces []Piece
	for _, b := range blocks {
		p, err := f.Write([]byte(b))
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	for i := len(blocks) - 1; i >= 0; i-- {
		got := make([]byte, pieces[i].Size())
		if err := f.Read(pieces[i], got); err != nil || string(got) != blocks[i] {
			t.Errorf("block %d: %q, %v", i, got, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestErrorsOfTheFileAreTold(t *testing.T) {
	if _, err := New(t.TempDir()+"/absent", ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	f, err := New(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Write([]byte("block"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.file.Truncate(2); err != nil {
		t.Fatal(err)
	}
	if err := f.Read(p, make([]byte, p.Size())); err == nil {
		t.Error("a file that was cut is read without an error")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Write([]byte("more")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
	if err := (*File)(nil).Close(); err != nil {
		t.Errorf("no file: %v", err)
	}
}
