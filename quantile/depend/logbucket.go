package depend

import "math/bits"

// LogBucket is one of fixed buckets of durations, 16 to the octave, from 0 ns on: how
// attempts depend on each other is summed up for each, as the threshold that matters,
// the quantile, is known only at the end. Neighbours are 4 to 7 % apart.
type LogBucket uint16

const (
	bucketBits = 10 // of a bucket in a key
	fineBits   = 4  // bits of a value that tell buckets apart

	// CutBucket is above all durations: that of an attempt that was cut.
	CutBucket LogBucket = 1<<bucketBits - 1
)

// LogBucketOf returns the bucket in which a duration of ns nanoseconds lies; one below 0
// counts as 0.
func LogBucketOf(ns int64) LogBucket {
	v := uint64(max(0, ns))
	if v < 1<<fineBits {
		return LogBucket(v)
	}
	e := bits.Len64(v) - fineBits - 1
	return LogBucket((e+1)<<fineBits | int(v>>e)&(1<<fineBits-1))
}

// From returns the shortest duration of the bucket, in ns.
func (s LogBucket) From() int64 {
	if s < 1<<fineBits {
		return int64(s)
	}
	e := int(s)>>fineBits - 1
	return (1<<fineBits | int64(s)&(1<<fineBits-1)) << e
}
