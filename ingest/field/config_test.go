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
		{"duration=took", Flag{Duration, "took", moment.NoUnitGiven}},
		{"duration=took:ms", Flag{Duration, "took", moment.Milliseconds}},
		{"duration=a.b.c:ns", Flag{Duration, "a.b.c", moment.Nanoseconds}},
		{"duration=a:b:us", Flag{Duration, "a:b", moment.Microseconds}},
		{"duration=a=b:s", Flag{Duration, "a=b", moment.Seconds}},
		{"duration=:ms", Flag{Duration, ":ms", moment.NoUnitGiven}},
		{"duration=took:hours", Flag{Duration, "took:hours", moment.NoUnitGiven}},
		{"trace=guid:x-request-id", Flag{Trace, "guid:x-request-id", moment.NoUnitGiven}},
		{"hop=svc:s", Flag{Hop, "svc:s", moment.NoUnitGiven}}, // a hop has no unit
		{"timeout=limit:s", Flag{Timeout, "limit", moment.Seconds}},
		{"truncated=cut", Flag{TruncatedMark, "cut", moment.NoUnitGiven}},
	} {
		got, err := ParseFlag(c.in)
		if err != nil {
			t.Error(err)
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.in, got, c.want)
		}
	}
	const names = "NAME is one of trace, hop, duration, start, end, time, truncated, retry, attempt, timeout, error, span, parent, service, operation, kind, instance, success"
	for _, in := range []string{"", "duration", "duration=", "=took", "spans=x", "Hop=x", "http_status=x"} {
		if _, err := ParseFlag(in); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("--field %q: %v", in, err)
		}
	}
}
