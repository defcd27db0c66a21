package orphans

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// waiting is how children of one hop end beside parents of another that completed.
// Times are ns.
type waiting struct {
	ended    uint64 // children, both in time
	outlived uint64 // those that surely ended after their parent by more than the tolerance
	seemed   uint64 // those that did so by two clocks
	usual    uint64 // children that completed
	shortest int64  // of these
	fits     uint64 // children on another clock that are no longer than their parent
	reach    int64  // the farthest that one of these reached out of its parent, at either end; negative where none did
	spare    int64  // the least by which one of these was shorter than its parent
}

func (w *waiting) merge(o *waiting) {
	w.ended += o.ended
	w.outlived += o.outlived
	w.seemed += o.seemed
	if o.usual > 0 {
		w.complete(o.usual, o.shortest)
	}
	if o.fits > 0 {
		w.fit(o.fits, o.reach, o.spare)
	}
}

// complete counts n children that completed, the shortest of them so long.
func (w *waiting) complete(n uint64, shortest int64) {
	if w.usual == 0 || shortest < w.shortest {
		w.shortest = shortest
	}
	w.usual += n
}

// fit counts n children on another clock.
func (w *waiting) fit(n uint64, reach, spare int64) {
	if w.fits == 0 {
		w.reach, w.spare = reach, spare
	}
	w.fits, w.reach, w.spare = w.fits+n, max(w.reach, reach), min(w.spare, spare)
}

// recentPairs is how many pairs of hops are found without a look into a map: few are
// looked at again and again.
const recentPairs = 512

// recent is a pair of hops that was looked at lately.
type recent struct {
	*waiting
	hopPair
	local bool // the child is made by its parent's process
}

// waitingOf returns what is known of a span's hop and its parent's.
func (a *Accumulator) waitingOf(t *spans.Trace, p, c int32) *recent {
	key := hopPair{a.hop(t, p), a.hop(t, c)}
	last := &a.recent[(uint32(key.parent)*31+uint32(key.child))%recentPairs]
	if last.waiting == nil || last.hopPair != key {
		*last = recent{at(a.waits, key), key, local(t, p, c)}
	}
	return last
}

// ended notes how a child ended beside a parent that completed and waits for it. On
// two clocks only a child that lasted longer than its parent surely outlived it;
// one that would fit and yet reaches out shows how far the clocks are apart.
func (a *Accumulator) ended(t *spans.Trace, p, c int32, over int64) {
	child, parent := &t.Spans[c], &t.Spans[p]
	w := a.waitingOf(t, p, c)
	w.ended++
	if child.Outcome == spans.Completed {
		w.complete(1, child.Duration)
	}
	longer := after(child.Duration, parent.Duration)
	one, known := oneHost(t, p, c)
	switch {
	case one || !known && w.local:
		longer = over
	case longer <= 0:
		w.fit(1, max(over, after(parent.Start, child.Start)), -longer)
	}
	w.outlived += counted(longer > a.config.Tolerance)
	w.seemed += counted(over > a.config.Tolerance)
}

// oneClock reports whether one clock timed a parent and its child, and by what that
// is known.
func oneClock(t *spans.Trace, p, c int32) (one bool, by string) {
	if one, known := oneHost(t, p, c); known {
		return one, "timestamps of one host"
	}
	return local(t, p, c), "timestamps of one service"
}

// oneHost reports whether a parent and its child have one host, where both are known.
func oneHost(t *spans.Trace, p, c int32) (one, known bool) {
	if len(t.Hosts) == 0 {
		return false, false
	}
	x, y := t.Spans[p].Host, t.Spans[c].Host
	if t.Hosts[x] == "" || t.Hosts[y] == "" {
		return false, false
	}
	return x == y || t.Hosts[x] == t.Hosts[y], true
}

// local reports whether a span was made by the process of its parent: one of the same
// service that is no server's or consumer's.
func local(t *spans.Trace, p, c int32) bool {
	parent, child := &t.Hops[t.Spans[p].Hop], &t.Hops[t.Spans[c].Hop]
	if child.Kind == spans.Server || child.Kind == spans.Consumer || child.Kind == spans.NoKind {
		return false
	}
	return parent.Service != "" && parent.Service == child.Service
}

func (a *Accumulator) services(key hopPair) [2]string {
	return services(a.hopOf(key.parent), a.hopOf(key.child))
}

// services names two services in one order.
func services(a, b spans.Hop) [2]string {
	return [2]string{min(a.Service, b.Service), max(a.Service, b.Service)}
}

// atMost is by how much the two clocks may be apart. With x the clock of the child before
// that of the parent, and g the time from a child's end to the parent's, the child reaches
// out by x - g, and g is at most what the child was shorter. So x is at most the farthest
// reach and the least g, and that at most the least by which any child was shorter.
func (w *waiting) atMost() int64 {
	return max(0, durations.Sum(max(0, w.reach), w.spare)+min(0, w.reach))
}

// mostly reports whether more than half of n are so, at the confidence of the run.
func mostly(count, n uint64, confidence quantile.P) bool {
	lower, _ := quantile.ClopperPearson(count, n, confidence)
	return lower > .5
}

// fewFits is below how many children a pair does not tell how far clocks are apart at most.
const fewFits = 20

// compare looks at all pairs of two services: it finds those in which nobody waits for
// the child, and returns by how much, in ns, the clocks may be apart, 0 where nothing
// shows that they are, and whether there is anything to go by. The tolerance is in it:
// what ran on by less is no orphan, however far apart the clocks are. What outlives its
// parents by more than another pair leaves to the clocks does so in truth.
func (a *Accumulator) compare(pairs []hopPair, confidence quantile.P, notAwaited map[hopPair]bool) (within int64, known bool) {
	most := int64(math.MaxInt64)
	for _, key := range pairs {
		if w := a.waits[key]; w.fits >= fewFits {
			most = min(most, w.atMost())
		}
	}
	var all waiting
	for _, key := range pairs {
		w := a.waits[key]
		if mostly(w.outlived, w.ended, confidence) || w.fits > 0 && w.reach > most && mostly(w.seemed, w.ended, confidence) {
			notAwaited[key] = true
		} else if w.fits > 0 {
			all.fit(w.fits, w.reach, w.spare)
		}
	}
	if all.fits == 0 || all.reach <= a.config.Tolerance {
		return 0, all.fits > 0
	}
	return edges[stepOf(durations.Sum(all.atMost(), a.config.Tolerance))], true
}

// fitting is how the children on another clock fit into their parents, by their services.
func (a *Accumulator) fitting() map[[2]string]*waiting {
	together := map[[2]string]*waiting{}
	for key, w := range a.waits {
		if w.fits > 0 {
			at(together, services(a.hopOf(key.parent), a.hopOf(key.child))).fit(w.fits, w.reach, w.spare)
		}
	}
	return together
}

// edges are the steps that times on two clocks are told apart by: twelve a decade, the
// preferred numbers of the series E12 (IEC 60063), in ns.
var edges = func() (list []int64) {
	for decade := int64(1); decade <= 1e17; decade *= 10 {
		for _, n := range []int64{10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82} {
			if n <= math.MaxInt64/decade {
				list = append(list, n*decade)
			}
		}
	}
	return append(list, math.MaxInt64)
}()

// stepOf returns the first step whose edge a time does not exceed.
func stepOf(ns int64) int {
	i, _ := slices.BinarySearch(edges, ns)
	return i
}
