package wrap

import (
	"github.com/tailscope/tailscope/internal/jsonscan"
)

// Lines as arrays: Loki's API answers with ["TIME","LINE"], CloudWatch Logs Insights with
// [{"field":"@message","value":"LINE"}, …].

func proposePairs(lines [][]byte) []layer {
	return proposeOne(lines, layer{name: "Loki's answer", peel: peelPair})
}

func proposeInsights(lines [][]byte) []layer {
	return proposeOne(lines, layer{name: "CloudWatch Logs Insights", peel: peelInsights})
}

// proposeOne proposes a wrapper that the first line has.
func proposeOne(lines [][]byte, l layer) []layer {
	if len(lines) > 0 {
		if _, _, ok := l.peel(lines[0]); ok {
			return []layer{l}
		}
	}
	return nil
}

func peelPair(line []byte) (inner, at []byte, ok bool) {
	var s jsonscan.Scanner
	s.At(line)
	if s.Peek() != '[' {
		return nil, nil, false
	}
	n := 0
	err := s.Elements(func() error {
		kind, raw, err := s.Any()
		switch n++; {
		case err != nil:
		case n == 1 && kind == jsonscan.Text:
			at = stamp(raw)
		case n == 2 && kind == jsonscan.Text:
			inner, ok = raw, true
		}
		return err
	})
	return inner, at, ok && err == nil && at != nil
}

func peelInsights(line []byte) (inner, at []byte, ok bool) {
	var s jsonscan.Scanner
	s.At(line)
	if s.Peek() != '[' {
		return nil, nil, false
	}
	err := s.Elements(func() error {
		var field, value []byte
		err := s.EachMember(func(name []byte) error {
			isField, isValue := string(name) == "field", string(name) == "value"
			_, raw, err := s.Any()
			switch {
			case isField:
				field = raw
			case isValue:
				value = raw
			}
			return err
		})
		switch string(field) {
		case "@message":
			inner, ok = value, true
		case "@timestamp":
			at = stamp(value)
		}
		return err
	})
	return inner, at, ok && err == nil
}
