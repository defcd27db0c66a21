package moment

import "testing"

// What is read as a time of the date before is what the long way reads.
func FuzzTimesOfOneDateAgreeWithParseInstant(f *testing.F) {
	for _, clock := range []string{
		"T12:34:56Z", "T00:00:00.000000001Z", "T23:59:59.999999999Z", "T12:34:56.5Z", "T12:34:56.12345678Z", "T12:34:56.123456Z",
		"T12:34:56.1234567891Z", "T12:34:56.Z", "T12:34:56.1234567xZ", "T12:34:56.12345678xZ", "T24:00:00Z", "T12:34:56", "T12:34:56.5+01:00", " 12:34:56.25Z", "T12:34:56,25Z",
	} {
		f.Add(clock)
	}
	f.Fuzz(func(t *testing.T, clock string) {
		var d Day
		d.Remember([]byte("2024-02-29T01:02:03Z"), 1709168523e9)
		text := []byte("2024-02-29" + clock)
		got, ok := d.Instant(text)
		want, err := ParseInstant(text, NoUnitGiven)
		if ok && (err != nil || got != want.NS) {
			t.Errorf("%s: %d, want %d (error %v)", text, got, want.NS, err)
		}
	})
}

func TestTimesOfOneDateTakeTheFastPath(t *testing.T) {
	var d Day
	d.Remember([]byte("2024-02-29T01:02:03Z"), 1709168523e9)
	for clock, want := range map[string]int64{"00:00:00Z": 0, "00:00:01.5Z": 1.5e9, "00:01:00.12345678Z": 60.12345678e9, "01:00:00.000000001Z": 3600e9 + 1} {
		if got, ok := d.Instant([]byte("2024-02-29T" + clock)); !ok || got-1709164800e9 != want {
			t.Errorf("%s: %d, %v", clock, got-1709164800e9, ok)
		}
	}
}

// An epoch number that is read the short way is what the long way reads.
func FuzzEpochsAgreeWithParseInstant(f *testing.F) {
	for _, text := range []string{
		"1760000000", "1760000000.5", "1760000000.123456789", "1760000000.1234567891", "1760000000.", "1760000000123", "1760000000123.5", "1760000000123456",
		"1760000000123456789", "9223372036854775807", "9223372036854775808", "0760000000", "999999999", "17600000001", "-1760000000", "1760000000e3", "176000000x",
	} {
		for unit := NoUnitGiven; unit <= Seconds; unit++ {
			f.Add(text, int8(unit))
		}
	}
	f.Fuzz(func(t *testing.T, text string, unit int8) {
		u := Unit(unit)
		if u != NoUnitGiven && u != Nanoseconds && u != Microseconds && u != Milliseconds && u != Seconds {
			return
		}
		got, ok := FastEpoch([]byte(text), u)
		want, err := ParseInstant([]byte(text), u)
		if ok && (err != nil || got != want.NS) {
			t.Errorf("%s: %d, want %d (error %v)", text, got, want.NS, err)
		}
	})
}

func TestModernEpochsTakeTheFastPath(t *testing.T) {
	for text, want := range map[string]int64{
		"1760000000": 1760000000e9, "1760000000.25": 1760000000250e6, "1760000000123": 1760000000123e6,
		"1760000000123456": 1760000000123456e3, "1760000000123456789": 1760000000123456789,
	} {
		if got, ok := FastEpoch([]byte(text), NoUnitGiven); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
}
