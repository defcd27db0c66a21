package depend

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestStepsFollowEachOther(t *testing.T) {
	last := LogBucketOf(math.MaxInt64)
	if last >= CutBucket || LogBucketOf(-5) != 0 || LogBucketOf(0) != 0 {
		t.Fatalf("last bucket %d", last)
	}
	for s := LogBucket(0); s <= last; s++ {
		if got := LogBucketOf(s.From()); got != s {
			t.Fatalf("bucket %d begins in bucket %d", s, got)
		}
		if s > 0 && LogBucketOf(s.From()-1) != s-1 {
			t.Fatalf("bucket %d begins late", s)
		}
	}
}

func TestStepsAreOfOneWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(16, math.MaxInt64/2).Draw(t, "ns")
		from, next := LogBucketOf(ns).From(), (LogBucketOf(ns) + 1).From()
		if from > ns || next <= ns || float64(next) > 1.0626*float64(from) {
			t.Fatalf("%d in %d..%d", ns, from, next)
		}
	})
}
