package wrap

import (
	"bytes"

	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
)

// Text before a JSON object: kubectl logs --prefix and --timestamps, stern, compose, pm2,
// aws logs tail, heroku, syslog, loggers for people.

// textKinds name the text by its look, the first that fits.
var textKinds = []struct {
	name string
	is   func(prefix []byte) bool
}{
	{"kubectl --prefix", starts("[pod/")},
	{"syslog", func(p []byte) bool { return p[0] == '<' && bytes.IndexByte(p, '>') > 0 }},
	{"heroku", func(p []byte) bool { return bytes.Contains(p, []byte(" app[")) }},
	{"pm2", func(p []byte) bool {
		bar := bytes.IndexByte(p, '|')
		return bar > 0 && bytes.Count(p, []byte{'|'}) > 1 && allDigits(bytes.TrimSpace(p[:bar]))
	}},
	{"docker compose", func(p []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(p), []byte("|")) }},
}

func starts(with string) func([]byte) bool {
	return func(p []byte) bool { return bytes.HasPrefix(p, []byte(with)) }
}

// proposeText proposes text where some line has it, named after the first that has.
func proposeText(lines [][]byte) []layer {
	for _, line := range lines {
		switch prefix, _, ok := cutText(line); {
		case ok && len(prefix) > 0:
			return []layer{{name: textName(bytes.TrimSpace(prefix)), peel: peelText}}
		case ok && bytes.IndexByte(line, 0x1b) >= 0:
			return []layer{{name: "terminal colours", peel: peelText}}
		}
	}
	return nil
}

// MostlyText reports whether more objects of the head stand behind text than at the start
// of their line.
func MostlyText(head []byte) bool {
	behind, bare := 0, 0
	for line := range bytes.Lines(head) {
		if line[0] == '{' {
			bare++
		} else if line = trim(line); len(line) > 0 && line[0] == '{' {
			bare++
		} else if _, _, ok := cutText(line); ok {
			behind++
		}
		if bare > behind && bare > mostSampled {
			return false
		}
	}
	return behind > bare
}

func textName(prefix []byte) string {
	for _, k := range textKinds {
		if len(prefix) > 0 && k.is(prefix) {
			return k.name
		}
	}
	return "text before the object"
}

func peelText(line []byte) (inner, at []byte, ok bool) {
	prefix, object, ok := cutText(line)
	if !ok {
		return nil, nil, false
	}
	return object, timeIn(prefix), true
}

// mostBraces is how many braces of a line may begin its object.
const mostBraces = 16

// cutText cuts a line into the text before its object and the object, which ends the
// line, or several in a row. Colours are left out.
func cutText(line []byte) (prefix, object []byte, ok bool) {
	line = trim(uncolored(line))
	if len(line) == 0 || line[len(line)-1] != '}' {
		return nil, nil, false
	}
	for at, tries := 0, 0; tries < mostBraces; tries++ {
		n := bytes.IndexByte(line[at:], '{')
		if n < 0 {
			break
		}
		at += n
		if next := bytes.TrimLeft(line[at+1:], jsonscan.Blanks); next[0] == '"' && onlyObjects(line[at:]) {
			return line[:at], line[at:], true
		}
		at++
	}
	return nil, nil, false
}

// onlyObjects reports whether b is an object, or several in a row.
func onlyObjects(b []byte) bool {
	for len(b) > 0 {
		n := jsonscan.Balanced(b)
		if n == 0 || b[0] != '{' {
			return false
		}
		b = bytes.TrimLeft(b[n:], jsonscan.Blanks+",")
	}
	return true
}

// uncolored takes the escape sequences of a terminal out: JSON has none as they stand.
func uncolored(line []byte) []byte {
	at := bytes.IndexByte(line, 0x1b)
	if at < 0 {
		return line
	}
	out := append(make([]byte, 0, len(line)), line[:at]...)
	for i := at; i < len(line); i++ {
		if line[i] != 0x1b {
			out = append(out, line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '[' {
			for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
			}
		}
	}
	return out
}

// longestStamp is more than a time takes, and mostWords how many words before an object
// are looked at for one.
const longestStamp, mostWords = 40, 6

// timeIn finds a time in the text before an object: a word of it, or two.
func timeIn(prefix []byte) []byte {
	for range mostWords {
		prefix = bytes.TrimLeft(prefix, " \t[(<|")
		if len(prefix) == 0 {
			return nil
		}
		one := wordEnd(prefix, 0)
		if len(prefix) > one {
			if at := stamp(prefix[:wordEnd(prefix, one+1)]); at != nil {
				return at
			}
		}
		if at := stamp(prefix[:one]); at != nil {
			return at
		}
		prefix = prefix[one:]
	}
	return nil
}

// wordEnd returns where the word at from ends.
func wordEnd(b []byte, from int) int {
	if n := bytes.IndexAny(b[min(from, len(b)):], " \t"); n >= 0 {
		return from + n
	}
	return len(b)
}

// stamp returns text if it is a time, and nil else.
func stamp(text []byte) []byte {
	text = bytes.Trim(text, "[]()|:,;\" \t")
	if len(text) < len("1714557600") || len(text) > longestStamp || text[0]-'0' > 9 || bytes.ContainsAny(text, "\"\\") {
		return nil
	}
	if _, err := moment.ParseInstant(text, moment.NoUnitGiven); err != nil {
		return nil
	}
	return text
}

func allDigits(b []byte) bool {
	return len(bytes.Trim(b, "0123456789")) == 0
}
