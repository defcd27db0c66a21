package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/buckets"
	"github.com/tailscope/tailscope/internal/brief"
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/report"
)

func trimmed(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// latency is each quantile of the first attempts with its rank and limits.
func (r *Result) latency() report.Table {
	if r.Tail.Biased {
		return report.Table{}
	}
	scale := r.tailScale()
	return report.NewTable(scale.title("Latency of its first attempts"), r.Tail.Tail, []report.Column[buckets.Tail]{
		{Head: "quantile", Is: report.Key | report.Words, Of: func(t *buckets.Tail) value { return report.String(t.P.Label()) }},
		{Head: "rank", Of: func(t *buckets.Tail) value { return report.OutOf(t.Rank, t.N) }},
		{Head: "value", Of: func(t *buckets.Tail) value { return scale.tail(t) }},
		{Head: "at most", Of: func(t *buckets.Tail) value { return scale.limit(t.AtMost, brief.Up) }},
		{Head: "lower limit", Of: func(t *buckets.Tail) value { return scale.limit(t.Lower, brief.Down) }},
		{Head: "upper limit", Of: func(t *buckets.Tail) value { return scale.limit(t.Upper, brief.Up) }},
		{Head: "ranks of the limits", Of: func(t *buckets.Tail) value { return rankPair(t) }},
		{Head: "is", Is: report.Words, Of: func(t *buckets.Tail) value { return report.String(statusText(t)) }},
	}, r.latencySentences()...)
}

// tailScale is the scale of all times that stand in the table.
func (r *Result) tailScale() scaled {
	var times []int64
	for i := range r.Tail.Tail {
		t := &r.Tail.Tail[i]
		times = append(times, t.Value)
		for _, limit := range []*int64{t.AtMost, t.Lower, t.Upper} {
			if limit != nil {
				times = append(times, *limit)
			}
		}
	}
	return scaleOf(times...)
}

// tail is the value of a quantile; what is hidden is that or more.
func (s scaled) tail(t *buckets.Tail) value {
	switch t.Status {
	case quantile.NoValue:
		return value{}
	case quantile.AtLeast:
		return report.String("≥ " + s.Text(t.Value, brief.Down))
	}
	return s.about(t.Value)
}

// data is the quantiles for CSV.
func (r *Result) data() report.Table {
	return report.NewTable("", r.Tail.Tail, []report.Column[buckets.Tail]{
		{Key: "hop", Of: func(*buckets.Tail) value { return report.String(r.Name) }},
		{Key: "kind", Of: func(*buckets.Tail) value { return report.String(r.Kind.String()) }},
		{Key: "p", Of: func(t *buckets.Tail) value { return report.String(t.P.String()) }},
		{Key: "n", Of: func(t *buckets.Tail) value { return report.Count(t.N) }},
		{Key: "rank", Of: func(t *buckets.Tail) value { return report.Count(t.Rank) }},
		{Key: "status", Of: func(t *buckets.Tail) value { return report.String(t.Status.String()) }},
		{Key: "value_ns", Of: tailValue},
		{Key: "at_most_ns", Of: func(t *buckets.Tail) value { return report.Maybe(t.AtMost, report.Nanos) }},
		{Key: "lower_ns", Of: func(t *buckets.Tail) value { return report.Maybe(t.Lower, report.Nanos) }},
		{Key: "upper_ns", Of: func(t *buckets.Tail) value { return report.Maybe(t.Upper, report.Nanos) }},
		{Key: "km_ns", Of: func(t *buckets.Tail) value { return report.Maybe(t.KM, report.Nanos) }},
	})
}

// rankPair is both ranks, as far as there are any.
func rankPair(t *buckets.Tail) value {
	side := func(rank uint64) string {
		if rank == 0 || rank > t.Size() {
			return report.Dash
		}
		return strconv.FormatUint(rank, 10)
	}
	if t.N == 0 {
		return value{}
	}
	return report.String(side(t.LowerRank) + ", " + side(t.UpperRank))
}

func tailValue(t *buckets.Tail) value {
	if t.Status == quantile.NoValue {
		return value{}
	}
	return report.Nanos(t.Value).AtLeast(t.Status == quantile.AtLeast)
}

func statusText(t *buckets.Tail) string {
	switch {
	case t.Status == quantile.NoValue:
		return "not known"
	case t.Status == quantile.AtLeast:
		return "hidden"
	case t.IsMaximum:
		return "exact, the slowest"
	}
	return "exact"
}

func (r *Result) latencySentences() []string {
	t := r.Tail
	if len(t.Tail) == 0 {
		return nil
	}
	q := t.Tail[len(t.Tail)-1]
	lines := []string{fmt.Sprintf("Nearest rank: %s of %d is the value at rank %d, first attempts that timed out standing where they prove to lie. Each limit is one-sided, at %s confidence.",
		q.P.Label(), q.N, q.Rank, r.confidence().Percent())}
	if t.Claims > 0 {
		lines = append(lines, fmt.Sprintf("%d limits hold together with the confidence that was asked for: each has %s.", t.Claims, r.confidence().Percent()))
	}
	for _, q := range t.Tail {
		if q.Effect.Counts() {
			lines = append(lines, fmt.Sprintf("Beyond %s slow attempts come together by %s: design effect %s, so that its limits are those of %s.", q.P.Label(), q.Effect.Cluster(), effect(q.Effect), worthOf(q.Size(), t)))
		}
	}
	return append(lines, r.unlimited()...)
}

// unlimited says why exact values have no upper limit.
func (r *Result) unlimited() (lines []string) {
	for i := range r.Tail.Tail {
		q := &r.Tail.Tail[i]
		if q.Status != quantile.Exact || q.Upper != nil {
			continue
		}
		need := quantile.CanarySize(q.P, 0, r.confidence())
		switch {
		case q.UpperRank > q.Size() && need > q.Size():
			lines = append(lines, fmt.Sprintf("%s has no upper limit: %d independent first attempts give one, and these are worth %d.", q.P.Label(), need, q.Size()))
		case q.Reason != "":
			lines = append(lines, q.P.Label()+": "+q.Reason+".")
		}
	}
	return lines
}

// hiding says which quantiles are hidden, by what, and how sure that is.
func (r *Result) hiding() report.Table {
	t := r.Tail
	if t.Biased {
		return report.Table{}
	}
	var sure, undecided, before, between []string
	for i := range t.Tail {
		q := &t.Tail[i]
		s, beyond := t.TruncatedShare, q.P.Beyond()
		switch {
		case q.Status != quantile.AtLeast:
		case q.AtMost != nil:
			between = append(between, fmt.Sprintf("%s lies between %s and %s.", q.P.Label(), atLeast(q.Value), atMost(*q.AtMost)))
		case len(t.Walls) != 1 || beyond >= s.Upper:
			before = append(before, q.P.Label())
		case beyond < s.Lower:
			sure = append(sure, q.P.Label())
		default:
			undecided = append(undecided, q.P.Label())
		}
	}
	var lines []string
	if sure != nil {
		lines = append(lines, fmt.Sprintf("%s: surely longer than the timeout. More first attempts timed out (at least %s) than lie beyond %s (%s).", list(sure), atLeastPercent(t.TruncatedShare.Lower), sure[0], beyondText(t, sure[0])))
	}
	if undecided != nil {
		lines = append(lines, fmt.Sprintf("%s: it is not decided at %s confidence whether it is longer than the timeout.", list(undecided), r.confidence().Percent()))
	}
	if before != nil {
		lines = append(lines, fmt.Sprintf("%s: the first timeout came before it, so that what those attempts would have taken may stand on either side of it.", list(before)))
	}
	lines = append(lines, between...)
	if sure != nil || undecided != nil {
		lines = append(lines, r.certifiable())
	}
	if n := t.Recorded.First.N; n > 0 && sure != nil {
		lines = append(lines, r.trap())
	}
	return sentences("What hides it", lines...)
}

// trap names the mistake of taking the recorded p95 for the latency.
func (r *Result) trap() string {
	for i, p := range r.Tail.Recorded.First.Asked {
		if p.Label() == "p95" && i < len(r.Tail.Recorded.First.Quantiles) {
			return fmt.Sprintf("The p95 as logged, %s, is the timeout with what comes after it, and no latency: a timeout made of it is made of itself.", about(r.Tail.Recorded.First.Quantiles[i]))
		}
	}
	return ""
}

func beyondText(t *buckets.Result, label string) string {
	for i := range t.Tail {
		if t.Tail[i].P.Label() == label {
			return percent(t.Tail[i].P.Beyond())
		}
	}
	return ""
}

// list joins labels: "p95, p99 and p99.9".
func list(labels []string) string {
	if len(labels) < 2 {
		return strings.Join(labels, "")
	}
	return strings.Join(labels[:len(labels)-1], ", ") + " and " + labels[len(labels)-1]
}

// certifiable says up to where the attempts that completed reach.
func (r *Result) certifiable() string {
	s := r.Tail.TruncatedShare
	switch p := r.Tail.Certifiable; {
	case p == nil:
		return ""
	case buckets.FloorLabel(*p) != "p0":
		return fmt.Sprintf("The highest quantile that surely lies below the timeout is %s, as at most %s of the first attempts reach it (%s confidence).", buckets.FloorLabel(*p), atMostPercent(1-*p), r.confidence().Percent())
	}
	return fmt.Sprintf("No quantile surely lies below the timeout: up to %s of the first attempts may reach it.", atMostPercent(s.Upper))
}

// seenTimeouts are those that were given, recorded or seen in the data.
func (r *Result) seenTimeouts() report.Table {
	return report.NewTable("Timeouts", r.Tail.Walls, []report.Column[buckets.Wall]{
		{Head: "timeout", Is: report.Key | report.Words, Of: func(w *buckets.Wall) value { return report.String(wallText(w)) }},
		{Head: "known", Is: report.Words, Of: func(w *buckets.Wall) value { return report.String(sourceText[w.Source]) }},
		{Head: "attempts that it ended", Of: func(w *buckets.Wall) value { return report.Count(w.Count) }},
	}, timeoutCaption(r)...)
}

func timeoutCaption(r *Result) []string {
	for i := range r.Tail.Walls {
		if r.Tail.Walls[i].Source == buckets.Inferred {
			return []string{fmt.Sprintf("Seen in the data: attempts that timed out lie together, somewhere between the slowest that completed below them and the first of them. --timeout %s=T says it exactly.", report.Word(r.Name))}
		}
	}
	return nil
}

var sourceText = map[buckets.WallSource]string{buckets.Configured: "given", buckets.Recorded: "recorded in the input", buckets.Inferred: "seen in the data"}

func wallText(w *buckets.Wall) string {
	switch {
	case w.Timeout != nil:
		return about(*w.Timeout)
	case w.From == 0:
		return "at most " + atMost(w.To)
	case w.From == w.To:
		return "about " + about(w.To)
	}
	return "between " + atLeast(w.From) + " and " + atMost(w.To)
}

// kaplanMeier says what the survival curve makes of the attempts that timed out.
func (r *Result) kaplanMeier() report.Table {
	var lines []string
	t := r.Tail
	for i := range t.Tail {
		if q := &t.Tail[i]; q.KM != nil {
			lines = append(lines, fmt.Sprintf("%s: %s, where the value above is %s.", q.P.Label(), about(*q.KM), about(q.Value)))
		}
	}
	if lines != nil {
		lines = append([]string{"Kaplan and Meier's estimate counts each attempt that timed out as long as it was watched, and is right if attempts time out for reasons that have nothing to do with how slow they are:"}, lines...)
	}
	lines = append(lines, r.serverSide()...)
	return sentences("What else tells of it", lines...)
}

// serverSide is what the servers took where calls timed out.
func (r *Result) serverSide() []string {
	var known, unknown []string
	var of *buckets.ServerSide
	for i := range r.Tail.Tail {
		q := &r.Tail.Tail[i]
		switch s := q.ServerSide; {
		case s == nil || q.Status != quantile.AtLeast:
		case s.Value == nil:
			unknown, of = append(unknown, q.P.Label()), s
		default:
			known, of = append(known, q.P.Label()+" "+about(*s.Value)), s
		}
	}
	if of == nil {
		return nil
	}
	seen := fmt.Sprintf("%d of %s a server span", of.N, note.Count(of.Of, "first attempt that timed out", "first attempts that timed out")+note.Form(of.N, " has", " have"))
	if of.Selected {
		seen += ", too few to stand for all"
	}
	text := "With what the servers took in place of the calls that timed out"
	if known != nil {
		text += ": " + strings.Join(known, ", ")
	}
	if unknown != nil {
		text += "; " + list(unknown) + " not known"
	}
	return []string{text + " (" + seen + ")."}
}
