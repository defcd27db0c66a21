// Package selection decides which lines of hop logs and which traces a run looks at:
// those whose keys have certain values, and those of a certain time.
package selection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailscope/tailscope/internal/moment"
)

// Most is how many conditions there may be.
const Most = 64

// Set is a set of conditions, by their numbers.
type Set uint64

// Has reports whether condition i is in the set.
func (s Set) Has(i int) bool { return s>>i&1 == 1 }

// Put takes condition i into the set, or out of it.
func (s *Set) Put(i int, in bool) {
	*s &^= 1 << i
	if in {
		*s |= 1 << i
	}
}

// Condition is one --where: what the value of a key must be, or must not be. A key that
// is not there has the value "".
type Condition struct {
	Text  string // as the user wrote it
	Key   string
	value string
	glob  bool
	not   bool // KEY!=VALUE
}

// ParseCondition reads KEY=VALUE, KEY!=VALUE or KEY~GLOB. The first of the signs ends the
// key.
func ParseCondition(s string) (Condition, error) {
	at := strings.IndexAny(s, "=~")
	c := Condition{Text: s}
	if at > 0 {
		c.Key, c.value, c.glob = s[:at], s[at+1:], s[at] == '~'
		c.Key, c.not = strings.CutSuffix(c.Key, "!")
	}
	if c.Key == "" {
		return c, fmt.Errorf("--where %q: write KEY=VALUE, KEY!=VALUE or KEY~GLOB", s)
	}
	return c, nil
}

// Met reports whether a value meets the condition.
func (c *Condition) Met(value []byte) bool {
	if c.glob {
		return Glob(c.value, string(value)) != c.not
	}
	return (string(value) == c.value) != c.not
}

// leavesOut reports whether the condition is about what is not wanted: one span that
// does not meet it leaves out its trace. KEY!= asks for any value, and so for a span.
func (c *Condition) leavesOut() bool { return c.not && c.value != "" }

// Selection is what a run looks at. The nil one is everything.
type Selection struct {
	Conditions     []Condition
	From, To       int64 // ns since 1970: attempts begun before From, or at To and later, are left out
	HasFrom, HasTo bool

	all, wanted, unwanted Set
	byKey                 map[string][]int // conditions, by the key in lower case
}

// New makes a selection of --where, --since and --until; nil where they leave nothing
// out. An offset such as -2h is one from now.
func New(where []string, since, until string, now time.Time) (s *Selection, err error) {
	s = &Selection{}
	for _, text := range where {
		c, err := ParseCondition(text)
		if err != nil {
			return nil, err
		}
		s.Conditions = append(s.Conditions, c)
	}
	if s.From, s.HasFrom, err = parseTime("--since", since, now); err != nil {
		return nil, err
	}
	if s.To, s.HasTo, err = parseTime("--until", until, now); err != nil {
		return nil, err
	}
	if s.HasFrom && s.HasTo && s.From >= s.To {
		return nil, fmt.Errorf("--since %s is not before --until %s: nothing lies between them", since, until)
	}
	return s.And(nil)
}

// And returns the selection with further conditions, nil where it selects everything.
func (s *Selection) And(more []Condition) (*Selection, error) {
	var both Selection
	if s != nil {
		both = *s
	}
	both.Conditions = slices.Concat(both.Conditions, more)
	if len(both.Conditions) > Most {
		return nil, fmt.Errorf("--where: %d conditions, at most %d", len(both.Conditions), Most)
	}
	both.index()
	if len(both.Conditions) == 0 && !both.Timed() {
		return nil, nil
	}
	return &both, nil
}

func (s *Selection) index() {
	s.all, s.wanted, s.unwanted, s.byKey = 0, 0, 0, map[string][]int{}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		key := strings.ToLower(c.Key)
		s.byKey[key] = append(s.byKey[key], i)
		s.all.Put(i, true)
		s.unwanted.Put(i, c.leavesOut())
	}
	s.wanted = s.all &^ s.unwanted
}

// parseTime reads a point in time: RFC 3339, a date, which is its midnight in UTC, any
// other form that logs have, or an offset from now.
func parseTime(flag, s string, now time.Time) (ns int64, given bool, err error) {
	if s == "" {
		return 0, false, nil
	}
	if ago, ok := strings.CutPrefix(s, "-"); ok {
		if length, err := moment.ParseDuration([]byte(ago), moment.NoUnitGiven); err == nil {
			return now.UnixNano() - length.NS, true, nil
		}
	} else if t, err := moment.ParseInstant([]byte(s), moment.NoUnitGiven); err == nil {
		return t.NS, true, nil
	} else if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.UnixNano(), true, nil
	}
	return 0, false, fmt.Errorf("%s %q: write a time such as 2026-05-01T10:00:00Z, a date such as 2026-05-01, or an offset from now such as -2h", flag, s)
}

// Of returns the conditions on a key, which is in lower case.
func (s *Selection) Of(key string) []int {
	if s == nil {
		return nil
	}
	return s.byKey[key]
}

// Timed reports whether times are selected.
func (s *Selection) Timed() bool { return s != nil && (s.HasFrom || s.HasTo) }

// Holds reports whether an attempt that begun then is within the time looked at.
func (s *Selection) Holds(start int64) bool {
	return (!s.HasFrom || start >= s.From) && (!s.HasTo || start < s.To)
}

// Values is what is known of the keys of one record. Of a key that comes twice the last
// value counts.
type Values struct{ Seen, Met Set }

// Note enters a value for some conditions.
func (v *Values) Note(s *Selection, conditions []int, value []byte) {
	for _, i := range conditions {
		v.Seen.Put(i, true)
		v.Met.Put(i, s.Conditions[i].Met(value))
	}
}

// Default enters a value for the conditions on a key that the record does not have.
func (v *Values) Default(s *Selection, key string, value []byte) {
	for _, i := range s.Of(key) {
		if len(value) > 0 && !v.Seen.Has(i) {
			v.Note(s, []int{i}, value)
		}
	}
}

// Or is v with what o knows where v does not.
func (v Values) Or(o Values) Values {
	return Values{v.Seen | o.Seen, v.Met | o.Met&^v.Seen}
}

// Missing are the conditions whose key no record has of which seen tells.
func (s *Selection) Missing(seen Set) (list []Condition) {
	if s == nil {
		return nil
	}
	for i, c := range s.Conditions {
		if !seen.Has(i) {
			list = append(list, c)
		}
	}
	return list
}

// Judge says of a record whether it meets all that is wanted, and whether it has what is
// not.
func (s *Selection) Judge(v Values) (wanted, unwanted bool) {
	for i := range s.Conditions {
		if !v.Seen.Has(i) {
			v.Met.Put(i, s.Conditions[i].Met(nil))
		}
	}
	return v.Met&s.wanted == s.wanted, v.Met&s.unwanted != s.unwanted
}
