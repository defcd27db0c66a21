package nesting

import (
	"github.com/tailscope/tailscope/spans"
)

// kind is what an attempt y of a hop b says of an attempt x of a hop a that it
// overlaps.
type kind uint8

const (
	within kind = iota // x holds y
	out                // y begins in x and outlasts it
	early              // y begins before x
	around             // y holds x
	kinds
	unclear // the two are alike
)

// vote is one of a pair of hops. Times are ns.
type vote struct {
	caller, callee int32
	of             int32 // number of x in its chain
	kind           kind
	gaps           bool  // before and after are known
	end            int64 // of y, from the start of x
	length         int64 // of x
	before, after  int64 // from the start of x to that of y, and from the end of y to what came next in x
}

// ballot is the votes of one chain, which stand one behind the other.
type ballot struct {
	start    int64
	id       spans.TraceID
	of       int32 // whose votes they are: index into Votes.lists
	from, to int32
}

// Votes collects the votes of chains. Not safe for concurrent use: each worker has its
// own.
type Votes struct {
	step    int64
	hops    spans.HopIndex
	lists   [][]vote // the first is being written
	ballots []ballot
	late    pairTable
	// Chains that voted, or had nothing to say, and those that could not.
	heard, silent uint64
	// settled are pairs that need no more votes; nil where all vote.
	settled map[[2]spans.Hop]bool
	skip    map[pair]bool // what is known of that, by number
	stated  *statement    // nil where nothing is

	room room
}

// mostLooks is how often two attempts of one chain are compared. A chain in which more
// attempts run at once does not vote: the square of their number would take hours.
const mostLooks = 1 << 21

// farthest is how far apart, in ns, the times of a chain may lie that votes: sums of
// them stay within int64. It is 9 years.
const farthest = 1 << 58

// mostAhead is how far ahead of its time, in ns, an attempt may seem to begin that
// nobody waits for, as clocks are rarely farther apart.
const mostAhead = 10e6

// NewVotes returns an empty accumulator. Times that differ by up to step, in ns, may be
// the same: it is the resolution of starts plus that of durations.
func NewVotes(step int64) *Votes { return &Votes{step: step, lists: make([][]vote, 1)} }

// AddChain takes the votes of a whole chain whose attempts are sorted. It keeps
// nothing of it.
func (v *Votes) AddChain(c *spans.Chain) {
	if !c.Timed || len(c.Attempts) < 2 || c.TooLong() {
		return
	}
	switch known := v.enter(c); {
	case known && len(v.room.hops) < 2:
	case known && len(v.room.hops) <= mostHops(len(c.Hops)) && v.askAll(c):
		v.heard++
		if v.stated != nil {
			v.compare()
		}
	default:
		v.silent++
	}
}

// mostHops is how many hops a chain may have that votes: pairs of hops are counted, of
// which there are as many as the square of their number.
func mostHops(ofLog int) int {
	if ofLog > 1000 {
		return 32
	}
	return 512
}

// askAll lets all attempts vote, or none where too many run at once.
func (v *Votes) askAll(c *spans.Chain) bool {
	from := len(v.lists[0])
	for y := range v.room.attempts {
		if !v.ask(int32(y)) {
			v.lists[0] = v.lists[0][:from]
			return false
		}
	}
	v.countLate()
	if to := len(v.lists[0]); to > from {
		v.ballots = append(v.ballots, ballot{start: c.Attempts[0].Start, id: c.ID, from: int32(from), to: int32(to)})
	}
	return true
}

// Merge moves the votes of o into v; o must not be used any more.
func (v *Votes) Merge(o *Votes) {
	hops, of := v.hops.Merge(&o.hops), int32(len(v.lists))
	v.heard += o.heard
	v.silent += o.silent
	for _, list := range o.lists {
		for i := range list {
			list[i].caller, list[i].callee = hops[list[i].caller], hops[list[i].callee]
		}
		v.lists = append(v.lists, list)
	}
	for _, b := range o.ballots {
		b.of += of
		v.ballots = append(v.ballots, b)
	}
	if v.stated != nil {
		v.stated.merge(o.stated, hops)
	}
	o.late.each(func(p pair, n *counts) {
		v.late.at(pair{hops[p.caller], hops[p.callee]}).add(n)
	})
}

// attempt is one of the chain at hand, in ns from the start of the chain.
type attempt struct {
	start, end int64
	hop        int32 // number in Votes.hops
	local      int32 // number among the hops of the chain
	done       bool
}

// room is memory for one chain, used again for the next.
type room struct {
	attempts []attempt
	running  []int32 // attempts that may run still when the next one begins
	hops     []int32 // of the chain, by their local numbers
	local    []int32 // by hop: one more than the local number
	tally    []tally // by local number
	asked    []int32 // local numbers in tally
	late     []lateVote
	present  []present // by local number
	looks    int
}

// tally is what one attempt y finds among the attempts of one hop that it overlaps.
type tally struct {
	all, done    int
	best, holder int32 // completed attempts that start last: of all, and of those that hold y; -1 for none
	held         bool  // y holds a completed one
	allLater     bool  // all start after y
	alike        bool  // a completed one and y each hold the other, up to a step
	enclosed     bool  // y lies in one, whether that completed or not
}

// enter copies the attempts of a chain; it is false for one whose times lie too far
// apart.
func (v *Votes) enter(c *spans.Chain) bool {
	r := &v.room
	for _, hop := range r.hops {
		r.local[hop] = 0
	}
	r.attempts, r.hops, r.running, r.late, r.looks = r.attempts[:0], r.hops[:0], r.running[:0], r.late[:0], 0
	first := c.Attempts[0].Start
	for i := range c.Attempts {
		a := &c.Attempts[i]
		start, end := spans.Distance(first, a.Start), spans.Distance(first, a.End())
		if start < 0 || end < start || end > farthest {
			return false
		}
		hop := v.hops.Translate(c.Hops, a.Hop)
		r.attempts = append(r.attempts, attempt{start, end, hop, r.localOf(hop), a.Outcome == spans.Completed})
	}
	return true
}

func (r *room) localOf(hop int32) int32 {
	for int(hop) >= len(r.local) {
		r.local = append(r.local, 0)
	}
	if r.local[hop] == 0 {
		r.hops = append(r.hops, hop)
		r.local[hop] = int32(len(r.hops))
		if len(r.tally) < len(r.hops) {
			r.tally = append(r.tally, tally{})
		}
	}
	return r.local[hop] - 1
}

// ask lets attempt y vote on every other hop; it is false where too many run at once.
func (v *Votes) ask(y int32) bool {
	r, me := &v.room, &v.room.attempts[y]
	r.asked = r.asked[:0]
	kept, left := r.running[:0], false
	for _, x := range r.running {
		if r.attempts[x].end+v.step >= me.start {
			kept = append(kept, x)
			left = v.look(x, y) || left
		}
	}
	r.looks += len(r.running)
	r.running = append(kept, y)
	for x := y + 1; int(x) < len(r.attempts) && r.attempts[x].start <= max(me.end, me.start+v.step); x++ {
		left = v.look(x, y) || left
		r.looks++
	}
	for _, local := range r.asked {
		v.vote(y, local, left)
		r.tally[local] = tally{}
	}
	return r.looks <= mostLooks
}

// look compares y with one attempt. It reports whether that one was cut or failed, and
// y may be what it left behind.
func (v *Votes) look(x, y int32) (left bool) {
	a, b := &v.room.attempts[x], &v.room.attempts[y]
	if a.hop != b.hop {
		if a.start+v.step < b.end && b.start+v.step < a.end {
			v.overlaps(x, y)
		}
		if a.done && a.start-max(v.step, mostAhead) <= b.start && b.start <= a.end+v.step && a.end+v.step < b.end {
			v.room.late = append(v.room.late, lateVote{a.local, b.local, a.start-v.step > b.start})
		}
	}
	return !a.done && v.begins(a, b)
}

// begins reports whether b begins while a runs.
func (v *Votes) begins(a, b *attempt) bool { return a.start-v.step <= b.start && b.start < a.end }

func (v *Votes) holds(a, b *attempt) bool {
	return a.start-v.step <= b.start && b.end <= a.end+v.step
}

// overlaps enters x, which y overlaps, into y's tally of its hop. Attempts come by
// their starts, so that the last one is the innermost.
func (v *Votes) overlaps(x, y int32) {
	r := &v.room
	a, b := &r.attempts[x], &r.attempts[y]
	t := &r.tally[a.local]
	if t.all == 0 {
		*t = tally{best: -1, holder: -1, allLater: true}
		r.asked = append(r.asked, a.local)
	}
	t.all++
	t.allLater = t.allLater && a.start-v.step > b.start
	t.enclosed = t.enclosed || v.holds(a, b) && a.encloses(b)
	if !a.done {
		return
	}
	t.done++
	t.best = x
	switch holds, held := v.holds(a, b), v.holds(b, a); {
	case holds && held:
		t.alike = true
		if a.encloses(b) {
			t.holder = x
		}
		t.held = t.held || b.encloses(a)
	case holds:
		t.holder = x
	case held:
		t.held = true
	}
}

// encloses reports whether a neither starts later than b nor takes less time, and is
// not the same: rounding keeps that order where it hides which of them holds the other.
func (a *attempt) encloses(b *attempt) bool {
	long, short := a.end-a.start, b.end-b.start
	return a.start <= b.start && long >= short && (a.start < b.start || long > short)
}

// vote says what y's tally of a hop comes to. What a cut or failed attempt may have
// called says nothing of completed ones, unless one of those holds it.
func (v *Votes) vote(y, local int32, left bool) {
	r := &v.room
	t, b := &r.tally[local], &r.attempts[y]
	k := t.kind()
	if t.done == 0 || k == unclear || k != within && t.done < t.all || k == out && left {
		v.overlap(y, local)
		return
	}
	x := t.holder
	if k != within {
		x = t.best
	}
	a := &r.attempts[x]
	if v.settled != nil && v.isSettled(pair{a.hop, b.hop}) {
		return
	}
	one := vote{caller: a.hop, callee: b.hop, of: x, kind: k, end: b.end - a.start, length: a.end - a.start}
	if k == within {
		one.before, one.after, one.gaps = v.gapsIn(x, y)
	}
	v.lists[0] = append(v.lists[0], one)
}

func (v *Votes) isSettled(p pair) bool {
	skip, known := v.skip[p]
	if !known {
		if v.skip == nil {
			v.skip = map[pair]bool{}
		}
		skip = v.settled[[2]spans.Hop{v.hops.Hop(p.caller), v.hops.Hop(p.callee)}]
		v.skip[p] = skip
	}
	return skip
}

// overlap notes that y overlaps attempts of a hop, where it has no vote.
func (v *Votes) overlap(y, local int32) {
	r := &v.room
	n := v.late.at(pair{r.hops[local], r.attempts[y].hop})
	n.unclear++
	if r.tally[local].enclosed {
		n.within++
	}
}

func (t *tally) kind() kind {
	switch {
	case t.holder >= 0:
		return within
	case t.held:
		return around
	case t.alike:
		return unclear
	case t.allLater:
		return early
	}
	return out
}

// gapsIn returns how long x ran before y began, and how long it took after the end of y
// until something else began in x or x ended. It is not known where something else in
// x runs on when y ends: x may wait for that.
func (v *Votes) gapsIn(x, y int32) (before, after int64, known bool) {
	r := &v.room
	a, b := &r.attempts[x], &r.attempts[y]
	next := a.end
	for z := r.firstFrom(x, a.start-v.step); int(z) < len(r.attempts); z++ {
		r.looks++
		c := &r.attempts[z]
		if c.start >= a.end {
			break
		}
		if z == x || z == y || !v.holds(a, c) {
			continue
		}
		if c.start >= b.end {
			next = c.start
			break
		}
		if c.end > b.end+v.step {
			return 0, 0, false
		}
	}
	return b.start - a.start, next - b.end, true
}

// firstFrom goes back from attempt x to the first one that starts at a moment or later.
func (r *room) firstFrom(x int32, start int64) int32 {
	for x > 0 && r.attempts[x-1].start >= start {
		x--
	}
	return x
}
