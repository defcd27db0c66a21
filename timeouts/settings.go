package timeouts

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/callgraph"
	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
)

// Settings are what the advice keeps to.
type Settings struct {
	FalseTimeout Share  // of attempts that would have come to an end
	PerRequest   bool   // FalseTimeout is of requests
	Allowed      bool   // of hops with too few attempts for it, what so few allow
	Headroom     Factor // over the bound
	Allowance    int64  // ns over the bound, where that is more
	Floor        int64  // ns, least timeout
	EntryBudget  int64  // ns that a request may take; 0: not given
}

// Share is a share in billionths, above 0 and below a whole.
type Share int64

const whole = 1_000_000_000

// ParseShare reads "0.1%" or "0.001".
func ParseShare(s string) (Share, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	places := 9
	if percent {
		places = 7
	}
	n, ok := fixed(strings.TrimSpace(digits), places)
	if !ok || n <= 0 || n >= whole {
		return 0, fmt.Errorf("%q is no share between 0 and 1 with at most nine decimals, such as 0.1%% or 0.001", s)
	}
	return Share(n), nil
}

// fixed reads a decimal without a sign as a whole number of its last place.
func fixed(s string, places int) (int64, bool) {
	head, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if head+fraction == "" && !strings.HasPrefix(s, "0") || len(fraction) > places || len(head) > 9 {
		return 0, false
	}
	n, err := strconv.ParseUint("0"+head+fraction+strings.Repeat("0", places-len(fraction)), 10, 63)
	return int64(n), err == nil
}

// Text writes the share as a percentage, exactly.
func (s Share) Text() string {
	text := fmt.Sprintf("%d.%07d", s/1e7, s%1e7)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
}

// Beyond returns the quantile beyond which the share lies.
func (s Share) Beyond() quantile.P {
	digits := strings.TrimRight(fmt.Sprintf("%09d", whole-int64(s)), "0")
	return quantile.MustP("0." + digits)
}

// Factor is a decimal of at least 1, as hundredths.
type Factor int64

// ParseFactor reads a decimal such as "1.33".
func ParseFactor(s string) (Factor, error) {
	n, ok := fixed(s, 2)
	if !ok || n < 100 || n > 100_00 {
		return 0, errors.New("a factor of 1 to 100 with at most two decimals, such as 1.33")
	}
	return Factor(n), nil
}

// Of returns the factor times ns, rounded up, at most the largest int64.
func (f Factor) Of(ns int64) int64 {
	hi, lo := bits.Mul64(uint64(max(ns, 0)), uint64(f))
	lo, carry := bits.Add64(lo, 99, 0)
	if hi += carry; hi >= 100 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 100)
	return int64(min(q, math.MaxInt64))
}

// Target is the quantile whose evidence the timeouts rest on: what lies beyond it
// is the share of attempts that may be cut in vain. Of requests it is divided by
// the calls that one makes on average, rounded up: each may be the one.
func (s Settings) Target(g *callgraph.Graph) quantile.P {
	share := s.FalseTimeout
	if s.PerRequest {
		share = max(1, share/Share(callsOf(g)))
	}
	return share.Beyond()
}

// callsOf is how many calls a request makes on average, rounded up; 1 where that
// is not known.
func callsOf(g *callgraph.Graph) int64 {
	if g == nil || g.Requests == 0 {
		return 1
	}
	return int64(max(1, min(whole, (g.Calls+g.Requests-1)/g.Requests)))
}

// from returns the timeout for a bound of a call's time.
func (s Settings) from(bound int64) int64 { return max(roundUp(s.over(bound)), s.Floor) }

// over returns a bound with its headroom.
func (s Settings) over(bound int64) int64 {
	return max(s.Headroom.Of(bound), durations.Sum(bound, s.Allowance))
}

// steps are the numbers that a timeout may have, in tenths of a power of ten.
var steps = [...]int64{10, 12, 15, 20, 25, 30, 40, 50, 60, 80}

// roundUp returns the least step of at least ns. It is at least 1 ns: a timeout of 0
// is none at all for most who take one.
func roundUp(ns int64) int64 {
	if ns <= steps[0] {
		return max(ns, 1)
	}
	for unit := int64(1); ; unit *= 10 {
		for _, s := range steps {
			if s > math.MaxInt64/unit {
				return math.MaxInt64
			}
			if s*unit >= ns {
				return s * unit
			}
		}
	}
}

// times returns n times ns, at most the largest int64.
func times(n uint64, ns int64) int64 {
	hi, lo := bits.Mul64(n, uint64(max(ns, 0)))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
