package orphans

import (
	"cmp"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// grade says by what the ends of an orphan and its parent are compared: firm, or one
// more than the step that its overrun on two clocks lies in.
type grade uint8

const firmly grade = 0

// gradeOf grades a child that ran on, by so many ns, after a parent that gave up.
func (a *Accumulator) gradeOf(t *spans.Trace, p, c int32, over int64) grade {
	if after(t.Spans[c].Duration, t.Spans[p].Duration) > a.config.Tolerance || firm(t, p, c) != "" {
		return firmly
	}
	return grade(1 + stepOf(over))
}

// fate is what a child that ran on turns out to be at the end of the run.
type fate uint8

const (
	orphaned   fate = iota
	doubtful        // within what the two clocks may be apart
	notAwaited      // nobody waits for such children
)

// fates decides what children are that ran on.
type fates struct {
	apart      map[[2]string]int64 // ns by which the clocks of two services may be apart, where anything tells
	clocks     map[hopPair]int64   // the same by pair
	notAwaited map[hopPair]bool
}

func (a *Accumulator) fates(q *Query) *fates {
	f := &fates{map[[2]string]int64{}, map[hopPair]int64{}, map[hopPair]bool{}}
	between := map[[2]string][]hopPair{}
	for key := range a.waits {
		two := a.services(key)
		between[two] = append(between[two], key)
	}
	for two, pairs := range between {
		if within, known := a.compare(pairs, q.Confidence, f.notAwaited); known {
			f.apart[two] = within
		}
	}
	for key := range a.pairs {
		f.clocks[key] = f.apart[a.services(key)]
	}
	return f
}

func (f *fates) of(key hopPair, g grade) fate {
	switch {
	case f.notAwaited[key]:
		return notAwaited
	case g != firmly && edges[g-1] <= f.clocks[key]:
		return doubtful
	}
	return orphaned
}

// NotAwaited is a pair whose children outlive completed parents as a rule, so that
// nobody waits for them: Outlived of Of, each limit one-sided. Spared is how many ran on
// after parents that gave up, and are no orphans.
type NotAwaited struct {
	Parent   spans.Hop `json:"-"`
	Child    spans.Hop `json:"-"`
	Outlived uint64    `json:"outlived"`
	Of       uint64    `json:"of"`
	Lower    float64   `json:"lower"`
	Upper    float64   `json:"upper"`
	Spared   uint64    `json:"spared"`
}

// notAwaited lists the pairs in which nobody waits.
func (a *Accumulator) notAwaited(q *Query, f *fates) (list []NotAwaited) {
	for key := range f.notAwaited {
		w := a.waits[key]
		one := NotAwaited{Parent: a.hopOf(key.parent), Child: a.hopOf(key.child), Outlived: w.seemed, Of: w.ended}
		if mostly(w.outlived, w.ended, q.Confidence) {
			one.Outlived = w.outlived
		}
		one.Lower, one.Upper = quantile.ClopperPearson(one.Outlived, one.Of, q.Confidence)
		if p := a.pairs[key]; p != nil {
			one.Spared = p.ranOn()
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(x, y NotAwaited) int {
		return cmp.Or(cmp.Compare(y.Outlived, x.Outlived), x.Parent.Compare(y.Parent), x.Child.Compare(y.Child))
	})
	return list
}

// judge counts what ran on by what it turns out to be.
func (a *Accumulator) judge(r *Result, f *fates) {
	for key, p := range a.pairs {
		for g, n := range p.ran {
			switch f.of(key, g) {
			case orphaned:
				r.Orphaned, r.LateStarts = r.Orphaned+n.n, r.LateStarts+n.late
				r.Wasted = durations.Sum(r.Wasted, n.wasted)
			case doubtful:
				r.Doubtful += n.n
				r.WastedDoubtful = durations.Sum(r.WastedDoubtful, n.wasted)
			case notAwaited:
				r.OutlivedNotAwaited += n.n
			}
		}
	}
	r.Overruns = r.Orphaned - r.LateStarts
}

// wasted adds up the time that ran for nobody, by the hop that ran.
func (a *Accumulator) wasted(r *Result, f *fates) {
	byHop := map[ref]*HopTime{}
	for m, ns := range a.moments {
		who, what := m.judged(f)
		switch one := at(byHop, who.hop); what {
		case orphaned:
			one.NS = durations.Sum(one.NS, ns)
			r.WastedUnion = durations.Sum(r.WastedUnion, ns)
		case doubtful:
			one.Doubtful = durations.Sum(one.Doubtful, ns)
			r.WastedUnionDoubtful = durations.Sum(r.WastedUnionDoubtful, ns)
		}
	}
	for hop, one := range byHop {
		if one.Hop = a.hopOf(hop); one.NS+one.Doubtful > 0 {
			r.WastedBy = append(r.WastedBy, *one)
		}
	}
	slices.SortFunc(r.WastedBy, func(x, y HopTime) int {
		return cmp.Or(cmp.Compare(y.NS, x.NS), cmp.Compare(y.Doubtful, x.Doubtful), x.Hop.Compare(y.Hop))
	})
}

// judged returns who ran for nobody, and how sure that is: the surest of a moment.
func (m moment) judged(f *fates) (who runner, what fate) {
	what = notAwaited
	for _, one := range m.list[:m.n] {
		if is := f.of(one.hopPair, one.grade); is < what {
			who, what = one, is
		}
	}
	return who, what
}
