package quantile

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

var ninetyFive = MustP("0.95")

func TestUpperRankOfKnownSizes(t *testing.T) {
	for _, c := range []struct {
		p       string
		n, want uint64
	}{
		{"0.95", 200, 196}, {"0.999", 1_000_000, 999_053},
		{"0.95", 58, 59}, {"0.95", 59, 59}, {"0.99", 298, 299}, {"0.99", 299, 299},
		{"0.999", 2994, 2995}, {"0.999", 2995, 2995},
		{"0", 0, 1}, {"0.5", 0, 1}, {"0", 10, 1}, {"1", 10, 11}, {"0.5", 1, 2},
	} {
		if got := UpperRank(c.n, MustP(c.p), ninetyFive); got != c.want {
			t.Errorf("n=%d p=%s: %d, want %d", c.n, c.p, got, c.want)
		}
	}
}

func TestLimitRanksAtTheEdgesOfConfidence(t *testing.T) {
	one, none, half := MustP("1"), MustP("0"), MustP("0.5")
	for _, c := range []struct {
		p, confidence P
		lower, upper  uint64
	}{
		{half, one, 0, 11}, {one, one, 10, 11}, {none, one, 0, 1},
		{half, none, 10, 1}, {one, none, 10, 1}, {one, half, 10, 11}, {none, half, 0, 1},
	} {
		lower, upper := LowerRank(10, c.p, c.confidence), UpperRank(10, c.p, c.confidence)
		if lower != c.lower || upper != c.upper {
			t.Errorf("p=%s confidence=%s: %d and %d, want %d and %d", c.p, c.confidence, lower, upper, c.lower, c.upper)
		}
	}
	// 0.5^4 = 1 - 0.9375 exactly.
	if got := UpperRank(4, half, MustP("0.9375")); got != 4 {
		t.Errorf("a tie is refused: %d", got)
	}
}

// binomialTail sums P(Bin(n,p) >= k) term by term in the logarithm.
func binomialTail(k, n uint64, p float64) float64 {
	choose := func(j uint64) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(j + 1))
		c, _ := math.Lgamma(float64(n - j + 1))
		return a - b - c
	}
	sum := 0.0
	for j := k; j <= n; j++ {
		sum += math.Exp(choose(j) + float64(j)*math.Log(p) + float64(n-j)*math.Log1p(-p))
	}
	return sum
}

func TestLimitRanksEqualTheSummedBinomial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 400).Draw(t, "n")
		p := perMille(rapid.IntRange(1, 999).Draw(t, "p"))
		lower, upper := LowerRank(n, p, ninetyFive), UpperRank(n, p, ninetyFive)
		above := func(k uint64) float64 { return binomialTail(k, n, p.Float()) }
		if upper <= n && above(upper) > .05+1e-9 || upper > 1 && above(upper-1) < .05-1e-9 {
			t.Fatalf("upper rank %d", upper)
		}
		if lower > 0 && above(lower) < .95-1e-9 || lower < n && above(lower+1) > .95+1e-9 {
			t.Fatalf("lower rank %d", lower)
		}
	})
}

// Far beyond the sizes that can be summed the normal approximation, with its
// first skewness correction, is close enough.
func TestLimitRanksOfABillionAreNearTheNormalOnes(t *testing.T) {
	const n = 1_000_000_000
	z := mathext.NormalQuantile(.95)
	for _, text := range []string{"0.5", "0.95", "0.999", "0.999999"} {
		p := MustP(text)
		q := p.Float()
		sd, skew := math.Sqrt(n*q*(1-q)), (1-2*q)*(z*z-1)/6
		lower, upper := n*q-z*sd+skew, n*q+z*sd+skew+1
		got := UpperRank(n, p, ninetyFive)
		if math.Abs(float64(got)-upper) > 2 {
			t.Errorf("p=%s: upper %d, normal %.1f", p, got, upper)
		}
		if got := LowerRank(n, p, ninetyFive); math.Abs(float64(got)-lower) > 2 {
			t.Errorf("p=%s: lower %d, normal %.1f", p, got, lower)
		}
	}
}

func TestClopperPearsonOfBatchOne(t *testing.T) {
	lower, upper := ClopperPearson(33, 200, ninetyFive)
	if math.Round(lower*1000) != 123 || math.Round(upper*1000) != 214 {
		t.Errorf("33 of 200: %v and %v, want 12.3 %% and 21.4 %%", lower, upper)
	}
	if got := HighestCertifiable(33, 200, ninetyFive); math.Floor(got*100) != 78 {
		t.Errorf("highest certifiable %v, want p78", got)
	}
}

func TestClopperPearsonAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		c, n         uint64
		confidence   string
		lower, upper float64
	}{
		{0, 0, "0.95", 0, 1}, {0, 100, "0.95", 0, 1 - math.Pow(.05, .01)}, {5, 5, "0.95", math.Pow(.05, .2), 1},
		{9, 5, "0.95", math.Pow(.05, .2), 1}, {2, 5, "1", 0, 1}, {2, 5, "0", 1, 0},
	} {
		lower, upper := ClopperPearson(c.c, c.n, MustP(c.confidence))
		if math.Abs(lower-c.lower) > 1e-9 || math.Abs(upper-c.upper) > 1e-9 {
			t.Errorf("%d of %d at %s: %v and %v", c.c, c.n, c.confidence, lower, upper)
		}
	}
}

func TestClopperPearsonLimitsGiveTheirLevelBack(t *testing.T) {
	for _, n := range []uint64{1, 7, 200, 10_000, 1_000_000, 100_000_000} {
		for _, c := range []uint64{1, 2, 50, n / 10, n / 2, n - 1} {
			if c == 0 || c >= n {
				continue
			}
			lower, upper := ClopperPearson(c, n, ninetyFive)
			if got := (chance{lower, 1 - lower}).atLeast(c, n); math.Abs(got-.05) > 1e-8 {
				t.Errorf("%d of %d: P(Bin(n, %v) >= c) = %v", c, n, lower, got)
			}
			if got := 1 - (chance{upper, 1 - upper}).atLeast(c+1, n); math.Abs(got-.05) > 1e-8 {
				t.Errorf("%d of %d: P(Bin(n, %v) <= c) = %v", c, n, upper, got)
			}
			if share := float64(c) / float64(n); !(lower < share && share < upper) {
				t.Errorf("%d of %d: %v to %v", c, n, lower, upper)
			}
		}
	}
}

func TestCanarySizesAreTheKnownOnes(t *testing.T) {
	for p, want := range map[string][4]uint64{
		"0.9":   {29, 46, 61, 103},
		"0.95":  {59, 93, 124, 208},
		"0.99":  {299, 473, 628, 1049},
		"0.999": {2995, 4742, 6294, 10511},
	} {
		for i, r := range []uint64{0, 1, 2, 5} {
			if got := CanarySize(MustP(p), r, ninetyFive); got != want[i] {
				t.Errorf("p=%s r=%d: %d, want %d", p, r, got, want[i])
			}
		}
	}
}

func TestCanarySizeAtTheEdges(t *testing.T) {
	for _, c := range []struct {
		p, confidence string
		r, want       uint64
	}{
		{"1", "0.95", 0, 0}, {"0.5", "1", 0, 0}, {"0.5", "0", 3, 4}, {"0", "0.95", 3, 4},
		{"0.95", "0.95", math.MaxUint64, 0}, {"0.999999999", "0.95", 0, 2995732273},
	} {
		if got := CanarySize(MustP(c.p), c.r, MustP(c.confidence)); got != c.want {
			t.Errorf("p=%s r=%d at %s: %d, want %d", c.p, c.r, c.confidence, got, c.want)
		}
	}
	if got := CanarySize(MustP("0.999999999"), 1<<60, ninetyFive); got != 0 {
		t.Errorf("an absurd number of cuts: %d", got)
	}
}

func TestSummedTailEqualsTheBetaFunction(t *testing.T) {
	const n = summedFrom - 1
	for _, p := range []P{MustP("0.5"), MustP("0.05"), MustP("0.95"), MustP("0.999"), MustP("0.000001")} {
		c := p.chance()
		for k := uint64(1); k <= n; k += 37 {
			got := 0.0
			if float64(k) < n*c.p {
				got = 1 - chance{c.q, c.p}.upperTail(n-k+1, n)
			} else {
				got = c.upperTail(k, n)
			}
			if want := c.atLeast(k, n); math.Abs(got-want) > 1e-10 {
				t.Fatalf("p=%s k=%d: %v, want %v", p, k, got, want)
			}
		}
	}
}

func TestMassesAddUpToOne(t *testing.T) {
	for _, p := range []P{MustP("0.5"), MustP("0.001"), MustP("0.999")} {
		sum := 0.0
		for k := range uint64(20_001) {
			sum += p.chance().mass(k, 20_000)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("p=%s: %v", p, sum)
		}
	}
}
