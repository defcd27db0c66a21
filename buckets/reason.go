package buckets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
)

// tailer explains the quantiles of one hop.
type tailer struct {
	hop   *hop
	query Query
	r     *Result
	tails quantile.Tails
}

// tail completes a quantile with its Kaplan-Meier value, where that says
// something else, and its reason. Without marks there is no certificate.
func (t tailer) tail(q quantile.Tail) Tail {
	out := Tail{Tail: q}
	if km, ok := t.kaplanMeier(q); ok && km != q.Value {
		out.KM = &km
	}
	if !t.query.Marked && t.r.TruncatedShare.Count == 0 {
		out.Upper = nil
	}
	out.Reason = t.reason(out)
	return out
}

// maxStrata is how many strata are still worth the name.
const maxStrata = 1000

func (t tailer) kaplanMeier(q quantile.Tail) (int64, bool) {
	if len(t.hop.strata) == 0 {
		if q.KM == nil {
			return 0, false
		}
		return *q.KM, true
	}
	if len(t.hop.strata) > maxStrata {
		return 0, false
	}
	var groups []quantile.Stratum
	for _, name := range slices.Sorted(maps.Keys(t.hop.strata)) {
		s := t.hop.strata[name]
		groups = append(groups, quantile.Stratum{Completed: quantile.Union{s.completed}, Cut: quantile.Union{s.cut}})
	}
	return quantile.StratifiedKMQuantile(groups, q.P)
}

func (t tailer) reason(q Tail) string {
	switch q.Status {
	case quantile.Exact:
		return t.uncertified(q)
	case quantile.AtLeast:
		return strings.Join([]string{t.cutSentence(q), t.wallSentence(), t.remedy()}, "; ")
	}
	if q.N == 0 {
		return "no first attempt completed or was cut"
	}
	return fmt.Sprintf("no completion observed; recorded cuts %s: set --timeout %s=T", rangeText(*t.tails.CutMin, *t.tails.CutMax), t.hopText())
}

// uncertified says why an exact value has no upper limit.
func (t tailer) uncertified(q Tail) string {
	switch {
	case q.Upper != nil:
		return ""
	case !t.query.Marked && t.r.TruncatedShare.Count == 0:
		return "the input does not say which attempts were cut, so nothing is certain about " + q.P.Label()
	case q.UpperRank > q.N:
		need := quantile.CanarySize(q.P, 0, t.query.Confidence)
		if need == 0 {
			return ""
		}
		return fmt.Sprintf("no upper limit from %d first attempts: %s needs %d", q.N, q.P.Label(), need)
	}
	return fmt.Sprintf("no certified upper limit: it would be rank %d of %d completed below the first cut", q.UpperRank, t.tails.Below)
}

// cutSentence compares the cut share with what lies beyond the quantile.
func (t tailer) cutSentence(q Tail) string {
	s, beyond := t.r.TruncatedShare, q.P.Beyond()
	text := fmt.Sprintf("%d of %d first attempts were cut (%s; one-sided %s limits %s and %s)",
		s.Count, s.Of, percent(s.Value), t.confidence(), percent(s.Lower), percent(s.Upper))
	switch {
	case len(t.r.Walls) > 1:
		return fmt.Sprintf("%s at %d walls, the first before %s", text, len(t.r.Walls), q.P.Label())
	case beyond < s.Lower:
		return fmt.Sprintf("%s, more than the %s beyond %s: it lies beyond the wall at %s confidence", text, percent(beyond), q.P.Label(), t.confidence())
	case beyond < s.Upper:
		return fmt.Sprintf("%s: whether %s lies beyond the wall is undecided at %s confidence", text, q.P.Label(), t.confidence())
	}
	return fmt.Sprintf("%s, the first before %s", text, q.P.Label())
}

func (t tailer) confidence() string { return percent(t.query.Confidence.Float()) }

// wallSentence says what is known of the timeout.
func (t tailer) wallSentence() string {
	var known []string
	for _, w := range t.r.Walls {
		if w.Timeout != nil {
			known = append(known, durations.Text(*w.Timeout))
			continue
		}
		known = append(known, fmt.Sprintf("between %s (set --timeout %s=T)", rangeText(w.From, w.To), t.hopText()))
	}
	switch len(known) {
	case 0:
		return fmt.Sprintf("the cuts from %s show no wall: if %s has a timeout, set --timeout %s=T",
			rangeText(*t.tails.CutMin, *t.tails.CutMax), t.hopText(), t.hopText())
	case 1:
		return "wall " + known[0]
	}
	return "walls " + strings.Join(known, ", ")
}

// remedy says how what the wall hides would become known.
func (t tailer) remedy() string {
	s := t.r.TruncatedShare
	var sizes []string
	for _, q := range t.tails.Tails {
		if n := quantile.CanarySize(q.P, 0, t.query.Confidence); q.Status != quantile.Exact && n > 0 {
			sizes = append(sizes, fmt.Sprintf("%d for %s", n, q.P.Label()))
		}
	}
	return fmt.Sprintf("highest certifiable quantile %s; a canary with a raised timeout needs first attempts: %s",
		certifiable(quantile.HighestCertifiable(s.Count, s.Of, t.query.Confidence)), strings.Join(sizes, ", "))
}

// hopText is the hop's name as a shell would need it.
func (t tailer) hopText() string {
	plain := func(c rune) bool {
		return c == '_' || c == '-' || c == '.' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if strings.IndexFunc(t.hop.name, func(c rune) bool { return !plain(c) }) < 0 {
		return t.hop.name
	}
	return strconv.Quote(t.hop.name)
}

// rangeText writes two durations in the unit of the larger: "2026 and 5703 ms".
func rangeText(from, to int64) string {
	u := durations.UnitOf(max(from, 1))
	return durations.In(from, u) + " and " + durations.In(to, u) + " " + u.Name
}

// percent writes a share with three significant digits: "16.5 %", "0.46 %".
func percent(share float64) string {
	v := share * 100
	digits := 2
	if v >= 10 {
		digits = 1
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if v > 0 && v < 0.1 {
		text = strconv.FormatFloat(v, 'g', 2, 64)
	}
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

// certifiable writes a probability as a quantile, rounded down: "p78", "p99.4".
func certifiable(p float64) string {
	digits := 0
	for limit := 0.99; p >= limit && digits < 6; limit += 9 * math.Pow10(-2-digits) {
		digits++
	}
	scale := math.Pow10(digits)
	return "p" + strconv.FormatFloat(math.Floor(p*100*scale)/scale, 'f', -1, 64)
}
