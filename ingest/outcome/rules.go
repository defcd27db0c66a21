// Package outcome says how an attempt ended from the evidence in its record:
// completed, failed or cut by a timeout, and whether it is a retry. One set of rules
// serves hop logs and traces.
package outcome

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// Rule is a named rule by which an attempt counts as truncated or as a retry.
type Rule struct {
	Name     string
	Evidence string // fields and values
	Verdict  string
	On       bool // without a flag that says otherwise
}

// The names of the rules.
const (
	RuleMark       = "explicit-mark"
	RuleCondition  = "truncated-if"
	RuleEnvoy      = "envoy-flags"
	RuleEnvoyText  = "envoy-details"
	RuleHAProxy    = "haproxy-state"
	RuleDeadline   = "grpc-deadline"
	RuleCancelled  = "grpc-cancelled"
	RuleGateway    = "http-504"
	RuleTimeout    = "http-timeout"
	RuleClientGone = "http-client-closed"
	RuleZero       = "http-zero"
	RuleErrorType  = "error-type"
	RuleErrorCode  = "error-code"
	RuleStatusWord = "status-word"
	RuleMessage    = "message"
	RuleWall       = "configured-wall"
	RuleBelow      = "cut-below"
	RuleRetryMark  = "retry-mark"
	RuleResend     = "resend-count"
	RuleSibling    = "sibling"
)

// Rules lists the rules, strongest evidence first. The first that says "cut"
// decides.
var Rules = [...]Rule{
	{RuleMark, "truncated, timed_out, is_timeout, timeout = true, 1, yes", "truncated, by its own timeout unless cut_by says otherwise", true},
	{RuleCondition, "--truncated-if KEY=VALUE", "truncated, by its own timeout", true},
	{RuleEnvoy, "response_flags UT, SI, UMSDR, DT anywhere in a list; DC", "truncated, own; DC by the caller", true},
	{RuleEnvoyText, "response_code_details, statusDetails with \"timeout\" or \"max_stream_duration\"; of a client that timed out or disconnected", "truncated, own; of a client by the caller", true},
	{RuleHAProxy, "termination_state s…, as in sH; C…, c…", "truncated, own; C and c by the caller", true},
	{RuleDeadline, "gRPC status 4, DEADLINE_EXCEEDED, or the HTTP status 408 of an RPC", "truncated, own; on a server span by the caller", true},
	{RuleCancelled, "gRPC status 1, CANCELLED", "truncated, by the caller", true},
	{RuleGateway, "HTTP status 504", "truncated, from below", true},
	{RuleTimeout, "HTTP status 522, 524, 598, 599", "truncated, own", true},
	{RuleClientGone, "HTTP status 499, 460", "truncated, by the caller", true},
	{RuleZero, "HTTP status 0 in the log of a server or proxy, or on its span", "truncated, by the caller", true},
	{RuleErrorType, "error.type timeout, or a name with \"timeout\" or \"deadline\"", "truncated, own; on a server span by the caller", true},
	{RuleErrorCode, "error_code 1050, 1211 of k6, exitcode 28 of curl, ETIMEDOUT, …", "truncated, own; on a server span by the caller", true},
	{RuleStatusWord, "status, outcome, error = timeout, timed_out, cancelled, …", "truncated, own; cancelled by the caller", true},
	{RuleMessage, "a text with \"timed out\", \"deadline exceeded\", … of an attempt that did not say success", "truncated, own, on a server span by the caller; of an upstream there from below; \"context canceled\" by the caller", false},
	{RuleWall, "failed, of whatever kind, at the timeout that --timeout or its record gives, or beyond it", "truncated, own", true},
	{RuleBelow, "failed, and holds a truncated attempt of its trace", "truncated, from below", true},
	{RuleRetryMark, "retry, is_retry, retried = true", "a retry", true},
	{RuleResend, "attempt, resend_count, … above that of the first", "a retry", true},
	{RuleSibling, "same parent and hop, starts after an earlier one timed out or failed; not on server spans; of hop logs without a mark: same chain and hop", "a retry", true},
}

// Config is what the user says of the rules.
type Config struct {
	MatchMessages bool
	TruncatedIf   []string         // KEY=VALUE
	Not           []string         // names of rules that do not count
	Timeouts      map[string]int64 // ns by hop name
}

// Set is the rules of a run; read-only once made.
type Set struct {
	off        map[string]bool
	conditions []condition
	timeouts   map[string]int64
}

// condition is one --truncated-if.
type condition struct{ key, value string }

// NewSet checks the user's settings.
func NewSet(c Config) (*Set, error) {
	r := &Set{off: map[string]bool{}, timeouts: c.Timeouts}
	for _, rule := range Rules {
		r.off[rule.Name] = !rule.On
	}
	r.off[RuleMessage] = !c.MatchMessages
	for _, name := range c.Not {
		if _, known := r.off[name]; !known {
			return nil, fmt.Errorf("--not-rule %q: no such rule; 'tailscope rules' lists them", name)
		}
		r.off[name] = true
	}
	for _, s := range c.TruncatedIf {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("--truncated-if %q: write KEY=VALUE", s)
		}
		r.conditions = append(r.conditions, condition{key, value})
	}
	return r, nil
}

// On reports whether a rule counts.
func (s *Set) On(name string) bool { return !s.off[name] }

// LastedItsTimeout reports whether the attempt of a row of which nothing says how it ended
// lasted as long as its timeout: the one that the user gave for its hop, else its own.
func (s *Set) LastedItsTimeout(hop []byte, r *spans.Row) bool {
	if r.Marked || r.Outcome != spans.Completed || len(s.timeouts) == 0 && !r.HasTimeout {
		return false
	}
	timeout := s.timeouts[string(hop)]
	if timeout == 0 && r.HasTimeout {
		timeout = r.Timeout
	}
	return spans.AtWall(timeout, r.Duration)
}

// AddConditions makes the keys of --truncated-if known; only the value asked
// for counts.
func (s *Set) AddConditions(t *field.Table) {
	for _, c := range s.conditions {
		t.AddExact(c.key, field.Use{Role: field.Condition, Unit: moment.NoUnitGiven, Match: c.value})
	}
}

// Evidence lists the roles that say how an attempt ended, strongest first, with
// how each is read. The strongest piece that says "cut" decides; where none
// does, the strongest that says "failed".
var Evidence = [...]struct {
	Role field.Role
	Read func(*field.Value) Verdict
}{
	{field.Condition, readCondition},
	{field.ResponseFlags, readFlags},
	{field.ResponseDetails, readDetails},
	{field.Termination, readTermination},
	{field.GRPCStatus, readGRPC},
	{field.HTTPStatus, readHTTP},
	{field.ErrorType, readErrorType},
	{field.Status, readStatus},
	{field.Code, readCode},
	{field.ErrorCode, readErrorCode},
	{field.OutcomeWord, readOutcome},
	{field.Success, readSuccess},
	{field.Error, readError},
}

// EvidenceRoles are the roles whose presence says that the source tells how
// attempts end.
const EvidenceRoles = 1<<field.TruncatedMark | 1<<field.GRPCStatus | 1<<field.HTTPStatus | 1<<field.ErrorType | 1<<field.Status | 1<<field.OutcomeWord | 1<<field.Error |
	1<<field.Condition | 1<<field.ResponseFlags | 1<<field.ResponseDetails | 1<<field.Termination | 1<<field.Success | 1<<field.ErrorCode

// SettledByError are the roles of the keys that are not read where the user named the
// error.
const SettledByError uint64 = EvidenceRoles&^(1<<field.TruncatedMark|1<<field.Condition) | 1<<field.Code

// Ending is how the attempt of a record ended, and how much of that the record said.
type Ending struct {
	Verdict
	Marked bool // there is a field that tells how attempts end
	Said   bool // it told that this one completed, or how else it ended
	Loud   bool // the line is one of level warn or above
	Speaks bool // a message speaks of a timeout or a cancellation, and does not count
	Zero   bool // a status of 0 was read as no error for want of a sign of HTTP
}

// EarlierThan reports whether a deadline passed well before the attempt's own timeout:
// then it was another one.
func (e *Ending) EarlierThan(r *spans.Row) bool {
	return e.Rule == RuleDeadline && e.CutBy == spans.Own && r.HasTimeout && r.Duration < r.Timeout-r.Timeout/20
}

// Judge says how the attempt of a record ended. ok is false for a mark that is neither yes
// nor no.
func (s *Set) Judge(r *field.Record, kind spans.Kind) (e Ending, ok bool) {
	isCut, readable := r.Get(field.TruncatedMark).Yes()
	if !readable {
		return Ending{Marked: true}, false
	}
	timedOut, isMark := TimeoutMark(r)
	e.Marked = r.Has&EvidenceRoles != 0 || isMark || r.Has&(1<<field.Code) != 0 && codeCounts(r)
	e.Said = isMark || r.Has&(1<<field.TruncatedMark) != 0
	e.Loud = r.Has&(1<<field.Level) != 0 && Loud(r.Get(field.Level))
	if (isCut || timedOut && isMark) && s.On(RuleMark) {
		e.Verdict = truncatedBy(spans.Own, RuleMark)
	} else {
		s.weigh(&e, r, kind)
	}
	if e.Outcome == spans.Truncated {
		e.CutBy = namedCut(r, e.CutBy)
	}
	return e, true
}

// weigh reads the evidence beside the explicit mark.
func (s *Set) weigh(e *Ending, r *field.Record, kind spans.Kind) {
	worst, flags := Completed, Completed
	for _, piece := range Evidence {
		if r.Has&(1<<piece.Role) == 0 {
			continue
		}
		verdict, counts := read(e, r, kind, piece.Role, piece.Read)
		if !counts {
			continue
		}
		e.Said = e.Said || !e.Zero && !saysNothing(r.Get(piece.Role))
		if verdict.Outcome == spans.Truncated {
			if s.On(verdict.Rule) {
				e.Verdict = verdict.seenBy(kind)
				return
			}
			verdict = failed(spans.OtherFailure)
		}
		switch {
		case piece.Role == field.ResponseFlags:
			flags = verdict // the status says better what failed
		case worst.Outcome == spans.Completed:
			worst = verdict
		}
	}
	if worst.Outcome == spans.Completed {
		worst = flags
	}
	e.Verdict = worst
}

// saysNothing reports whether a piece of evidence leaves open how the attempt ended. An
// error that is empty says that there was none.
func saysNothing(v *field.Value) bool {
	return v.Use.Role != field.Error && (v.Empty() || string(v.Raw) == "-")
}

// read reads one piece of evidence, together with what it is beside; counts is false for
// one that is none.
func read(e *Ending, r *field.Record, kind spans.Kind, role field.Role, alone func(*field.Value) Verdict) (v Verdict, counts bool) {
	if role == field.Code && !codeCounts(r) {
		return Completed, false
	}
	value := r.Get(role)
	if isStatus(role) {
		if n, isNumber := statusNumber(value); isNumber && n == 0 {
			return zero(e, r, kind, value), true
		} else if isNumber && isSmall(n) {
			return small(r, kind, value, n)
		} else if n == 408 && (r.Signs.Has(field.ShowsRPC) || !r.Get(field.RPCSystem).Empty()) {
			return truncatedBy(spans.Own, RuleDeadline), true
		}
	}
	v = alone(value)
	if kind != spans.NoKind && v == unknownWord && (role == field.Status || role == field.OutcomeWord || role == field.Success) {
		return Completed, false // anyone may set such a tag
	}
	return v, true
}

// isStatus reports whether a role is read together with what it is beside.
func isStatus(r field.Role) bool {
	return r == field.HTTPStatus || r == field.Status || r == field.Code
}

func isSmall(n int64) bool { return n > 0 && n <= 16 }

// Plain returns how evidence of a role says, whatever it is beside, that the attempt
// completed; said tells that it says so at all. It is nil for a role that is no evidence.
func Plain(role field.Role) func(v *field.Value) (completed, said bool) {
	for _, piece := range Evidence {
		if piece.Role == role && role != field.Condition {
			return func(v *field.Value) (completed, said bool) {
				if n, isNumber := statusNumber(v); isStatus(role) && isNumber && n >= 0 && n <= 16 {
					return false, false
				}
				return piece.Read(v).Outcome == spans.Completed, !saysNothing(v)
			}
		}
	}
	return nil
}

// seenBy tells whose deadline passed: a server sees that of its caller.
func (v Verdict) seenBy(kind spans.Kind) Verdict {
	server := kind == spans.Server || kind == spans.Consumer
	if server && v.CutBy == spans.Own && (v.Rule == RuleDeadline || v.Rule == RuleErrorType || v.Rule == RuleErrorCode || v.Rule == RuleMessage) {
		v.CutBy = spans.Caller
	}
	return v
}

func readCondition(v *field.Value) Verdict {
	if v.Empty() {
		return Completed
	}
	return truncatedBy(spans.Own, RuleCondition)
}

// Retry reports whether the source itself says that the attempt is a retry.
func (s *Set) Retry(r *field.Record) bool {
	if yes, ok := r.Get(field.RetryMark).Yes(); ok && yes && s.On(RuleRetryMark) {
		return true
	}
	v := r.Get(field.Attempt)
	if v.Empty() || !s.On(RuleResend) {
		return false
	}
	d, err := moment.ParseDecimal(bytes.TrimSpace(v.Raw))
	return err == nil && !d.Negative && d.Mantissa != 0
}

// MostTries is the most tries of a call that are told apart.
const MostTries = 255

// Tries is how many tries the call of a record took, at most MostTries; 0 where the
// record does not count them.
func (s *Set) Tries(r *field.Record) uint8 {
	v := r.Get(field.Tries)
	if v.Empty() || r.Has&(1<<field.Attempt) != 0 && r.Get(field.Attempt).Key == v.Key {
		return 0
	}
	n, isNumber := count(v.Raw)
	if !isNumber || n < 0 {
		return 0
	}
	return TriesOf(n, int64(v.Use.First))
}

// TriesOf is the number of tries where a count says n, and first of one try.
func TriesOf(n, first int64) uint8 { return uint8(max(0, min(n-first, MostTries-1)+1)) }
