package calls

import "slices"

// The scopes in which a hand-over is looked for: the callee with all its instances, one
// of its instances, what one instance of the caller calls.
const (
	ofCallee = iota
	ofInstance
	ofCaller
	scopes
)

// widths is how many lengths of a hand-over are tried, handOvers in ns.
const widths = 3

var handOvers = [widths]int64{100_000, 300_000, 1_000_000}

// mostTogether is how many moments with one begin are looked at together.
const mostTogether = 1 << 16

// sweep goes through the moments in time.
type sweep struct {
	*study
	window int64    // how long ends of calls are remembered
	open   []ending // a heap, the earliest first
	batch  []moment // with one begin
	in     []int32  // places of the batch
}

// ending is when a server at a place will be done.
type ending struct {
	at int64
	in int32
}

// sweep counts what is open at once, and the hand-overs.
func (s *study) sweep() error {
	w := &sweep{study: s}
	for _, p := range s.places {
		if p.pair != nil {
			_, to := p.answerWindow(widths - 1)
			w.window = max(w.window, to)
			p.setChances(s)
		}
	}
	if err := s.log.each(byBegin, w.add); err != nil {
		return err
	}
	w.begin()
	for len(w.open) > 0 {
		w.leave(w.pop())
	}
	return nil
}

// setChances sets how likely an end lies in each window without any hand-over.
func (p *place) setChances(s *study) {
	for i := range handOvers {
		p.chance[ofCallee][i] = s.whole.chance(handOvers[i])
		p.chance[ofInstance][i] = p.instance.chance(handOvers[i])
		from, to := p.answerWindow(i)
		p.chance[ofCaller][i] = p.caller.chance(to - from)
	}
}

// answerWindow is how long before the begin of a call the end of another call of the same
// caller lies that made room for it: the answer's way there and the next call's way back,
// .6 to 2 floors of gaps.
func (p *place) answerWindow(width int) (from, to int64) {
	gap := min(p.floors.gap, century)
	return 3 * gap / 5, 2*gap + handOvers[width]
}

func (w *sweep) add(m *moment) {
	if n := len(w.batch); n > 0 && (w.batch[0].begin != m.begin || n == mostTogether) {
		w.begin()
	}
	w.batch = append(w.batch, *m)
}

// begin begins all of the batch: first ends what has ended, then counts them, then looks
// at each.
func (w *sweep) begin() {
	if len(w.batch) == 0 {
		return
	}
	t := w.batch[0].begin
	for len(w.open) > 0 && w.open[0].at <= t {
		w.leave(w.pop())
	}
	if len(w.batch) > 1 {
		slices.SortFunc(w.batch, inTime)
	}
	w.enter(t)
	for i, at := range w.in {
		if p := w.places[at]; p.pair != nil && p.pair.judged {
			w.look(&w.batch[i], p)
		}
	}
	for i, at := range w.in {
		if w.batch[i].work == 0 {
			w.end(w.places[at], t)
		} else {
			w.push(ending{w.batch[i].end(), at})
		}
	}
	w.batch = w.batch[:0]
}

// enter counts all of the batch as open, but those that end at once.
func (w *sweep) enter(t int64) {
	w.in = w.in[:0]
	for i := range w.batch {
		at := w.numberOf(&w.batch[i])
		w.in = append(w.in, at)
		w.change(w.places[at], t, 1)
		if w.batch[i].work == 0 {
			w.change(w.places[at], t, -1)
		}
	}
}

func (w *sweep) change(p *place, t int64, by int32) {
	w.whole.change(t, by)
	p.instance.change(t, by)
	if p.caller != nil {
		p.caller.open += by
	}
}

func (w *sweep) leave(e ending) {
	w.change(w.places[e.in], e.at, -1)
	w.end(w.places[e.in], e.at)
}

func (w *sweep) end(p *place, t int64) {
	w.whole.end(t)
	p.instance.end(t)
	if p.caller != nil {
		p.caller.remember(t, w.window)
	}
}

// look looks at what was open, and had just ended, as a call's server began.
func (w *sweep) look(m *moment, p *place) {
	p.pair.grows.add(step(m.work), step(int64(p.instance.open)))
	if p.gapOf(m, p.cut(m))-p.floors.gap <= p.pair.least {
		return
	}
	p.waited++
	if w.whole.any {
		p.pair.behind.Add(m.begin - w.whole.ended)
	}
	for i, width := range handOvers {
		w.hit(p, ofCallee, i, w.whole.any && less(m.begin, w.whole.ended) <= width, &w.whole)
		w.hit(p, ofInstance, i, p.instance.any && less(m.begin, p.instance.ended) <= width, p.instance)
		from, to := p.answerWindow(i)
		w.hit(p, ofCaller, i, p.caller.endedIn(less(m.begin, to), less(m.begin, from)), p.caller)
	}
}

func (w *sweep) hit(p *place, scope, width int, hit bool, in *room) {
	if hit {
		p.hits[scope][width]++
		p.pair.after[scope][width].add(in.open)
	}
}

func (w *sweep) push(e ending) {
	w.open = append(w.open, e)
	for i := len(w.open) - 1; i > 0; {
		up := (i - 1) / 2
		if w.open[up].at <= w.open[i].at {
			return
		}
		w.open[up], w.open[i] = w.open[i], w.open[up]
		i = up
	}
}

func (w *sweep) pop() ending {
	first, last := w.open[0], len(w.open)-1
	w.open[0] = w.open[last]
	w.open = w.open[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if w.open[c].at < w.open[least].at {
				least = c
			}
		}
		if least == i {
			return first
		}
		w.open[i], w.open[least] = w.open[least], w.open[i]
		i = least
	}
}
