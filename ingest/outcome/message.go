package outcome

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/spans"
)

// Messages of errors are weak evidence: whoever wrote one may speak of another call, or
// of a setting. They are counted and said, and count as marks only where the user says so.

// Message is what a text says of how an attempt ended.
type Message uint8

// What a text may speak of, the weakest first.
const (
	Silent            Message = iota
	OfCancellation            // who called left
	OfTimeout                 // a timeout
	OfUpstreamTimeout         // a timeout of what the attempt called
)

// MaySpeak reports whether a text may speak of a timeout or of a cancellation; one that
// surely does not costs little. It looks for a few beginnings that all such texts have,
// from their ends, and mostly moves on by several bytes (Wu and Manber, A fast
// algorithm for multi-pattern searching, 1994).
func MaySpeak(b []byte) bool {
	for i := anchorLength - 1; i < len(b); {
		skip := int(skips[pairOf(b[i-1], b[i])])
		if skip > 0 {
			i += skip
			continue
		}
		from := i - anchorLength + 1
		for _, a := range anchors {
			if equalFold(b[from:i+1], a) {
				return true
			}
		}
		i++
	}
	return false
}

// anchors are the beginnings, all of one length.
var anchors = [...]string{"timeo", "timed", "time ", "time-", "time_", "deadl", "expir", "cance", "abort", "disco", "close", "ent g", "went "}

const anchorLength = 5

var skips = makeSkips()

func pairOf(a, b byte) uint16 { return uint16(a&0x1f)<<5 | uint16(b&0x1f) }

func makeSkips() (table [1 << 10]uint8) {
	for i := range table {
		table[i] = anchorLength - 1
	}
	for _, a := range anchors {
		for end := 1; end < anchorLength; end++ {
			pair := pairOf(a[end-1], a[end])
			table[pair] = min(table[pair], uint8(anchorLength-1-end))
		}
	}
	return table
}

// equalFold reports whether b is the first bytes of a word in lower case, in any case.
func equalFold(b []byte, word string) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// longestMessage is how much of a text is looked at.
const longestMessage = 64 << 10

// Hear says what a text speaks of. "timeout=30s" and the like are settings, and no
// sign of anything.
func Hear(text []byte) Message {
	if text = text[:min(len(text), longestMessage)]; !MaySpeak(text) {
		return Silent
	}
	var room [2 * longestStatus]byte
	return heard(appendLower(room[:0], text))
}

// Hear is the function of that name, without an allocation.
func (l *Listener) Hear(text []byte) Message {
	if text = text[:min(len(text), longestMessage)]; !MaySpeak(text) {
		return Silent
	}
	l.lower = appendLower(l.lower[:0], text)
	return heard(l.lower)
}

// heard says what a text in lower case speaks of.
func heard(lower []byte) Message {
	switch {
	case speaksOfTimeout(lower):
		for _, name := range upstreams {
			if bytes.Contains(lower, name) {
				return OfUpstreamTimeout
			}
		}
		return OfTimeout
	case containsAny(lower, cancellations):
		return OfCancellation
	}
	return Silent
}

func appendLower(to, text []byte) []byte {
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		to = append(to, c)
	}
	return to
}

// SpeaksOfTimeout reports whether a text speaks of a timeout.
func SpeaksOfTimeout(text []byte) bool { return Hear(text) >= OfTimeout }

// timeouts are what clients, servers and databases write of a timeout, besides the word
// itself.
var timeouts = list("timed out", "timed-out", "timed_out", "timedout", "time out", "time-out", "deadline exceeded", "deadline_exceeded", "deadlineexceeded", "deadline has elapsed",
	"deadline elapsed", "deadline expired", "deadline has passed", "deadline was exceeded", "execution time exceeded", "time limit exceeded", "execution expired", "request expired",
	"err_timed_out", "err_connection_timed_out", "econnaborted")

// cancellations are what they write where the caller left.
var cancellations = list("context canceled", "context cancelled", "context was canceled", "request canceled", "request cancelled", "request was canceled", "request was cancelled",
	"request has been canceled", "request has been cancelled", "request aborted", "request was aborted", "request has been aborted",
	"operation was canceled", "operation was cancelled", "operation canceled", "operation cancelled", "operation was aborted", "operation aborted", "user aborted",
	"task was canceled", "task was cancelled", "task canceled", "task cancelled", "call canceled", "call cancelled", "rpc canceled", "rpc cancelled", "stream canceled", "stream cancelled",
	"code = canceled", "code = cancelled", "operationcanceled", "operationcancelled", "taskcanceled", "taskcancelled", "cancellederror", "cancelederror", "cancellationexception",
	"aborterror", "err_canceled", "err_aborted", "canceled by client", "cancelled by client", "canceled by caller", "cancelled by caller", "canceled by the c", "cancelled by the c",
	"client disconnected", "client disconnect", "client has disconnected", "client went away", "client gone", "client closed", "client prematurely closed", "closed by client",
	"client canceled", "client cancelled", "client aborted", "client connection closed", "downstream_remote_disconnect", "exception: cancelled", "canceling statement due to user")

// upstreams name the callee of who writes: the timeout is that of a call further down.
var upstreams = list("upstream", "backend", "gateway time", "://", "dial tcp", "read tcp", "client.timeout", "httpclient", "awaiting headers", "statement timeout", "connectionpool")

func list(all ...string) (words [][]byte) {
	for _, w := range all {
		words = append(words, []byte(w))
	}
	return words
}

func containsAny(lower []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(lower, w) {
			return true
		}
	}
	return false
}

func speaksOfTimeout(lower []byte) bool {
	for _, w := range timeouts {
		if at := bytes.Index(lower, w); at >= 0 && !denied(lower[:at]) && !saysNo(lower[at+len(w):]) {
			return true
		}
	}
	word := []byte("timeout")
	for from := 0; ; {
		at := bytes.Index(lower[from:], word)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(word)
		if !denied(lower[:at]) && !isSetting(lower[from:]) {
			return true
		}
	}
}

// denied reports whether what stands before a word says that it did not happen.
func denied(before []byte) bool {
	before = bytes.TrimRight(before, " ")
	for _, no := range [...]string{" no", "not", "never", "without", "0"} {
		if bytes.HasSuffix(before, []byte(no)) {
			return true
		}
	}
	return string(before) == "no"
}

// saysNo reports whether what stands behind a word is =false and the like.
func saysNo(after []byte) bool {
	return len(after) > 1 && (after[0] == '=' || after[0] == ':') && isNumber(bytes.TrimLeft(after[1:], " "))
}

// isSetting reports whether what stands behind "timeout" makes it the name or the value
// of a setting: =30s, : 5000, _ms, 30s, is, of 5 s (unless that was exceeded).
func isSetting(after []byte) bool {
	rest := bytes.TrimLeft(after, "\"' \\")
	switch {
	case len(rest) == 0:
		return false
	case after[0] == '_' && !bytes.HasPrefix(after, []byte("_er")), after[0] == 's' && (len(after) == 1 || after[1] == ' ' || after[1] == '='):
		return !bytes.HasPrefix(bytes.TrimLeft(after, "s "), []byte("exceeded"))
	case rest[0] == '=' || rest[0] == ':':
		rest = bytes.TrimLeft(rest, "=: \"'\\")
		return isNumber(rest) && !containsAny(rest, exceeded)
	case isNumber(rest), bytes.HasPrefix(rest, []byte("is ")), bytes.HasPrefix(rest, []byte("set ")), bytes.HasPrefix(rest, []byte("of ")),
		bytes.HasPrefix(rest, []byte("ms")), bytes.HasPrefix(rest, []byte("millis")), bytes.HasPrefix(rest, []byte("seconds")):
		return !containsAny(rest, exceeded)
	}
	return false
}

var exceeded = list("exceeded", "elaps", "expired", "reached", "passed", "was hit")

func isNumber(b []byte) bool {
	return len(b) > 0 && b[0] >= '0' && b[0] <= '9' ||
		bytes.HasPrefix(b, []byte("null")) || bytes.HasPrefix(b, []byte("none")) || bytes.HasPrefix(b, []byte("nil")) || bytes.HasPrefix(b, []byte("false"))
}

// Listens reports whether texts under a key can be messages: the names of things and
// addresses are none, and neither is what has another meaning.
func Listens(k *field.Key) bool {
	if k.Signs.Has(field.IsMute) && len(k.Uses) == 0 {
		return false
	}
	for i := range k.Uses {
		switch k.Uses[i].Role {
		case field.Error, field.ErrorType, field.Message, field.Status, field.OutcomeWord, field.Code, field.ErrorCode, field.ResponseDetails, field.HTTPStatus, field.GRPCStatus:
		default:
			return false
		}
	}
	return true
}

// Listener hears what the texts of a record speak of.
type Listener struct {
	Heard Message
	scan  jsonscan.Scanner
	keys  *field.Keys
	path  []byte
	lower []byte
	// Made once: a value and a member.
	value  func() error
	member func(name []byte) error
}

// NewListener returns one that knows the meanings of keys.
func NewListener(keys *field.Keys) *Listener {
	l := &Listener{keys: keys}
	l.value, l.member = l.readValue, l.readMember
	return l
}

// Text hears a text.
func (l *Listener) Text(text []byte) { l.Heard = max(l.Heard, l.Hear(text)) }

// JSON hears the texts of a value, but for those under keys that hold no messages. What is
// wrong with it is not looked for.
func (l *Listener) JSON(raw []byte) {
	if !MaySpeak(raw) {
		return
	}
	l.scan.At(raw)
	l.path = l.path[:0]
	_ = l.value()
}

func (l *Listener) readValue() error {
	s := &l.scan
	switch s.Peek() {
	case '{':
		return s.Members(l.member)
	case '[':
		return s.Elements(l.value)
	case '"':
		_, text, err := s.Any()
		l.Text(text)
		return err
	}
	return s.Skip()
}

func (l *Listener) readMember(name []byte) error {
	outer := len(l.path)
	defer func() { l.path = l.path[:outer] }()
	l.path = append(l.path, name...)
	if !Listens(l.keys.Find(l.path)) || outer > 0 && !Listens(l.keys.Find(l.path[outer:])) {
		return l.scan.Skip()
	}
	l.path = append(l.path, '.')
	return l.readValue()
}

// Hears reports whether the messages of a record matter: it failed, or did not say that it
// succeeded, or a warning was logged with it.
func (e *Ending) Hears() bool {
	return e.Outcome == spans.Failed || e.Outcome == spans.Completed && (!e.Said || e.Loud)
}

// Hear adds what the messages of the record say.
func (s *Set) Hear(e *Ending, m Message, r *field.Record, kind spans.Kind) {
	switch {
	case m == Silent || !e.Hears():
		return
	case !s.On(RuleMessage):
		e.Speaks = true
		return
	case m == OfCancellation:
		e.Verdict = truncatedBy(spans.Caller, RuleMessage)
	case m == OfUpstreamTimeout && (kind == spans.Server || kind == spans.Consumer):
		e.Verdict = truncatedBy(spans.Below, RuleMessage)
	default:
		e.Verdict = truncatedBy(spans.Own, RuleMessage).seenBy(kind)
	}
	e.CutBy, e.Marked = namedCut(r, e.CutBy), true
}
