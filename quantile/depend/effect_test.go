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
// books. It is 0 where there is none.
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
	if a == 0 || a == n {
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
	return k / (k - 1) * scatter / (n * n) / (ratio * (1 - ratio) / (n - 1))
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
			c, want := parts[0].clustered(from, n, beyond), dumb(clusters, from)
			if got := c.ratio(); want > 0 && math.Abs(got-want) > 1e-9*(1+want) {
				t.Fatalf("from bucket %d: %v, want %v", from, got, want)
			}
		}
	})
}

// alike makes k clusters of m attempts, in every second of which a go beyond.
func alike(k int, m, a uint64) (c clustered) {
	for i := range k {
		c.add(m, uint64(i%2)*a)
	}
	return c
}

func TestEffectOfKnownClusters(t *testing.T) {
	same := func(k int, m, a uint64) (c clustered) {
		for range k {
			c.add(m, a)
		}
		return c
	}
	for _, c := range []struct {
		name      string
		in        clustered
		dependent bool
		want      Effect
	}{
		{"five clusters", alike(5, 10, 10), false, Effect{}},
		{"nothing beyond", alike(20, 10, 0), false, Effect{}},
		{"all beyond", same(20, 10, 10), false, Effect{}},
		{"four beyond", alike(8, 50, 1), false, Effect{}},
		{"one each", alike(200, 1, 1), false, Effect{Hundredths: 100}},
		// Every cluster goes one way: 20 values stand ten times each, an effect of 10.47,
		// with 19 degrees of freedom: (1.729133 / 1.644854)^2 times as much.
		{"ten alike", alike(20, 10, 10), true, Effect{Hundredths: 1157, Minutes: 4}},
		{"alike in every cluster", same(20, 10, 5), false, Effect{Hundredths: 100}},
		// Sixteen of sixteen attempts alike would be seen, had they twenty beyond.
		{"too few beyond to tell", alike(8, 4, 4), false, Effect{Hundredths: 100}},
		{"too few clusters for so little", alike(10, 4, 2), false, Effect{Hundredths: 100}},
	} {
		g := grouped{minutes: 4, at: []clustered{c.in}}
		if got := c.in.dependent(); got != c.dependent {
			t.Errorf("%s: dependent: %v", c.name, got)
		}
		if got := g.effect(0, c.dependent); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Values of scipy.stats.t.ppf(.95, nu).
func TestStudentsQuantiles(t *testing.T) {
	for nu, want := range map[float64]float64{5: 2.015048372669157, 19: 1.729132811521367, 286: 1.650198895932368, 1999: 1.645616248187262, 1e9: 1.6448536269514722} {
		if got := studentAbove(nu); math.Abs(got-want) > 1e-6 {
			t.Errorf("%v: %v, want %v", nu, got, want)
		}
	}
}

// One threshold that shows dependence makes every effect count; none does where all may be
// chance.
func TestThresholdsAreOneTest(t *testing.T) {
	b := NewWindow().New()
	for minute60 := range int64(60) {
		for i := range 40 {
			s := LogBucket(5)
			switch {
			case i < 20:
				s = 3
			case minute60%10 == 9 && i >= 38:
				s = 7 // 12 of 2400, in six minutes
			case minute60%3 == 0:
				s = 6
			}
			b.Add(minute60*minute, s)
		}
	}
	b.window.Flush()
	d := Dependence{Traces: new(Clusters), Blocks: b, CutFrom: CutBucket}
	few, many := Threshold{From: 7}, Threshold{From: 6}
	if got := d.At(2400, []Threshold{few}, []Threshold{few})[0]; got != (Effect{Hundredths: 100}) {
		t.Errorf("12 beyond alone: %+v", got)
	}
	got := d.At(2400, []Threshold{few, many}, []Threshold{many})
	if !got[0].Counts() || !got[1].Counts() {
		t.Errorf("12 beyond, beside 372: %+v", got)
	}
}

func TestSizeIsThatOfIndependentAttempts(t *testing.T) {
	for _, c := range []struct {
		e       Effect
		n, want uint64
	}{
		{Effect{}, 10, 10}, {Effect{Hundredths: 100}, 10, 10}, {Effect{Hundredths: 101}, 10, 9},
		{Effect{Hundredths: 151}, 151, 100}, {Effect{Hundredths: 151}, 150, 99},
		{Effect{Hundredths: 5000}, 10, 1}, {Effect{Hundredths: 5000}, 0, 0},
		{Effect{Hundredths: 200}, 1 << 62, 1 << 61},
	} {
		if got := c.e.Size(c.n); got != c.want {
			t.Errorf("%+v of %d: %d, want %d", c.e, c.n, got, c.want)
		}
	}
}
