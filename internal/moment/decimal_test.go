package moment

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationsAreReadExactly(t *testing.T) {
	for _, c := range []struct {
		in         string
		unit       Unit
		ns         int64
		rounded    bool
		resolution uint8
	}{
		{in: "0", unit: Seconds, resolution: 9},
		{in: "123456789", unit: Milliseconds, ns: 123456789e6, resolution: 6},
		{in: "1234567890", unit: Microseconds, ns: 1234567890e3, resolution: 3},
		{in: "1500250", unit: Nanoseconds, ns: 1500250},
		{in: "1.50025", unit: Milliseconds, ns: 1500250, resolution: 1},
		{in: "0.00150025", unit: Seconds, ns: 1500250, resolution: 1},
		{in: "5.0", unit: Milliseconds, ns: 5e6, resolution: 5},
		{in: "5.", unit: Milliseconds, ns: 5e6, resolution: 6},
		{in: ".5", unit: Milliseconds, ns: 5e5, resolution: 5},
		{in: "+5", unit: Milliseconds, ns: 5e6, resolution: 6},
		{in: " 5 ", unit: Milliseconds, ns: 5e6, resolution: 6},
		{in: "-0", unit: Milliseconds, resolution: 6},
		{in: "-0.0ms", unit: NoUnitGiven, resolution: 5},
		{in: "1.485e15", unit: Nanoseconds, ns: 1485e12},
		{in: "1.485E+3", unit: Microseconds, ns: 1485e3, resolution: 3},
		{in: "5e-3", unit: Seconds, ns: 5e6, resolution: 6},
		{in: "9223372036854775807", unit: Nanoseconds, ns: math.MaxInt64},
		{in: "9223372036.854775807", unit: Seconds, ns: math.MaxInt64},
		{in: "0.0000000004", unit: Seconds, rounded: true},
		{in: "0.0000000005", unit: Seconds, ns: 1, rounded: true},
		{in: "0.00000000149999999999999999999999", unit: Seconds, ns: 1, rounded: true},
		{in: "1844674407370955161.9", unit: Nanoseconds, ns: 1844674407370955162, rounded: true},
		{in: "1844674407370955161.4", unit: Nanoseconds, ns: 1844674407370955161, rounded: true},
		{in: "0.1e-30", unit: Seconds, rounded: true},
		{in: "1.50025ms", unit: NoUnitGiven, ns: 1500250, resolution: 1},
		{in: "1.50025ms", unit: Seconds, ns: 1500250, resolution: 1}, // its own unit counts
		{in: "1m30.5s", unit: NoUnitGiven, ns: 90.5e9, resolution: 8},
		{in: "1h2m3s", unit: NoUnitGiven, ns: 3723e9, resolution: 9},
		{in: "1h 2m", unit: NoUnitGiven, ns: 3720e9, resolution: 9},
		{in: "PT3.764059S", unit: NoUnitGiven, ns: 3764059e3, resolution: 3},
		{in: "pt1h1m1s", unit: NoUnitGiven, ns: 3661e9, resolution: 9},
		{in: "PT1H2M3.5S", unit: NoUnitGiven, ns: 3723.5e9, resolution: 8},
		{in: "-PT0S", unit: NoUnitGiven, resolution: 9},
		{in: "295us", unit: NoUnitGiven, ns: 295e3, resolution: 3},
		{in: "295\u00b5s", unit: NoUnitGiven, ns: 295e3, resolution: 3},
		{in: "295\u03bcs", unit: NoUnitGiven, ns: 295e3, resolution: 3},
		{in: "295 \u00b5s", unit: NoUnitGiven, ns: 295e3, resolution: 3},
		{in: "7ns", unit: NoUnitGiven, ns: 7},
		{in: "1e3ms", unit: NoUnitGiven, ns: 1e9, resolution: 6},
		{in: "1.2345678901234567890m", unit: NoUnitGiven, ns: 74074073407, rounded: true},
		{in: "0.00000000000000000000001h", unit: NoUnitGiven, rounded: true},
	} {
		got, err := ParseDuration([]byte(c.in), c.unit)
		want := Length{NS: c.ns, Rounded: c.rounded, Resolution: c.resolution, Own: strings.ContainsAny(strings.ToLower(c.in), "smh")}
		if err != nil || got != want {
			t.Errorf("%q in %s: %+v, %v; want %+v", c.in, c.unit, got, err, want)
		}
	}
}

func TestDurationsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit Unit
		want error
	}{
		{"5", NoUnitGiven, ErrNoUnit},
		{"5.5", NoUnitGiven, ErrNoUnit},
		{"-5", NoUnitGiven, ErrNoUnit},
		{"-5", Milliseconds, ErrNegative},
		{"-0.0000000001", Nanoseconds, ErrNegative},
		{"-5ms", NoUnitGiven, ErrNegative},
		{"PT-3S", NoUnitGiven, ErrNegative}, // java.time prints it so
		{"-PT3S", NoUnitGiven, ErrNegative},
		{"-0m35.5s", NoUnitGiven, ErrNegative}, // the sign is that of all
		{"18446744073709551615.5ns", NoUnitGiven, ErrTooLarge},
		{"18446744073709550616", Microseconds, ErrNegative}, // jaeger#8165
		{"18446744073709551615", Nanoseconds, ErrNegative},
		{"18446744073709551610", Nanoseconds, ErrNegative},
		{"9223372036854775808", Nanoseconds, ErrTooLarge},
		{"18446744073709551616", Nanoseconds, ErrTooLarge},
		{"9223372036854775807", Microseconds, ErrTooLarge},
		{"9223372036.854775808", Seconds, ErrTooLarge},
		{"9223372036854775807.5", Nanoseconds, ErrTooLarge},
		{"1e19", Nanoseconds, ErrTooLarge},
		{"1e999999999999", Nanoseconds, ErrTooLarge},
		{"9223372036854775807s", NoUnitGiven, ErrTooLarge},
		{"2562048h", NoUnitGiven, ErrTooLarge},
		{"9223372036s1s", NoUnitGiven, ErrTooLarge},
		{"NaN", Milliseconds, errInfinite},
		{"+Inf", Milliseconds, errInfinite},
		{"-inf", Milliseconds, errInfinite},
		{"Infinity", Milliseconds, errInfinite},
		{"!ERROR:json: unsupported value: NaN", Milliseconds, ErrNotNumber},
		{"", Milliseconds, ErrNotNumber}, {" ", Milliseconds, ErrNotNumber},
		{"-", Milliseconds, ErrNotNumber}, {".", Milliseconds, ErrNotNumber}, {"e5", Milliseconds, ErrNotNumber},
		{"5 parsecs", Milliseconds, ErrNotNumber}, {"-5 parsecs", Milliseconds, ErrNotNumber}, {"5e", Milliseconds, ErrNotNumber},
		{"1m30", Milliseconds, ErrNotNumber}, {"1..5ms", Milliseconds, ErrNotNumber}, {"5ms!", Milliseconds, ErrNotNumber},
		{"PT", Milliseconds, ErrNotNumber}, {"PTS", Milliseconds, ErrNotNumber}, {"P1M", Milliseconds, ErrNotNumber},
		{"-P", Milliseconds, ErrNotNumber}, {"-P1M", Milliseconds, ErrNotNumber}, {"true", Milliseconds, ErrNotNumber},
		{"0x10", Milliseconds, ErrNotNumber}, {"1,5,5", Milliseconds, ErrNotNumber}, {"5MSS", Milliseconds, ErrNotNumber},
		{"12345678a", Milliseconds, ErrNotNumber}, {"5\x00", Milliseconds, ErrNotNumber},
	} {
		if got, err := ParseDuration([]byte(c.in), c.unit); !errors.Is(err, c.want) {
			t.Errorf("%q in %s: %+v, error %v; want %v", c.in, c.unit, got, err, c.want)
		}
	}
}

func TestUnitsHaveNames(t *testing.T) {
	for _, name := range []string{"ns", "us", "ms", "s"} {
		if u, ok := ParseUnit(name); !ok || u.String() != name {
			t.Errorf("%s: %v, %v", name, u, ok)
		}
	}
	if u, ok := ParseUnit("m"); ok || u.String() != "" {
		t.Errorf("m is a unit")
	}
}

func TestMomentsAreRead(t *testing.T) {
	at := func(s string) int64 {
		m, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return m.UnixNano()
	}
	for _, c := range []struct {
		in   string
		unit Unit
		want Instant
	}{
		{"2024-02-29T12:34:56Z", NoUnitGiven, Instant{at("2024-02-29T12:34:56Z"), 9}},
		{"2024-02-29T12:34:56.123456789Z", NoUnitGiven, Instant{at("2024-02-29T12:34:56.123456789Z"), 0}},
		{"2024-02-29T12:34:56.1234567891Z", NoUnitGiven, Instant{at("2024-02-29T12:34:56.123456789Z"), 0}},
		{"2024-02-29T12:34:56.5+02:00", NoUnitGiven, Instant{at("2024-02-29T10:34:56.5Z"), 8}},
		{"2024-02-29T12:34:56,5-0330", NoUnitGiven, Instant{at("2024-02-29T16:04:56.5Z"), 8}},
		{"2024-02-29 12:34:56.789", NoUnitGiven, Instant{at("2024-02-29T12:34:56.789Z"), 6}},
		{" 2024-02-29T12:34:56 ", NoUnitGiven, Instant{at("2024-02-29T12:34:56Z"), 9}},
		{"1970-01-01T00:00:00Z", NoUnitGiven, Instant{0, 9}},
		{"1700000000", NoUnitGiven, Instant{1700000000e9, 9}},
		{"1700000000.25", NoUnitGiven, Instant{1700000000.25e9, 7}},
		{"1700000000123", NoUnitGiven, Instant{1700000000123e6, 6}},
		{"1700000000123456", NoUnitGiven, Instant{1700000000123456e3, 3}},
		{"1700000000123456789", NoUnitGiven, Instant{1700000000123456789, 0}},
		{"5", Seconds, Instant{5e9, 9}},
		{"-5", Milliseconds, Instant{-5e6, 6}},
		{"1e3", Microseconds, Instant{1e6, 3}},
	} {
		if got, err := ParseInstant([]byte(c.in), c.unit); err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
}

func TestMomentsThatAreNone(t *testing.T) {
	for in, want := range map[string]error{
		"5": ErrNoUnit, "-1700000000": ErrNoUnit, "99999999999": ErrNoUnit, "1e30": ErrNoUnit, "170000000012345": ErrNoUnit, "17000000001234567": ErrNoUnit,
		"": errNotTime, "soon": errNotTime, "2024-02-30T00:00:00Z": errNotTime, "2024-13-01T00:00:00Z": errNotTime, "2024-00-01T00:00:00Z": errNotTime,
		"2024-01-00T00:00:00Z": errNotTime, "2024-01-01T24:00:00Z": errNotTime, "2024-01-01T00:60:00Z": errNotTime, "2024-01-01T00:00:60Z": errNotTime,
		"2024-01-01T00:00:00.Z": errNotTime, "2024-01-01T00:00:00+2": errNotTime, "2024-01-01T00:00:00+02:60": errNotTime, "2024-01-01T00:00:00Zx": errNotTime,
		"2024-01-01": errNotTime, "2024-01-01T00:00": errNotTime, "2024/01/01T00:00Z": errNotTime, "1600-01-01T00:00:00Z": ErrOutside,
		"2262-01-01T00:00:00Z": ErrOutside, "2O24-01-01T00:00:00Z": errNotTime, "2024-01-01T00:00:00 XYZ": errNotTime,
	} {
		if got, err := ParseInstant([]byte(in), NoUnitGiven); !errors.Is(err, want) {
			t.Errorf("%q: %+v, error %v; want %v", in, got, err, want)
		}
	}
	if _, err := ParseInstant([]byte("9223372036854775807"), Seconds); !errors.Is(err, ErrOutside) {
		t.Errorf("a moment beyond the calendar: error %v", err)
	}
}

// clockTexts are what time.Parse reads of the same shapes.
var clockTexts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
}

func FuzzClockAgreesWithTimeParse(f *testing.F) {
	for _, s := range []string{"2024-02-29T12:34:56.123Z", "1999-12-31 23:59:59+05:30", "2024-02-29T12:34:56,5-0330", "2023-02-29T00:00:00Z", "0000-00-00T00:00:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseClock([]byte(s))
		if err != nil {
			if want, ok := strictTime(s); ok {
				t.Errorf("%q is %v, but not read", s, want)
			}
			return
		}
		upper := strings.ToUpper(s) // RFC 3339 allows t and z as well
		for _, layout := range clockTexts {
			if want, err := time.Parse(layout, upper); err == nil && want.UnixNano() == got.NS {
				return
			}
		}
		t.Errorf("%q: %v, and time.Parse does not agree", s, time.Unix(0, got.NS).UTC())
	})
}

// strictTime reads RFC 3339 to the letter; Go lets hours of one digit pass.
func strictTime(s string) (time.Time, bool) {
	var want time.Time
	err := want.UnmarshalText([]byte(s))
	return want, err == nil && s[13] == ':' && want.Year() >= 1678 && want.Year() <= 2261
}

// bigDecimal reads a decimal with math/big; ok is false for what math/big takes
// and JSON-like numbers are not.
func bigDecimal(s string) (*big.Rat, bool) {
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
		return nil, false // math/big would fill the memory
	}
	return new(big.Rat).SetString(s)
}

func FuzzDecimalAgreesWithBig(f *testing.F) {
	for _, s := range []string{"1", "1.50025", "-0.0", "1.485e15", "18446744073709551615", "1844674407370955161.5", "0.0000000005", "9223372036854775807.4999999999999999999999", "9999999999999999999999e-13", "+.5", "5.", "00012"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(2))
	}
	units := []Unit{Nanoseconds, Microseconds, Milliseconds, Seconds}
	f.Fuzz(func(t *testing.T, s string, u uint8) {
		unit := units[u%4]
		want, ok := bigDecimal(s)
		d, err := ParseDecimal([]byte(s))
		if long := strings.IndexAny(s, "eE"); err == nil && !ok && (long < 0 || len(s)-long <= 5) {
			t.Fatalf("%q is read as %+v, but is no number", s, d)
		}
		if !ok {
			return
		}
		if err != nil {
			if strings.ContainsAny(s, "0123456789") && !strings.HasSuffix(strings.ToLower(s), "e") {
				t.Fatalf("%q is a number, but not read: %v", s, err)
			}
			return
		}
		agreeOn(t, s, d, unit, want)
	})
}

func agreeOn(t *testing.T, s string, d Decimal, unit Unit, value *big.Rat) {
	want, exact := roundHalfUp(value, unit)
	ns, isExact, err := d.Nanoseconds(int(unit))
	switch {
	case value.Sign() < 0:
		if err != ErrNegative {
			t.Errorf("%q: error %v, want negative", s, err)
		}
	case !want.IsInt64():
		if err != ErrTooLarge {
			t.Errorf("%q %s: %d, %v, want too large", s, unit, ns, err)
		}
	case err != nil || ns != want.Int64() || isExact != exact:
		t.Errorf("%q %s: %d, exact %v, %v; want %v, exact %v", s, unit, ns, isExact, err, want, exact)
	}
	got, err := ParseDuration([]byte(s), unit)
	if valid := value.Sign() >= 0 && want.IsInt64(); valid != (err == nil) || valid && got.NS != want.Int64() {
		t.Errorf("%q %s: parseDuration says %+v, %v; want %v", s, unit, got, err, want)
	}
}

func roundHalfUp(v *big.Rat, unit Unit) (ns *big.Int, exact bool) {
	scaled := new(big.Rat).Mul(v, new(big.Rat).SetInt64(int64(Pow10[unit])))
	num := new(big.Int).Mul(scaled.Num(), big.NewInt(2))
	num.Add(num, scaled.Denom())
	ns = new(big.Int).Div(num, new(big.Int).Mul(scaled.Denom(), big.NewInt(2)))
	return ns, scaled.IsInt()
}

func FuzzUnitsAgreeWithGo(f *testing.F) {
	f.Add("1m30.5s")
	f.Add("1.2345678901234567890m")
	f.Add("PT1H2M3.5S")
	f.Add("295\u00b5s")
	f.Add("2562047h47m16.854775807s")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseDuration([]byte(s), NoUnitGiven)
		if err != nil {
			if d, goErr := time.ParseDuration(s); goErr == nil && d >= 0 && s != "0" && s != "+0" && s != "-0" {
				t.Errorf("%q is %v in Go, but: %v", s, d, err)
			}
			return
		}
		if got.NS < 0 {
			t.Errorf("%q: %d", s, got.NS)
		}
		// Go drops what is finer than a nanosecond, part by part.
		if d, goErr := time.ParseDuration(s); goErr == nil && (int64(d) > got.NS || int64(d) < got.NS-int64(len(s))) {
			t.Errorf("%q: %d, in Go %d", s, got.NS, int64(d))
		}
	})
}

// What Go prints is read back to the nanosecond.
func TestGoDurationsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Min(0).Draw(t, "d"))
		got, err := ParseDuration([]byte(d.String()), NoUnitGiven)
		if err != nil || got.NS != int64(d) || got.Rounded {
			t.Fatalf("%v: %+v, %v", d, got, err)
		}
	})
}

func TestParsingDoesNotAllocate(t *testing.T) {
	inputs := [][]byte{[]byte("12.5"), []byte("1m30.5s"), []byte("PT3.5S"), []byte("295µs")}
	clock := []byte("2024-02-29 12:34:56.789+02:00")
	if n := testing.AllocsPerRun(100, func() {
		for _, in := range inputs {
			ParseDuration(in, Milliseconds)
		}
		ParseInstant(clock, NoUnitGiven)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLongNumbersAreReadToTheirEnd(t *testing.T) {
	zeros := bytes.Repeat([]byte("0"), 30000)
	in := append(append([]byte("0."), zeros...), "1e30001"...)
	if got, err := ParseDuration(in, Seconds); err != nil || got.NS != 1e9 {
		t.Errorf("1 s in 30 000 digits: %+v, %v", got, err)
	}
}
