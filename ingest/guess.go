package ingest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// keyCounts are the keys of lines, and in how many they are.
type keyCounts map[string]*keyCount

type keyCount struct {
	records int64
	example string
	opened  bool // it holds an object whose keys are listed
}

// deepestKey and mostKeys bound what is counted: names may be data.
const (
	deepestKey   = 6
	mostKeys     = 1000
	longestShown = 40
)

// add counts the keys of a JSON object, nothing for another line.
func (k keyCounts) add(line []byte) {
	var s jsonscan.Scanner
	if s.At(line); s.Peek() != '{' {
		return
	}
	var path []byte
	var member func(name []byte) error
	member = func(name []byte) (err error) {
		outer := len(path)
		path = append(path, name...)
		seen := k.seen(path)
		if s.Peek() == '{' && bytes.Count(path, []byte{'.'}) < deepestKey {
			seen.opened = true
			path = append(path, '.')
			err = s.Members(member)
		} else {
			var raw []byte
			_, raw, err = s.Any()
			if seen.example == "" {
				seen.example = shortened(raw)
			}
		}
		path = path[:outer]
		return err
	}
	_ = s.Members(member) // what comes before a fault is shown
}

func (k keyCounts) seen(path []byte) *keyCount {
	one := k[string(path)]
	if one == nil {
		if one = new(keyCount); len(k) < mostKeys {
			k[string(path)] = one
		}
	}
	one.records++
	return one
}

func shortened(raw []byte) string {
	if len(raw) > longestShown {
		return strings.ToValidUTF8(string(raw[:longestShown]), "") + "…"
	}
	return string(raw)
}

// signs are words in keys that make one think of a role.
var signs = []struct {
	role  field.Role
	words []string
}{
	{field.Duration, []string{"duration", "latency", "elapsed", "took", "millis", "responsetime", "timetaken", "rtt", "cost", "spent", "total"}},
	{field.Timeout, []string{"timeout", "deadline"}},
	{field.RetryMark, []string{"retry", "retries", "attempt"}},
	{field.Trace, []string{"traceid", "trace", "correlation", "correlationid", "requestid", "reqid"}},
	{field.Error, []string{"error", "err", "exception", "status", "result", "outcome"}},
	{field.Start, []string{"start", "begin"}},
	{field.End, []string{"finish", "ended"}},
	{field.Time, []string{"timestamp", "datetime", "date"}},
	{field.Hop, []string{"hop", "service", "upstream", "backend", "endpoint", "operation", "route", "svc", "app", "component", "target", "dependency", "api", "call", "rpc"}},
}

// looksLike returns the role of which the last part of a key makes one think, "" for none.
// What has no number, or no time, is no duration.
func looksLike(key, example string) string {
	last := field.FoldKey(key[strings.LastIndexByte(key, '.')+1:])
	for _, s := range signs {
		if !slices.ContainsFunc(s.words, func(w string) bool { return strings.HasPrefix(last, w) || strings.HasSuffix(last, w) }) {
			continue
		}
		if s.role == field.Duration && example != "" {
			if _, err := moment.ParseDuration([]byte(example), moment.Milliseconds); err != nil {
				continue
			}
		}
		return s.role.String()
	}
	return ""
}

// guessed is how many lines of a file are looked at that is of no known format.
const guessed = 64 << 10

// nearestTo says what is nearest in the head of a file that is of no known format: how
// many lines are JSON objects, and which keys look like what is missing.
func nearestTo(head []byte) string {
	keys, lines, objects := keyCounts{}, 0, 0
	for line := range bytes.Lines(head[:min(len(head), guessed)]) {
		line = bytes.TrimSpace(line)
		if lines++; len(line) > 0 && line[0] == '{' {
			objects++
			keys.add(line)
		}
	}
	what := fmt.Sprintf("%d of the first %d lines are JSON objects", objects, lines)
	if objects == 0 {
		header, _, _ := bytes.Cut(head, []byte{'\n'})
		columns := bytes.FieldsFunc(header, func(c rune) bool { return c == ',' || c == ';' || c == '\t' })
		if len(columns) < 2 || len(header) > guessed/16 {
			return ""
		}
		what = fmt.Sprintf("the first line has %d columns", len(columns))
		for _, column := range columns {
			keys.seen(bytes.Trim(column, "\ufeff\" \r"))
		}
	}
	return what + keys.suggest()
}

// suggest names the keys that look like a hop and a duration.
func (k keyCounts) suggest() (text string) {
	for _, role := range [...]field.Role{field.Hop, field.Duration} {
		var like []string
		for key, seen := range k {
			if !seen.opened && looksLike(key, seen.example) == role.String() {
				like = append(like, key)
			}
		}
		if slices.Sort(like); len(like) > 0 {
			unit := ""
			if role.HasUnit() {
				unit = ":UNIT"
			}
			text += fmt.Sprintf("; what looks like a %s: %s, as in --field %s=%s%s", role, strings.Join(like[:min(len(like), 3)], ", "), role, like[0], unit)
		}
	}
	return text
}
