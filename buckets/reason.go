package buckets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/internal/ratio"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// tailer explains the quantiles of one hop.
type tailer struct {
	hop      *hop
	query    Query
	r        *Result
	tails    quantile.WeightedTails
	effects  []depend.Dependent // by quantile, where there are tails
	groups   []quantile.Stratum
	unlisted int             // known timeouts that r.Walls leaves out
	wrong    []quantile.Wall // cuts that lie together and are no timeout
	floor    int64           // below which attempts look left out, in ns; 0 for none
}

// tail completes a quantile with its Kaplan-Meier value, where that says
// something else, and its reason. Without marks there is no certificate.
func (t tailer) tail(q quantile.Tail) Tail {
	out := Tail{Tail: q, ClockStep: t.hop.step()}
	if km, ok := t.kaplanMeier(q); ok && km != q.Value {
		out.KM = &km
	}
	if !t.certain() || t.floor > 0 {
		out.Upper = nil
	}
	out.Reason = t.reason(out)
	return out
}

// certain reports whether it is known which attempts may have been cut, so that a limit
// of a quantile can be a certificate: the input says so, or the timeout is given, below
// which what is not marked completed.
func (t tailer) certain() bool { return t.hop.tells(t.query) || t.hop.timeout > 0 }

func (t tailer) kaplanMeier(q quantile.Tail) (int64, bool) {
	switch {
	case t.r.Effective > 0:
		return 0, false // the curve would have to be weighted too
	case t.hop.strata.asked():
		return quantile.StratifiedKMQuantile(t.groups, q.P)
	case q.KM != nil:
		return *q.KM, true
	}
	return 0, false
}

func (t tailer) reason(q Tail) string {
	switch q.Status {
	case quantile.Exact:
		return t.uncertified(q)
	case quantile.AtLeast:
		if q.AtMost != nil {
			return sentences("between "+rangeText(q.Value, " and ", *q.AtMost), t.cutSentence(q), t.doubtSentence(), t.wallSentence())
		}
		return sentences(t.cutSentence(q), t.doubtSentence(), t.wallSentence(), t.certifiableSentence(), t.canarySentence())
	}
	if q.N == 0 {
		return "no first attempt completed or timed out"
	}
	return fmt.Sprintf("no completion observed; timeouts recorded at %s: set --timeout %s=T", t.cutRange(), t.hopText())
}

// doubtSentence counts the attempts that a timeout may have ended without a mark.
func (t tailer) doubtSentence() string {
	var list []string
	if n := t.hop.first.held(spoken).N(); n > 0 {
		list = append(list, note.Count(n, "failure speaks", "failures speak")+" of a timeout")
	}
	if p := t.hop.first.pile(); p != nil {
		list = append(list, fmt.Sprintf("%d within 1 %% of %s look timed out", p.N, durations.Text(p.From)))
	}
	if n := t.hop.first.held(open).N(); n > 0 {
		list = append(list, note.Count(n, "was", "were")+" not seen to end")
	}
	if n := t.hop.first.held(doubtful).N(); n > 0 {
		list = append(list, note.Count(n, "attempt without a mark is", "attempts without a mark are")+" long enough to have timed out")
	}
	if list == nil {
		return ""
	}
	return strings.Join(list, ", ") + ": what they would have taken is not known either"
}

// uncertified says why an exact value has no upper limit.
func (t tailer) uncertified(q Tail) string {
	switch {
	case q.Upper != nil:
		return ""
	case !t.certain():
		return "the input does not say which attempts timed out, so nothing is certain about " + q.P.Label()
	case t.floor > 0:
		return "attempts shorter than " + durations.Text(t.floor) + " look left out, so nothing is certain about " + q.P.Label()
	case q.UpperRank > q.Size():
		need := quantile.CanarySize(q.P, 0, t.query.Confidence)
		if need == 0 {
			return ""
		}
		return fmt.Sprintf("no upper limit from %s%s: %s needs %d", note.Count(q.N, "first attempt"), t.worth(q.N, q.Size()), q.P.Label(), need)
	case t.r.Effective > 0:
		return fmt.Sprintf("no certified upper limit: it would be rank %d of n_eff %d, beyond the weight that completed", q.UpperRank, q.Size())
	case q.Effective > 0:
		return fmt.Sprintf("no certified upper limit: it would be rank %d of n_eff %d, beyond the share that completed", q.UpperRank, q.Size())
	case q.UpperRank <= t.tails.Known:
		return "no certified upper limit: failures that lasted nearly as long may hide slower attempts"
	}
	return fmt.Sprintf("no certified upper limit: it would be rank %d, and %d are known from above", q.UpperRank, t.tails.Known)
}

// worth says how many equal and independent attempts n are worth, where they are
// weighted or that is another number.
func (t tailer) worth(n, size uint64) string {
	switch {
	case t.r.Effective > 0:
		return " worth " + note.Count(size, "equal one") + " (n_eff)"
	case size < n:
		return " worth " + note.Count(size, "independent one") + " (n_eff)"
	}
	return ""
}

// cutSentence compares the cut share with what lies beyond the quantile.
func (t tailer) cutSentence(q Tail) string {
	s, beyond := t.r.TruncatedShare, q.P.Beyond()
	if s.Count == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s%s %s (%s%s; one-sided %s limits %s and %s)",
		s.Count, note.Count(s.Of, "first attempt"), t.worth(s.Of, s.Size()), t.timedOut(s.Count), ratio.Percent(s.Value), t.byWeight(), t.query.Confidence.Percent(), ratio.Percent(s.Lower), ratio.Percent(s.Upper))
	switch walls := len(t.r.Walls) + t.unlisted; {
	case walls > 1:
		return fmt.Sprintf("%s at %d timeouts, the first before %s", text, walls, q.P.Label())
	case beyond >= s.Upper || !t.allAtTheWall():
		return fmt.Sprintf("%s, the first before %s", text, q.P.Label())
	case beyond < s.Lower:
		return fmt.Sprintf("%s, more than the %s beyond %s: it lies beyond the timeout at %s confidence", text, ratio.Percent(beyond), q.P.Label(), t.query.Confidence.Percent())
	}
	return fmt.Sprintf("%s: whether %s lies beyond the timeout is undecided at %s confidence", text, q.P.Label(), t.query.Confidence.Percent())
}

func (t tailer) byWeight() string {
	if t.r.Effective == 0 {
		return ""
	}
	return " by weight"
}

// timedOut is the verb of n first attempts that were cut.
func (t tailer) timedOut(n uint64) string {
	if t.hop.first.endings().cuts[spans.Caller] == 0 {
		return "timed out"
	}
	return "timed out or " + note.Form(n, "was", "were") + " cancelled"
}

// allAtTheWall reports whether there is one wall and no cut came before it; only
// then does the cut share speak of what lies beyond it.
func (t tailer) allAtTheWall() bool {
	if len(t.r.Walls) != 1 {
		return false
	}
	wall := t.r.Walls[0].To
	return *t.tails.FirstCut >= spans.Reached(wall)
}

// fewWalls is how many walls a sentence names.
const fewWalls = 4

// wallSentence says what is known of the timeout.
func (t tailer) wallSentence() string {
	if t.r.TruncatedShare.Count == 0 {
		return ""
	}
	var known []string
	for _, w := range t.r.Walls {
		known = append(known, t.wallText(w))
	}
	switch n := len(known) + t.unlisted; {
	case n == 0:
		return fmt.Sprintf("those that timed out, at %s, show no common timeout: if %s has one, set --timeout %s=T", t.cutRange(), t.hopText(), t.hopText())
	case n == 1:
		return "timeout " + known[0]
	case n > fewWalls:
		return fmt.Sprintf("timeouts %s and %d more", strings.Join(known[:fewWalls], ", "), n-fewWalls)
	}
	return "timeouts " + strings.Join(known, ", ")
}

func (t tailer) wallText(w Wall) string {
	set := fmt.Sprintf(" (set --timeout %s=T)", t.hopText())
	switch {
	case w.Timeout != nil:
		return durations.Text(*w.Timeout)
	case w.From == 0:
		return "at most " + durations.Text(w.To) + set
	case w.From == w.To:
		return "about " + durations.Text(w.To) + set
	}
	return "between " + rangeText(w.From, " and ", w.To) + set
}

// certifiable is the highest quantile that surely lies below the timeout, nil where it is
// not known which attempts may have been cut, or where there are none.
func (t tailer) certifiable() *float64 {
	if !t.certain() || t.tails.N == 0 {
		return nil
	}
	p := t.tails.Certifiable
	if t.r.Effective == 0 {
		size := t.r.TruncatedShare.Size()
		_, beyond := quantile.EffectiveShare(t.tails.N-t.tails.Known, t.tails.N, size)
		p = quantile.HighestCertifiable(beyond, size, t.query.Confidence)
	}
	return &p
}

// certifiableSentence says up to where the completed values reach.
func (t tailer) certifiableSentence() string {
	switch p := t.r.Certifiable; {
	case p == nil:
		return ""
	case FloorLabel(*p) != "p0":
		return "highest certifiable quantile " + FloorLabel(*p)
	}
	return "no quantile is certifiable"
}

// canarySentence says how what the wall hides would become known.
func (t tailer) canarySentence() string {
	var sizes []string
	kind := ""
	for _, q := range t.tails.Tails.Tails {
		if n := quantile.CanarySize(q.P, 0, t.query.Confidence); q.Status != quantile.Exact && n > 0 {
			sizes = append(sizes, fmt.Sprintf("%d for %s", n, q.P.Label()))
			if q.Effect.Counts() {
				kind = "independent "
			}
		}
	}
	if sizes == nil {
		return ""
	}
	return "a canary with a raised timeout needs " + kind + "first attempts: " + strings.Join(sizes, ", ")
}

// unquoted are the characters that no shell reads as anything else.
const unquoted = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-./"

// hopText is the hop's name as it is typed into a shell.
func (t tailer) hopText() string {
	name := t.hop.Name
	switch {
	case name != "" && strings.Trim(name, unquoted) == "":
		return name
	case strings.ContainsAny(name, "\"\\$`!"):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return `"` + name + `"`
}

func (t tailer) cutRange() string { return rangeText(*t.tails.CutMin, "..", *t.tails.CutMax) }

// rangeText writes two durations in the unit of the smaller that is not 0:
// "2.026 and 5.703 s", "0 and 5703 ms"; two equal ones are one.
func rangeText(from int64, between string, to int64) string {
	if from == to {
		return durations.Text(to)
	}
	u := durations.UnitOf(from)
	if from == 0 {
		u = durations.UnitOf(to)
	}
	return durations.In(from, u) + between + durations.In(to, u) + " " + u.Name
}

// FloorLabel writes a probability as a quantile, rounded down: "p78", "p99.4".
func FloorLabel(p float64) string {
	const most = 6
	digits := 0
	for beyond := 0.01; 1-p <= beyond && digits < most; beyond /= 10 {
		digits++
	}
	scale := math.Pow10(digits)
	return "p" + strconv.FormatFloat(math.Floor(p*100*scale)/scale, 'f', -1, 64)
}

// sentences joins those that have something to say.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "; ")
}
