package depend

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawnCluster is the attempts of a cluster, by their buckets.
type drawnCluster []LogBucket

func drawClusters(t *rapid.T) []drawnCluster {
	bucket := rapid.SampledFrom([]LogBucket{0, 3, 4, 40, 41, 500, CutBucket})
	return rapid.SliceOfN(rapid.Map(rapid.SliceOfN(bucket, 1, 6), func(s []LogBucket) drawnCluster { return s }), 0, 60).Draw(t, "clusters")
}

// dumb computes m and a of every cluster anew, then the effect as it is written in
// books. It is 0 where it is not known.
func dumb(clusters []drawnCluster, from LogBucket) float64 {
	var n, a, k float64
	for _, c := range clusters {
		k++
		for _, s := range c {
			n++
			if s >= from {
				a++
			}
		}
	}
	if k < fewestClusters || a < fewestOfAKind || n-a < fewestOfAKind {
		return 0
	}
	ratio, scatter := a/n, 0.0
	for _, c := range clusters {
		beyond := 0.0
		for _, s := range c {
			if s >= from {
				beyond++
			}
		}
		scatter += math.Pow(beyond-ratio*float64(len(c)), 2)
	}
	return max(1, k/(k-1)*scatter/(n*n)/(ratio*(1-ratio)/(n-1)))
}

func agrees(got Effect, want float64) bool {
	return math.Abs(got.Float()-want) <= .005001
}

func TestEffectOfClustersIsThatOfTheRawValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clusters := drawClusters(t)
		parts := [2]*Clusters{new(Clusters), new(Clusters)}
		for _, c := range clusters {
			if len(c) > 1 {
				parts[rapid.IntRange(0, 1).Draw(t, "worker")].Add(append([]LogBucket(nil), c...))
			}
		}
		parts[0].Merge(parts[1])
		for _, from := range []LogBucket{0, 2, 4, 41, 499, CutBucket} {
			var n, beyond uint64
			for _, c := range clusters {
				for _, s := range c {
					n++
					if s >= from {
						beyond++
					}
				}
			}
			if got, want := parts[0].clustered(from, n, beyond).effect(), dumb(clusters, from); !agrees(got, want) {
				t.Fatalf("from bucket %d: %v, want %v", from, got.Float(), want)
			}
		}
	})
}

func TestEffectOfKnownClusters(t *testing.T) {
	clusters := func(k int, m, a uint64) (c clustered) {
		for i := range k {
			if i%2 == 0 {
				c.add(m, a)
			} else {
				c.add(m, 0)
			}
		}
		return c
	}
	for _, c := range []struct {
		name string
		in   clustered
		want Effect
	}{
		{"nine clusters", clusters(9, 10, 10), Effect{}},
		{"nothing beyond", clusters(20, 10, 0), Effect{}},
		{"all beyond", func() (c clustered) {
			for range 20 {
				c.add(10, 10)
			}
			return c
		}(), Effect{}},
		{"one each", clusters(200, 1, 1), Effect{Hundredths: 100}},
		// Every cluster goes one way: 20 values stand ten times each.
		{"ten alike", clusters(20, 10, 10), Effect{Hundredths: 1047, Sure: true}},
		{"alike in every cluster", func() (c clustered) {
			for range 20 {
				c.add(10, 5)
			}
			return c
		}(), Effect{Hundredths: 100}},
		{"too few clusters to be sure", clusters(10, 2, 2), Effect{Hundredths: 211}},
	} {
		if got := c.in.effect(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestSizeCountsOnlyWhatIsSureAndLarge(t *testing.T) {
	for _, c := range []struct {
		e       Effect
		n, want uint64
	}{
		{Effect{}, 10, 10}, {Effect{Hundredths: 400}, 10, 10}, {Effect{Hundredths: 150, Sure: true}, 10, 10},
		{Effect{Hundredths: 151, Sure: true}, 151, 100}, {Effect{Hundredths: 151, Sure: true}, 150, 99},
		{Effect{Hundredths: 5000, Sure: true}, 10, 1}, {Effect{Hundredths: 5000, Sure: true}, 0, 0},
		{Effect{Hundredths: 200, Sure: true}, 1 << 62, 1 << 61},
	} {
		if got := c.e.Size(c.n); got != c.want {
			t.Errorf("%+v of %d: %d, want %d", c.e, c.n, got, c.want)
		}
	}
}

func TestASureEffectGoesBeforeALargerOne(t *testing.T) {
	sure, large, small := Effect{Hundredths: 160, Sure: true}, Effect{Hundredths: 210}, Effect{Hundredths: 110}
	for _, c := range [][3]Effect{{sure, large, sure}, {large, sure, sure}, {large, small, large}, {small, large, large}, {Effect{}, small, small}} {
		if got := c[0].Larger(c[1]); got != c[2] {
			t.Errorf("of %+v and %+v: %+v", c[0], c[1], got)
		}
	}
}
