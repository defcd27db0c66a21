package buckets

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/ratio"
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

// dependent names the limits that stand on fewer attempts than were seen.
func (t tailer) dependent() string {
	var hit []string
	for _, q := range t.tails.Tails.Tails {
		if q.Effect.Counts() {
			hit = append(hit, t.effectText(q.Effect)+" beyond "+q.P.Label())
		}
	}
	if cut := t.r.TruncatedShare.Effect; len(t.effects) > 0 && cut.Counts() {
		hit = append(hit, t.effectText(cut)+" of the cut ones")
	}
	if hit == nil {
		return ""
	}
	lead := "slow first attempts come together, so they tell less than as many independent ones"
	if t.r.TruncatedShare.Effect.Assumed {
		lead = "attempts of one trace may go the same way, which so few traces do not tell"
	}
	return lead + ": design effect " +
		strings.Join(hit, ", ") + "; their limits are those of n_eff = n/effect attempts"
}

func (t tailer) effectText(e depend.Effect) string {
	by := "trace"
	if e.ByTime {
		by = t.blockText()
	}
	return strconv.FormatFloat(e.Float(), 'f', -1, 64) + " by " + by
}

// blockText names a block of time.
func (t tailer) blockText() string {
	if minutes := int64(t.hop.clusters.blocks.Width().Minutes()); minutes > 1 {
		return fmt.Sprintf("%d minutes", minutes)
	}
	return "minute"
}

// drift names the quantiles beyond which the share moved.
func (t tailer) drift() string {
	var moved []string
	for i, e := range t.effects {
		if d := e.Drift; d != nil {
			moved = append(moved, fmt.Sprintf("beyond %s %s and %s", t.tails.Tails.Tails[i].P.Label(), percentOf(d.First), percentOf(d.Last)))
		}
	}
	if moved == nil {
		return ""
	}
	return "the tail moved between the first and the last third of the first attempts, by time: " + strings.Join(moved, ", ") +
		"; quantiles and limits are of all of it, and of no time to come"
}

func percentOf(p depend.Part) string { return ratio.Percent(float64(p.Count) / float64(p.Of)) }
