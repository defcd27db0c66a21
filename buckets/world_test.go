package buckets

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tailscope/tailscope/internal/jsontype"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

const (
	us = int64(1e3)
	ms = int64(1e6)
	s  = int64(1e9)
)

// row is one attempt of a test, with its names in words.
type row struct {
	spans.Row
	hop, stratum string
}

// rows are attempts of hop "h" unless told otherwise. The methods change all of
// them and return them.
type rows []row

// done, cut and failed make marked attempts of so many milliseconds.
func done(durations ...int64) rows { return ended(spans.Row{Outcome: spans.Completed}, durations) }
func failed(durations ...int64) rows {
	return ended(spans.Row{Outcome: spans.Failed, Failure: spans.OtherFailure}, durations)
}
func cut(durations ...int64) rows {
	return ended(spans.Row{Outcome: spans.Truncated, CutBy: spans.Own}, durations)
}

func ended(r spans.Row, durations []int64) rows {
	var list rows
	for _, d := range durations {
		r.Marked, r.HasDuration, r.Duration = true, true, d*ms
		list = append(list, row{Row: r, hop: "h"})
	}
	return list
}

// each changes a copy, so that rows can be used again.
func (r rows) each(change func(*row)) rows {
	list := append(rows(nil), r...)
	for i := range list {
		change(&list[i])
	}
	return list
}

func (r rows) on(hop string) rows     { return r.each(func(one *row) { one.hop = hop }) }
func (r rows) from(group string) rows { return r.each(func(one *row) { one.stratum = group }) }
func (r rows) retried() rows          { return r.each(func(one *row) { one.Retry = true }) }
func (r rows) unmarked() rows         { return r.each(func(one *row) { one.Marked = false }) }
func (r rows) by(c spans.CutBy) rows  { return r.each(func(one *row) { one.CutBy = c }) }
func (r rows) times(n int) rows {
	var list rows
	for range n {
		list = append(list, r...)
	}
	return list
}

func (r rows) under(timeoutMS int64) rows {
	return r.each(func(one *row) { one.Timeout, one.HasTimeout = timeoutMS*ms, true })
}

func (r rows) in(chain string) rows { return r.each(func(one *row) { one.Trace = []byte(chain) }) }

func (r rows) at(startMS int64) rows {
	return r.each(func(one *row) { one.Start, one.HasStart = startMS*ms, true })
}

// later moves starts by a part of a millisecond, so that they are not whole ones.
func (r rows) later(us int64) rows {
	return r.each(func(one *row) { one.Start += us * 1000 })
}

func (r rows) digits(resolution uint8) rows {
	return r.each(func(one *row) { one.Resolution = resolution })
}

func all(parts ...rows) rows {
	var list rows
	for _, p := range parts {
		list = append(list, p...)
	}
	return list
}

// to lists 1, 2, ... n.
func to(n int64) []int64 {
	var list []int64
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

// ledger is an allocator that knows what it has lent. (Arrow's own, made for
// that, is out of this package's reach.)
type ledger struct{ lent int }

func (l *ledger) Allocate(size int) []byte {
	l.lent += size
	return make([]byte, size)
}

func (l *ledger) Reallocate(size int, b []byte) []byte {
	l.lent += size - len(b)
	grown := make([]byte, size)
	copy(grown, b)
	return grown
}

func (l *ledger) Free(b []byte) { l.lent -= len(b) }

// setOf adds the rows to a set, as one worker does.
func setOf(t testing.TB, c Config, r rows) *hopSet { return setWith(t, c, columnsOf(r), r) }

func columnsOf(r rows) spans.Columns {
	if slices.ContainsFunc(r, func(one row) bool { return one.stratum != "" }) {
		return spans.Strata | spans.Resolutions
	}
	return spans.Resolutions
}

func setWith(t testing.TB, c Config, columns spans.Columns, r rows) *hopSet {
	mem, set := new(ledger), newHopSet(c)
	b := spans.NewBuilder(mem, columns)
	flush := func() {
		if batch := b.Batch(); batch != nil {
			set.Add(batch)
			batch.Release()
		}
	}
	for i := range r {
		if b.Full(&r[i].Row) {
			flush()
		}
		one := r[i].Row
		one.Hop, one.Stratum = b.Hop([]byte(r[i].hop)), b.Stratum([]byte(r[i].stratum))
		b.Append(&one)
	}
	flush()
	b.Release()
	if mem.lent != 0 {
		t.Errorf("%d bytes of batches were kept", mem.lent)
	}
	return set
}

// asked is the query of most tests: p50, p95 and p99 of a marked input.
// targeted asks for one quantile apart.
func targeted(target string, ps ...string) Query {
	q, p := asked(ps...), quantile.MustP(target)
	q.Target = &p
	return q
}

func asked(ps ...string) Query {
	if ps == nil {
		ps = []string{"0.5", "0.95", "0.99"}
	}
	q := Query{Confidence: quantile.MustP("0.95"), Marked: true, Jobs: 3}
	for _, p := range ps {
		q.Quantiles = append(q.Quantiles, quantile.MustP(p))
	}
	return q
}

func without(q Query) Query {
	q.Marked = false
	return q
}

// timeouts makes a Config of timeouts in milliseconds.
func timeouts(byHop map[string]int64) Config {
	ns := map[string]int64{}
	for hop, t := range byHop {
		ns[hop] = t * ms
	}
	return NewConfig(ns)
}

// results runs the whole package on the rows, all marked alike by the query.
func results(t testing.TB, c Config, q Query, r rows) map[string]Result {
	byHop := map[string]Result{}
	for _, one := range setOf(t, c, r).Results(q) {
		byHop[one.Name] = one
	}
	return byHop
}

// hopOf is results where there is only hop "h".
func hopOf(t testing.TB, c Config, q Query, r rows) Result {
	t.Helper()
	byHop := results(t, c, q, r)
	one, ok := byHop["h"]
	if !ok || len(byHop) != 1 {
		t.Fatalf("hops %v, want h alone", byHop)
	}
	return one
}

// shared merges the sets of several workers, each with its share of the rows.
func shared(t testing.TB, c Config, r *rand.Rand, workers int, log rows) *hopSet {
	parts := make([]rows, workers)
	for _, i := range r.Perm(len(log)) {
		w := r.IntN(workers)
		parts[w] = append(parts[w], log[i])
	}
	var sets []*hopSet
	for _, p := range parts {
		sets = append(sets, setWith(t, c, columnsOf(log), p))
	}
	for len(sets) > 1 { // in any tree, not only one after the other
		i := 1 + r.IntN(len(sets)-1)
		sets[r.IntN(i)].Merge(sets[i])
		sets = append(sets[:i], sets[i+1:]...)
	}
	return sets[0]
}

// same compares results; NaN equals NaN.
func same(want, got any) string {
	equalP := cmp.Comparer(func(a, b quantile.P) bool { return a.Compare(b) == 0 })
	equalNumber := cmp.Comparer(func(a, b jsontype.Number) bool { return a == b || a != a && b != b })
	return cmp.Diff(want, got, equalP, equalNumber, cmpopts.EquateNaNs(), cmpopts.IgnoreUnexported(Share{}, Tail{}))
}

// tailText is a tail in one line: "exact 1079", "at_least 2026 km 2500", in ms.
func tailText(t Tail) string {
	text := t.Status.String()
	if t.Status != quantile.NoValue {
		text += " " + millis(t.Value)
	}
	if t.Upper != nil {
		text += " upper " + millis(*t.Upper)
	}
	if t.KM != nil {
		text += " km " + millis(*t.KM)
	}
	return text
}

func millis(ns int64) string { return strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64) }

func tailTexts(r Result) []string {
	var list []string
	for _, one := range r.Tail {
		list = append(list, tailText(one))
	}
	return list
}

// warned returns the text of a warning, empty where it is not given.
func warned(r Result, code string) string {
	for _, w := range r.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func codes(r Result) []string {
	var list []string
	for _, w := range r.Warnings {
		list = append(list, w.Code)
	}
	return list
}
