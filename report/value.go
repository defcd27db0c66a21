package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/durations"
	"github.com/tailscope/tailscope/internal/ratio"
)

// Value is one field of a table. The zero Value is null: a dash for people, an
// empty field in CSV.
type Value struct {
	kind
	sign  int8   // 1: a lower bound, -1: an upper bound
	ditto bool   // repeats the value above: text leaves it blank
	n, of uint64 // a count, or the bits of a duration or a number
	text  string
	*remarks
}

type remarks struct {
	tag   string   // a short remark beside the value: "(max of 60)"
	notes []string // texts of footnotes
}

type kind uint8

const (
	null kind = iota
	words
	code
	count
	outOf
	nanos
	number
	share
)

// String is words for people and for CSV; "" is blank in both.
func String[S ~string](s S) Value { return Value{kind: words, text: string(s)} }

// Code is a word such as same_slowness; people read it without underscores.
func Code[S ~string](s S) Value { return Value{kind: code, text: string(s)} }

// Flag is true or false.
func Flag(b bool) Value { return String(strconv.FormatBool(b)) }

// Count is a number of things.
func Count[N int | int64 | uint64](n N) Value { return Value{kind: count, n: uint64(n)} }

// OutOf is n of some; CSV has n only.
func OutOf(n, of uint64) Value { return Value{kind: outOf, n: n, of: of} }

// Nanos is a duration, or a moment where only CSV has it.
func Nanos(ns int64) Value { return Value{kind: nanos, n: uint64(ns)} }

// Number is a figure without a unit. People read three digits of it.
func Number(f float64) Value { return Value{kind: number, n: math.Float64bits(f)} }

// Share is a share of 1, which people read in percent.
func Share(f float64) Value { return Value{kind: share, n: math.Float64bits(f)} }

// Maybe is a value that may be missing: null for nil.
func Maybe[T any](v *T, of func(T) Value) Value {
	if v == nil {
		return Value{}
	}
	return of(*v)
}

// AtLeast marks a lower bound: what is meant is this or more.
func (v Value) AtLeast(bound bool) Value {
	if bound {
		v.sign = 1
	}
	return v
}

// AtMost marks an upper bound.
func (v Value) AtMost(bound bool) Value {
	if bound {
		v.sign = -1
	}
	return v
}

// Again marks a value that repeats the one above.
func (v Value) Again(again bool) Value {
	v.ditto = again
	return v
}

// Tagged puts a short remark beside the value.
func (v Value) Tagged(tag string) Value {
	v.remarks = &remarks{tag: tag, notes: v.footnotes()}
	return v
}

// Noted gives the value footnotes. An empty text is none, and a text is cited
// once.
func (v Value) Noted(texts ...string) Value {
	for _, text := range texts {
		if text != "" && !slices.Contains(v.footnotes(), text) {
			v.remarks = &remarks{tag: v.remark(), notes: append(slices.Clip(v.footnotes()), text)}
		}
	}
	return v
}

func (v Value) footnotes() []string {
	if v.remarks == nil {
		return nil
	}
	return v.notes
}

func (v Value) remark() string {
	if v.remarks == nil {
		return ""
	}
	return v.tag
}

func (v Value) nanos() int64    { return int64(v.n) }
func (v Value) number() float64 { return math.Float64frombits(v.n) }

// read is the value as people read it, a duration on the scale of its column.
func (v Value) read(is Is, s Scale) string {
	switch v.sign {
	case 1:
		return "≥ " + v.digits(is, s)
	case -1:
		return "≤ " + v.digits(is, s)
	}
	return v.digits(is, s)
}

func (v Value) digits(is Is, s Scale) string {
	switch v.kind {
	case null:
		return Dash
	case code:
		return strings.ReplaceAll(v.text, "_", " ")
	case count:
		return strconv.FormatUint(v.n, 10)
	case outOf:
		return strconv.FormatUint(v.n, 10) + " of " + strconv.FormatUint(v.of, 10)
	case number:
		return strconv.FormatFloat(v.number(), 'g', 3, 64)
	case share:
		return [...]func(float64) string{ratio.Up, ratio.Number, ratio.Down}[v.sign+1](v.number()) + " %"
	case nanos:
		return v.duration(is, s)
	}
	return v.text
}

func (v Value) duration(is Is, s Scale) string {
	switch {
	case is&(OneUnit|ByMost|Rounded) == 0:
		return durations.Text(v.nanos())
	case is&Rounded != 0:
		return Round(v.nanos())
	case v.sign > 0:
		return s.Down(v.nanos())
	}
	return s.Nearest(v.nanos())
}

// field is the value in CSV. Texts stem from logs and are defused; what is not
// finite is empty, as it is null in JSON.
func (v Value) field() string {
	switch v.kind {
	case null:
		return ""
	case count, outOf:
		return strconv.FormatUint(v.n, 10)
	case nanos:
		return strconv.FormatInt(v.nanos(), 10)
	case number, share:
		f := v.number()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return ""
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return defused(v.text)
}
