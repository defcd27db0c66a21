package field

import (
	"strings"
	"testing"

	"github.com/tailscope/tailscope/internal/moment"
)

func TestFieldFlagsAreRead(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Flag
	}{
		{"duration=took", Flag{Role: Duration, Key: "took", Unit: moment.NoUnitGiven}},
		{"duration=took:ms", Flag{Role: Duration, Key: "took", Unit: moment.Milliseconds}},
		{"duration=a.b.c:ns", Flag{Role: Duration, Key: "a.b.c", Unit: moment.Nanoseconds}},
		{"duration=a:b:us", Flag{Role: Duration, Key: "a:b", Unit: moment.Microseconds}},
		{"duration=a=b:s", Flag{Role: Duration, Key: "a=b", Unit: moment.Seconds}},
		{"duration=:ms", Flag{Role: Duration, Key: ":ms", Unit: moment.NoUnitGiven}},
		{"duration=took:hours", Flag{Role: Duration, Key: "took:hours", Unit: moment.NoUnitGiven}},
		{"trace=guid:x-request-id", Flag{Role: Trace, Key: "guid:x-request-id", Unit: moment.NoUnitGiven}},
		{"hop=svc:s", Flag{Role: Hop, Key: "svc:s", Unit: moment.NoUnitGiven}}, // a hop has no unit
		{"timeout=limit:s", Flag{Role: Timeout, Key: "limit", Unit: moment.Seconds}},
		{"truncated=cut", Flag{Role: TruncatedMark, Key: "cut", Unit: moment.NoUnitGiven}},
		{"time=ts:start", Flag{Role: Time, Key: "ts", Unit: moment.NoUnitGiven, Means: "start"}},
		{"time=ts:ms", Flag{Role: Time, Key: "ts", Unit: moment.Milliseconds}},
		{"time=ts:middle", Flag{Role: Time, Key: "ts:middle", Unit: moment.NoUnitGiven}},
		{"attempt=try:1", Flag{Role: Attempt, Key: "try", Unit: moment.NoUnitGiven, Means: "1"}},
		{"attempt=try:2", Flag{Role: Attempt, Key: "try:2", Unit: moment.NoUnitGiven}},
		{"hop=svc:start", Flag{Role: Hop, Key: "svc:start", Unit: moment.NoUnitGiven}},
		{"weight=adjusted", Flag{Role: WeightKey, Key: "adjusted", Unit: moment.NoUnitGiven}},
	} {
		got, err := ParseFlag(c.in)
		if err != nil {
			t.Error(err)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.in, got, c.want)
		}
	}
	const names = "NAME is one of trace, hop, duration, start, end, time, truncated, retry, attempt, timeout, error, span, parent, service, operation, kind, instance, success, caller, weight, or hop==NAME for a hop without a key"
	for _, in := range []string{"", "duration", "duration=", "=took", "spans=x", "Hop=x", "http_status=x"} {
		if _, err := ParseFlag(in); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("--field %q: %v", in, err)
		}
	}
}

func TestWhatAFieldMeansIsSaidOnce(t *testing.T) {
	add := func(flags ...string) (c Config, err error) {
		c.FirstAttempt = -1
		for _, s := range flags {
			f, fault := ParseFlag(s)
			if fault != nil {
				t.Fatal(fault)
			}
			if err = c.Add(f); err != nil {
				break
			}
		}
		return c, err
	}
	c, err := add("time=ts:start", "attempt=try:0", "weight=w", "time=other", "weight=w")
	if err != nil || c.TimeIs != "start" || c.FirstAttempt != 0 || c.WeightKey != "w" || len(c.Fields) != 3 || c.Names(WeightKey) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, flags := range [][]string{{"time=a:start", "time=b:end"}, {"attempt=a:0", "attempt=b:1"}, {"weight=a", "weight=b"}} {
		if _, err := add(flags...); err == nil || !strings.Contains(err.Error(), "elsewhere") {
			t.Errorf("%v: %v", flags, err)
		}
	}
}
