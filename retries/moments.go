package retries

import (
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// Units in which moments are counted, in ns since the Unix epoch. A sample counts
// whole microseconds best, so the number of a unit is kept as so many of them.
const (
	minute = 60e9
	moment = 5e6
	unit   = 1000
)

// minutes counts first attempts and retries by the minute in which they started.
type minutes struct {
	requests, retries     quantile.Sample
	allRequests, allAgain uint64 // also those without a start

	// Attempts of one minute often come one after the other.
	last  int64
	n     uint64
	again uint64
}

func (m *minutes) add(start int64, timed, retry bool) {
	if retry {
		m.allAgain++
	} else {
		m.allRequests++
	}
	if !timed || start < 0 {
		return
	}
	if at := start / minute; at != m.last {
		m.flush()
		m.last = at
	}
	if retry {
		m.again++
	} else {
		m.n++
	}
}

func (m *minutes) flush() {
	if m.n > 0 {
		m.requests.AddN(m.last*unit, m.n)
	}
	if m.again > 0 {
		m.retries.AddN(m.last*unit, m.again)
	}
	m.n, m.again = 0, 0
}

func (m *minutes) merge(o *minutes) {
	m.flush()
	o.flush()
	m.requests.Merge(&o.requests)
	m.retries.Merge(&o.retries)
	m.allRequests += o.allRequests
	m.allAgain += o.allAgain
}

// busy counts the minutes in which anything began, 0 where some attempt has no start.
func (m *minutes) busy() (n uint64) {
	m.flush()
	if m.requests.N() < m.allRequests || m.retries.N() < m.allAgain {
		return 0
	}
	seen := map[int64]bool{}
	for v := range m.requests.All() {
		seen[v] = true
	}
	for v := range m.retries.All() {
		seen[v] = true
	}
	return uint64(len(seen))
}

// worst returns the minute with the largest ratio of retries to first attempts
// among those with enough of both; of equal ones the first. A minute of retries
// alone counts as one with as many first attempts. There is none where some attempt
// has no start, nor where those with enough are below the mean.
func (m *minutes) worst() (at int64, retries, requests uint64) {
	m.flush()
	if m.requests.N() < m.allRequests || m.retries.N() < m.allAgain {
		return 0, 0, 0
	}
	again := map[int64]uint64{}
	for v, n := range m.retries.All() {
		again[v] = n
	}
	see := func(v int64, firsts, n uint64) {
		of := firsts
		if of == 0 {
			of = n
		}
		if firsts+n >= leastOfMinute && (requests == 0 || n*requests > retries*of || n*requests == retries*of && v/unit*minute < at) {
			at, retries, requests = v/unit*minute, n, of
		}
	}
	for v, n := range m.requests.All() {
		see(v, n, again[v])
		delete(again, v)
	}
	for v, n := range again {
		see(v, 0, n)
	}
	if retries*m.allRequests < m.allAgain*requests {
		return 0, 0, 0
	}
	return at, retries, requests
}

// addMoments notes when the retries of a trace or chain began, once a moment.
func (a *Accumulator) addMoments() {
	list := a.begun[:0]
	for i := range a.tries {
		if t := &a.tries[i]; t.Retry && t.Timed && t.Start >= 0 {
			list = append(list, t.Start/moment)
		}
	}
	slices.Sort(list)
	a.begun = list
	list = slices.Compact(list)
	for i, at := range list {
		a.moments.Add(at * unit)
		if i+1 < len(list) && list[i+1] == at+1 {
			a.twice.Add(at * unit)
		}
	}
}

// InStep says that retries of many traces began together.
type InStep struct {
	Traces uint64 // most of them in ten milliseconds
	At     int64  // ns since the Unix epoch
}

// inStep returns the moments at which retries of many traces began together: in
// ten milliseconds more than half of those of the second around them.
func (a *Accumulator) inStep() []InStep {
	var list []InStep // by the number of the moment
	for v, n := range a.moments.All() {
		list = append(list, InStep{n, v / unit})
	}
	twice := map[int64]uint64{} // traces in a moment and the next
	for v, n := range a.twice.All() {
		twice[v/unit] = n
	}
	var found []InStep
	lo, hi, around := 0, 0, uint64(0)
	for i, c := range list {
		for ; hi < len(list) && list[hi].At <= c.At+halfSecond; hi++ {
			around += list[hi].Traces
		}
		for ; list[lo].At < c.At-halfSecond; lo++ {
			around -= list[lo].Traces
		}
		n := c.Traces
		if i+1 < len(list) && list[i+1].At == c.At+1 {
			n += list[i+1].Traces - twice[c.At]
		}
		if n >= leastInStep && 2*n > around {
			found = appendStep(found, InStep{n, c.At * moment})
		}
	}
	return found
}

const halfSecond = 1e9 / moment / 2

// appendStep adds a moment, unless one within a second before it is the same
// pulse: then the one with more traces stays.
func appendStep(list []InStep, s InStep) []InStep {
	last := len(list) - 1
	if last < 0 || s.At-list[last].At > 1e9 {
		return append(list, s)
	}
	if s.Traces > list[last].Traces {
		list[last].Traces = s.Traces
	}
	return list
}

// period returns the time from one pulse to the next where all are about the same.
func period(pulses []InStep) (ns int64, regular bool) {
	if len(pulses) < leastPulses {
		return 0, false
	}
	var apart []int64
	for i := 1; i < len(pulses); i++ {
		apart = append(apart, pulses[i].At-pulses[i-1].At)
	}
	slices.Sort(apart)
	median := apart[(len(apart)-1)/2]
	return median, apart[0] >= median-median/5 && apart[len(apart)-1] <= median+median/5
}
