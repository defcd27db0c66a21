// Package gates decides whether what a run found passes: rules such as
// "p99(checkout) > 2s" are held against its figures. A figure that is known within
// limits only, as where a timeout hides a quantile, leaves a rule undecided.
package gates

import (
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/quantile"
)

// Rule is one --fail-on: a figure, of one hop or of each that there is, what it is
// compared with, and how.
type Rule struct {
	Text  string // as the user wrote it
	Name  string // "quantile" for p99 and its like
	P     quantile.P
	Hop   string // "" for each hop, or where the figure has none
	Limit Limit
	Unit  Unit // of the value

	operator string
	value    *big.Rat // attempts, a share of 1, or ns
}

// Limit says which end of a confidence interval is compared, if not the figure.
type Limit string

const (
	Itself Limit = ""
	Lower  Limit = "lower"
	Upper  Limit = "upper"
)

// Unit says what a value counts.
type Unit uint8

const (
	Number Unit = iota
	Share
	Nanoseconds
)

// figures are the names that rules may use, with the units that their values may have.
var figures = []struct {
	name  string
	byHop bool
	units []Unit
}{
	{"orphans", false, []Unit{Number}},
	{"orphans_doubtful", false, []Unit{Number}},
	{"overruns", false, []Unit{Number}},
	{"late_starts", false, []Unit{Number}},
	{"missing_parents", false, []Unit{Number}},
	{"inversions", false, []Unit{Number}},
	{"rejects", false, []Unit{Number}},
	{"timed_out", true, []Unit{Share, Number}},
	{"failed", true, []Unit{Share, Number}},
	{"retries", true, []Unit{Share, Number}},
	{"attempts", true, []Unit{Number}},
	{"wasted", true, []Unit{Nanoseconds}},
	{Quantile, true, []Unit{Nanoseconds}},
}

// Quantile is the name of all quantiles.
const Quantile = "quantile"

// Names returns the names that a rule may begin with.
func Names() (list []string) {
	for _, f := range figures[:len(figures)-1] {
		list = append(list, f.name)
	}
	return append(list, "p99")
}

// Parse reads NAME>VALUE, or NAME(HOP)>VALUE with a number, a share such as 1% or a
// duration such as 2s as the value. After the hop of a figure with limits may come .lower
// or .upper.
func Parse(text string) (Rule, error) {
	r := Rule{Text: text}
	at := operatorAt(text)
	if at < 0 {
		return r, fmt.Errorf("--fail-on %q: write NAME>VALUE or NAME(HOP)>VALUE, NAME one of %s", text, strings.Join(Names(), ", "))
	}
	rest := text[at:]
	value := strings.TrimLeft(rest, "<>=!")
	r.operator = rest[:len(rest)-len(value)]
	if comparisons[r.operator] == nil {
		return r, fmt.Errorf("--fail-on %q: compare by >, >=, <, <=, == or !=, not by %s", text, r.operator)
	}
	if err := r.name(strings.TrimSpace(text[:at])); err != nil {
		return r, err
	}
	return r, r.read(strings.TrimSpace(value))
}

// operatorAt finds the sign that compares: the last one, as names of hops may have some.
func operatorAt(text string) int {
	end := strings.LastIndexAny(text, "<>=!")
	if end < 0 {
		return -1
	}
	return len(strings.TrimRight(text[:end+1], "<>=!"))
}

// name reads NAME, NAME(HOP) or either with .lower or .upper behind it.
func (r *Rule) name(s string) error {
	for _, l := range [...]Limit{Lower, Upper} {
		if before, ok := strings.CutSuffix(s, "."+string(l)); ok {
			s, r.Limit = before, l
		}
	}
	if before, ok := strings.CutSuffix(s, ")"); ok {
		at := strings.IndexByte(s, '(')
		if at < 0 {
			return fmt.Errorf("--fail-on %q: a bracket is closed that nothing opened", r.Text)
		}
		s, r.Hop = strings.TrimSpace(s[:at]), strings.TrimSpace(before[at+1:])
		if r.Hop == "" {
			return fmt.Errorf("--fail-on %q: no hop stands between the brackets", r.Text)
		}
	}
	r.Name = s
	if p, err := quantile.ParseLabel(s); err == nil {
		r.Name, r.P = Quantile, p
	}
	return r.known()
}

// known checks the name, and what is beside it.
func (r *Rule) known() error {
	for _, f := range figures {
		switch {
		case f.name != r.Name:
			continue
		case r.Hop != "" && !f.byHop:
			return fmt.Errorf("--fail-on %q: %s is of the whole input, not of a hop", r.Text, r.Name)
		case r.Limit != Itself && r.Name != Quantile && r.Name != "timed_out":
			return fmt.Errorf("--fail-on %q: only quantiles and timed_out have limits", r.Text)
		}
		return nil
	}
	err := fmt.Errorf("--fail-on %q: %q is none of %s", r.Text, r.Name, strings.Join(Names(), ", "))
	if name := nearest.Name(r.Name, Names()); name != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, name)
	}
	return err
}

// read reads the value. A duration is exact to the nanosecond.
func (r *Rule) read(s string) error {
	var ok bool
	switch {
	case strings.HasSuffix(s, "%"):
		r.Unit = Share
		if r.value, ok = decimal(strings.TrimSpace(strings.TrimSuffix(s, "%"))); ok {
			r.value.Quo(r.value, big.NewRat(100, 1))
		}
	default:
		if r.value, ok = decimal(s); !ok {
			var d time.Duration
			var err error
			if d, err = time.ParseDuration(strings.ReplaceAll(s, " ", "")); err == nil && d >= 0 {
				r.Unit, r.value, ok = Nanoseconds, new(big.Rat).SetInt64(int64(d)), true
			}
		}
	}
	if !ok {
		return fmt.Errorf("--fail-on %q: %q is no number, share such as 1%% or duration such as 2s", r.Text, s)
	}
	return r.unitFits()
}

// decimal reads digits, with a point or without.
func decimal(s string) (*big.Rat, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" || len(s) > mostDigits {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// mostDigits is how long a number may be.
const mostDigits = 40

func (r *Rule) unitFits() error {
	for _, f := range figures {
		if f.name != r.Name {
			continue
		}
		for _, u := range f.units {
			if u == r.Unit {
				return nil
			}
		}
		return fmt.Errorf("--fail-on %q: compare it with %s", r.Text, examples[f.units[0]])
	}
	return nil
}

var examples = map[Unit]string{Number: "a number, such as 0", Share: "a share or a number, such as 1% or 20", Nanoseconds: "a duration, such as 2s or 300ms"}
