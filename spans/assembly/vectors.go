package assembly

import (
	"fmt"

	"github.com/tailscope/tailscope/spans"
)

// vectors are the columns of a batch as spans are packed from them: one that the
// batch does not have is all zeros.
type vectors struct {
	*spans.Batch
	names                         *renaming // to the tables of the worker
	line, offset                  []int64
	file, host, stratum, instance []int32
	resolution                    []uint8
}

// Columns of zeros, which nobody writes.
var (
	noInt64 [spans.BatchRows]int64
	noInt32 [spans.BatchRows]int32
	noUint8 [spans.BatchRows]uint8
)

func vectorsOf(b *spans.Batch, names *renaming) vectors {
	return vectors{
		Batch: b, names: names,
		line: either(b.Line, noInt64[:]), offset: either(b.Offset, noInt64[:]),
		file: either(b.File, noInt32[:]), host: either(b.Host, noInt32[:]),
		stratum: either(b.Stratum, noInt32[:]), instance: either(b.Instance, noInt32[:]),
		resolution: either(b.Resolution, noUint8[:]),
	}
}

// either returns a column, or zeros for one that is not there.
func either[T any](column, zeros []T) []T {
	if column == nil {
		return zeros
	}
	return column
}

// check reports an index that its table does not have.
func (v *vectors) check() error {
	for _, c := range [...]struct {
		what  string
		list  []int32
		names int
	}{
		{"hop", v.Hop, len(v.names.hops)}, {"host", v.Host, max(1, len(v.names.hosts))},
		{"stratum", v.Stratum, max(1, len(v.names.strata))}, {"instance", v.Instance, max(1, len(v.names.instances))},
	} {
		for row, i := range c.list {
			if uint32(i) >= uint32(c.names) {
				return fmt.Errorf("assembly: row %d of a batch: no %s %d of %d", row, c.what, i, c.names)
			}
		}
	}
	return nil
}

// bytes are the fields of one byte of a row, those that change most lowest.
func (v *vectors) bytes(i int, timed bool) uint64 {
	ties := spans.Ties(v.Ties[i])
	flags := flag(timed, spans.HasStart) | flag(v.HasDuration(i), spans.HasDuration) | flag(v.HasTimeout(i), spans.HasTimeout) |
		flag(v.Marked(i), spans.OutcomeMarked) | flag(v.Retry(i) || ties.Has(spans.MarkedRetry), spans.RetryByMark) | flag(v.Speaks(i), spans.SpeaksOfTimeout)
	return uint64(v.Outcome[i]) | uint64(flags)<<8 | uint64(ties)<<16 | uint64(v.CutBy[i])<<24 | uint64(v.Failure[i])<<32 | uint64(v.resolution[i])<<40 | uint64(v.Tries[i])<<48
}

func flag(on bool, f spans.Flags) spans.Flags {
	if on {
		return f
	}
	return 0
}
