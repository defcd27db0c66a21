package buckets

import (
	"math"

	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/quantile/depend"
	"github.com/tailscope/tailscope/spans"
)

// First attempts of one trace, and those of one minute, go the same way more often
// than others. How much so is summed up while they are read: by trace where spans
// come as whole traces, by chain where who puts chains together tells of them, by
// blocks of time wherever a start is known.

// hopClusters are the clusters of all hops of one worker, whatever the weights.
type hopClusters struct {
	window *depend.Window
	hops   map[spans.Hop]*clusters
}

// clusters are those of one hop's first attempts.
type clusters struct {
	blocks *depend.Blocks
	traces depend.Clusters
	open   []depend.LogBucket // of the trace being added
}

func newHopClusters() *hopClusters {
	return &hopClusters{window: depend.NewWindow(), hops: map[spans.Hop]*clusters{}}
}

func (l *hopClusters) of(id spans.Hop) *clusters {
	b := l.hops[id]
	if b == nil {
		b = &clusters{blocks: l.window.New()}
		l.hops[id] = b
	}
	return b
}

// merge moves the clusters of o into l.
func (l *hopClusters) merge(o *hopClusters) {
	if l == o {
		return
	}
	l.window.Join(o.window)
	for id, from := range o.hops {
		into := l.of(id)
		into.traces.Merge(&from.traces)
		into.blocks.Merge(from.blocks)
		from.traces = depend.Clusters{}
	}
}

// addToClusters notes a first attempt that completed or was cut.
func (h *hop) addToClusters(a attempt, s depend.LogBucket) {
	if a.retry {
		return
	}
	if a.timed {
		h.clusters.blocks.Add(a.start, s)
	}
	if a.inTrace {
		h.clusters.open = append(h.clusters.open, s)
	}
}

// close ends a trace.
func (b *clusters) close() {
	if len(b.open) > 1 {
		b.traces.Add(b.open)
	}
	b.open = b.open[:0]
}

// startOf returns the start of a row, math.MinInt64 where it is not known.
func startOf(b *spans.Batch, row int) int64 {
	if start, known := b.Start(row); known {
		return start
	}
	return math.MinInt64
}

// effects says how the first attempts depend on each other; nil where there is no
// tail to say it of.
func (h *hop) effects(q Query, t quantile.Tails) (tails []depend.Dependent, cut depend.Dependent) {
	if h.tailless(q) != "" || h.clusters.blocks.Empty() && h.clusters.traces.Empty() {
		return nil, cut
	}
	d := depend.Dependence{Traces: &h.clusters.traces, Blocks: h.clusters.blocks, CutFrom: depend.CutBucket}
	if h.timeout > 0 && !h.tells(q) {
		d.CutFrom = depend.LogBucketOf(reached(h.timeout))
	}
	return h.first.observed().Effects(t, d)
}
