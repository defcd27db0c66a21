package ingest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Source is one input to read.
type Source struct {
	Path  string
	Size  int64     // in bytes, 0 where not known
	Named bool      // named by the user or matched by a glob, not found in a folder
	Stdin io.Reader // set for "-"
}

// Resolve turns the arguments of a run into sources, sorted by path: files as
// they are, globs (with ** for any depth), folders with all files in them but
// hidden ones, and "-" for stdin. A file is read once, however often it is
// named. A path that is not there is an error.
func Resolve(args []string, stdin io.Reader) ([]Source, error) {
	var all []Source
	for _, arg := range args {
		found, err := resolve(arg, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
	return unique(all), nil
}

func resolve(arg string, stdin io.Reader) ([]Source, error) {
	if arg == "-" {
		return []Source{{Path: "-", Named: true, Stdin: stdin}}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return folder(arg)
	case err == nil:
		return []Source{{Path: filepath.Clean(arg), Size: info.Size(), Named: true}}, nil
	case strings.ContainsAny(arg, "*?[{"):
		return glob(arg)
	}
	return nil, err
}

func glob(pattern string) ([]Source, error) {
	paths, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	if len(paths) == 0 {
		return nil, &fs.PathError{Op: "glob", Path: pattern, Err: fs.ErrNotExist}
	}
	return stat(paths, true)
}

func folder(root string) ([]Source, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		hidden := path != root && strings.HasPrefix(d.Name(), ".")
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

// stat makes sources of paths, leaving out what is no regular file.
func stat(paths []string, named bool) ([]Source, error) {
	var found []Source
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			found = append(found, Source{Path: filepath.Clean(p), Size: info.Size(), Named: named})
		}
	}
	return found, nil
}

// unique drops sources that came twice; what the user named stays named.
func unique(sorted []Source) []Source {
	var out []Source
	for _, s := range sorted {
		if n := len(out); n > 0 && out[n-1].Path == s.Path {
			out[n-1].Named = out[n-1].Named || s.Named
			continue
		}
		out = append(out, s)
	}
	return out
}
