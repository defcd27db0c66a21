package spans

// Waits reports whether the parent of span i waits for it. It does not where the
// tie says so, or where either of them is a message's producer or consumer.
func (t *Trace) Waits(i int32) bool {
	if t.Spans[i].Ties.Has(Async) || t.kind(i).messaging() {
		return false
	}
	p := t.Parents[i]
	return p == noParent || !t.kind(p).messaging()
}

func (k Kind) messaging() bool { return k == Producer || k == Consumer }
