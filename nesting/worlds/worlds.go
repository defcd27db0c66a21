// Package worlds makes up hop logs of which it is known what calls what and which hop
// owns the tail, to hold rules against that must find that out.
package worlds

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Line is an attempt as a hop log has it. Times are ns.
type Line struct {
	Chain           int
	Hop             string
	Start, Duration int64
	Cut, Failed     bool
	Caller          string // the hop that made the call, "" for none
}

// World is a kind of service: what it calls, and which hop is slow in one request of
// ten.
type World struct {
	Name string
	// Owner is the hop that owns the tail, by how the world is made.
	Owner string
	root  call
	// hidden: the hop with which requests begin writes no line.
	hidden bool
}

const ms = 1e6

// begun is when the worlds begin, in ns since the Unix epoch.
const begun = 1_790_000_000_000_000_000

// call is one that a hop makes, with what the hop called does.
type call struct {
	hop string
	// The hop works for a time of this median, in ms, spread by sigma, before it makes
	// its calls; in one request of ten by slow times that.
	work, sigma, slow float64
	stages            [][]call // calls of a stage are made side by side, and waited for
	after             float64  // ms of work after the last stage
	delay             float64  // up to this many ms after its stage begins, by chance
	timeout           float64  // ms after which its caller gives up
	fails             float64  // share that fails
	retries           int
	async             bool    // its caller does not wait for it
	share             float64 // of requests that make the call, 0 for all
}

// Form is how lines come to be written.
type Form struct {
	Name string
	// Step is the resolution of what is written, in ns.
	Step int64
	// AtEnd: the line is stamped at the end of the attempt, Late ms later at most.
	AtEnd bool
	Late  float64
	// Lost is the share of lines that are missing.
	Lost float64
	// Skew is by how many ms the clock of a hop may go wrong, either way.
	Skew float64
}

// Forms are those in which all logs are written here.
var Forms = []Form{
	{Name: "exact", Step: 1000},
	{Name: "whole ms", Step: ms},
	{Name: "5 % of lines lost", Step: 1000, Lost: .05},
	{Name: "stamped at the end", Step: 1000, AtEnd: true},
	{Name: "stamped at the end, up to 5 ms late", Step: 1000, AtEnd: true, Late: 5},
	{Name: "clocks 8 ms apart", Step: 1000, Skew: 4},
	{Name: "clocks 50 ms apart", Step: 1000, Skew: 25},
}

// Log writes the log of so many requests: the same for the same seed.
func (w *World) Log(requests int, f Form, seed uint64) []Line {
	s := &simulation{r: rand.New(rand.NewPCG(seed, 17)), form: f, clocks: map[string]float64{}}
	at := 0.0 // floats hold the ns of a few hours
	for i := range requests {
		at += float64(int64(s.r.ExpFloat64() * 300 * ms))
		s.chain = i
		from := len(s.lines)
		s.run(&w.root, at, s.r.Float64() < .1)
		if w.hidden {
			s.lines = s.lines[:len(s.lines)-1] // that of the root
		}
		s.lines = append(s.lines[:from], slices.DeleteFunc(s.lines[from:], func(l Line) bool { return l.Chain < 0 })...)
		slices.SortStableFunc(s.lines[from:], func(a, b Line) int { return cmp.Compare(a.Start+a.Duration, b.Start+b.Duration) })
	}
	return s.lines
}

type simulation struct {
	r      *rand.Rand
	form   Form
	clocks map[string]float64 // ms that a hop's clock is ahead
	chain  int
	lines  []Line
}

// run lets a hop work and make its calls, and returns when it has ended; it is written
// by whoever calls it. That of the root is.
func (s *simulation) run(c *call, at float64, slow bool) float64 {
	end := s.work(c, at, slow)
	s.write("", c.hop, at, end, false, false)
	return end
}

// work is what a hop does that is called, whether or not its caller goes on waiting.
func (s *simulation) work(c *call, at float64, slow bool) float64 {
	took := c.work * math.Exp(c.sigma*s.r.NormFloat64())
	if c.slow > 0 && slow {
		took *= c.slow
	}
	now := at + took*ms
	for _, stage := range c.stages {
		end := now
		for i := range stage {
			if one := &stage[i]; one.share == 0 || s.r.Float64() < one.share {
				begin := now + (.05+.1*s.r.Float64()+one.delay*s.r.Float64())*ms
				if until := s.try(c.hop, one, begin, slow); !one.async {
					end = max(end, until)
				}
			}
		}
		now = end + (.05+.1*s.r.Float64())*ms
	}
	return now + c.after*(.5+s.r.Float64())*ms
}

// try makes a call with its retries, and returns when its caller goes on.
func (s *simulation) try(caller string, c *call, at float64, slow bool) float64 {
	for attempt := 0; ; attempt++ {
		end := s.work(c, at, slow)
		cut := c.timeout > 0 && end-at > c.timeout*ms
		failed := !cut && s.r.Float64() < c.fails
		if cut {
			end = at + (c.timeout+.2*s.r.Float64())*ms
		}
		s.write(caller, c.hop, at, end, cut, failed)
		if !cut && !failed || attempt == c.retries {
			return end
		}
		at = end + (1+5*s.r.Float64())*ms
		slow = slow && s.r.Float64() < .5
	}
}

// write writes a line as the form has it.
func (s *simulation) write(caller, hop string, start, end float64, cut, failed bool) {
	f := &s.form
	if f.Lost > 0 && s.r.Float64() < f.Lost {
		s.lines = append(s.lines, Line{Chain: -1})
		return
	}
	if _, known := s.clocks[hop]; !known {
		s.clocks[hop] = f.Skew * float64(s.r.IntN(2)*2-1)
	}
	ahead := s.clocks[hop] * ms
	from, took := floor(start+ahead, f.Step), floor(end-start, f.Step)
	if f.AtEnd {
		from = floor(end+ahead+f.Late*s.r.Float64()*ms, f.Step) - took
	}
	s.lines = append(s.lines, Line{s.chain, hop, begun + from, took, cut, failed, caller})
}

func floor(ns float64, step int64) int64 { return int64(ns) / step * step }
