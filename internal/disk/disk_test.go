package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// intercepted is a folder whose calls are noted, and of which one kind fails.
func intercepted(t *testing.T, kind string, fault *Fault) (folder string, made func() []string) {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var kinds []string
	t.Cleanup(Intercept(folder, func(c Call) *Fault {
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, c.Kind)
		if c.Kind == kind {
			return fault
		}
		return nil
	}))
	return folder, func() []string { return kinds }
}

// useAll makes each call once, and returns the first error.
func useAll(folder string) error {
	path := filepath.Join(folder, "below", "file")
	f, err := CreateTemp(filepath.Dir(path), "x-*")
	if err != nil {
		return err
	}
	name := f.Name()
	into := make([]byte, 4)
	_, written := f.Write([]byte("text"))
	_, inPlace := f.WriteAt([]byte("T"), 0)
	err = errors.Join(written, inPlace, f.Sync(), f.Chmod(0o600), f.Close(), Try(ListCall, folder), Try(LinkCall, path), Rename(name, path))
	if err != nil {
		return err
	}
	if _, err := Stat(path); err != nil {
		return err
	}
	if f, err = Open(path); err != nil {
		return err
	}
	_, err = io.ReadFull(f, into)
	if err == nil && string(into) != "Text" {
		err = errors.New("it reads " + string(into))
	}
	_, at := f.ReadAt(into[:1], 1)
	return errors.Join(err, at, f.Close(), Remove(path))
}

func TestEveryCallCanFail(t *testing.T) {
	for _, kind := range []string{OpenCall, CreateCall, ReadCall, WriteCall, SyncCall, ChmodCall, CloseCall, StatCall, ListCall, LinkCall, RenameCall, RemoveCall} {
		folder, made := intercepted(t, kind, &Fault{Err: syscall.EIO})
		if err := os.Mkdir(filepath.Join(folder, "below"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := useAll(folder); !errors.Is(err, syscall.EIO) || !slices.Contains(made(), kind) {
			t.Errorf("%s: %v after %v", kind, err, made())
		}
	}
}

func TestCallsAreMadeWhereNothingIsToFail(t *testing.T) {
	folder, made := intercepted(t, "none", nil)
	other := t.TempDir()
	for _, f := range []string{folder, other} {
		if err := os.Mkdir(filepath.Join(f, "below"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := useAll(f); err != nil {
			t.Error(err)
		}
	}
	if n := len(made()); n != 15 {
		t.Errorf("asked %d times: %v", n, made())
	}
}

func TestAFaultMayMoveSomeBytesFirst(t *testing.T) {
	folder, _ := intercepted(t, WriteCall, &Fault{Bytes: 2, Err: syscall.ENOSPC})
	f, err := CreateTemp(folder, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.WriteString("text"); n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%d, %v", n, err)
	}
	if text, err := os.ReadFile(f.Name()); string(text) != "te" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAFaultWithoutAnErrorReadsLess(t *testing.T) {
	folder, _ := intercepted(t, ReadCall, &Fault{Bytes: 1})
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "text" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
