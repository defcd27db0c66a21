package retries

import (
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// table numbers hops and holds what is known of each.
type table struct {
	index    spans.HopIndex
	hops     []*hop
	timeouts map[string]int64 // configured, ns
}

// hop is what one hop's attempts add up to. Samples come into being with their
// first value: most hops retry nothing.
type hop struct {
	spans.Hop
	timeout                     int64 // configured, 0 for none
	marked                      bool  // the log says of some attempt how it ended
	firsts, retries             uint64
	loneSuspects                uint64 // first attempts as long as the timeout, without a mark and without a chain
	firstCompleted, firstCut    uint64
	firstFailed                 [len(spans.Failures) + 1]uint64
	afterCut                    rescued
	afterFailure                [len(spans.Failures) + 1]rescued
	permanent                   uint64                   // retries of what the request itself is to blame for
	unmatched                   uint64                   // retries of which nothing is known that they retry
	mostAttempts                uint64                   // of one call
	gaveUp                      *quantile.Sample         // durations of what was cut by its own timeout, or failed
	failing                     map[int]*quantile.Sample // time spent in attempts, by their number
	lasted                      *quantile.Sample         // failing calls, from the first start to the last end
	gaps                        [ordinals]*quantile.Sample
	late                        map[int32]*quantile.Sample // start of retries after that of their caller, by its hop
	twice, twiceSeen, twiceOf   uint64                     // calls served to a good end twice, that can tell, and all retried ones
	twiceWrites                 uint64                     // of twice, those that look like writes
	finished, finishedOf        uint64                     // cut first attempts that their server ended well, of those whose server is there
	finishedAfter               *quantile.Sample
	caller                      int32 // of the edge entered last, + 1
	looksLikeWrite, writeJudged bool
}

// rescued is how many calls were retried after one kind of end, and how many of
// them a retry completed.
type rescued struct{ n, completed uint64 }

func (r *rescued) add(o rescued) { r.n, r.completed = r.n+o.n, r.completed+o.completed }

// ordinals is how many retries of a call have gaps of their own; later ones count
// with the last of them.
const ordinals = 4

// number returns the number of a hop.
func (t *table) number(h spans.Hop) int32 {
	i := t.index.Number(h)
	t.describe()
	return i
}

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
		t.hops = append(t.hops, &hop{Hop: h, timeout: t.timeouts[h.Name]})
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
	h.loneSuspects += o.loneSuspects
	h.firsts, h.retries = h.firsts+o.firsts, h.retries+o.retries
	h.firstCompleted, h.firstCut = h.firstCompleted+o.firstCompleted, h.firstCut+o.firstCut
	h.afterCut.add(o.afterCut)
	for i := range h.afterFailure {
		h.firstFailed[i] += o.firstFailed[i]
		h.afterFailure[i].add(o.afterFailure[i])
	}
	h.permanent, h.unmatched = h.permanent+o.permanent, h.unmatched+o.unmatched
	h.mostAttempts = max(h.mostAttempts, o.mostAttempts)
	h.twice, h.twiceSeen, h.twiceOf = h.twice+o.twice, h.twiceSeen+o.twiceSeen, h.twiceOf+o.twiceOf
	h.twiceWrites += o.twiceWrites
	h.finished, h.finishedOf = h.finished+o.finished, h.finishedOf+o.finishedOf
	h.mergeSamples(o, numbers)
}

func (h *hop) mergeSamples(o *hop, numbers []int32) {
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
