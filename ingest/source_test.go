package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// tree makes a folder with files, whose content is their name, and changes to
// it. A name "a -> b" is a link, one that ends in / a folder.
func tree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		link, target, isLink := strings.Cut(name, " -> ")
		err := os.MkdirAll(filepath.Dir(link), 0o755)
		switch {
		case isLink:
			err = errors.Join(err, os.Symlink(target, link))
		case !strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.WriteFile(name, []byte(name), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func resolved(t *testing.T, args ...string) []string {
	t.Helper()
	found, err := Resolve(args, strings.NewReader(""))
	if err != nil {
		return []string{err.Error()}
	}
	return pick(found, func(s Source) string {
		if s.Stdin == nil && s.Size == 0 {
			t.Errorf("%s has no size", s.Path)
		}
		return s.Path + map[bool]string{true: "", false: "?"}[s.Named]
	})
}

func TestResolveFindsInputs(t *testing.T) {
	tree(t, "b.log", "a.log", "sub/c.log", "sub/deep/d.log", "sub/.hidden", ".git/e.log", "empty/", "weird[1].log", "x.csv", "linked -> sub",
		"current.log -> a.log", "sub/nowhere -> missing", "out -> /nowhere", "sub/loop -> ../sub", "away/f.txt", "latest.log -> away/f.txt")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"b.log"}, []string{"b.log"}},
		{[]string{"b.log", "./a.log", "b.log", "sub/../b.log"}, []string{"a.log", "b.log"}},
		{[]string{"sub"}, []string{"sub/c.log?", "sub/deep/d.log?"}},
		{[]string{"sub/"}, []string{"sub/c.log?", "sub/deep/d.log?"}},
		{[]string{"linked"}, []string{"linked/c.log?", "linked/deep/d.log?"}},
		{[]string{"linked", "sub"}, []string{"linked/c.log?", "linked/deep/d.log?"}},
		{[]string{"sub", "sub/c.log"}, []string{"sub/c.log", "sub/deep/d.log?"}},
		{[]string{"*.csv"}, []string{"x.csv"}},
		{[]string{"[ab].log"}, []string{"a.log", "b.log"}},
		{[]string{"{b,a}.log"}, []string{"a.log", "b.log"}},
		{[]string{"**/*.log"}, []string{"a.log", "b.log", "latest.log", "sub/c.log", "sub/deep/d.log", "weird[1].log"}},
		{[]string{"sub/**"}, []string{"sub/c.log", "sub/deep/d.log"}},
		{[]string{"late*"}, []string{"latest.log"}},
		{[]string{"linked/*.log"}, []string{"linked/c.log"}},
		{[]string{"linked/**"}, []string{"linked/c.log", "linked/deep/d.log"}},
		{[]string{"sub/.h*"}, []string{"sub/.hidden"}},
		{[]string{"weird[1].log"}, []string{"weird[1].log"}},
		{[]string{"current.log", "a.log"}, []string{"a.log"}},
		{[]string{"."}, []string{"a.log?", "away/f.txt?", "b.log?", "sub/c.log?", "sub/deep/d.log?", "weird[1].log?", "x.csv?"}},
		{[]string{".git"}, []string{".git/e.log?"}},
		{[]string{"empty"}, nil},
		{[]string{"-"}, []string{"-"}},
		{[]string{"-", "-", "a.log"}, []string{"-", "a.log"}},
		{nil, nil},
		{[]string{"missing.log"}, []string{"missing.log: no such file"}},
		{[]string{"a.log", "no*.log"}, []string{"glob no*.log: file does not exist"}},
		{[]string{"out"}, []string{"out: no such file"}},
		{[]string{"a[", "a.log"}, []string{"a[: syntax error in pattern"}},
	} {
		same(t, fmt.Sprint(c.args), resolved(t, c.args...), c.want)
	}
	abs, _ := filepath.Abs("a.log")
	same(t, "absolute", len(resolved(t, "a.log", abs)), 1)
}

func TestMissingInputIsNotExist(t *testing.T) {
	tree(t)
	for _, arg := range []string{"x", "x*"} {
		if _, err := Resolve([]string{arg}, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestUnreadableFolderIsAnError(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	tree(t, "in/a.log", "in/shut/b.log")
	if err := os.Chmod("in/shut", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("in/shut", 0o755)
	for _, arg := range []string{"in", "in/**"} {
		if _, err := Resolve([]string{arg}, nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestFileIsOpenedAndCounted(t *testing.T) {
	tree(t)
	if err := os.WriteFile("a.log", []byte(rowA+rowB), 0o644); err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	f, err := Open(Source{Path: "a.log"}, how{}.config(t), &read)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := f.Next(); err != nil || string(c.Data) != rowA+rowB {
		t.Errorf("%v, %v", c, err)
	}
	same(t, "bytes", read.Load(), int64(len(rowA+rowB)))
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	_, err = Open(Source{Path: "missing"}, how{}.config(t), &read)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that went away: %v", err)
	}
	d := decodeSource(t, how{}, Source{Path: "."})
	if d.damage == nil || d.summary.Files[0].Complete {
		t.Errorf("a folder is read: %+v", d)
	}
}

func TestFileIsReadOnceThroughHardLinksAndStdin(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	if err := os.WriteFile(path, []byte(rowA), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	stdin, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	for _, args := range [][]string{{path, link}, {dir}, {filepath.Join(dir, "*.log")}, {"-", link}, {path, "-", link}} {
		sources, err := Resolve(args, stdin)
		if err != nil || len(sources) != 1 {
			t.Errorf("%v: %d sources, %v", args, len(sources), err)
		}
	}
	if sources, err := Resolve([]string{"-", path}, strings.NewReader(rowA)); err != nil || len(sources) != 2 {
		t.Errorf("a stream that is no file: %d sources, %v", len(sources), err)
	}
}

func TestLinkToItselfDoesNotEndAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "loop"), filepath.Join(dir, "loop")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.log"), []byte(rowA), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{dir, filepath.Join(dir, "*")} {
		if sources, err := Resolve([]string{arg}, nil); err != nil || len(sources) != 1 {
			t.Errorf("%s: %d sources, %v", arg, len(sources), err)
		}
	}
}
