// Package jsontype has types that say how their values are written as JSON, and
// what MarshalJSON methods are made of.
package jsontype

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// Text is null where it is empty.
type Text string

// MarshalJSON writes a string or null.
func (t Text) MarshalJSON() ([]byte, error) { return Marshal(If(t != "", string(t))) }

// Number is null where it is infinite or not a number: JSON has no word for that,
// and one such figure would spoil the whole document.
type Number float64

// MarshalJSON writes a number or null.
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	return Marshal(If(!math.IsNaN(f) && !math.IsInf(f, 0), f))
}

// List is [] where it is empty, never null.
type List[T any] []T

// MarshalJSON writes an array.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if _, asked := any(new(T)).(json.Marshaler); !asked && len(l) > 0 {
		return Marshal([]T(l))
	}
	text := []byte{'['}
	for i := range l {
		item, err := Marshal(&l[i])
		if err != nil {
			return nil, err
		}
		text = append(append(text, item...), ',')
	}
	return append(bytes.TrimSuffix(text, []byte(",")), ']'), nil
}

// Map is {} where it is empty, never null.
type Map[V any] map[string]V

// MarshalJSON writes an object.
func (m Map[V]) MarshalJSON() ([]byte, error) {
	if len(m) == 0 {
		return []byte("{}"), nil
	}
	return Marshal(map[string]V(m))
}

// Object is keys, which need no escape, and values in turn, written in that order.
type Object []any

// MarshalJSON writes an object.
func (o Object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := 1; i < len(o); i += 2 {
		value, err := Marshal(o[i])
		if err != nil {
			return nil, err
		}
		text = append(strconv.AppendQuote(text, o[i-1].(string)), ':')
		text = append(append(text, value...), ',')
	}
	return append(bytes.TrimSuffix(text, []byte(",")), '}'), nil
}

// If returns v, or nil for null where it is not known.
func If[T any](known bool, v T) *T {
	if !known {
		return nil
	}
	return &v
}

// Marshal is json.Marshal, but leaves <, > and & as they are: whether they are
// escaped is decided where the whole document is written. What says itself how it
// is written is asked directly, as encoding/json reads each answer again.
func Marshal(v any) ([]byte, error) {
	if m, ok := v.(json.Marshaler); ok {
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
			return []byte("null"), nil
		}
		return m.MarshalJSON()
	}
	switch v := v.(type) {
	case uint64:
		return strconv.AppendUint(nil, v, 10), nil
	case *int64:
		if v != nil {
			return strconv.AppendInt(nil, *v, 10), nil
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Join marshals values that are objects in JSON and makes them one object, with
// the members of each in turn.
func Join(objects ...any) ([]byte, error) {
	joined := []byte{'{'}
	for _, object := range objects {
		text, err := Marshal(object)
		if err != nil {
			return nil, err
		}
		if len(joined) > 1 && len(text) > len("{}") {
			joined = append(joined, ',')
		}
		joined = append(joined, text[1:len(text)-1]...)
	}
	return append(joined, '}'), nil
}
