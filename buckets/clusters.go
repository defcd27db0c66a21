package buckets

import (
	"math"

	"github.com/tailscope/tailscope/internal/numbering"
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
	naming *spans.Naming
	window *depend.Window
	hops   numbering.List[spans.Hop]
	list   []*clusters // by the number of their hop
	// ids: some name has ids that may yet be folded. Fewer hops need no blocks as wide, so
	// where blocks become wider before that is known, folded counts those of the hops that
	// the names would become.
	ids    bool
	folded *hopClusters
}

// clusters are those of one hop's first attempts.
type clusters struct {
	blocks *depend.Blocks
	traces *depend.Clusters   // nil before the first one; see ofTraces
	open   []depend.LogBucket // of the trace being added
}

// noClusters stand for those that never came into being. They are only read.
var noClusters depend.Clusters

// ofTraces returns the clusters of traces for reading.
func (b *clusters) ofTraces() *depend.Clusters {
	if b.traces == nil {
		return &noClusters
	}
	return b.traces
}

// countTraces returns the clusters of traces, which come into being.
func (b *clusters) countTraces() *depend.Clusters {
	if b.traces == nil {
		b.traces = new(depend.Clusters)
	}
	return b.traces
}

func newHopClusters(n *spans.Naming) *hopClusters {
	l := &hopClusters{naming: n, window: depend.NewWindow()}
	l.window.BeforeWider(l.fork)
	return l
}

// of returns the clusters of a hop, by the name that it has at this moment.
func (l *hopClusters) of(id spans.Hop) *clusters { return l.list[l.number(id)] }

// number returns the number of a hop, by the name that it has at this moment unless it has
// one by the name as it came.
func (l *hopClusters) number(id spans.Hop) int32 {
	if i, known := l.hops.Find(id); known {
		return i
	}
	id = l.naming.Hop(id)
	if i, known := l.hops.Find(id); known {
		return i
	}
	b := &clusters{blocks: l.window.New()}
	l.list = append(l.list, b)
	i := l.hops.Add(id)
	l.follow(id, b)
	return i
}

// follow makes folded count what a new hop counts.
func (l *hopClusters) follow(id spans.Hop, b *clusters) {
	if !l.naming.MayFold() {
		return
	}
	to := l.naming.Fold(id)
	l.ids = l.ids || to != id
	switch {
	case l.folded != nil:
		b.blocks.CopyTo(l.folded.of(to).blocks)
	case l.window.Wider():
		l.fork()
	}
}

// fork begins to count by the names that would be folded, unless all stay the same.
func (l *hopClusters) fork() {
	if !l.ids || !l.naming.MayFold() {
		return
	}
	l.folded = &hopClusters{window: l.window.Fork()}
	for i, id := range l.hops.Values() {
		l.list[i].blocks.CopyTo(l.folded.of(l.naming.Fold(id)).blocks)
	}
	l.folded.window.Check()
}

// merge moves the clusters of o into l.
func (l *hopClusters) merge(o *hopClusters) {
	if l == o {
		return
	}
	times := o
	if l.naming.Folds() && o.folded != nil {
		times = o.folded
	}
	l.window.Join(times.window)
	for i, id := range times.hops.Values() {
		l.of(id).blocks.Merge(times.list[i].blocks)
	}
	for i, id := range o.hops.Values() {
		from := o.list[i]
		if from.traces != nil {
			l.of(id).countTraces().Merge(from.traces)
			from.traces = nil
		}
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
		b.countTraces().Add(b.open)
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
	if h.tailless(q) != "" || h.clusters.blocks.Empty() && h.clusters.ofTraces().Empty() {
		return nil, cut
	}
	d := depend.Dependence{Traces: h.clusters.ofTraces(), Blocks: h.clusters.blocks, CutFrom: depend.CutBucket}
	if h.timeout > 0 && !h.tells(q) {
		d.CutFrom = depend.LogBucketOf(spans.Reached(h.timeout))
	}
	o := h.first.clustered()
	t.N, t.Cut = o.Completed.N()+o.Cuts().N(), o.Cuts().N()
	return o.Effects(t, d)
}
