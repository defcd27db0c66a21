package retries

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailscope/tailscope/quantile"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailscope/tailscope/spans"
	"github.com/tailscope/tailscope/spans/assembly"
)

// anyLines draws attempts of few chains and hops in which everything occurs.
func anyLines(t *rapid.T) []testLine {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	list := make([]testLine, 1+r.IntN(60))
	for i := range list {
		start := r.IntN(100)
		list[i] = testLine{
			chain: []string{"", "1", "2", "one", "two"}[r.IntN(5)], hop: []string{"a", "b", "c"}[r.IntN(3)], start: start, end: start + 1 + r.IntN(40),
			outcome: []spans.Outcome{spans.Completed, cut, cut, failed}[r.IntN(4)], retry: r.IntN(2) == 0,
		}
		if list[i].outcome == failed {
			list[i].failure = []spans.Failure{spans.Reset, spans.ClientError}[r.IntN(2)]
		}
	}
	return list
}

// tally is what an oracle says of one hop.
type tally struct {
	Calls, Attempts, FirstCut, Rescued, RescuedOf, Permanent, Unmatched, Most uint64
	Gaps, Failing                                                             []int64 // ms, sorted
}

// oracle goes through the lines of each chain and hop by start, and gives every
// retry the one of those before it that gave up last and has none yet.
func oracle(lines []testLine) map[string]tally {
	all := map[string]tally{}
	groups := map[string][]testLine{}
	for _, l := range passedUp(lines) {
		h := all[l.hop]
		h.Attempts++
		if !l.retry {
			h.Calls++
			if l.outcome == cut {
				h.FirstCut++
			}
		}
		h.Most = max(h.Most, 1)
		all[l.hop] = h
		if l.chain != "" {
			groups[l.chain+" "+l.hop] = append(groups[l.chain+" "+l.hop], l)
		}
	}
	for _, group := range groups {
		all[group[0].hop] = all[group[0].hop].with(group)
	}
	for name, h := range all {
		slices.Sort(h.Gaps)
		slices.Sort(h.Failing)
		all[name] = h
	}
	return all
}

// passedUp makes each failure a cut that holds cuts of another hop of its chain which
// that hop's retries did not answer.
func passedUp(lines []testLine) []testLine {
	all := slices.Clone(lines)
	for i, l := range lines {
		if l.outcome != failed || l.chain == "" {
			continue
		}
		inside := map[string][]testLine{}
		for _, c := range lines {
			if held, _ := l.ran().Holds(c.ran()); held && l.chain == c.chain && l.hop != c.hop {
				inside[c.hop] = append(inside[c.hop], c)
			}
		}
		for _, calls := range inside {
			if unanswered(calls) {
				all[i].outcome, all[i].failure = cut, spans.NotFailed
			}
		}
	}
	return all
}

// unanswered reports whether attempts of one hop were cut and not answered in time: by
// as many completed retries as first attempts timed out, one of them after the last cut.
func unanswered(calls []testLine) bool {
	cuts, firsts, answers, lastCut, answer, untimed := 0, 0, 0, 0, 0, false
	for _, c := range calls {
		switch {
		case c.outcome == cut:
			cuts++
			lastCut, untimed = max(lastCut, c.end), untimed || c.untimed
			if !c.retry {
				firsts++
			}
		case c.retry && c.outcome == spans.Completed:
			answers++
			answer, untimed = max(answer, c.start), untimed || c.untimed
		}
	}
	late := int64(lastCut-answer)*ms > spans.RetryOverlap
	return cuts > 0 && (answers == 0 || answers < firsts || !untimed && late)
}

func (l testLine) ran() spans.Interval {
	return spans.Interval{Start: int64(l.start) * ms, Duration: int64(l.end-l.start) * ms, Known: !l.untimed}
}

func (h tally) with(group []testLine) tally {
	slices.SortFunc(group, func(a, b testLine) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(order(a), order(b)))
	})
	next, slack := map[int]int{}, grainOf(group)
	for i, l := range group {
		best := -1
		for k := range group {
			_, taken := next[k]
			if !l.retry || taken || group[k].outcome == spans.Completed || group[k].end > l.start+slack || k >= i {
				continue
			}
			if best < 0 || group[k].end > group[best].end || group[k].end == group[best].end && k > best {
				best = k
			}
		}
		if best >= 0 {
			next[best] = i
		} else if l.retry {
			h.Unmatched++
		}
	}
	for i, l := range group {
		if !l.retry && l.outcome != spans.Completed {
			h = h.withCall(group, next, i)
		}
	}
	return h
}

// grainOf is by how many ms the times of retries and of what gave up may be off: all
// are whole seconds, or milliseconds.
func grainOf(group []testLine) int {
	for _, l := range group {
		if (l.retry || l.outcome != spans.Completed) && l.start%1000 != 0 && l.end%1000 != 0 {
			return 1
		}
	}
	return 1000
}

func (h tally) withCall(group []testLine, next map[int]int, first int) tally {
	tries, at := uint64(1), first
	for {
		after, more := next[at]
		if !more {
			break
		}
		h.Gaps = append(h.Gaps, int64(max(0, group[after].start-group[at].end)))
		if group[at].failure == spans.ClientError {
			h.Permanent++
		}
		at = after
		tries++
	}
	h.Most = max(h.Most, tries)
	if group[at].outcome != spans.Completed {
		h.Failing = append(h.Failing, int64(max(0, group[at].end-group[first].start)))
	}
	if group[first].outcome == cut && tries > 1 {
		h.RescuedOf++
		if group[at].outcome == spans.Completed {
			h.Rescued++
		}
	}
	return h
}

// order is that of lines of one hop at the same time.
func order(l testLine) int {
	n := int(l.failed())<<8 | int(l.outcome)<<4
	if l.retry {
		n |= 1 << 16
	}
	return n
}

// measured is what an accumulator says of its hops.
func measured(w *Accumulator) map[string]tally {
	all := map[string]tally{}
	for _, row := range w.Result(usual(nil)).Hops {
		h := w.table.hops[w.table.at([]spans.Hop{row.Hop}, 0)]
		all[row.Name] = tally{
			Calls: row.Calls, Attempts: row.Attempts, FirstCut: row.FirstCut, Rescued: row.Rescue.N, RescuedOf: row.Rescue.Of,
			Permanent: row.Permanent, Unmatched: row.Unmatched, Most: row.MostAttempts,
			Gaps: valuesOf(h.gaps[:]...), Failing: valuesOf(h.lasted),
		}
	}
	return all
}

func valuesOf(samples ...*quantile.Sample) (list []int64) {
	for v, n := range quantile.Union(samples).All() {
		for range n {
			list = append(list, v/ms)
		}
	}
	return list
}

func TestCallsAreThoseOfAnOracle(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		lines := anyLines(t)
		w := logOf(tt, lines...)
		if d := gocmp.Diff(oracle(lines), measured(w)); d != "" {
			t.Errorf("%+v\n%s", lines, d)
		}
	})
}

// However the lines are dealt to workers, and in whatever order they come, the
// result is the same.
func TestTheOrderAndTheWorkersChangeNothing(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		lines := anyLines(t)
		q := usual(map[string]int{"a": 20, "b": 30})
		want := logOf(tt, lines...).Result(q)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 0))
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		var accumulators []*Accumulator
		for range 1 + r.IntN(4) {
			accumulators = append(accumulators, NewAccumulator(Config{Limit: 20}))
		}
		// All lines may be kept, or only those that matter here.
		log := newLog(tt, assembly.ChainConfig{Keep: assembly.Keep(r.IntN(3))}, accumulators...)
		for part := range slices.Chunk(lines, 1+r.IntN(20)) {
			log.add(r.IntN(len(accumulators)), part...)
		}
		log.chains()
		r.Shuffle(len(accumulators), func(i, j int) { accumulators[i], accumulators[j] = accumulators[j], accumulators[i] })
		for _, o := range accumulators[1:] {
			accumulators[0].Merge(o)
		}
		for range 2 { // it may be asked for again
			if d := gocmp.Diff(want, accumulators[0].Result(q), exactly); d != "" {
				t.Error(d)
			}
		}
	})
}

// A chain that was put together as a trace says the same as its lines.
func FuzzLines(f *testing.F) {
	f.Add([]byte{0x10, 0, 100, 0x80, 110, 20})
	f.Add([]byte{0x11, 0, 100, 0x91, 110, 90, 0x81, 210, 10, 0x10, 0, 1, 0xa0, 9, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		var lines []testLine
		var list []testSpan
		for i := 0; i+3 <= len(data) && i < 300; i += 3 {
			l := testLine{
				chain: "0a", hop: string(rune('a' + data[i]&3)), outcome: spans.Outcome(data[i] >> 4 & 3 % 3), retry: data[i]>>7 != 0,
				start: int(data[i+1]), end: int(data[i+1]) + int(data[i+2]),
			}
			lines = append(lines, l)
			list = append(list, testSpan{id: i + 1, hop: l.hop, outcome: l.outcome, retry: l.retry, start: l.start, end: l.end, ties: spans.LogLine})
		}
		if len(lines) == 0 {
			return
		}
		w := logOf(t, lines...)
		got, want := measured(w), oracle(lines)
		checkSums(t, w)
		if positive(lines) {
			if d := gocmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		}
		if !slices.Equal(lines, passedUp(lines)) {
			return // in a trace cuts are passed up before
		}
		if d := gocmp.Diff(got, measured(watchOf(list...))); d != "" {
			t.Errorf("as a trace: %s", d)
		}
	})
}

// positive reports whether every attempt lasts: of those that do not, which comes
// first at one time is no matter for an oracle.
func positive(lines []testLine) bool {
	return !slices.ContainsFunc(lines, func(l testLine) bool { return l.start == l.end })
}

// checkSums checks what holds of every result.
func checkSums(t *testing.T, w *Accumulator) {
	t.Helper()
	r := w.Result(usual(map[string]int{"a": 100}))
	var calls, attempts uint64
	for _, h := range append(r.Hops, r.All) {
		if h.Rescue.N > h.Rescue.Of || h.Rescue.Of > h.FirstCut || h.FirstCut > h.Calls || h.Calls > h.Attempts || h.Wall.N > h.Wall.Of {
			t.Errorf("more than there are: %+v", h)
		}
		calls, attempts = calls+h.Calls, attempts+h.Attempts
	}
	if calls != 2*r.All.Calls || attempts != 2*r.All.Attempts {
		t.Errorf("the hops have %d calls and %d attempts, all together %d and %d", calls-r.All.Calls, attempts-r.All.Attempts, r.All.Calls, r.All.Attempts)
	}
}

// Times near the ends of what an int64 holds break nothing.
func FuzzTraces(f *testing.F) {
	f.Add([]byte{0, 0, 100, 0, 1, 0, 10, 50, 1, 2, 0, 120, 200, 1, 0})
	f.Add([]byte{0, 255, 255, 0, 1, 1, 254, 255, 1, 1, 0, 241, 255, 2, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []spans.Span
		for i := 0; i+5 <= len(data) && i < 500; i += 5 {
			s := spans.Span{
				ID: spans.SpanID(i + 1), Parent: spans.SpanID(int(data[i])*5%(i+1) + 1), Start: extreme(data[i+1]), Duration: extreme(data[i+2]) & (1<<63 - 1),
				Hop: int32(data[i+3] & 3), Outcome: spans.Outcome(data[i+4] & 3), Flags: spans.HasStart | spans.HasDuration, Ties: spans.Ties(data[i+4]>>7) * spans.LogLine,
			}
			if data[i+4]>>6&1 != 0 {
				s.Flags |= spans.RetryByMark
			}
			if i == 0 || data[i] > 250 {
				s.Parent = 0
			}
			list = append(list, s)
		}
		tr := spans.NewTrace(spans.TraceID{Lo: 1}, list, []spans.Hop{{Name: "a", Kind: spans.Client}, {Name: "b", Kind: spans.Server}, {Name: "c", Kind: spans.Client}, {Name: "d"}}, []string{""})
		tr.MarkRetries(spans.RetryOptions{})
		w := NewAccumulator(Config{Limit: 3})
		w.AddTrace(tr)
		checkSums(t, w)
		if n := len(w.Result(usual(nil)).ExecutedTwice); n > 3 {
			t.Errorf("%d calls are listed", n)
		}
	})
}

// extreme spreads a byte over an int64: small numbers, and those near its ends.
func extreme(b byte) int64 {
	switch {
	case b >= 250:
		return 1<<63 - 1 - int64(255-b)
	case b >= 240:
		return -1 << 63 / int64(b-238)
	}
	return int64(b) * 997
}

func TestAddAllocatesNothingWhereAllIsWell(t *testing.T) {
	trace := traceOf(1, testSpan{id: 1, hop: "a", kind: spans.Server, end: 10}, testSpan{id: 2, parent: 1, hop: "b", kind: spans.Client, end: 8})
	w := NewAccumulator(Config{})
	if n := testing.AllocsPerRun(1000, func() { w.AddTrace(trace) }); n > 0 {
		t.Errorf("%v allocations a trace", n)
	}
}

func TestManyHopsAreCutToThoseRetriedMost(t *testing.T) {
	var lines []testLine
	for k := range 6 {
		for n := range k {
			chain := fmt.Sprint(k, "-", n)
			hop := string(rune('f' - k))
			lines = append(lines, testLine{chain: chain, hop: hop, end: 10, outcome: cut}, testLine{chain: chain, hop: hop, start: 20, end: 30, retry: true})
		}
	}
	q := usual(nil)
	q.MaxHops = 2
	r := logOf(t, lines...).Result(q)
	if len(r.Hops) != 2 || r.Hops[0].Name != "a" || r.Hops[1].Name != "b" || r.All.Calls != 15 || !says(r, "hops_left_out") {
		t.Errorf("%+v %v", r.Hops, codes(r))
	}
}
