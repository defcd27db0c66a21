package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// findingError says that a --fail-on rule was hit.
type findingError struct{ error }

// figures are what --fail-on can name.
var figures = []struct {
	name string
	of   func(*results) (uint64, bool)
}{
	{"orphans", ofOrphans(func(r *results) uint64 { return r.orphans.Orphaned })},
	{"orphans_doubtful", ofOrphans(func(r *results) uint64 { return r.orphans.Doubtful })},
	{"overruns", ofOrphans(func(r *results) uint64 { return r.orphans.Overruns })},
	{"late_starts", ofOrphans(func(r *results) uint64 { return r.orphans.LateStarts })},
	{"missing_parents", ofOrphans(func(r *results) uint64 { return r.orphans.MissingParents })},
	{"inversions", ofOrphans(func(r *results) uint64 { return uint64(len(r.orphans.Inversions)) })},
	{"rejects", func(r *results) (uint64, bool) { return uint64(r.input.Rejected), true }},
}

// ofOrphans reads a figure that is not known where orphans are not checkable.
func ofOrphans(of func(*results) uint64) func(*results) (uint64, bool) {
	return func(r *results) (uint64, bool) {
		if r.orphans == nil || !r.orphans.Checkable {
			return 0, false
		}
		return of(r), true
	}
}

func ruleNames() string {
	names := make([]string, len(figures))
	for i, f := range figures {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

// failRule is one --fail-on: a figure, a comparison and a number.
type failRule struct {
	text  string
	of    func(*results) (uint64, bool)
	holds func(uint64) bool
}

func parseRule(s string) (failRule, error) {
	text := strings.ReplaceAll(s, " ", "")
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return failRule{}, fmt.Errorf("--fail-on %q: write NAME>NUMBER, NAME one of %s", s, ruleNames())
	}
	operator := strings.TrimRight(text[at:], "0123456789")
	number, err := strconv.ParseUint(text[at+len(operator):], 10, 64)
	holds := comparison(operator, number)
	if err != nil || holds == nil {
		return failRule{}, fmt.Errorf("--fail-on %q: after the name comes >, >=, <, <=, == or != and a whole number", s)
	}
	for _, f := range figures {
		if f.name == text[:at] {
			return failRule{s, f.of, holds}, nil
		}
	}
	return failRule{}, fmt.Errorf("--fail-on %q: NAME is one of %s", s, ruleNames())
}

func comparison(operator string, number uint64) func(uint64) bool {
	switch operator {
	case ">":
		return func(n uint64) bool { return n > number }
	case ">=":
		return func(n uint64) bool { return n >= number }
	case "<":
		return func(n uint64) bool { return n < number }
	case "<=":
		return func(n uint64) bool { return n <= number }
	case "==", "=":
		return func(n uint64) bool { return n == number }
	case "!=":
		return func(n uint64) bool { return n != number }
	}
	return nil
}

// findings says which rules hold. A rule whose figure is not known is a mistake
// of the command line, not a finding.
func (p *plan) findings(r *results) error {
	var hit []string
	for _, rule := range p.failOn {
		n, known := rule.of(r)
		switch {
		case !known:
			return usageError{fmt.Errorf("--fail-on %q: this input does not tell (%s)", rule.text, r.orphans.Reason)}
		case rule.holds(n):
			hit = append(hit, fmt.Sprintf("--fail-on %q: there are %d", rule.text, n))
		}
	}
	if hit == nil {
		return nil
	}
	return findingError{errors.New(strings.Join(hit, "; "))}
}

// limit is the most rejects that a run may have.
type limit struct {
	set     bool
	count   int64
	percent float64
	share   bool
}

func parseLimit(s string) (limit, error) {
	if s == "" {
		return limit{}, nil
	}
	if digits, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return limit{}, errors.New("a percentage such as 0.1%")
		}
		return limit{set: true, percent: v, share: true}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return limit{}, errors.New("a number such as 100, or a percentage such as 0.1%")
	}
	return limit{set: true, count: n}, nil
}

// exceeded reports whether n rejects in that many records are too many.
func (l limit) exceeded(n, records int64) bool {
	switch {
	case !l.set:
		return false
	case l.share:
		return float64(n)*100 > l.percent*float64(records)
	}
	return n > l.count
}
