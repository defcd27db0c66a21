package spans

// Waits reports whether the parent of span i surely waits for it, as must be sure
// where work is called an orphan. It does not where the tie says so, or where
// either of them is a message's producer or consumer.
func (t *Trace) Waits(i int32) bool {
	if t.Spans[i].Ties.Has(Async) || t.kind(i).messaging() {
		return false
	}
	p := t.Parents[i]
	return p == noParent || !t.kind(p).messaging()
}

// HoldsUp reports whether the parent of span i goes on only when i has ended. It
// does not wait where the tie says so, nor for a consumer, which works on a message
// that its parent has long forgotten. What a producer or a consumer calls itself
// holds it up like any other caller.
func (t *Trace) HoldsUp(i int32) bool {
	return !t.Spans[i].Ties.Has(Async) && t.kind(i) != Consumer
}

func (k Kind) messaging() bool { return k == Producer || k == Consumer }
