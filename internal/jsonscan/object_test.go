package jsonscan

import (
	"strings"
	"testing"
)

// An object is read alike whatever came before it, and whether keys are compared
// or read.
func TestObjectsAreReadByTheirTable(t *testing.T) {
	for _, general := range []bool{false, true} {
		var s Scanner
		var got []string
		into := func(key string) func() error {
			return func() error {
				_, raw, err := s.Scalar()
				got = append(got, key+"="+string(raw))
				return err
			}
		}
		o := NewObject(&s, map[string]func() error{"a": into("a"), "bc": into("bc"), "aKeyThatIsLongerThanAPhrase": into("long")})
		o.General = general
		for range 3 {
			for in, want := range map[string]string{
				`{"a":1,"bc":"x","aKeyThatIsLongerThanAPhrase":true}`:                           "a=1 bc=x long=true",
				`{"a":1,"bc":"x","aKeyThatIsLongerThanAPhrase":true}` + strings.Repeat(" ", 99): "a=1 bc=x long=true",
				`{"a": 1 , "bc" :2,"z":[{"a":3}],"\u0061":4}`:                                   "a=1 bc=2 a=4",
				`{"bc":1,"a":2,"bc":3}`:                                                         "bc=1 a=2 bc=3",
				`{}`:                                                                            "",
			} {
				got = nil
				s.At([]byte(in))
				if err := o.Read(); err != nil || strings.Join(got, " ") != want || s.I != len(strings.TrimSpace(in)) {
					t.Errorf("%s: %v, %v, read to %d", in, got, err, s.I)
				}
			}
		}
		for _, in := range []string{``, `[]`, `{"a":1`, `{"a"1}`, `{"a":}`, `{"a":1,}`, `{"a":1 "bc":2}`} {
			s.At([]byte(in))
			if o.Read() == nil {
				t.Errorf("%s: no error", in)
			}
		}
	}
}

// TestKeysThatComeAgainAreCompared: one that never is changes nothing either.
func TestKeysThatComeAgainAreCompared(t *testing.T) {
	var s Scanner
	o := NewObject(&s, map[string]func() error{"a": s.Skip, "b": s.Skip})
	for range 2 {
		s.At([]byte(`{"a":1,"b":2}`))
		if err := o.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if o.first.next != o.members["a"] || o.members["a"].next != o.members["b"] {
		t.Error("nothing is remembered")
	}
}
