package attribution

import (
	"strings"
	"testing"
)

func TestVerdictsAreSpokenOut(t *testing.T) {
	for verdict, want := range map[InstanceVerdict]string{
		SlowNode: "A slow node", PoolFull: "Calls queue", NetworkOrClock: "The time is on the way", SlowService: "A slow service", OneInstance: "Only one instance", TooFewTraces: "Too few tail traces",
	} {
		if got := instanceText(verdict); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", verdict, got)
		}
	}
}

func TestWhereFailuresSitIsSpokenOut(t *testing.T) {
	why := &Cause{Brief: "calls queue for b"}
	for _, c := range []struct {
		blame Blame
		want  string
	}{
		{Blame{Verdict: OneHop}, "at one hop, look for a slow node"},
		{Blame{Verdict: OneHop, Cause: why}, "at one hop: calls queue for b"},
		{Blame{Verdict: Spread}, "spread over hops, look at concurrency and queues"},
		{Blame{Verdict: Spread, Cause: why, First: "a"}, "spread over hops, most at a: calls queue for b"},
		{Blame{Verdict: TooFew, Cause: why}, "too few to tell whether one hop is to blame"},
	} {
		if got := placeText(&c.blame); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
