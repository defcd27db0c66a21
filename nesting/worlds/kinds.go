package worlds

// slower makes a hop work longer in one request of ten.
func (c call) slower(times float64) call { c.slow = times; return c }

func (c call) later(ms float64) call { c.delay = ms; return c }

func (c call) cutAt(ms float64, retries int) call { c.timeout, c.retries = ms, retries; return c }

func hop(name string, work float64, stages ...[]call) call {
	return call{hop: name, work: work, sigma: .4, stages: stages, after: 1}
}

func both(calls ...call) []call { return calls }

// front is the hop with which requests begin: it does little itself.
func front(stages ...[]call) call {
	return call{hop: "front", work: 1, sigma: .3, stages: stages, after: .5}
}

func inRow(calls ...call) (stages [][]call) {
	for _, c := range calls {
		stages = append(stages, both(c))
	}
	return stages
}

// Kinds are the worlds. Durations are ms.
func Kinds() []World {
	list := []World{
		{Name: "in a row, the first slow", Owner: "a", root: front(inRow(hop("a", 20).slower(10), hop("b", 20))...)},
		{Name: "in a row, the second slow", Owner: "b", root: front(inRow(hop("a", 20), hop("b", 20).slower(10))...)},
		{Name: "three in a row, the middle one slow", Owner: "b", root: front(inRow(hop("a", 20), hop("b", 15).slower(10), hop("c", 25))...)},
		{Name: "in a row, the caller itself slow", Owner: "front", root: call{hop: "front", work: 20, sigma: .4, slow: 10, after: 1, stages: inRow(hop("a", 20), hop("b", 20))}},
		{Name: "the same hop twice in a row", Owner: "a", root: front(inRow(hop("a", 20).slower(10), hop("b", 10), hop("a", 20).slower(10))...)},
		{Name: "four calls of one hop in a row", Owner: "db", root: front(inRow(hop("db", 5).slower(15), hop("db", 5).slower(15), hop("db", 5), hop("db", 5))...)},
		{Name: "nested three deep, the innermost slow", Owner: "c", root: front(both(hop("a", 3, both(hop("b", 3, both(hop("c", 20).slower(10)))))))},
		{Name: "nested three deep, the middle one slow", Owner: "b", root: front(both(hop("a", 3, both(hop("b", 20, both(hop("c", 20))).slower(10)))))},
		{Name: "nested three deep, the outer one slow", Owner: "a", root: front(both(hop("a", 20, both(hop("b", 3, both(hop("c", 20))))).slower(10)))},
		{Name: "nested, then in a row", Owner: "c", root: front(inRow(hop("a", 3, both(hop("b", 20))), hop("c", 20).slower(10))...)},
		{Name: "side by side under a nested one", Owner: "c", root: front(both(hop("a", 3, both(hop("b", 20), hop("c", 20).slower(10)))))},
		{Name: "side by side, one of them calls", Owner: "c", root: front(both(hop("a", 3, both(hop("c", 20).slower(10))), hop("b", 20)))},
		{Name: "retried", Owner: "a", root: front(inRow(hop("a", 20).slower(10).cutAt(120, 1), hop("b", 20))...)},
		{Name: "retried below", Owner: "b", root: front(both(hop("a", 3, both(hop("b", 20).slower(10).cutAt(100, 1)))))},
		{Name: "cut callers whose callees run on", Owner: "b", root: front(both(hop("a", 3, both(hop("b", 20).slower(15))).cutAt(150, 0)))},
		{Name: "cut callers whose callees run on, retried", Owner: "b", root: front(both(hop("a", 3, both(hop("b", 20).slower(15))).cutAt(150, 1)))},
		{Name: "cut side by side", Owner: "b", root: front(both(hop("a", 20), hop("b", 20).slower(10).cutAt(150, 0)))},
		{Name: "an audit after the end", Owner: "a", root: front(both(hop("a", 20).slower(10)), both(later("audit", 60)))},
		{Name: "an audit beside the call", Owner: "a", root: front(both(hop("a", 20).slower(10), later("audit", 300)))},
		{Name: "an audit of the callee", Owner: "b", root: front(inRow(hop("a", 20, both(later("audit", 80))), hop("b", 20).slower(10))...)},
		{Name: "one name, two callers in a row, the callee slow", Owner: "db", root: front(inRow(hop("a", 5, both(hop("db", 20).slower(10))), hop("b", 5, both(hop("db", 20).slower(10))))...)},
		{Name: "one name, two callers in a row, one caller slow", Owner: "a", root: front(inRow(hop("a", 20, both(hop("db", 10))).slower(10), hop("b", 5, both(hop("db", 10))))...)},
		{Name: "one name, two callers side by side", Owner: "a", root: front(both(hop("a", 20, both(hop("db", 10))).slower(10), hop("b", 20, both(hop("db", 10)))))},
		{Name: "no root, in a row", Owner: "a", hidden: true, root: front(inRow(hop("a", 20).slower(10), hop("b", 20))...)},
		{Name: "no root, side by side", Owner: "b", hidden: true, root: front(both(hop("a", 20), hop("b", 20).slower(10)))},
		{Name: "no root, nested", Owner: "b", hidden: true, root: front(both(hop("a", 5, both(hop("b", 20).slower(10)))))},
		{Name: "no root, nested and in a row", Owner: "c", hidden: true, root: front(inRow(hop("a", 5, both(hop("b", 20))), hop("c", 20).slower(10))...)},
		{Name: "failures that are retried", Owner: "a", root: front(inRow(failing(hop("a", 20).slower(10), .1), hop("b", 20))...)},
		{Name: "a call in half of the requests", Owner: "a", root: front(inRow(hop("a", 20).slower(10), sometimes(hop("b", 20), .5))...)},
		{Name: "short calls below a long one", Owner: "a", root: front(both(hop("a", 50, inRow(hop("c", .3), hop("c", .3))...).slower(10)))},
	}
	return append(list, sideBySide()...)
}

// later is a call that nobody waits for.
func later(name string, work float64) call {
	c := hop(name, work)
	c.async = true
	return c
}

func failing(c call, share float64) call { c.fails, c.retries = share, 1; return c }

func sometimes(c call, share float64) call { c.share = share; return c }

// sideBySide are calls of like lengths made side by side that start up to 20 ms apart.
func sideBySide() (list []World) {
	for _, d := range []struct {
		name string
		ms   float64
	}{{"at once", 0}, {"up to 1 ms apart", 1}, {"up to 5 ms apart", 5}, {"up to 20 ms apart", 20}} {
		list = append(list,
			World{Name: "side by side, begun " + d.name, Owner: "b", root: front(both(hop("a", 30), hop("b", 30).slower(10).later(d.ms)))},
			World{Name: "three side by side, begun " + d.name, Owner: "c", root: front(both(hop("a", 30).later(d.ms), hop("b", 30).later(d.ms), hop("c", 30).slower(10)))},
		)
	}
	return list
}
