package buckets

import (
	"maps"
	"slices"

	"github.com/tailscope/tailscope/quantile"
)

// maxStrata is how many strata of one hop are still worth the name.
const maxStrata = 1000

// strata groups the first attempts of a hop, for Kaplan-Meier only. Beyond
// maxStrata it drops all of them: an id that was taken for a group must not fill
// the memory.
type strata struct {
	store   *quantile.Store
	byName  map[string]*stratum
	tooMany bool
}

// stratum has no samples of cuts but where they are censored.
type stratum struct {
	name string
	part
}

// of returns the stratum of that name, nil where there are too many.
func (s *strata) of(name string) *stratum {
	if one := s.byName[name]; one != nil || s.tooMany {
		return one
	}
	if len(s.byName) == maxStrata {
		s.drop()
		return nil
	}
	if s.byName == nil {
		s.byName = map[string]*stratum{}
	}
	one := &stratum{name: name, part: part{store: s.store}}
	s.byName[name] = one
	return one
}

func (s *strata) drop() { s.byName, s.tooMany = nil, true }

func (s *strata) merge(o *strata) {
	if o.tooMany {
		s.drop()
	}
	for name, from := range o.byName {
		into := s.of(name)
		if into == nil {
			return
		}
		into.merge(&from.part)
	}
}

// asked reports whether the run has strata.
func (s *strata) asked() bool { return s.tooMany || len(s.byName) > 0 }

// groups lists the strata by name.
func (s *strata) groups() []quantile.Stratum {
	var list []quantile.Stratum
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		one := s.byName[name]
		list = append(list, quantile.Stratum{Completed: one.done(), Cut: one.union(censoredAt)})
	}
	return list
}

// The readings of a part.

// union joins some of the samples.
func (p *part) union(of ...int) (u quantile.Union) {
	for _, i := range of {
		u = append(u, p.held(i))
	}
	return u
}

func (p *part) done() quantile.Union { return p.union(completions, doubtful, piledDone) }

func (p *part) ended() quantile.Union { return p.union(failures, spoken, piledFailed) }

func (p *part) truncated() quantile.Union { return p.union(knownCuts, ownCuts, otherCuts, byCall) }

func (p *part) all() quantile.Union {
	return p.union(knownCuts, ownCuts, otherCuts, byCall, completions, doubtful, piledDone, failures, spoken, piledFailed)
}

// observed is what is proved of the attempts, read from a clock of that step in ns.
func (p *part) observed(step int64) quantile.Observed {
	return quantile.Observed{
		Completed: p.union(completions), CutAt: p.union(censoredAt, byCallAt), CutSeen: p.union(ownCuts, otherCuts),
		Doubtful: p.union(doubtful, piledDone), DoubtfulFailures: p.union(spoken, piledFailed), Open: p.union(open), Failed: p.union(failures), Step: step,
	}
}

// clustered is the same as clusters know it: whether an attempt is in doubt is known only
// at the end.
func (p *part) clustered() quantile.Observed {
	return quantile.Observed{Completed: p.done(), CutAt: p.union(censoredAt), CutSeen: p.union(ownCuts, otherCuts, byCall, spoken, open)}
}
