package quantile

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePKeepsTheDecimal(t *testing.T) {
	for _, c := range []struct {
		text, label   string
		float, beyond float64
	}{
		{"0.95", "p95", .95, .05},
		{".5", "p50", .5, .5},
		{"0.999", "p99.9", .999, .001},
		{"0.9995", "p99.95", .9995, .0005},
		{"0.005", "p0.5", .005, .995},
		{"0.105", "p10.5", .105, .895},
		{"0", "p0", 0, 1},
		{"1", "p100", 1, 0},
		{"1.000", "p100", 1, 0},
		{"0.999999999", "p99.9999999", .999999999, 1e-9},
	} {
		p, err := ParseP(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != c.text || p.Label() != c.label || p.Float() != c.float || p.Beyond() != c.beyond {
			t.Errorf("%s: %s %s %v %v", c.text, p, p.Label(), p.Float(), p.Beyond())
		}
	}
}

func TestAQuantileIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]string{
		"0.99": "0.99", ".99": "0.99", "99%": "0.99", "99 %": "0.99", "p99": "0.99", " p99 ": "0.99", "1": "1", "0": "0",
		"p99.9": "0.999", "99.9%": "0.999", "p5": "0.05", "5%": "0.05", "p50": "0.5", "50.00%": "0.5", "p0.5": "0.005", "p0": "0.0", "p100": "1", "100%": "1", "p100.0": "1",
	} {
		if p, err := ParseLabel(text); err != nil || p.String() != want {
			t.Errorf("%q: %q (%v), want %q", text, p, err, want)
		}
	}
	for text, fault := range map[string]string{
		"p101": "is more than 100 %", "100.1%": "is more than 100 %", "p": "is not a plain decimal number", "%": "is not a plain decimal number", "p99%": "is not a plain decimal number",
		"p9e1": "is not a plain decimal number", "p-1": "is not a plain decimal number", "p99.": "is not a plain decimal number", "99": "is more than 1", "": "is empty", ".": "has no digit", "p99.99999999": "more than 9 digits",
	} {
		if p, err := ParseLabel(text); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %q, %v", text, p, err)
		}
	}
}

func TestALabelIsReadAsTheQuantileThatItNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decimals := rapid.StringMatching(`[0-9]{1,9}`).Draw(t, "decimals")
		p := MustP("0." + decimals)
		percent := strings.TrimPrefix(p.Label(), "p") + "%"
		for _, text := range []string{p.Label(), percent, p.String()} {
			if again, err := ParseLabel(text); err != nil || again.Compare(p) != 0 {
				t.Fatalf("%s: %q is read as %v (%v)", p, text, again, err)
			}
		}
	})
}

func TestParsePSaysWhatIsWrong(t *testing.T) {
	for text, fault := range map[string]string{
		"": "is empty", "-0.5": "has a sign", "+.5": "has a sign",
		"5e-1": "is not a plain decimal number", "95%": "is not a plain decimal number",
		"0x1": "is not a plain decimal number", "0.5.1": "is not a plain decimal number",
		"NaN": "is not a plain decimal number", " 0.5": "is not a plain decimal number",
		"0,95": "is not a plain decimal number", "٠.٥": "is not a plain decimal number",
		".": "has no digit after the point", "1.": "has no digit after the point",
		"00.5": "has leading zeros", "1.01": "is more than 1", "95": "is more than 1", "2": "is more than 1",
		"99999999999999999999999": "is more than 1",
		"0.1234567890":            "has more than 9 digits after the point",
	} {
		p, err := ParseP(text)
		if err == nil {
			t.Errorf("%q was read as %v", text, p)
		} else if !strings.Contains(err.Error(), fault) || !strings.Contains(err.Error(), "such as 0.95") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseP(strings.Repeat("x", 1e6)); len(err.Error()) > 200 {
		t.Errorf("a long text gives a message of %d bytes", len(err.Error()))
	}
}

func TestMustPPanicsOnABadConstant(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustP("1.5")
}

func TestZeroPIsTheMinimum(t *testing.T) {
	var p P
	if p.String() != "0" || p.Label() != "p0" || p.Rank(7) != 1 || p.Float() != 0 || p.Beyond() != 1 || p.Compare(MustP("0.0")) != 0 {
		t.Errorf("zero value %v %s %d", p, p.Label(), p.Rank(7))
	}
}

func TestCompareOrdersByValue(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"0.5", ".50", 0}, {"0.9", "0.95", -1}, {"1", "0.999999999", 1}, {"0", "0.000000001", -1}} {
		if got := MustP(c.a).Compare(MustP(c.b)); got != c.want {
			t.Errorf("%s with %s: %d", c.a, c.b, got)
		}
	}
}

// The ranks on which float arithmetic is off by one.
func TestRankIsRightWhereFloatsAreNot(t *testing.T) {
	for _, c := range []struct {
		p       string
		n, want uint64
	}{
		{"0.017", 3000, 51}, {"0.035", 200, 7}, {"0.999", 1000, 999}, {"0.9", 10, 9},
		{"0.07", 100, 7}, {"0.14", 100, 14}, {"0.28", 100, 28}, {"0.55", 100, 55}, {"0.57", 100, 57},
		{"0.95", 200, 190}, {"0.5", 4, 2}, {"0.5", 5, 3}, {"0", 9, 1}, {"1", 9, 9}, {"0.99", 0, 0}, {"0.999", 60, 60},
		{"1", math.MaxUint64, math.MaxUint64}, {"0.5", 1 << 63, 1 << 62},
		{"0.999999999", 1 << 63, 9223372027631403772},
	} {
		if got := MustP(c.p).Rank(c.n); got != c.want {
			t.Errorf("rank of %s in %d = %d, want %d", c.p, c.n, got, c.want)
		}
	}
}

func TestRankEqualsTheExactFraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := []int64{10, 1000, 1e9}[rapid.IntRange(0, 2).Draw(t, "digits")]
		num := rapid.Int64Range(0, den).Draw(t, "num")
		n := rapid.Uint64Range(1, 1<<63).Draw(t, "n")
		p := P{num: uint64(num), den: uint64(den)}
		want := new(big.Int).Mul(big.NewInt(num), new(big.Int).SetUint64(n))
		want.Add(want, big.NewInt(den-1)).Quo(want, big.NewInt(den))
		if got := p.Rank(n); got != max(1, want.Uint64()) {
			t.Fatalf("rank %d, want %d", got, want)
		}
	})
}

func TestSharedConfidenceIsNeverLess(t *testing.T) {
	for _, c := range []struct {
		p      string
		claims int
		want   string
	}{
		{"0.95", 0, "0.95"}, {"0.95", 1, "0.95"}, {"0.95", 5, "0.99"}, {"0.95", 12, "0.995833334"},
		{"0.9", 3, "0.966666667"}, {"0.999999999", 2, "1"}, {"0.95", 50_000_000, "0.999999999"}, {"0.95", 50_000_001, "1"},
		{"0", 2, "0.5"},
	} {
		got := MustP(c.p).Shared(c.claims)
		if got.String() != c.want || got.Compare(MustP(c.want)) != 0 {
			t.Errorf("%s for %d claims: %s, want %s", c.p, c.claims, got, c.want)
		}
		again, err := ParseP(got.String())
		if err != nil || again.Compare(got) != 0 {
			t.Errorf("%s does not read back: %v", got, err)
		}
	}
}

func FuzzParseP(f *testing.F) {
	for _, s := range []string{"0.95", ".5", "1", "0", "1.0", "", ".", "-1", "1e-3", "0.9999999999", "95%", "٣", "1.5", "00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseP(s)
		if err != nil {
			return
		}
		if p.String() != s || p.num > p.den || p.Rank(1000) < 1 || p.Rank(1000) > 1000 {
			t.Errorf("%q is %+v", s, p)
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok || want.Cmp(big.NewRat(int64(p.num), int64(p.den))) != 0 {
			t.Errorf("%q is %d/%d", s, p.num, p.den)
		}
	})
}
