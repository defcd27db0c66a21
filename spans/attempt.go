package spans

import "math"

// Attempt is an attempt of a chain or a call of a trace, placed among the others:
// those that a caller waits for, by their starts.
type Attempt struct {
	Start, Duration int64 // ns
	Hop             int32 // index into the hops that come with it
	Parent          int32 // index of the attempt in which it ran, -1 for none
	Outcome         Outcome
	Timed           bool // the start is known
	Retry           bool // the source says that it is one
}

// End returns start plus duration, at most the largest int64.
func (a *Attempt) End() int64 {
	if a.Duration > 0 && a.Start > math.MaxInt64-a.Duration {
		return math.MaxInt64
	}
	return a.Start + a.Duration
}

// GaveUp reports whether the attempt ended cut or failed.
func (a *Attempt) GaveUp() bool { return a.Outcome == Truncated || a.Outcome == Failed }
