package depend

// Part is a share: Count of Of attempts.
type Part struct{ Count, Of uint64 }

// Drift is the share of attempts beyond a threshold in the first and in the last
// third of the attempts, by time.
type Drift struct{ First, Last Part }

const (
	fewestBlocks   = 10 // in each third
	fewestDrifting = 20 // attempts beyond the threshold, in both
	driftErrors    = 4  // standard errors between the shares
	driftRatio     = 2  // of the larger share to the smaller
)

// drift compares the thirds; nil is for a share that did not move, or of which too
// little is known. Blocks, not attempts, are what varies: one slow spell is no drift.
func (b *Blocks) drift(s LogBucket) *Drift {
	first, last := b.thirds(s)
	if first.clusters < fewestBlocks || last.clusters < fewestBlocks || first.beyond+last.beyond < fewestDrifting {
		return nil
	}
	more, less := max(first.share(), last.share()), min(first.share(), last.share())
	pooled := float64(first.beyond+last.beyond) / float64(first.n+last.n)
	apart := more - less
	if more < driftRatio*less || apart*apart <= driftErrors*driftErrors*(first.variance(pooled)+last.variance(pooled)) {
		return nil
	}
	return &Drift{Part{first.beyond, first.n}, Part{last.beyond, last.n}}
}

// thirds are the blocks that lie wholly in the first third of the attempts, and in
// the last.
func (b *Blocks) thirds(s LogBucket) (first, last clustered) {
	var n, before uint64
	b.each(s, func(m, _ uint64) { n += m })
	b.each(s, func(m, a uint64) {
		switch {
		case 3*(before+m) <= n:
			first.add(m, a)
		case 3*before >= 2*n:
			last.add(m, a)
		}
		before += m
	})
	return first, last
}

func (c *clustered) share() float64 { return float64(c.beyond) / float64(c.n) }

// variance is that of the share over clusters, at least that of independent attempts
// with the pooled share. Source: as for the effect.
func (c *clustered) variance(pooled float64) float64 {
	k, n := float64(c.clusters), float64(c.n)
	return max(k/(k-1)*c.scatter()/n/n, pooled*(1-pooled)/n)
}
