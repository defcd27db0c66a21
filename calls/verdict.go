package calls

import (
	"math"

	"github.com/tailscope/tailscope/quantile"
)

// Verdict is why the slow calls of a pair are slow.
type Verdict string

// The verdicts, in the order in which they are asked for.
const (
	// Unknown: the data do not tell; Figures.Reason says why.
	Unknown Verdict = "unknown"
	// SlowInstance: one instance of the callee works several times as long as the others,
	// and has most of the slow calls.
	SlowInstance Verdict = "slow_instance"
	// PoolFull: calls wait until another one gives up its place.
	PoolFull Verdict = "pool_full"
	// NetworkOrClock: the time is between the two spans, and nothing queues.
	NetworkOrClock Verdict = "network_or_clock"
	// SlowWork: the time is the callee's work.
	SlowWork Verdict = "slow_work"
	// CallerSide: the time is before the request was sent.
	CallerSide Verdict = "caller_side"
)

// Side is whose pool is full.
type Side string

// The sides: the workers of the callee, the connections of the caller, or one of the two.
const (
	CalleeSide Side = "callee"
	CallersOwn Side = "caller"
	EitherSide Side = "either"
)

// Scope is where hand-overs are seen.
type Scope string

// The scopes.
const (
	ScopeCallee   Scope = "callee"
	ScopeInstance Scope = "instance"
	ScopeCaller   Scope = "caller"
)

var scopeNames = [scopes]Scope{ScopeCallee, ScopeInstance, ScopeCaller}

// Why a verdict is unknown.
const (
	ReasonFewCalls   = "few_calls"
	ReasonFewSlow    = "few_slow_calls"
	ReasonNoServer   = "servers_missing"
	ReasonNoExcess   = "no_excess"
	ReasonSampled    = "sampled"
	ReasonTwoCauses  = "a_queue_and_another_cause"
	ReasonUndecided  = "undecided"
	ReasonQueueHides = "a_queue_may_hide"
)

// What a verdict needs.
const (
	leastCalls   = 100 // answered calls
	leastSlow    = 10
	leastUsual   = 20
	leastSeen    = 0.7  // share of the calls that have a server's span
	leastServed  = 20   // calls of an instance
	slowRatio    = 2.0  // of medians of work
	slowShare    = 0.6  // of the slow calls
	leastWaited  = 20   // calls
	strong       = 0.5  // strength of hand-overs
	weak         = 0.2  // below it there are none
	blind        = 0.5  // chance above which a scope tells nothing
	half         = 0.5  // of the excess
	quarter      = 0.25 // of the mean time
	together     = 0.3  // rank correlation of a call's gap and the next one's
	growing      = 0.5  // rank correlation of work and calls open
	nearScope    = 0.1  // an instance's strength may be so much below that of the callee
	calleeWithin = 0.5  // of the floor of gaps
	callerFrom   = 0.8
	eitherOver   = 0.3 // chance
	fullAt       = 0.7 // utilisation that leaves room
)

// strength is how much more often than by chance an end comes just before the begin of a
// call that waited.
type strength struct {
	value, share, chance float64
	size                 int // median of what is open just after a hand-over
}

// strengths of the hand-overs of a pair, of each scope at the width where it is largest.
func (s *study) strengths(p *pair, places []*place) (list [scopes]strength, waited uint64) {
	for scope := range scopes {
		for width := range widths {
			var hits, n uint64
			var chance float64
			for _, at := range places {
				if at.pair == p && at.waited > 0 {
					hits, n = hits+at.hits[scope][width], n+at.waited
					chance += float64(at.waited) * at.chance[scope][width]
				}
			}
			if waited = n; n < leastWaited {
				return list, n
			}
			one := strength{share: float64(hits) / float64(n), chance: chance / float64(n), size: p.after[scope][width].median()}
			if one.chance <= blind {
				one.value = (one.share - one.chance) / (1 - one.chance)
			}
			if best := &list[scope]; width == 0 || one.value > best.value || best.chance > blind {
				*best = one
			}
		}
	}
	return list, waited
}

// finding is what a pair turns out to be.
type finding struct {
	verdict  Verdict
	reason   string
	side     Side
	scope    int
	strength [scopes]strength
	waited   uint64
	best     float64
	follow   *following
	worst    *served // of the instances, by its median work
	worstOf  int32
	ratio    float64 // of its median work to that of the rest
	size     int
	behind   int64 // median from the last end of the callee to the begin of a waited call
}

// decide says why the slow calls of a pair are slow. The first rule that holds decides.
func (s *study) decide(p *pair, places []*place, seen float64) (f finding, err error) {
	f = finding{verdict: Unknown}
	if f.reason = s.against(p, seen); f.reason != "" {
		return f, nil
	}
	if s.worst(p, places, &f); f.worst != nil && f.ratio >= slowRatio && float64(f.worst.slow) >= slowShare*float64(p.slow.n) {
		f.verdict = SlowInstance
		return f, nil
	}
	f.strength, f.waited = s.strengths(p, places)
	for _, one := range f.strength {
		f.best = max(f.best, one.value)
	}
	gaps := p.excess.gap >= half*p.excess.all()
	if f.waited >= leastWaited && f.best >= strong && (gaps || p.waitShare() >= quarter) {
		return f, s.full(p, &f, gaps)
	}
	between := gaps || 2*s.median(p.gaps) > p.p50
	if between && f.best < weak && f.tells(p) {
		if err = s.network(p, &f); err != nil || f.verdict != Unknown {
			return f, err
		}
	}
	if p.excess.work >= half*p.excess.all() {
		f.verdict, f.reason = SlowWork, ""
	} else if f.reason == "" {
		f.reason = ReasonUndecided
	}
	return f, nil
}

// against says why nothing can be said, "" if it can.
func (s *study) against(p *pair, seen float64) string {
	switch {
	case s.query.Biased:
		return ReasonSampled
	case p.n < leastCalls:
		return ReasonFewCalls
	case seen < leastSeen:
		return ReasonNoServer
	case p.slow.n < leastSlow || p.usual.n < leastUsual:
		return ReasonFewSlow
	case p.excess.all() <= 0:
		return ReasonNoExcess
	}
	return ""
}

// waitShare is the part that gaps above the floor have in the mean time.
func (p *pair) waitShare() float64 {
	if t := quantile.Summarize(quantile.Union{p.times}, nil).Sum; t.Compare(quantile.Sum{}) > 0 {
		return mean(p.aboveFloor, p.n) / mean(t, p.n)
	}
	return 0
}

func (s *study) median(sample *quantile.Sample) int64 {
	if sample.N() == 0 {
		return 0
	}
	return quantile.Union{sample}.At((sample.N() + 1) / 2)[0]
}

// worst finds the instance with the longest median work, where there are several with
// enough calls.
func (s *study) worst(p *pair, places []*place, f *finding) {
	all := byInstance(p, places)
	if len(all) < 2 {
		return
	}
	var most int64
	for i := range all {
		if m := s.middle(all[i].work); f.worst == nil || m > most {
			f.worst, f.worstOf, most = &all[i].served, all[i].instance, m
		}
	}
	var others quantile.Union
	for i := range all {
		if all[i].instance != f.worstOf {
			others = append(others, all[i].work...)
		}
	}
	f.ratio = float64(most) / float64(max(1000, s.middle(others)))
}

func (s *study) middle(u quantile.Union) int64 { return u.At((u.N() + 1) / 2)[0] }

// instanceWork is what one instance worked for a pair.
type instanceWork struct {
	instance int32
	work     quantile.Union
	served
}

// byInstance lists the instances that had enough calls of a pair, by their numbers.
func byInstance(p *pair, places []*place) (list []instanceWork) {
	at := map[int32]int{}
	var all []instanceWork
	for _, one := range places {
		if one.pair != p {
			continue
		}
		k := one.placeKey.instance
		if _, known := at[k]; !known {
			at[k] = len(all)
			all = append(all, instanceWork{instance: k})
		}
		w := &all[at[k]]
		w.work = append(w.work, one.served.work)
		w.n, w.slow = w.n+one.served.n, w.slow+one.served.slow
	}
	for _, one := range all {
		if one.n >= leastServed {
			list = append(list, one)
		}
	}
	return list
}

// full decides that a pool is full, and whose, unless the slow calls wait for something
// else.
func (s *study) full(p *pair, f *finding, gaps bool) (err error) {
	top := ofInstance
	if f.strength[ofInstance].value < f.best-nearScope {
		for scope := range f.strength {
			if f.strength[scope].value > f.strength[top].value {
				top = scope
			}
		}
	}
	if f.follow, err = s.follow(p, top); err != nil {
		return err
	}
	if gaps && f.follow.slowBeside() < half {
		f.reason = ReasonTwoCauses
		return nil
	}
	f.verdict, f.scope = PoolFull, ofCallee
	if f.strength[ofInstance].value >= f.strength[ofCallee].value-nearScope {
		f.scope = ofInstance
	}
	if f.side = s.sideOf(p, f); f.side == CallersOwn {
		f.scope = ofCaller
	}
	f.size = f.strength[f.scope].size
	return nil
}

// slowBeside is the part of the slow calls' waiting that their neighbours share.
func (f *following) slowBeside() float64 {
	if f.waited.Compare(quantile.Sum{}) == 0 {
		return 0
	}
	return f.beside.Share(f.waited)
}

// sideOf says whose pool it is: after a hand-over in the callee a call begins at once,
// after one in the caller the answer and the next call are on their way in between.
func (s *study) sideOf(p *pair, f *finding) Side {
	f.behind = s.median(p.behind)
	floor := float64(p.floor)
	switch behind := float64(f.behind); {
	case f.strength[ofCallee].chance > eitherOver:
		return EitherSide
	case behind <= calleeWithin*floor:
		return CalleeSide
	case behind >= callerFrom*floor:
		return CallersOwn
	}
	return EitherSide
}

// tells reports whether the absence of hand-overs says that there are none.
func (f *finding) tells(p *pair) bool {
	if f.waited < leastWaited {
		return true
	}
	far := 2*p.floor > p.p50
	return f.strength[ofCallee].chance <= blind && (far || f.strength[ofCaller].chance <= blind)
}

// network decides that the time is on the way, unless gaps that follow each other go
// together, as in a queue whose other calls are not seen.
func (s *study) network(p *pair, f *finding) (err error) {
	if f.follow, err = s.follow(p, ofInstance); err != nil {
		return err
	}
	switch {
	case f.follow.next.correlation() >= together:
		f.reason = ReasonQueueHides
	case s.query.Sampled:
		f.reason = ReasonSampled
	default:
		f.verdict = NetworkOrClock
	}
	return nil
}

// workersFor is how many workers leave room: so many that a share of .7 of them is busy.
// 2.1 over .7 is a little more than 3 in binary fractions, and is 3.
func workersFor(load float64) int { return int(math.Ceil(load/fullAt - 1e-9)) }
