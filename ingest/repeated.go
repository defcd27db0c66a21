package ingest

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
)

// Hop logs name no lines, so the same line in two files counts twice. Files that share
// lines are warned of.

// mostCompared is how many files are compared, the first ones: each takes 2 KiB.
const mostCompared = 2048

// mostOften is in how many files a line may be so that they are compared by it: one that
// is in all says nothing.
const mostOften = 64

// fileSample is a part of a file's attempts.
type fileSample struct {
	index  int32
	path   string
	sample format.Sample
}

// repeated is a pair of files that share lines, by their places in a list.
type repeated struct {
	a, b     int
	both, of int // of the lines looked at in the file with the larger share
}

// sharesLines says which files share lines.
func sharesLines(files []fileSample) []note.Warning {
	slices.SortFunc(files, func(a, b fileSample) int { return cmp.Compare(a.index, b.index) })
	var pairs []repeated
	for pair := range candidates(files) {
		files[pair[0]].sample.Sort()
		files[pair[1]].sample.Sort()
		if r, counts := compare(files, pair[0], pair[1]); counts {
			pairs = append(pairs, r)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	slices.SortFunc(pairs, func(x, y repeated) int {
		return cmp.Or(cmp.Compare(y.both*x.of, x.both*y.of), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	return []note.Warning{{Code: "repeated_lines", Text: pairsText(files, pairs)}}
}

// candidates are the pairs of files that share a hash.
func candidates(files []fileSample) map[[2]int]bool {
	in, common := map[uint64][]int{}, commonOf(files)
	for i := range files {
		for _, h := range files[i].sample.Hashes() {
			if list := in[h]; common.has(h) && len(list) < mostOften && (len(list) == 0 || list[len(list)-1] != i) {
				in[h] = append(list, i)
			}
		}
	}
	pairs := map[[2]int]bool{}
	for _, list := range in {
		for k, b := range list {
			for _, a := range list[:k] {
				pairs[[2]int{a, b}] = true
			}
		}
	}
	return pairs
}

// common are the hashes that come twice, and a few that do not: most come once, and a
// list for each of them would be the most that many small files take.
type common struct {
	once, twice []uint64 // bits
	mask        uint64
}

func commonOf(files []fileSample) common {
	n := 0
	for i := range files {
		n += len(files[i].sample.Hashes())
	}
	words := 1 << bits.Len(uint(n/4)) // 16 to 32 bits a hash
	c := common{make([]uint64, words), make([]uint64, words), uint64(words) - 1}
	for i := range files {
		for _, h := range files[i].sample.Hashes() {
			word, bit := c.place(h)
			c.twice[word] |= c.once[word] & bit
			c.once[word] |= bit
		}
	}
	return c
}

// place is where a hash has its bit. The lower half of a hash is the evenly spread one.
func (c common) place(h uint64) (word, bit uint64) { return h >> 6 & c.mask, 1 << (h & 63) }

func (c common) has(h uint64) bool {
	word, bit := c.place(h)
	return c.twice[word]&bit != 0
}

// compare says what two files share, and whether that counts. Where attempts name their
// chains, few alike are no chance; else many are.
func compare(files []fileSample, a, b int) (r repeated, counts bool) {
	x, y := &files[a].sample, &files[b].sample
	both, here, there := x.Shared(y)
	r = repeated{a, b, both, here}
	if there < here {
		r.a, r.b, r.of = b, a, there
	}
	if x.Named && y.Named {
		return r, both >= 2 && both*100 >= r.of
	}
	return r, both >= 10 && both*5 >= r.of
}

func pairsText(files []fileSample, pairs []repeated) string {
	worst := pairs[0]
	text := fmt.Sprintf("about %s of the attempts in %s are in %s too, alike in hop, start, duration, outcome and chain: they count twice", ratio.Percent(float64(worst.both)/float64(worst.of)), files[worst.a].path, files[worst.b].path)
	if more := len(pairs) - 1; more > 0 {
		text += "; so it is with " + note.Count(more, "more pair of files", "more pairs of files")
	}
	return text
}
