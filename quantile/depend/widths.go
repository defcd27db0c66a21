package depend

// widestSpell is the width, in minutes, of the widest blocks that are looked at, unless
// those of the window are wider. A slow spell shows best in blocks as wide as it is long.
const widestSpell = 256

// grouped counts the attempts beyond thresholds in blocks of the window's width, of twice
// that and so on, while there are enough of them.
func (b *Blocks) grouped(at []Threshold) (ways []grouped) {
	t := b.tallied(at)
	for t.blocks() >= fewestClusters {
		ways = append(ways, t.grouped())
		if 2*t.minutes > widestSpell {
			break
		}
		t.widen()
	}
	return ways
}

// tally counts attempts by blocks, in order of time.
type tally struct {
	minutes uint32
	stride  int
	numbers []int64
	counts  []uint64 // a stride for each block: of all, and of those beyond each threshold
}

func (t *tally) blocks() int { return len(t.numbers) }

// of returns the counts of one block.
func (t *tally) of(block int) []uint64 { return t.counts[block*t.stride : (block+1)*t.stride] }

func (b *Blocks) tallied(at []Threshold) *tally {
	t := &tally{stride: 1 + len(at)}
	if len(b.cells) == 0 {
		return t
	}
	t.minutes = 1 << b.window.shift
	for cells := b.cells; len(cells) > 0; {
		var block []blockCell
		block, cells = firstBlock(cells)
		t.numbers = append(t.numbers, block[0].key>>bucketBits)
		t.counts = append(t.counts, make([]uint64, t.stride)...)
		t.count(t.of(t.blocks()-1), block, at)
	}
	return t
}

func (t *tally) count(into []uint64, block []blockCell, at []Threshold) {
	for _, c := range block {
		into[0] += c.n
		for i := range at {
			if LogBucket(c.key&int64(CutBucket)) >= at[i].From {
				into[1+i] += c.n
			}
		}
	}
}

func (t *tally) grouped() grouped {
	g := grouped{minutes: t.minutes, at: make([]clustered, t.stride-1)}
	for block := range t.blocks() {
		counts := t.of(block)
		for i := range g.at {
			g.at[i].add(counts[0], counts[1+i])
		}
	}
	return g
}

// widen makes one block of two that lie in the same one of twice the width.
func (t *tally) widen() {
	t.minutes *= 2
	last := -1
	for block, number := range t.numbers {
		counts := t.of(block)
		if number /= 2; last < 0 || t.numbers[last] != number {
			last++
			t.numbers[last] = number
			copy(t.of(last), counts)
			continue
		}
		for i, into := 0, t.of(last); i < t.stride; i++ {
			into[i] += counts[i]
		}
	}
	t.numbers, t.counts = t.numbers[:last+1], t.counts[:(last+1)*t.stride]
}
