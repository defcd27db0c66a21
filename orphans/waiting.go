package orphans

import (
	"math"
	"slices"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/spans"
)

// waiting is how children of one hop end beside parents of another that completed.
// Times are ns.
type waiting struct {
	ended    uint64 // children, both in time
	outlived uint64 // those that surely ended after their parent by more than the tolerance
	usual    uint64 // children that completed
	shortest int64  // of these
	fits     uint64 // children on another clock that are no longer than their parent
	reach    int64  // the farthest that one of these reached out of its parent, at either end; negative where none did
	spare    int64  // the least by which one of these was shorter than its parent
}

func (w *waiting) merge(o *waiting) {
	w.ended += o.ended
	w.outlived += o.outlived
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

// lastWaiting is where the pair of a child's hop stands that was looked at last: most
// hops have one caller.
type lastWaiting struct {
	parent ref
	of     *waiting
}

// waitingOf returns what is known of a span's hop and its parent's.
func (a *Accumulator) waitingOf(t *spans.Trace, p, c int32) *waiting {
	parent, child := a.hop(t, p), a.hop(t, c)
	for int(child) >= len(a.lastWaiting) {
		a.lastWaiting = append(a.lastWaiting, lastWaiting{})
	}
	last := &a.lastWaiting[child]
	if last.of == nil || last.parent != parent {
		*last = lastWaiting{parent, at(a.waits, hopPair{parent, child})}
	}
	return last.of
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
	switch one, _ := oneClock(t, p, c); {
	case one:
		longer = over
	case longer <= 0:
		w.fit(1, max(over, after(parent.Start, child.Start)), -longer)
	}
	if longer > a.config.Tolerance {
		w.outlived++
	}
}

// oneClock reports whether one clock timed a parent and its child, and by what that
// is known. A span is made by the process of its parent unless it is a server's or a
// consumer's, as long as no two hosts are named.
func oneClock(t *spans.Trace, p, c int32) (one bool, by string) {
	if x, y := hostOf(t, p), hostOf(t, c); x != "" && y != "" {
		return x == y, "timestamps of one host"
	}
	parent, child := &t.Hops[t.Spans[p].Hop], &t.Hops[t.Spans[c].Hop]
	if child.Kind == spans.Server || child.Kind == spans.Consumer || child.Kind == spans.NoKind {
		return false, ""
	}
	return parent.Service != "" && parent.Service == child.Service, "timestamps of one service"
}

// services names two services in one order.
func services(a, b spans.Hop) [2]string {
	return [2]string{min(a.Service, b.Service), max(a.Service, b.Service)}
}

// apart says by how much, in ns, the clocks of two services may be apart, 0 where
// nothing shows that they are. A child that would fit into its parent and reaches out
// of it by some time shows that they are apart by as much, and by no more than the
// child was shorter on top of it: with x the clock of the child before that of the
// parent, and g the time from the child's end to the parent's, it reaches out by
// x - g, and g is at most what it was shorter. So x is at most the farthest reach and
// the least g, and that at most the least by which any child was shorter.
func (a *Accumulator) apart() map[[2]string]int64 {
	list := map[[2]string]int64{}
	for key, w := range a.fitting() {
		list[key] = 0
		if w.reach > a.config.Tolerance {
			list[key] = edges[stepOf(durations.Sum(w.reach, w.spare))]
		}
	}
	return list
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
