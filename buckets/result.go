package buckets

import (
	"github.com/tailscope/tailscope/internal/note"
	"github.com/tailscope/tailscope/quantile"
	"github.com/tailscope/tailscope/spans"
)

// Result is what is known of one hop. All durations are nanoseconds.
type Result struct {
	Hop                string
	Service, Operation string // empty where the input has only a hop name
	Kind               string // span kind; empty for hop logs

	Attempts, FirstAttempts, Retries uint64
	Unfinished                       uint64 // attempts without an end: in no bucket

	Completed Bucket
	Truncated Bucket
	Failed    Bucket
	Recorded  Bucket // all three mixed: what a tool that ignores the marks prints

	CutBy []CutCount     // of the truncated attempts, in the order of spans.CutBys, zeros included
	Kinds []FailureCount // of the failed attempts, those that occur, in the order of spans.Failures

	TruncatedShare Share   // of the first attempts that completed or were cut
	FailedShare    float64 // of all first attempts
	Walls          []Wall
	Confidence     quantile.P
	Tail           []Tail // one for each quantile asked for, in that order
	Warnings       []note.Warning
}

// Bucket describes the durations of the attempts that ended one way, all and
// split; a part without attempts has N 0. Quantiles stand in the order asked
// for.
type Bucket struct{ All, First, Retries quantile.Summary }

// CutCount is how many truncated attempts were cut by one cause.
type CutCount struct {
	By spans.CutBy
	N  uint64
}

// FailureCount is how many failed attempts failed in one way.
type FailureCount struct {
	Kind spans.Failure
	N    uint64
}

// Share is c of n with one-sided limits at the confidence of the result
// (Clopper and Pearson 1934). Of is 0 where there is nothing to divide by.
type Share struct {
	Count, Of           uint64
	Value, Lower, Upper float64
}

// WallSource says how a wall is known.
type WallSource string

// The sources of a wall.
const (
	Configured WallSource = "configured" // given with --timeout
	Recorded   WallSource = "recorded"   // a column of the input
	Inferred   WallSource = "inferred"   // own cuts that lie together
)

// Wall is a timeout that cuts a hop's attempts. Timeout is nil where it is only
// inferred to lie in [From, To]; else From and To equal it. Count is how many
// attempts it cut.
type Wall struct {
	Timeout  *int64
	Source   WallSource
	Count    uint64
	From, To int64
}

// Tail is one quantile of a hop's first attempts with what may be said of it.
type Tail struct {
	quantile.Tail
	KM     *int64 // Kaplan-Meier value where it differs from Value
	Reason string // empty where there is nothing to explain
}
