package quantile

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxDecimals keeps num and den below 2^30, so that products with a count
// fit into 128 bits and cross products of two probabilities into 64.
const maxDecimals = 9

// P is a probability in [0,1], kept exactly as the decimal it was written as.
// The zero value is the probability 0.
type P struct {
	text     string
	num, den uint64 // den is a power of ten, or 0 in the zero value
}

// ParseP reads a decimal such as "0.95", ".5", "1" or "0" with at most nine
// digits after the point. It takes no sign, exponent, percentage or value
// above 1; the error says what is wrong and what to write.
func ParseP(s string) (P, error) {
	whole, frac, point := strings.Cut(s, ".")
	switch {
	case s == "":
		return P{}, badP(s, "is empty")
	case s[0] == '+' || s[0] == '-':
		return P{}, badP(s, "has a sign")
	case !digits(whole) || !digits(frac):
		return P{}, badP(s, "is not a plain decimal number")
	case point && frac == "":
		return P{}, badP(s, "has no digit after the point")
	case len(frac) > maxDecimals:
		return P{}, badP(s, fmt.Sprintf("has more than %d digits after the point", maxDecimals))
	case len(whole) > 1 && whole[0] == '0':
		return P{}, badP(s, "has leading zeros")
	case len(whole) > 1 || whole > "1":
		return P{}, badP(s, "is more than 1 (95 % is written 0.95)")
	}
	// Both parts are short runs of digits here, so neither parse can fail.
	num, _ := strconv.ParseUint("0"+whole+frac, 10, 64)
	den, _ := strconv.ParseUint("1"+strings.Repeat("0", len(frac)), 10, 64)
	if num > den {
		return P{}, badP(s, "is more than 1 (95 % is written 0.95)")
	}
	return P{text: s, num: num, den: den}, nil
}

// ParseLabel reads a quantile as people write it: 0.99, .99, 99%, 99 % or p99. The P is
// the decimal; errors are ParseP's.
func ParseLabel(s string) (P, error) {
	text := strings.TrimSpace(s)
	if strings.HasPrefix(text, ".") {
		return ParseP("0" + text) // as it is printed
	}
	percent, isPercent := strings.CutSuffix(text, "%")
	percent, isLabel := strings.CutPrefix(strings.TrimSpace(percent), "p")
	if isLabel == isPercent { // neither, or both, which is nothing
		return parseDecimal(text, isPercent)
	}
	whole, fraction, point := strings.Cut(percent, ".")
	switch {
	case whole == "" || !digits(whole) || !digits(fraction) || point && fraction == "":
		return P{}, badP(s, "is not a plain decimal number")
	case whole == "100" && strings.Trim(fraction, "0") == "":
		return ParseP("1")
	case len(whole) > 2:
		return P{}, badP(s, "is more than 100 %")
	}
	decimals := strings.TrimRight(fmt.Sprintf("%02s", whole)+fraction, "0")
	return ParseP("0." + decimals + strings.Repeat("0", max(0, 1-len(decimals))))
}

// parseDecimal is ParseP, but of a number up to 100 it says how that is written.
func parseDecimal(text string, both bool) (P, error) {
	p, err := ParseP(text)
	if err == nil || both {
		return p, err
	}
	if as, bad := ParseLabel(text + "%"); bad == nil {
		return P{}, fmt.Errorf("probability %q is more than 1: write p%s or %s", text, text, as)
	}
	return p, err
}

func badP(s, fault string) error {
	const longest = 40
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	return fmt.Errorf("probability %q %s: write a decimal from 0 to 1 with at most %d digits, such as 0.95", s, fault, maxDecimals)
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// MustP is ParseP for constants of the program and for tests; it panics on a
// text that ParseP refuses.
func MustP(s string) P {
	p, err := ParseP(s)
	if err != nil {
		panic(err)
	}
	return p
}

// String returns p as it was written; the zero value is "0".
func (p P) String() string {
	if p.text == "" {
		return "0"
	}
	return p.text
}

// MarshalText gives String for JSON.
func (p P) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Float returns the nearest float64, for formulas that need a ratio.
func (p P) Float() float64 { return float64(p.num) / float64(p.denominator()) }

// Fraction returns p as a fraction; den is a power of ten.
func (p P) Fraction() (num, den uint64) { return p.num, p.denominator() }

// Beyond returns 1-p, the share that lies beyond the p-quantile, computed
// from integers so that it is the float64 nearest to the decimal.
func (p P) Beyond() float64 {
	den := p.denominator()
	return float64(den-p.num) / float64(den)
}

// Rank returns the nearest rank max(1, ceil(p n)) of n sorted values, counted
// from 1 and exact for every n; it is 0 when n is 0.
func (p P) Rank(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	den := p.denominator()
	hi, lo := bits.Mul64(p.num, n)
	lo, carry := bits.Add64(lo, den-1, 0)
	// num <= den keeps the high word below den, so the division cannot overflow.
	rank, _ := bits.Div64(hi+carry, lo, den)
	return max(1, rank)
}

// Label returns the usual short name: "p95", "p99.9", "p50", "p0", "p100".
func (p P) Label() string {
	den := p.denominator()
	whole, rest := 100*p.num/den, 100*p.num%den
	if rest == 0 {
		return fmt.Sprintf("p%d", whole)
	}
	frac := fmt.Sprintf("%0*d", len(strconv.FormatUint(den, 10))-1, rest)
	return fmt.Sprintf("p%d.%s", whole, strings.TrimRight(frac, "0"))
}

// Percent writes it for people, from the decimal: 0.9999 must not become 100 %.
func (p P) Percent() string { return p.Label()[1:] + " %" }

// Compare returns -1, 0 or +1 as p is below, equal to or above o; 0.5 and
// 0.50 are equal.
func (p P) Compare(o P) int {
	return cmp.Compare(p.num*o.denominator(), o.num*p.denominator())
}

// Shared returns the confidence at which each of so many limits holds for all of
// them to hold at once with confidence p: 1 - (1-p)/claims, with (1-p)/claims
// rounded down to nine digits, so that the whole is never less sure. Source:
// Bonferroni's inequality.
func (p P) Shared(claims int) P {
	if claims < 2 {
		return p
	}
	const den = 1_000_000_000
	beyond := (p.denominator() - p.num) * (den / p.denominator()) / uint64(claims)
	text := strings.TrimRight(fmt.Sprintf("0.%09d", den-beyond), "0")
	if beyond == 0 {
		text = "1"
	}
	return P{text: text, num: den - beyond, den: den}
}

// certain reports p = 1, impossible p = 0: the formulas leave them out.
func (p P) certain() bool    { return p.num == p.denominator() }
func (p P) impossible() bool { return p.num == 0 }

// beyondLessThanOne reports n(1-p) < 1 in integers.
func (p P) beyondLessThanOne(n uint64) bool {
	den := p.denominator()
	hi, lo := bits.Mul64(den-p.num, n)
	return hi == 0 && lo < den
}

func (p P) denominator() uint64 { return max(1, p.den) }
