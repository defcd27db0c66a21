package selection

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// values makes what is known of a record with the keys.
func values(s *Selection, keys ...string) (v Values) {
	for _, kv := range keys {
		key, value, _ := strings.Cut(kv, "=")
		v.Note(s, s.Of(key), []byte(value))
	}
	return v
}

func TestConditionsAreMetByTheValuesOfARecord(t *testing.T) {
	for _, c := range []struct {
		where, record    string
		wanted, unwanted bool
	}{
		{"tenant=acme", "tenant=acme", true, false},
		{"tenant=acme", "tenant=acm", false, false},
		{"tenant=acme", "", false, false},
		{"tenant!=acme", "tenant=acme", true, true},
		{"tenant!=acme", "tenant=other", true, false},
		{"tenant!=acme", "", true, false},
		{"tenant~ac*", "tenant=acme", true, false},
		{"tenant~a?c", "tenant=abc", true, false},
		{"tenant~a?c", "tenant=abbc", false, false},
		{"tenant!~ac*", "tenant=acme", true, true},
		{"tenant=", "", true, false},
		{"tenant=", "tenant=", true, false},
		{"tenant=", "tenant=acme", false, false},
		{"tenant!=", "tenant=acme", true, false},
		{"tenant!=", "", false, false},
		{"url=a=b", "url=a=b", true, false},
		{"Tenant=acme", "tenant=acme", true, false},
	} {
		s, err := New([]string{c.where}, "", "", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		v := Values{}
		if c.record != "" {
			v = values(s, c.record)
		}
		if wanted, unwanted := s.Judge(v); wanted != c.wanted || unwanted != c.unwanted {
			t.Errorf("%s of {%s}: wanted %v, unwanted %v", c.where, c.record, wanted, unwanted)
		}
	}
}

func TestARecordMustMeetAllConditions(t *testing.T) {
	s, err := New([]string{"a=1", "b!=2"}, "", "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if wanted, unwanted := s.Judge(values(s, "a=1", "b=3")); !wanted || unwanted {
		t.Error("a=1 b=3 meets both")
	}
	if wanted, _ := s.Judge(values(s, "a=2", "b=3")); wanted {
		t.Error("a=2 is not wanted")
	}
	if _, unwanted := s.Judge(values(s, "a=1", "b=2")); !unwanted {
		t.Error("b=2 is unwanted")
	}
	if wanted, _ := s.Judge(values(s, "a=1", "a=2")); wanted {
		t.Error("of a key that comes twice the last counts")
	}
}

func TestTimesAreRead(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"2026-05-01T10:00:00Z":      now.Add(-2 * time.Hour),
		"2026-05-01T12:00:00+02:00": now.Add(-2 * time.Hour),
		"2026-05-01":                now.Add(-12 * time.Hour),
		"-2h":                       now.Add(-2 * time.Hour),
		"-1h30m":                    now.Add(-90 * time.Minute),
		"-90s":                      now.Add(-90 * time.Second),
		"1777629600":                now.Add(-2 * time.Hour),
	} {
		if s, err := New(nil, in, "", now); err != nil || s.From != want.UnixNano() {
			t.Errorf("--since %s: %v, %v; want %v", in, s, err, want)
		}
	}
	for _, in := range []string{"yesterday", "-2", "-", "2026", "2026-13-01", "2h"} {
		if s, err := New(nil, "", in, now); err == nil {
			t.Errorf("--until %s is read as %d", in, s.To)
		}
	}
}

func TestTheWindowHasItsFirstMomentAndNotItsLast(t *testing.T) {
	s, err := New(nil, "1777629600", "1777629601", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]bool{-1: false, 0: true, 999_999_999: true, 1_000_000_000: false} {
		if s.Holds(1777629600_000_000_000+at) != want {
			t.Errorf("at %d: %v", at, !want)
		}
	}
	if _, err := New(nil, "1777629601", "1777629600", time.Time{}); err == nil {
		t.Error("an empty window is taken")
	}
}

func TestWithoutConditionsThereIsNoSelection(t *testing.T) {
	if s, err := New(nil, "", "", time.Time{}); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	for _, in := range []string{"", "=x", "!=x", "~x", "key"} {
		if _, err := New([]string{in}, "", "", time.Time{}); err == nil {
			t.Errorf("--where %q is taken", in)
		}
	}
	if _, err := New(strings.Fields(strings.Repeat("a=1 ", Most+1)), "", "", time.Time{}); err == nil {
		t.Error("there is no room for as many")
	}
}

func TestGlobsMatchAsRegularExpressionsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*?]{0,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[ab]{0,10}`).Draw(t, "name")
		re := strings.NewReplacer("*", ".*", "?", ".").Replace(pattern)
		if want := regexp.MustCompile("^" + re + "$").MatchString(name); Glob(pattern, name) != want {
			t.Errorf("%q of %q: %v", pattern, name, !want)
		}
	})
}
