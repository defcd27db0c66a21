package spans

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestAFailureAtItsTimeoutOrBeyondItIsACut(t *testing.T) {
	const given, recorded = true, false
	for _, c := range []struct {
		name     string
		duration int64 // ms
		failure  Failure
		kind     Kind
		by       bool
		want     string
	}{
		{"at it", 1000, FailureUnknown, NoKind, given, "truncated own"},
		{"named, other", 1000, OtherFailure, NoKind, given, "truncated own"},
		{"0.1 % below", 999, FailureUnknown, NoKind, given, "truncated own"},
		{"below", 998, FailureUnknown, NoKind, given, "failed"},
		{"50 ms above", 1050, FailureUnknown, NoKind, given, "truncated own"},
		{"long above", 9051, FailureUnknown, NoKind, given, "truncated own"},
		{"of a kind", 1000, Reset, NoKind, given, "truncated own"},
		{"at the recorded one", 1000, FailureUnknown, Client, recorded, "truncated own"},
		{"above the recorded one", 1051, FailureUnknown, Client, recorded, "truncated own"},
		{"of a server at the one that is given", 1000, FailureUnknown, Server, given, "truncated own"},
		{"of a server at its caller's", 1000, FailureUnknown, Server, recorded, "truncated caller"},
	} {
		b := NewBuilder(checked(t), 0)
		row := Row{
			Hop:     b.SpanHop([]byte("h"), func() Hop { return Hop{Name: "h", Kind: c.kind} }),
			Outcome: Failed, Failure: c.failure, Duration: c.duration * ms, HasDuration: true, Marked: true,
		}
		timeouts := map[string]int64{"h": 1000 * ms}
		if c.by == recorded {
			timeouts, row.Timeout, row.HasTimeout = nil, 1000*ms, true
		}
		other := row
		other.Hop, other.Timeout, other.HasTimeout = b.Hop([]byte("other")), 0, false
		b.Append(&other)
		b.Append(&row)
		batch := b.Batch()
		NewWalls(timeouts, nil, false).CutFailed(batch)
		if got := endingOf(batch, 1); got != "failed" {
			t.Errorf("%s, where failures stay: %s", c.name, got)
		}
		NewWalls(timeouts, nil, true).CutFailed(batch)
		if got := endingOf(batch, 1); got != c.want || endingOf(batch, 0) != "failed" || (got == "failed") != (batch.Failure[1] != 0) {
			t.Errorf("%s: %s, of another hop %s", c.name, got, endingOf(batch, 0))
		}
		batch.Release()
		b.Release()
	}
}

func endingOf(b *Batch, i int) string {
	return strings.TrimSpace(fmt.Sprint(Outcome(b.Outcome[i]), " ", CutBy(b.CutBy[i])))
}

func TestSpansAsLongAsTheirTimeoutAreCutWhereNothingIsMarked(t *testing.T) {
	const recorded = Flags(HasTimeout)
	walls := NewWalls(map[string]int64{"given": 100}, nil, true)
	for _, c := range []struct {
		name string
		hop  Hop
		span Span
		want Outcome
	}{
		{"as long", Hop{Name: "given", Kind: Server}, Span{Duration: 100}, Truncated},
		{"shorter", Hop{Name: "given", Kind: Server}, Span{Duration: 99}, Completed},
		{"marked", Hop{Name: "given"}, Span{Duration: 100, Flags: OutcomeMarked}, Completed},
		{"failed", Hop{Name: "given"}, Span{Duration: 100, Outcome: Failed}, Failed},
		{"as long as the recorded one", Hop{Name: "h", Kind: Client}, Span{Duration: 50, Timeout: 50, Flags: recorded}, Truncated},
		{"the one that is given counts first", Hop{Name: "given", Kind: Client}, Span{Duration: 50, Timeout: 50, Flags: recorded}, Completed},
		{"a server goes on when its caller left", Hop{Name: "h", Kind: Server}, Span{Duration: 50, Timeout: 50, Flags: recorded}, Completed},
		{"without a timeout", Hop{Name: "h", Kind: Client}, Span{Duration: 50}, Completed},
	} {
		c.span.ID = 1
		c.span.Flags |= HasDuration
		tr := NewTrace(TraceID{0, 1}, []Span{c.span}, []Hop{c.hop}, nil)
		walls.CutUnmarked(tr)
		if s := tr.Spans[0]; s.Outcome != c.want || (s.Outcome == Truncated) != (s.CutBy == Own) {
			t.Errorf("%s: %v %v", c.name, s.Outcome, s.CutBy)
		}
	}
}

func TestTimeoutsOfAnyLengthDoNotOverflow(t *testing.T) {
	if !AtWall(math.MaxInt64, math.MaxInt64) || AtWall(-1, 0) {
		t.Error("the ends of what there is")
	}
}
