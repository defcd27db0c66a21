package spill

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tailscope/tailscope/internal/disk"
)

// write makes a file with blocks in it.
func write(t *testing.T, folder string, blocks ...string) (*File, []Piece) {
	t.Helper()
	f := New(folder, "blocks")
	t.Cleanup(func() { f.Close() })
	var pieces []Piece
	for _, b := range blocks {
		p, err := f.Write([]byte(b))
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	return f, pieces
}

// names returns what a folder holds.
func names(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestBlocksComeBackAsTheyWere(t *testing.T) {
	blocks := []string{"one", "", "another", strings.Repeat("long", 1<<16)}
	f, pieces := write(t, t.TempDir(), blocks...)
	for i := len(blocks) - 1; i >= 0; i-- {
		got := make([]byte, pieces[i].Size(), pieces[i].Size()+1)
		if err := f.Read(pieces[i], got); err != nil || string(got) != blocks[i] {
			t.Errorf("block %d: %.9q, %v", i, got, err)
		}
	}
}

func TestManyReadWhileOneWrites(t *testing.T) {
	f, pieces := write(t, t.TempDir(), "one", "two")
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			got := make([]byte, 3)
			for range 100 {
				if err := f.Read(pieces[i%2], got); err != nil || string(got) != []string{"one", "two"}[i%2] {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	for range 100 {
		if _, err := f.Write([]byte("more")); err != nil {
			t.Error(err)
		}
	}
	readers.Wait()
}

func TestNothingIsMadeBeforeTheFirstBlock(t *testing.T) {
	f := New(filepath.Join(t.TempDir(), "gone"), "blocks")
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheFolderStaysEmpty(t *testing.T) {
	folder := t.TempDir()
	f, _ := write(t, folder, "block")
	if list := names(t, folder); len(list) > 0 && runtime.GOOS != "windows" {
		t.Errorf("%v while the file is open", list)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if list := names(t, folder); len(list) > 0 {
		t.Errorf("%v after Close", list)
	}
	if err := (*File)(nil).Close(); err != nil {
		t.Errorf("no file: %v", err)
	}
}

// TestCloseRemovesAFileThatKeptItsName: where the system removes no open file.
func TestCloseRemovesAFileThatKeptItsName(t *testing.T) {
	folder := t.TempDir()
	file, err := os.CreateTemp(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	f := New(folder, "blocks")
	f.file, f.path = disk.Wrap(file, folder), file.Name()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if list := names(t, folder); len(list) > 0 {
		t.Errorf("%v after Close", list)
	}
}

// TestAKilledProcessLeavesNothing runs this test again as the process to kill.
func TestAKilledProcessLeavesNothing(t *testing.T) {
	if folder := os.Getenv("SPILL_AND_WAIT"); folder != "" {
		write(t, folder, "block")
		fmt.Println("written")
		select {}
	}
	if runtime.GOOS == "windows" {
		t.Skip("a file keeps its name there as long as it is open")
	}
	folder := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessLeavesNothing$")
	child.Env = append(os.Environ(), "SPILL_AND_WAIT="+folder)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err := errors.Join(err, child.Process.Kill()); err != nil || line != "written\n" {
		t.Errorf("%q, %v", line, err)
	}
	child.Wait()
	if list := names(t, folder); len(list) > 0 {
		t.Errorf("%v is left", list)
	}
}

func TestErrorsNameTheFolderAndTheKindOfContent(t *testing.T) {
	folder := t.TempDir()
	for name, c := range map[string]struct {
		damage func(f *File, p Piece) error
		want   string
	}{
		"damaged": {func(f *File, p Piece) error {
			f.file.WriteAt([]byte("x"), 1)
			return f.Read(p, make([]byte, p.Size()))
		}, "its content is not what was written"},
		"cut": {func(f *File, p Piece) error {
			f.file.Truncate(2)
			return f.Read(p, make([]byte, p.Size()))
		}, "it is shorter than what was written"},
		"closed, read": {func(f *File, p Piece) error {
			f.Close()
			return f.Read(p, make([]byte, p.Size()))
		}, "file already closed"},
		"closed, written": {func(f *File, p Piece) error {
			f.Close()
			_, err := f.Write([]byte("more"))
			return err
		}, "file already closed"},
		"closed under our feet": {func(f *File, p Piece) error {
			f.file.Close()
			return f.Close()
		}, "file already closed"},
	} {
		f, pieces := write(t, folder, "block")
		err := c.damage(f, pieces[0])
		if want := "temporary file of blocks in " + folder + ": " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestAMissingFolderIsNamed(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := New(gone, "blocks").Write([]byte("block"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "temporary file of blocks in "+gone+": ") || strings.Count(err.Error(), gone) != 1 {
		t.Error(err)
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	f := New("", "durations")
	f.file = disk.Wrap(full, "/dev/full")
	defer f.Close()
	_, err = f.Write([]byte("block"))
	if want := "temporary file of durations in " + os.TempDir() + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestWriteAfterCloseMakesNoFile(t *testing.T) {
	folder := t.TempDir()
	f := New(folder, "blocks")
	f.Close()
	if _, err := f.Write([]byte("block")); !errors.Is(err, fs.ErrClosed) || len(names(t, folder)) > 0 {
		t.Errorf("%v, %v", err, names(t, folder))
	}
}
