package wrap

import (
	"bytes"
	"strconv"

	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// Rust's tracing writes an event when a span closes: how long it was busy and how long
// idle, which is how long it took together.

func proposeRust(lines [][]byte) []layer {
	for _, line := range lines[:min(len(lines), mostSampled)] {
		if _, _, ok := peelRust(line); ok {
			return []layer{{name: "Rust's tracing (busy + idle)", peel: peelRust}}
		}
	}
	return nil
}

// closed is the event of a span that closed.
type closed struct {
	busy, idle moment.Length
	parts      int
	name       []byte
}

// peelRust returns the event with the name of its span as its hop and with its whole
// duration.
func peelRust(line []byte) (inner, at []byte, ok bool) {
	var c closed
	var s jsonscan.Scanner
	s.At(line)
	if s.Peek() != '{' || bytes.IndexByte(line, '}') < 0 {
		return nil, nil, false
	}
	err := s.Members(func(name []byte) error { return c.member(&s, string(name)) })
	if err != nil || c.parts != 2 || len(c.name) == 0 || s.I != len(line) {
		return nil, nil, false
	}
	inner = append(inner, line[:len(line)-1]...)
	inner = append(strconv.AppendQuote(append(inner, `,"hop":`...), string(c.name)), `,"duration_ns":`...)
	return append(strconv.AppendInt(inner, c.busy.NS+c.idle.NS, 10), '}'), nil, true
}

func (c *closed) member(s *jsonscan.Scanner, name string) error {
	if (name == "fields" || name == "span") && s.Peek() == '{' {
		return s.Members(func(inner []byte) error {
			if name == "span" && string(inner) == "name" {
				_, raw, err := s.Any()
				c.name = raw
				return err
			}
			return c.part(s, string(inner))
		})
	}
	return c.part(s, name)
}

// part reads one of the two times.
func (c *closed) part(s *jsonscan.Scanner, name string) error {
	kind, raw, err := s.Any()
	to := &c.busy
	switch {
	case err != nil || kind != jsonscan.Text:
		return err
	case name == "time.idle":
		to = &c.idle
	case name != "time.busy":
		return nil
	}
	if l, wrong := moment.ParseDuration(raw, moment.NoUnitGiven); wrong == nil && l.NS < 1<<62 {
		*to = l
		c.parts++
	}
	return nil
}
