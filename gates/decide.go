package gates

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Figure is what a run found: between Low and High, which are nil where nothing bounds it
// and the same where it is known.
type Figure struct {
	Hop       string // "" of the whole input
	Low, High *big.Rat
	Said      string // the figure for people, such as "at least 2.01 s"
}

// Exactly is a figure that is known.
func Exactly(n int64) Figure {
	v := new(big.Rat).SetInt64(n)
	return Figure{Low: v, High: v}
}

// ShareOf is a share that is known; of nothing it is not.
func ShareOf(n, of uint64) Figure {
	if of == 0 {
		return Figure{Said: "of nothing"}
	}
	v := new(big.Rat).SetFrac(new(big.Int).SetUint64(n), new(big.Int).SetUint64(of))
	return Figure{Low: v, High: v}
}

// Figures finds what a rule asks for: one figure, or one of each hop. It fails where the
// input does not tell, or no hop is called so.
type Figures func(*Rule) ([]Figure, error)

// Verdict is what became of all rules.
type Verdict struct {
	Failed    []string // sentences, a rule each
	Undecided []string
}

// Err is nil where all rules pass.
func (v *Verdict) Err() error {
	if all := append(v.Failed, v.Undecided...); len(all) > 0 {
		return errors.New(strings.Join(all, "; "))
	}
	return nil
}

// Decide holds rules against figures. A rule of each hop fails if that of one does, and
// passes only if that of all do.
func Decide(rules []Rule, of Figures) (v Verdict, err error) {
	for i := range rules {
		r := &rules[i]
		list, err := of(r)
		if err != nil {
			return v, fmt.Errorf("--fail-on %q: %w", r.Text, err)
		}
		failed, undecided := r.hold(list)
		switch {
		case failed != nil:
			v.Failed = append(v.Failed, fmt.Sprintf("--fail-on %q: %s", r.Text, said(failed)))
		case undecided != nil:
			v.Undecided = append(v.Undecided, fmt.Sprintf("--fail-on %q: undecided: %s", r.Text, said(undecided)))
		}
	}
	return v, nil
}

// hold returns the figures for which the rule holds, and those for which it may.
func (r *Rule) hold(list []Figure) (failed, undecided []Figure) {
	for _, f := range list {
		switch comparisons[r.operator](f.Low, f.High, r.value) {
		case yes:
			failed = append(failed, f)
		case maybe:
			undecided = append(undecided, f)
		}
	}
	return failed, undecided
}

// mostNamed is how many hops a sentence names.
const mostNamed = 3

func said(list []Figure) string {
	var parts []string
	for _, f := range list[:min(len(list), mostNamed)] {
		if f.Hop == "" {
			parts = append(parts, f.Said)
		} else {
			parts = append(parts, f.Hop+" "+f.Said)
		}
	}
	text := strings.Join(parts, ", ")
	if more := len(list) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

type answer uint8

const (
	no answer = iota
	maybe
	yes
)

// comparisons decide what is true of every value from low to high; nil bounds nothing.
var comparisons = map[string]func(low, high, v *big.Rat) answer{
	">":  func(low, high, v *big.Rat) answer { return decided(above(low, v), atMost(high, v)) },
	">=": func(low, high, v *big.Rat) answer { return decided(atLeast(low, v), below(high, v)) },
	"<":  func(low, high, v *big.Rat) answer { return decided(below(high, v), atLeast(low, v)) },
	"<=": func(low, high, v *big.Rat) answer { return decided(atMost(high, v), above(low, v)) },
	"==": equal,
	"=":  equal,
	"!=": func(low, high, v *big.Rat) answer { return yes - equal(low, high, v) },
}

func equal(low, high, v *big.Rat) answer {
	return decided(atLeast(low, v) && atMost(high, v), above(low, v) || below(high, v))
}

func decided(holds, fails bool) answer {
	switch {
	case holds:
		return yes
	case fails:
		return no
	}
	return maybe
}

func above(low, v *big.Rat) bool   { return low != nil && low.Cmp(v) > 0 }
func atLeast(low, v *big.Rat) bool { return low != nil && low.Cmp(v) >= 0 }
func below(high, v *big.Rat) bool  { return high != nil && high.Cmp(v) < 0 }
func atMost(high, v *big.Rat) bool { return high != nil && high.Cmp(v) <= 0 }
