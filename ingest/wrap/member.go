package wrap

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

// A record in a member of another object: as the text of a string, as the bytes that
// journald writes for one, or as an object.

// memberKinds name what writes such objects, by the keys that it writes besides. The
// first one that fits counts.
var memberKinds = []struct {
	name, key string
	with      []string
}{
	{"docker's json-file", "log", []string{"stream", "time"}},
	{"Fluent Bit", "log", []string{"date"}},
	{"Fluent Bit", "log", []string{"kubernetes"}},
	{"Fluent Bit", "log", nil},
	{"journald", "MESSAGE", nil},
	{"Loki's logcli", "line", []string{"labels"}},
	{"CloudWatch Logs", "message", []string{"ingestionTime"}},
	{"CloudWatch Logs", "message", []string{"id", "timestamp"}},
	{"CloudWatch Logs", "message", []string{"eventId"}},
	{"pm2", "message", []string{"process_id"}},
	{"Logstash", "message", []string{"@timestamp"}},
	{"Google Cloud Logging", "textPayload", nil},
	{"Google Cloud Logging", "jsonPayload", nil},
	{"Elasticsearch", "_source", nil},
	{"Splunk", "result._raw", nil},
	{"Splunk", "_raw", nil},
	{"Kafka", "payload", []string{"topic"}},
	{"Kafka", "value", []string{"topic"}},
	{"Azure Monitor", "properties.log", nil},
	{"Azure Monitor", "LogMessage", nil},
}

// objectKeys are members that may hold the record as an object. Others, such as a
// request, are a part of a record: what stands beside them would be lost.
var objectKeys = []string{"_source", "jsonPayload", "log", "event", "message", "MESSAGE", "LogMessage", "record", "payload", "body", "value", "data"}

// timeKeys are members that hold the time of the line, best first.
var timeKeys = []string{"__REALTIME_TIMESTAMP", "time", "timestamp", "@timestamp", "ts", "date", "_time", "Timestamp", "TimeGenerated"}

// mostSampled is how many lines are looked at for members.
const mostSampled = 200

// proposeMembers proposes the members whose text ends as a JSON object does, those of
// known writers first.
func proposeMembers(lines [][]byte) (all []layer) {
	found := map[string][]string{} // keys beside each path
	var paths []string
	for _, line := range lines[:min(len(lines), mostSampled)] {
		for _, path := range memberPaths(line) {
			if found[path.of] == nil {
				paths = append(paths, path.of)
				found[path.of] = path.beside
			}
		}
	}
	for _, k := range memberKinds {
		if beside := found[k.key]; beside != nil && containsAll(beside, k.with) {
			all = append(all, newMember(k.name, k.key))
			delete(found, k.key)
		}
	}
	for _, path := range paths {
		if found[path] != nil {
			all = append(all, newMember("JSON in "+path, path))
		}
	}
	return all
}

func containsAll(list, all []string) bool {
	for _, one := range all {
		if !slices.Contains(list, one) {
			return false
		}
	}
	return true
}

func newMember(name, path string) layer {
	keys := strings.Split(path, ".")
	l := layer{name: name, peel: func(line []byte) (inner, at []byte, ok bool) { return peelMember(line, keys) }}
	if path == "log" && name == memberKinds[0].name {
		l.partial = partialDocker
	}
	return l
}

// memberPath is a member that may hold a record, with the keys of the whole object.
type memberPath struct {
	of     string
	beside []string
}

// memberPaths finds the members of a line, and of the objects in it, that may hold a
// record.
func memberPaths(line []byte) (all []memberPath) {
	var s jsonscan.Scanner
	s.At(line)
	if s.Peek() != '{' {
		return nil
	}
	beside := []string{}
	_ = s.Members(func(name []byte) error {
		key := string(name)
		beside = append(beside, key)
		kind, raw, err := s.Any()
		switch {
		case err == nil && holds(key, kind, raw):
			all = append(all, memberPath{of: key})
		case err == nil && kind == jsonscan.Composite && raw[0] == '{':
			for _, inner := range innerPaths(raw) {
				all = append(all, memberPath{of: key + "." + inner})
			}
		}
		return err
	})
	for i := range all {
		all[i].beside = beside
	}
	return all
}

func innerPaths(object []byte) (paths []string) {
	var s jsonscan.Scanner
	s.At(object)
	_ = s.Members(func(name []byte) error {
		key := string(name)
		kind, raw, err := s.Any()
		if err == nil && holds(key, kind, raw) {
			paths = append(paths, key)
		}
		return err
	})
	return paths
}

// holds reports whether a member may hold a record.
func holds(key string, kind jsonscan.Kind, raw []byte) bool {
	switch {
	case kind == jsonscan.Text:
		text := bytes.TrimSpace(raw)
		return bytes.IndexByte(text, '{') >= 0 && (text[len(text)-1] == '}' || text[0] == '{')
	case kind == jsonscan.Composite && raw[0] == '[':
		return byteArray(raw) != nil
	case kind == jsonscan.Composite:
		return slices.Contains(objectKeys, key)
	}
	return false
}

// peelMember takes the member of a path out of a line.
func peelMember(line []byte, path []string) (inner, at []byte, ok bool) {
	var s jsonscan.Scanner
	s.At(line)
	if s.Peek() != '{' {
		return nil, nil, false
	}
	best := len(timeKeys)
	err := s.Members(func(name []byte) error {
		isPath := string(name) == path[0]
		rank := slices.Index(timeKeys, string(name))
		kind, raw, err := s.Any()
		switch {
		case err != nil:
		case isPath && len(path) > 1 && kind == jsonscan.Composite && raw[0] == '{':
			var own []byte
			if inner, own, ok = peelMember(raw, path[1:]); own != nil {
				at, best = own, 0
			}
		case isPath && len(path) == 1:
			inner, ok = content(kind, raw)
		case rank >= 0 && rank < best && (kind == jsonscan.Text || kind == jsonscan.Number) && stamp(raw) != nil:
			best, at = rank, raw
		}
		return err
	})
	s.Space()
	return inner, at, ok && err == nil && s.I == len(s.B)
}

// content is the text that a value holds.
func content(kind jsonscan.Kind, raw []byte) (text []byte, ok bool) {
	switch {
	case kind == jsonscan.Text:
		return raw, true
	case kind == jsonscan.Composite && raw[0] == '{':
		return raw, true
	case kind == jsonscan.Composite:
		text = byteArray(raw)
		return text, text != nil
	}
	return nil, false
}

// byteArray reads text that journald wrote as an array of its bytes, because some are
// not printable; nil for any other array.
func byteArray(raw []byte) []byte {
	text := []byte{}
	for _, number := range bytes.Split(raw[1:len(raw)-1], []byte{','}) {
		v, err := strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 8)
		if err != nil {
			return nil
		}
		text = append(text, byte(v))
	}
	return text
}

// partialDocker: docker cuts lines after 16 KiB, and the last part ends in a newline. A
// text that is no object is no part of a record.
func partialDocker(line []byte, pending bool) (stream int, yes bool) {
	if bytes.Contains(line, []byte(`"stream":"stderr"`)) {
		stream = 1
	}
	_, text, ok := bytes.Cut(line, []byte(`"log":"`))
	if !ok {
		return stream, false
	}
	text, _, ok = bytes.Cut(text, []byte(`","`))
	if !ok || bytes.HasSuffix(text, []byte(`\n`)) || bytes.HasSuffix(text, []byte(`}`)) && !pending {
		return stream, false
	}
	return stream, pending || len(text) > 0 && text[0] == '{'
}
