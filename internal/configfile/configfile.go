// Package configfile reads a file of settings: YAML whose keys are known to the caller.
// It says which key is wrong and which one may be meant, and gives values as the text
// that a command line would have.
package configfile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/tailscope/tailscope/internal/nearest"
)

// Shape is what the value of a key may be.
type Shape uint8

const (
	Value Shape = iota // one text, number or true or false
	List               // several of these, or one
	Map                // names with a value each
)

// Setting is a key of the file with its values, of a Map as NAME=VALUE in the order of
// the names.
type Setting struct {
	Key    string
	Values []string
}

// String writes the setting in a line.
func (s Setting) String() string { return s.Key + " " + strings.Join(s.Values, ", ") }

// unsplit separates keys in koanf; no name holds it, so names with dots stay whole.
const unsplit = "\x00"

// Read returns the settings of a file, sorted by key. Errors name the file and the key.
func Read(path string, known map[string]Shape) ([]Setting, error) {
	k := koanf.New(unsplit)
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all := k.Raw()
	var list []Setting
	for _, key := range slices.Sorted(maps.Keys(all)) {
		shape, ok := known[key]
		if !ok {
			return nil, fmt.Errorf("%s: unknown key %q%s", path, key, meant(key, known))
		}
		values, err := read(shape, all[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, key, err)
		}
		list = append(list, Setting{key, values})
	}
	return list, nil
}

func meant(key string, known map[string]Shape) string {
	keys := slices.Sorted(maps.Keys(known))
	if name := nearest.Name(key, keys); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ": the keys are " + strings.Join(keys, ", ")
}

func read(shape Shape, v any) ([]string, error) {
	switch v := v.(type) {
	case map[string]any:
		if shape == Map {
			return readMap(v)
		}
	case []any:
		if shape == List {
			return readList(v)
		}
	default:
		if shape != Map {
			text, err := scalar(v)
			return []string{text}, err
		}
	}
	return nil, fmt.Errorf("is %s, and should be %s", found(v), [...]string{"a single value", "a list of values", "names with a value each"}[shape])
}

func found(v any) string {
	switch v.(type) {
	case map[string]any:
		return "names with values"
	case []any:
		return "a list"
	}
	return "a single value"
}

func readMap(v map[string]any) (list []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		text, err := scalar(v[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, name+"="+text)
	}
	return list, nil
}

func readList(v []any) (list []string, err error) {
	for _, one := range v {
		text, err := scalar(one)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case nil:
		return "", fmt.Errorf("has no value")
	}
	return "", fmt.Errorf("%v is no text, number or true or false: write it in quotes", v)
}
