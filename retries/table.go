package retries

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// table numbers hops and holds what is known of each.
type table struct {
	index  spans.HopIndex
	hops   []*hop
	config *Config
}

// hop is what one hop's attempts add up to. Samples come into being with their
// first value: most hops retry nothing.
type hop struct {
	spans.Hop
	timeout int64 // configured, 0 for none
	marked  bool  // the log says of some attempt how it ended
	attempts
	gaveUp                      *quantile.Sample         // durations of what was cut by its own timeout, or failed
	failing                     map[int]*quantile.Sample // time spent in attempts, by their number
	lasted                      *quantile.Sample         // failing calls, from the first start to the last end
	gaps                        [ordinals]*quantile.Sample
	late                        map[int32]*quantile.Sample // start of retries after that of their caller, by its hop
	finishedAfter               *quantile.Sample
	caller                      int32 // of the edge entered last, + 1
	looksLikeWrite, writeJudged bool
}

// attempts counts those of a hop, or of several.
type attempts struct {
	firsts, retries          uint64
	loneSuspects             uint64 // first attempts as long as the timeout, without a mark and without a chain
	firstCompleted, firstCut uint64
	failed                   *failedAttempts // nil for none
	afterCut                 Count           // calls retried after a cut, and of them those that a retry completed
	permanent                uint64          // retries of what the request itself is to blame for
	unmatched                uint64          // retries of which nothing is known that they retry
	mostAttempts             uint64          // of one call
	counted                  uint64          // retries inside of rows that count their tries
	twice                    Twice           // retried calls that were served to a good end twice
	finished                 Count           // cut first attempts that their server ended well, of those whose server is there
}

// failedAttempts counts, by the kind of failure, first attempts that failed, and calls
// retried after one. Most hops have none.
type failedAttempts [len(spans.Failures) + 1]struct {
	first uint64
	again Count
}

// failures returns the counts of failures, which come into being.
func (a *attempts) failures() *failedAttempts {
	if a.failed == nil {
		a.failed = new(failedAttempts)
	}
	return a.failed
}

func (a *attempts) add(o *attempts) {
	a.firsts, a.retries = a.firsts+o.firsts, a.retries+o.retries
	a.loneSuspects += o.loneSuspects
	a.firstCompleted, a.firstCut = a.firstCompleted+o.firstCompleted, a.firstCut+o.firstCut
	a.afterCut.add(o.afterCut)
	if o.failed != nil {
		mine := a.failures()
		for i, kind := range o.failed {
			mine[i].first += kind.first
			mine[i].again.add(kind.again)
		}
	}
	a.permanent, a.unmatched = a.permanent+o.permanent, a.unmatched+o.unmatched
	a.mostAttempts, a.counted = max(a.mostAttempts, o.mostAttempts), a.counted+o.counted
	a.twice.add(o.twice.Count)
	a.twice.Retried, a.twice.Writes = a.twice.Retried+o.twice.Retried, a.twice.Writes+o.twice.Writes
	a.finished.add(o.finished)
}

// ordinals is how many retries of a call have gaps of their own; later ones count
// with the last of them.
const ordinals = 4

// at returns the number of hop i of a source's list.
func (t *table) at(hops []spans.Hop, i int32) int32 {
	n := t.index.Translate(hops, i)
	if int(n) >= len(t.hops) {
		t.describe()
	}
	return n
}

// describe makes room for what becomes known of new hops.
func (t *table) describe() {
	for _, h := range t.index.Hops()[len(t.hops):] {
		t.hops = append(t.hops, &hop{Hop: h, timeout: t.config.Naming.TimeoutOf(t.config.Timeouts, h)})
	}
}

// merge returns the numbers that the hops of another table have in this one.
func (t *table) merge(o *table) []int32 {
	numbers := t.index.Merge(&o.index)
	t.describe()
	return numbers
}

// sample returns a sample that comes into being when it is first asked for.
func sample(s **quantile.Sample) *quantile.Sample {
	if *s == nil {
		*s = new(quantile.Sample)
	}
	return *s
}

func mergeSample(into **quantile.Sample, from *quantile.Sample) {
	if from != nil {
		sample(into).Merge(from)
	}
}

// sampleOf is sample for one in a map.
func sampleOf[K comparable](m *map[K]*quantile.Sample, key K) *quantile.Sample {
	if *m == nil {
		*m = map[K]*quantile.Sample{}
	}
	s := (*m)[key]
	if s == nil {
		s = new(quantile.Sample)
		(*m)[key] = s
	}
	return s
}

// merge moves what o has into h; numbers are those of o's hops in h's table.
func (h *hop) merge(o *hop, numbers []int32) {
	h.marked = h.marked || o.marked
	h.attempts.add(&o.attempts)
	mergeSample(&h.gaveUp, o.gaveUp)
	mergeSample(&h.lasted, o.lasted)
	mergeSample(&h.finishedAfter, o.finishedAfter)
	for i := range h.gaps {
		mergeSample(&h.gaps[i], o.gaps[i])
	}
	for tries, s := range o.failing {
		sampleOf(&h.failing, tries).Merge(s)
	}
	for caller, s := range o.late {
		sampleOf(&h.late, numbers[caller]).Merge(s)
	}
}
