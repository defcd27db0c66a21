package retries

import (
	"github.com/tailscope/tailscope/quantile"
)

// wall says whether the failing calls of hops last whole multiples of their
// timeouts. Each hop's calls are held against its own.
func (d *describer) wall(list []*hop) Wall {
	var w Wall
	var lasted quantile.Union
	timeout, same := int64(0), true // the shortest
	for _, h := range list {
		lasted = append(lasted, h.lasted)
		if h.lasted.N() == 0 {
			continue
		}
		ns, known := d.q.Wall(h.Hop)
		if !known || ns <= 0 {
			same = false
			continue
		}
		same = same && (timeout == 0 || timeout == ns)
		if timeout == 0 || ns < timeout {
			timeout = ns
		}
		at := atWall(h, ns)
		w.N, w.Of = w.N+at.N, w.Of+at.Of
	}
	if same && timeout > 0 {
		w.Timeout = &timeout
	}
	w.Verdict = wallVerdict(w.Count, d.q.Confidence)
	w.Width, w.Histogram = histogram(lasted, timeout)
	return w
}

// atWall counts the failing calls whose attempts ran for as many timeouts as there
// were attempts, and no longer than that with the overhead seen. What a call
// waited between its attempts is not in it.
func atWall(h *hop, timeout int64) Count {
	overhead := overheadOf(h, timeout)
	early := timeout / earlyPart
	var c Count
	for tries, s := range h.failing {
		c.Of += s.N()
		from, to := product(timeout-early, tries), product(timeout+overhead, tries)
		c.N += quantile.Union{s}.UpTo(to) - quantile.Union{s}.UpTo(from-1)
	}
	return c
}

// product is at most the largest int64.
func product(a int64, n int) int64 {
	if a != 0 && int64(n) > (1<<63-1)/a {
		return 1<<63 - 1
	}
	return a * int64(n)
}

// overheadOf is the most by which an attempt that gave up outlasted the timeout, as
// far as that is clean-up and not another timeout: up to a fifth.
func overheadOf(h *hop, timeout int64) (most int64) {
	if h.gaveUp == nil {
		return 0
	}
	for v := range h.gaveUp.All() {
		if over := v - timeout; over >= 0 && over <= timeout/overheadPart {
			most = max(most, over)
		}
	}
	return most
}

// mostBins is how many bins a histogram has at most, from nothing to the longest.
const mostBins = 100

// histogram counts values in bins that are a third of the timeout wide or less,
// rounded to 1, 2 or 5; without a timeout a twentieth of the longest.
func histogram(u quantile.Union, timeout int64) (width int64, bins []Bin) {
	bins = []Bin{}
	if u.N() == 0 {
		return 0, bins
	}
	longest := quantile.Summarize(u, nil).Max
	part := timeout / 3
	if timeout <= 0 {
		part = longest / 20
	}
	for width = widthUpTo(part); longest/width >= mostBins; {
		width = wider(width)
	}
	for v, n := range u.All() {
		from := v - v%width
		if last := len(bins) - 1; last >= 0 && bins[last].From == from {
			bins[last].N += n
			continue
		}
		bins = append(bins, Bin{from, n})
	}
	return width, bins
}

// widthUpTo returns the largest of 1, 2, 5, 10, 20 … that is no larger than ns.
func widthUpTo(ns int64) int64 {
	width := int64(1)
	for next := wider(width); next <= ns; next = wider(width) {
		width = next
	}
	return width
}

func wider(width int64) int64 {
	lead := width
	for lead >= 10 {
		lead /= 10
	}
	if lead == 2 {
		return width / 2 * 5
	}
	return width * 2
}
