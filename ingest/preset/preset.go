// Package preset knows how the logs of well-known tools are read that need several flags
// otherwise. A preset is a row of Table.
package preset

import (
	"bytes"
	"iter"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// Preset is how the records of one tool are read.
type Preset struct {
	Name, Of string
	// Keys are those that a record has: all of them, of "a|b" one. A dot stands for nesting.
	Keys []string
	// Fields are what --field would say, best first; ":epoch" after a time means that its
	// size tells the unit. "hop==NAME" names what has no other.
	Fields []string
	// Where are the conditions on a record that is one, as --where would say them.
	Where []string
	// Messages: those that speak of a timeout count.
	Messages bool
}

// Names lists the presets.
func Names() []string {
	names := make([]string, len(Table))
	for i := range Table {
		names[i] = Table[i].Name
	}
	return names
}

// Find returns a preset by its name, nil for none.
func Find(name string) *Preset {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

// Config is how records are read by the preset, where the user does not say otherwise: a
// role that a --field names is the user's, and so is --unit.
func (p *Preset) Config(c field.Config) (field.Config, error) {
	own := c
	own.PresetFields = nil
	for _, text := range p.Fields {
		text, epoch := strings.CutSuffix(text, ":epoch")
		f, err := field.ParsePreset(text)
		if err != nil {
			return c, err
		}
		f.Epoch = epoch
		if own.Names(f.Role) || f.Role != field.Hop && namesHop(f.Role) && own.Names(field.Hop) {
			continue
		}
		if f.Role == field.Duration && c.Unit != moment.NoUnitGiven {
			f.Unit = c.Unit
		}
		c.PresetFields = append(c.PresetFields, f)
	}
	var where []selection.Condition
	for _, text := range p.Where {
		w, err := selection.ParseCondition(text)
		if err != nil {
			return c, err
		}
		where = append(where, w)
	}
	var err error
	c.Selection, err = c.Selection.And(where)
	return c, err
}

func namesHop(r field.Role) bool { return r == field.ServiceKey || r == field.OperationKey }

// looked is how much of a file's head is looked at, and in how many of its lines.
const (
	looked    = 64 << 10
	mostLines = 32
)

// Recognise returns the preset of the records in the head of a file, nil for none.
func Recognise(head []byte) *Preset {
	head = firstLines(head[:min(len(head), looked)])
	there := wordsIn(head)
	var likely []*teller
	for i := range tellers {
		if tellers[i].mayBe(there) {
			likely = append(likely, &tellers[i])
		}
	}
	if likely == nil {
		return nil
	}
	var r keyReader
	first := true
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		keys := r.of(line, first)
		first = false
		for _, p := range likely {
			if p.matches(keys) {
				return p.of
			}
		}
	}
	return nil
}

// firstLines returns the lines of a head that are looked at. The rest of a head costs
// nothing, which counts where files are many and small.
func firstLines(head []byte) []byte {
	end := 0
	for range mostLines {
		i := bytes.IndexByte(head[end:], '\n')
		if i < 0 {
			return head
		}
		end += i + 1
	}
	return head[:end]
}

// mayBe reports whether the last parts of a preset's keys are there.
func (t *teller) mayBe(there []bool) bool {
	return t.all(func(k *key) bool { return there[k.word] })
}

func (t *teller) matches(keys map[string]bool) bool {
	return t.all(func(k *key) bool { return keys[k.path] })
}

// all reports whether one of each key's names holds.
func (t *teller) all(holds func(*key) bool) bool {
	for _, names := range t.keys {
		if !anyOf(names, holds) {
			return false
		}
	}
	return true
}

func anyOf(names []key, holds func(*key) bool) bool {
	for i := range names {
		if holds(&names[i]) {
			return true
		}
	}
	return false
}

// teller tells the records of a preset by their keys.
type teller struct {
	of   *Preset
	keys [][]key // one of each list is there
}

type key struct {
	path string
	word int // the number of its last part
}

// wordNumbers number the last parts of all keys.
var wordNumbers = map[string]int{}

func newKey(path string) key {
	last := path[strings.LastIndexByte(path, '.')+1:]
	n, known := wordNumbers[last]
	if !known {
		n = len(wordNumbers)
		wordNumbers[last] = n
	}
	return key{path, n}
}

var tellers = func() (list []teller) {
	for i := range Table {
		t := teller{of: &Table[i]}
		for _, any := range Table[i].Keys {
			var names []key
			for _, path := range strings.Split(any, "|") {
				names = append(names, newKey(path))
			}
			t.keys = append(t.keys, names)
		}
		list = append(list, t)
	}
	return list
}()

// wordsIn tells of each number whether a key in the head may end in that word: text in
// quotes before a colon, or a column of a first line that is no object. All files of a run
// are looked at like this, so it is done without reading records.
func wordsIn(head []byte) []bool {
	there := make([]bool, len(wordNumbers))
	mark := func(key []byte) {
		if n, known := wordNumbers[string(key[bytes.LastIndexByte(key, '.')+1:])]; known {
			there[n] = true
		}
	}
	if line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte{'\n'}); len(line) > 0 && line[0] != '{' {
		for column := range columns(line) {
			mark(column)
		}
	}
	var last [64][]byte // keys that were marked: most lines have those of the line before
	for at := 0; ; {
		i := bytes.IndexByte(head[at:], ':')
		if i < 0 {
			return there
		}
		key := quotedEnd(head[:at+i])
		at += i + 1
		if len(key) == 0 {
			continue
		}
		if seen := &last[(int(key[0])+len(key))%len(last)]; !bytes.Equal(*seen, key) {
			*seen = key
			mark(key)
		}
	}
}

// quotedEnd returns the quoted text that b ends in, nil for none.
func quotedEnd(b []byte) []byte {
	end := len(b)
	for end > 0 && jsonscan.White(b[end-1]) {
		end--
	}
	if end == 0 || b[end-1] != '"' {
		return nil
	}
	b = b[:end-1]
	return b[bytes.LastIndexByte(b, '"')+1:]
}

// keyReader reads the keys of a record.
type keyReader struct {
	scan jsonscan.Scanner
	path []byte
	keys map[string]bool
}

// deepest is how deep objects are looked into.
const deepest = 5

// of returns the keys of a JSON object, and of the first line of a table, its columns.
func (r *keyReader) of(line []byte, first bool) map[string]bool {
	if r.keys == nil {
		r.keys = map[string]bool{}
	}
	clear(r.keys)
	r.path = r.path[:0]
	switch {
	case line[0] == '{':
		r.scan.At(line)
		_ = r.scan.Members(r.member)
	case first:
		for column := range columns(line) {
			r.keys[string(column)] = true
		}
	}
	return r.keys
}

// columns yields the columns that a line names.
func columns(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for column := range bytes.FieldsFuncSeq(line, func(c rune) bool { return c == ',' || c == ';' || c == '\t' }) {
			if !yield(bytes.Trim(column, "\ufeff \"")) {
				return
			}
		}
	}
}

func (r *keyReader) member(name []byte) error {
	outer := len(r.path)
	r.path = append(r.path, name...)
	r.keys[string(r.path)] = true
	var err error
	if r.scan.Peek() == '{' && bytes.Count(r.path, []byte{'.'}) < deepest {
		r.path = append(r.path, '.')
		err = r.scan.Members(r.member)
	} else {
		err = r.scan.Skip()
	}
	r.path = r.path[:outer]
	return err
}
