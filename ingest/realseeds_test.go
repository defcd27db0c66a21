package ingest

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Fuzzing starts from the heads of real files, which is as much as it can change well.
const (
	seedBytes     = 2 << 10
	longestFuzzed = 16 << 10
)

// realSeeds are the heads of files of the project that some run wrote, and of public
// ones where those are there.
func realSeeds(f *testing.F, extensions ...string) (seeds []string) {
	f.Helper()
	for _, root := range []string{"../testdata", corpusFolder} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil && root == corpusFolder {
				return fs.SkipAll // it is not part of the project
			}
			for _, e := range extensions {
				if ok, _ := filepath.Match("*"+e, filepath.Base(path)); ok && err == nil && d.Type().IsRegular() {
					seeds = append(seeds, headOf(f, path))
				}
			}
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	if len(seeds) == 0 {
		f.Fatal("no files")
	}
	return seeds
}

// headOf is the start of a file, without compression.
func headOf(f *testing.F, path string) string {
	file, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	r := io.Reader(file)
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(file); err != nil {
			f.Fatal(err)
		}
	}
	head, err := io.ReadAll(io.LimitReader(r, seedBytes))
	if err != nil {
		f.Fatal(err)
	}
	if end := bytes.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end+1]
	}
	return string(head)
}
