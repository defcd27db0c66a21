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
	} {
		got, err := ParseFlag(c.in)
		if err != nil {
			t.Error(err)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.in, got, c.want)
		}
	}
	const names = "NAME is one of trace, hop, duration, start, end, time, truncated, retry, attempt, timeout, error, span, parent, service, operation, kind, instance, success, caller, or hop==NAME for a hop without a key"
	for _, in := range []string{"", "duration", "duration=", "=took", "spans=x", "Hop=x", "http_status=x"} {
		if _, err := ParseFlag(in); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("--field %q: %v", in, err)
		}
	}
}
