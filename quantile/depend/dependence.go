package depend

// Dependence is what is known of how the attempts of a sample hang together.
type Dependence struct {
	Traces *Clusters
	Blocks *Blocks // flushed
	// CutFrom is the bucket from which on all attempts count as cut.
	CutFrom LogBucket
}

// Dependent is how attempts beyond one threshold hang together.
type Dependent struct {
	Effect Effect
	Drift  *Drift // nil where the share beyond the threshold did not move
}

// At returns how n attempts hang together of which so many were cut or lie in bucket s
// or above it.
func (d Dependence) At(s LogBucket, n, beyond uint64) Dependent {
	return Dependent{d.Effect(s, n, beyond), d.Blocks.drift(s)}
}

// Effect is that of At: the larger of that by trace and that by time.
func (d Dependence) Effect(s LogBucket, n, beyond uint64) Effect {
	var byTrace Effect
	if !d.Traces.Empty() {
		byTrace = d.Traces.clustered(s, n, beyond).ofTraces()
	}
	byTime := d.Blocks.clustered(s).effect()
	byTime.ByTime = byTime.Known()
	return byTrace.Larger(byTime)
}
