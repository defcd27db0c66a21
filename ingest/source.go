package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/tailscope/tailscope/internal/disk"
	"github.com/tailscope/tailscope/internal/nearest"
)

// Source is one input to read.
type Source struct {
	Path  string
	Size  int64     // in bytes, 0 where not known
	Named bool      // named by the user or matched by a glob, not found in a folder
	Stdin io.Reader // set for "-"

	id      fileID // zero for a stream that is no file
	regular bool
}

// Is reports whether the source is the file of that path, by whatever name.
func (s *Source) Is(path string, info fs.FileInfo) bool {
	return s.id != fileID{} && s.id == idOf(path, info)
}

// Resolve turns the arguments of a run into sources, sorted by path: files as
// they are, globs (with ** for any depth), folders with all files in them, and
// "-" for stdin. Neither folders nor wildcards find hidden files. A file is read
// once, however often it is named and through whatever link, hard ones and
// /dev/stdin among them. A path that is not there is an error.
func Resolve(args []string, stdin io.Reader) ([]Source, error) {
	var all []Source
	for _, arg := range args {
		sources, err := resolve(arg, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, sources...)
	}
	slices.SortStableFunc(all, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	return unique(all), nil
}

func resolve(arg string, stdin io.Reader) ([]Source, error) {
	if arg == "-" {
		return []Source{newStdin(stdin)}, nil
	}
	info, err := disk.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return folder(arg)
	case err == nil:
		return []Source{newSource(arg, info, true)}, nil
	case strings.ContainsAny(arg, "*?[{"):
		return glob(arg)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{arg}
	}
	return nil, err
}

// MissingError says that there is no such file.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	text := e.Path + ": no such file"
	if name := nearestFile(e.Path); name != "" {
		text += "; did you mean " + name + "?"
	}
	return text
}

// Unwrap is fs.ErrNotExist.
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// nearestFile is the one in the same folder that is called nearly so, "" without one.
func nearestFile(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.Name() != filepath.Base(path) { // a link to nowhere
			names = append(names, e.Name())
		}
	}
	if name := nearest.Within(filepath.Base(path), names, min(4, len(filepath.Base(path))/3)); name != "" {
		return filepath.Join(filepath.Dir(path), name)
	}
	return ""
}

func glob(pattern string) ([]Source, error) {
	paths, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly(), doublestar.WithNoHidden(), doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	sources, err := stat(paths, true)
	if err == nil && len(sources) == 0 {
		err = &fs.PathError{Op: "glob", Path: pattern, Err: fs.ErrNotExist}
	}
	return sources, err
}

// folder finds the files under root; a root that is a link is followed.
func folder(root string) ([]Source, error) {
	var paths []string
	root = filepath.Clean(root) + string(filepath.Separator)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		hidden := path != root && strings.HasPrefix(d.Name(), ".")
		if err == nil && d.IsDir() && !hidden {
			err = disk.Try(disk.ListCall, path)
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case !d.IsDir() && !hidden:
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stat(paths, false)
}

// stat makes sources of paths that were found, leaving out what is no regular
// file.
func stat(paths []string, named bool) ([]Source, error) {
	var sources []Source
	for _, p := range paths {
		info, err := disk.Stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP):
			continue // a link to nowhere or to itself, or a log that was just rotated away
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			sources = append(sources, newSource(p, info, named))
		}
	}
	return sources, nil
}

func newSource(path string, info fs.FileInfo, named bool) Source {
	return Source{Path: filepath.Clean(path), Size: info.Size(), Named: named, id: idOf(path, info), regular: info.Mode().IsRegular()}
}

func newStdin(stdin io.Reader) Source {
	s := Source{Path: "-", Named: true, Stdin: stdin}
	if f, ok := stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil { // a closed one fails when it is read
			s.id = idOf(f.Name(), info)
		}
	}
	return s
}

// unique drops sources that came twice; what the user named stays named.
func unique(sorted []Source) []Source {
	out := sorted[:0]
	seen := make(map[sourceID]int, len(sorted))
	for _, s := range sorted {
		id := sourceID{file: s.id}
		if s.id == (fileID{}) {
			id.path = s.Path
		}
		if i, again := seen[id]; again {
			out[i].Named = out[i].Named || s.Named
			continue
		}
		seen[id] = len(out)
		out = append(out, s)
	}
	return out
}

// sourceID is equal for sources that are one: by its file or, where it is none, by
// its path.
type sourceID struct {
	file fileID
	path string
}
