package configfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var known = map[string]Shape{"fields": Map, "timeouts": Map, "gates": List, "unit": Value, "headroom": Value, "simultaneous": Value}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSettingsAreReadAsACommandLineWouldHaveThem(t *testing.T) {
	path := write(t, `
unit: ms
headroom: 1.5
simultaneous: true
fields: {hop: a.b, duration: "took:us"}
timeouts:
  search → catalog: 250ms
  api.v1: 5s
gates: ['p99(a) > 2s', orphans > 0]
`)
	got, err := Read(path, known)
	if err != nil {
		t.Fatal(err)
	}
	want := []Setting{
		{"fields", []string{"duration=took:us", "hop=a.b"}}, {"gates", []string{"p99(a) > 2s", "orphans > 0"}}, {"headroom", []string{"1.5"}},
		{"simultaneous", []string{"true"}}, {"timeouts", []string{"api.v1=5s", "search → catalog=250ms"}}, {"unit", []string{"ms"}},
	}
	if !slices.EqualFunc(got, want, func(a, b Setting) bool { return a.String() == b.String() && len(a.Values) == len(b.Values) }) {
		t.Errorf("got %v, want %v", got, want)
	}
	if one, err := Read(write(t, "gates: orphans > 0\n"), known); err != nil || len(one) != 1 || one[0].String() != "gates orphans > 0" {
		t.Errorf("one of a list: %v, %v", one, err)
	}
	for _, text := range []string{"", "# nothing\n", "{}\n"} {
		if none, err := Read(write(t, text), known); err != nil || len(none) != 0 {
			t.Errorf("%q: %v, %v", text, none, err)
		}
	}
}

func TestWhatIsWrongInAFileIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"timeout: {a: 1s}\n":         `c.yaml: unknown key "timeout"; did you mean "timeouts"?`,
		"xyzzy: 1\n":                 `unknown key "xyzzy": the keys are fields, gates, headroom, simultaneous, timeouts, unit`,
		"fields: hop\n":              `c.yaml: fields: is a single value, and should be names with a value each`,
		"fields: [hop]\n":            `fields: is a list, and should be names with a value each`,
		"unit: [ms]\n":               `unit: is a list, and should be a single value`,
		"gates: {a: b}\n":            `gates: is names with values, and should be a list of values`,
		"unit:\n":                    `unit: has no value`,
		"timeouts: {a: }\n":          `timeouts: a: has no value`,
		"timeouts: {a: {b: 1s}}\n":   `timeouts: a: map[b:1s] is no text`,
		"unit: 2026-01-01\n":         `is no text, number or true or false`,
		"unit: ms\nunit: s\n":        `already defined`,
		"unit: [\n":                  `c.yaml: `,
		"- a\n":                      `c.yaml: `,
		"a\x00b: 1\n":                `c.yaml: `,
		"unit: &a [*a]\n":            `c.yaml: `,
		"gates: [[orphans > 0]]\n":   `gates: [orphans > 0] is no text`,
		"1: ms\n":                    `c.yaml: `,
		"simultaneous: {yes: no}\n":  `simultaneous: is names with values`,
		"fields: {hop: [a, b]}\n":    `fields: hop: [a b] is no text`,
		"headroom: .inf\nunit: 1.5x": ``,
	} {
		_, err := Read(write(t, text), known)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml"), known); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Read(t.TempDir(), known); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("unit: ms\nfields: {a: b}\n")
	f.Add("? [a]\n: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Read(write(t, text), known)
		if err == nil && !slices.IsSortedFunc(list, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) }) {
			t.Errorf("not sorted: %v", list)
		}
	})
}
