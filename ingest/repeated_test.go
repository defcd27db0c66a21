package ingest

import (
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/spans"
)

// fileOf is a file of rows with these numbers.
func fileOf(index int32, named bool, from, to int) fileSample {
	f := fileSample{index: index, path: fmt.Sprint("file ", index)}
	for i := from; i < to; i++ {
		r := spans.Row{Start: int64(i) * 1_000_000, HasStart: true, Duration: int64(i%100) * 1000}
		if named {
			r.Trace = fmt.Append(nil, "chain ", i)
		}
		if order := format.Order(&r); f.sample.Counts(order) {
			f.sample.Add(order, &r, []byte("hop"))
		}
	}
	f.sample.End()
	return f
}

func warnedOf(files ...fileSample) string {
	for _, w := range sharesLines(files) {
		return w.Text
	}
	return ""
}

func TestFilesThatShareLinesAreWarnedOf(t *testing.T) {
	const chains, none = true, false
	tail := " of the attempts in file %d are in file %d too, alike in hop, start, duration, outcome and chain: they count twice"
	for name, c := range map[string]struct {
		files []fileSample
		want  string
	}{
		"one file":                        {[]fileSample{fileOf(0, chains, 0, 100)}, ""},
		"nothing in both":                 {[]fileSample{fileOf(0, chains, 0, 100), fileOf(1, chains, 100, 200)}, ""},
		"half of the first":               {[]fileSample{fileOf(0, chains, 0, 100), fileOf(1, chains, 50, 250)}, "about 50 %" + fmt.Sprintf(tail, 0, 1)},
		"half of the second":              {[]fileSample{fileOf(1, chains, 50, 150), fileOf(0, chains, 0, 100)}, "about 50 %" + fmt.Sprintf(tail, 0, 1)},
		"one line":                        {[]fileSample{fileOf(0, chains, 0, 10), fileOf(1, chains, 9, 20)}, ""},
		"few, without chains":             {[]fileSample{fileOf(0, none, 0, 100), fileOf(1, none, 81, 200)}, ""},
		"many, without chains":            {[]fileSample{fileOf(0, none, 0, 100), fileOf(1, none, 80, 200)}, "about 20 %" + fmt.Sprintf(tail, 0, 1)},
		"three, of which each has a part": {[]fileSample{fileOf(0, chains, 0, 100), fileOf(1, chains, 50, 250), fileOf(2, chains, 0, 10)}, "about 100 %" + fmt.Sprintf(tail, 2, 0) + "; so it is with 1 more pair of files"},
	} {
		if got := warnedOf(c.files...); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The share of large files is known from a part of them.
func TestTheShareOfLargeFilesIsAbout(t *testing.T) {
	text := warnedOf(fileOf(0, true, 0, 50_000), fileOf(1, true, 35_000, 120_000))
	found := regexp.MustCompile(`^about ([0-9.]+) %`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal(text)
	}
	if share, err := strconv.ParseFloat(found[1], 64); err != nil || share < 18 || share > 42 {
		t.Errorf("%s, of 30 %%", text)
	}
}

// Of lines that are in one file only, no list is made: they are most where files are many.
func TestLinesThatAreInOneFileOnlyTakeLittleMemory(t *testing.T) {
	files := make([]fileSample, 500)
	for i := range files {
		files[i] = fileOf(int32(i), true, 200*i, 200*(i+1))
	}
	files[7] = fileOf(7, true, 100, 300)
	const most = 12 // bytes a line: two sets of bits, and lists of some
	var pairs map[[2]int]bool
	if each := allocated(func() { pairs = candidates(files) }) / (500 * 200); each > most {
		t.Errorf("%d bytes for each line", each)
	}
	if len(pairs) != 2 || !pairs[[2]int{0, 7}] || !pairs[[2]int{1, 7}] {
		t.Error(pairs)
	}
}

// A line that is twice in a file is no line of two.
func TestALineThatIsTwiceInAFileIsNoneOfTwoFiles(t *testing.T) {
	var f fileSample
	for range 2 {
		r := spans.Row{Start: 5, HasStart: true, Duration: 7, Trace: []byte("chain")}
		f.sample.Add(format.Order(&r), &r, []byte("hop"))
	}
	f.sample.End()
	if pairs := candidates([]fileSample{f, fileOf(1, true, 0, 10)}); len(pairs) != 0 {
		t.Error(pairs)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
