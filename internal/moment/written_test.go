package moment

import (
	"errors"
	"testing"
	"time"
)

func TestDurationsAreReadAsPeopleAndRuntimesWriteThem(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit Unit
		ns   int64
	}{
		{"1,234", Milliseconds, 1234e6}, {"1,234,567.5", Microseconds, 1234567500}, {"1.234,5", Milliseconds, 1234.5e6},
		{"1'234.5", Milliseconds, 1234.5e6}, {"1_234", Milliseconds, 1234e6}, {"1 234", Milliseconds, 1234e6}, {"1\u202f234,5", Milliseconds, 1234.5e6},
		{"5,5", Milliseconds, 5.5e6}, {"0,123", Seconds, 123e6}, {"12,75 ms", NoUnitGiven, 12.75e6}, {"1,234 ms", NoUnitGiven, 1234e6}, {"1,234.5ms", NoUnitGiven, 1234.5e6},
		{"1.5 seconds", NoUnitGiven, 1.5e9}, {"12 msec", NoUnitGiven, 12e6}, {"1 min", NoUnitGiven, 60e9}, {"1 minute", NoUnitGiven, 60e9}, {"2 hrs", NoUnitGiven, 7200e9},
		{"250 Milliseconds", NoUnitGiven, 250e6}, {"3 usec", NoUnitGiven, 3e3}, {"1 day", NoUnitGiven, 86400e9}, {"1 hour, 2 minutes and 3 seconds", NoUnitGiven, 3723e9},
		{"12 MS", NoUnitGiven, 12e6}, {"1 min 30 sec", NoUnitGiven, 90e9},
		{"00:00:01.2345678", NoUnitGiven, 1234567800}, {"1.02:03:04.5", NoUnitGiven, 93784.5e9}, {"00:00:00", NoUnitGiven, 0}, {"36:00:00", Milliseconds, 129600e9},
		{"0:00:01.234567", NoUnitGiven, 1234567e3}, {"1 day, 0:00:01", NoUnitGiven, 86401e9}, {"2 days, 3:04:05.5", NoUnitGiven, 183845.5e9}, {"1:30.5", NoUnitGiven, 90.5e9},
		{"PT1.5S", NoUnitGiven, 1.5e9}, {"PT1,5S", NoUnitGiven, 1.5e9}, {"P1DT2H", NoUnitGiven, 93600e9}, {"P1D", NoUnitGiven, 86400e9}, {"P1W", NoUnitGiven, 604800e9},
	} {
		if got, err := ParseDuration([]byte(c.in), c.unit); err != nil || got.NS != c.ns {
			t.Errorf("%q: %d, %v; want %d", c.in, got.NS, err, c.ns)
		}
	}
}

func TestDurationsThatMayMeanTwoThingsAreUnreadOrTold(t *testing.T) {
	for in, want := range map[string]error{
		"1:30": ErrNotNumber, "P1M": ErrNotNumber, "P1Y2M": ErrNotNumber, "12 parsecs": ErrNotNumber, "1,23,456": ErrNotNumber, "00:61:00": ErrNotNumber, "00:00:60": ErrNotNumber,
		"-00:00:01": ErrNegative, "-1 day, 23:59:59.5": ErrNegative, "1::2": ErrNotNumber, "PT": ErrNotNumber, "P": ErrNotNumber, ":": ErrNotNumber, "1,": ErrNotNumber, "9999999999.00:00:00": ErrTooLarge,
	} {
		if got, err := ParseDuration([]byte(in), Milliseconds); !errors.Is(err, want) {
			t.Errorf("%q: %+v, %v; want %v", in, got, err, want)
		}
	}
	for in, grouped := range map[string]bool{"1,234": true, "1,234,567": false, "1,234.5": false, "5,5": false, "1'234": false} {
		if got, err := ParseDuration([]byte(in), Milliseconds); err != nil || got.Grouped != grouped {
			t.Errorf("%q: %+v, %v; grouped %v", in, got, err, grouped)
		}
	}
}

func TestDecimalCommasOfATableArePoints(t *testing.T) {
	for in, want := range map[string]string{"5,5": "5.5", "1,234": "1.234", "1.234,5": "1234.5", "1234,5": "1234.5", "7": "7", "1,234.5": "1,234.5", "5,5 ms": "5.5 ms", "a,b": "a,b", ",5": ",5"} {
		if got := Pointed([]byte(in)); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTimesAreReadAsLogsWriteThem(t *testing.T) {
	at := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC).UnixNano()
	for in, want := range map[string]Instant{
		"01/May/2024:10:00:00 +0000":                       {at, 9},
		"[01/May/2024:12:00:00 +0200]":                     {at, 9},
		"01/May/2024:10:00:00.123":                         {at + 123e6, 6},
		"2024-05-01 12:00:00.5 +0200 CEST":                 {at + 5e8, 8},
		"2024-05-01 10:00:00.000000001 +0000 UTC m=+0.123": {at + 1, 0},
		"2024/05/01 10:00:00":                              {at, 9},
		"2024/05/01 10:00:00.25":                           {at + 25e7, 7},
		"2024-05-01 10:00:00 UTC":                          {at, 9},
		"2024-05-01 12:00:00,5 CEST":                       {at + 5e8, 8},
		"2024-05-01T12:00:00+02:00[Europe/Berlin]":         {at, 9},
		"Wed, 01 May 2024 10:00:00 GMT":                    {at, 9},
		"Wed May  1 10:00:00 2024":                         {at, 9},
		"Wed May  1 06:00:00 EDT 2024":                     {at, 9},
		"Wed May 01 10:00:00.123456 2024":                  {at + 123456e3, 3},
		"20240501T100000Z":                                 {at, 9},
		"20240501T120000+0200":                             {at, 9},
		"20240501T100000.123Z":                             {at + 123e6, 6},
		"2024-05-01t10:00:00z":                             {at, 9},
	} {
		if got, err := ParseInstant([]byte(in), NoUnitGiven); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"05/01/2024 10:00:00", "2024-05-01 10:00:00 IST", "Wed Foo  1 10:00:00 2024", "2024-13-01 10:00:00 UTC", "yesterday at ten o'clock"} {
		if got, err := ParseInstant([]byte(in), NoUnitGiven); err == nil {
			t.Errorf("%q: %+v, want an error", in, got)
		}
	}
}

func FuzzWrittenDurationsNeverPanicAndAreNotNegative(f *testing.F) {
	for _, in := range []string{"1,234.5", "00:00:01.2345678", "1 day, 0:00:01", "P1DT2H", "1 hour, 2 minutes and 3 seconds", "-1 day, 23:59:59", "1\u202f234", ":", "1.", "9999999999999999999:00:00"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for unit := range []Unit{Nanoseconds, Milliseconds, NoUnitGiven} {
			if got, err := ParseDuration([]byte(in), Unit(unit)); err == nil && got.NS < 0 {
				t.Errorf("%q: %d", in, got.NS)
			}
		}
		_ = Pointed([]byte(in))
		_, _ = ParseInstant([]byte(in), NoUnitGiven)
	})
}
