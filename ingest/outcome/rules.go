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
	RuleDeadline   = "grpc-deadline"
	RuleCancelled  = "grpc-cancelled"
	RuleGateway    = "http-504"
	RuleClientGone = "http-client-closed"
	RuleErrorType  = "error-type"
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
	{RuleMark, "truncated, timed_out, is_timeout, timeout = true, 1, yes", "truncated, cut by its own timeout unless cut_by says otherwise", true},
	{RuleCondition, "--truncated-if KEY=VALUE", "truncated, cut by its own timeout", true},
	{RuleEnvoy, "response_flags UT, SI, UMSDR, DT; DC, or status 0 without a flag", "truncated, own; DC and status 0 by the caller", true},
	{RuleEnvoyText, "response_code_details contains \"timeout\"", "truncated, own", true},
	{RuleDeadline, "gRPC status 4, DEADLINE_EXCEEDED, or the HTTP status 408 of an RPC", "truncated, own; on a server span by the caller", true},
	{RuleCancelled, "gRPC status 1, CANCELLED", "truncated, by the caller", true},
	{RuleGateway, "HTTP status 504", "truncated, from below", true},
	{RuleClientGone, "HTTP status 499, 460", "truncated, by the caller", true},
	{RuleErrorType, "error.type timeout, or a name with \"timeout\" or \"deadline\"", "truncated, own; on a server span by the caller", true},
	{RuleStatusWord, "status, outcome, error = timeout, timed_out, cancelled, …", "truncated, own; cancelled by the caller", true},
	{RuleMessage, "an error message with \"timed out\", \"deadline exceeded\", …", "truncated, own; \"context canceled\" by the caller", false},
	{RuleWall, "failed at the timeout that --timeout gives (to 2 % or 50 ms above)", "truncated, own", true},
	{RuleBelow, "failed, and holds a truncated attempt of its trace", "truncated, from below", true},
	{RuleRetryMark, "retry, is_retry, retried = true", "a retry", true},
	{RuleResend, "http.request.resend_count, attempt, … above that of the first", "a retry", true},
	{RuleSibling, "same parent and hop, starts after an earlier one was cut or failed; not on server spans", "a retry", true},
}

// Config is what the user says of the rules.
type Config struct {
	MatchMessages bool
	TruncatedIf   []string // KEY=VALUE
	Not           []string // names of rules that do not count
}

// Set is the rules of a run; read-only once made.
type Set struct {
	off        map[string]bool
	conditions []condition
}

// condition is one --truncated-if.
type condition struct{ key, value string }

// NewSet checks the user's settings.
func NewSet(c Config) (*Set, error) {
	r := &Set{off: map[string]bool{}}
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
	{field.GRPCStatus, readGRPC},
	{field.HTTPStatus, readStatus},
	{field.ErrorType, readErrorType},
	{field.Status, readStatus},
	{field.OutcomeWord, readStatus},
	{field.Error, readError},
}

// EvidenceRoles are the roles whose presence says that the source tells how
// attempts end.
const EvidenceRoles = 1<<field.TruncatedMark | 1<<field.GRPCStatus | 1<<field.HTTPStatus | 1<<field.ErrorType | 1<<field.Status | 1<<field.OutcomeWord | 1<<field.Error |
	1<<field.Condition | 1<<field.ResponseFlags | 1<<field.ResponseDetails

// Judge says how the attempt of a record ended; marked is false where the
// record says nothing of it. ok is false for a mark that is neither yes nor no.
func (s *Set) Judge(r *field.Record, kind spans.Kind) (v Verdict, marked, ok bool) {
	isCut, readable := r.Get(field.TruncatedMark).Yes()
	if !readable {
		return v, true, false
	}
	timedOut, isMark := TimeoutMark(r)
	marked = r.Has&EvidenceRoles != 0 || isMark
	if (isCut || timedOut && isMark) && s.On(RuleMark) {
		v = truncatedBy(spans.Own, RuleMark)
	} else {
		v = s.weigh(r, kind)
	}
	if v.Outcome == spans.Truncated {
		v.CutBy = namedCut(r, v.CutBy)
	}
	return v, marked, true
}

// weigh reads the evidence beside the explicit mark.
func (s *Set) weigh(r *field.Record, kind spans.Kind) Verdict {
	worst := Completed
	for _, e := range Evidence {
		if r.Has&(1<<e.Role) == 0 {
			continue
		}
		v := e.Read(r.Get(e.Role))
		if e.Role == field.HTTPStatus && deadlineOverHTTP(r) {
			v = truncatedBy(spans.Own, RuleDeadline)
		}
		if e.Role == field.HTTPStatus && hungUp(r) {
			v = truncatedBy(spans.Caller, RuleEnvoy)
		}
		if v.Outcome == spans.Truncated {
			if s.On(v.Rule) {
				return v.seenBy(kind)
			}
			v = failed(spans.OtherFailure)
		}
		if worst.Outcome == spans.Completed {
			worst = v
		}
	}
	if worst.Outcome == spans.Failed && s.On(RuleMessage) {
		return byMessage(r, kind, worst)
	}
	return worst
}

// deadlineOverHTTP reports a 408 of gRPC or Connect, which map a deadline to it;
// of any other server it says that the server waited for its client.
func deadlineOverHTTP(r *field.Record) bool {
	return !r.Get(field.RPCSystem).Empty() && string(bytes.TrimSpace(r.Get(field.HTTPStatus).Raw)) == "408"
}

// seenBy tells whose deadline passed: a server sees that of its caller.
func (v Verdict) seenBy(kind spans.Kind) Verdict {
	server := kind == spans.Server || kind == spans.Consumer
	if server && v.CutBy == spans.Own && (v.Rule == RuleDeadline || v.Rule == RuleErrorType || v.Rule == RuleMessage) {
		v.CutBy = spans.Caller
	}
	return v
}

// byMessage reads the error messages of a failed attempt.
func byMessage(r *field.Record, kind spans.Kind, otherwise Verdict) Verdict {
	for _, role := range [...]field.Role{field.Error, field.Message} {
		raw := r.Get(role).Raw
		switch {
		case ContainsFold(raw, "context canceled"):
			return truncatedBy(spans.Caller, RuleMessage)
		case SpeaksOfTimeout(raw):
			return truncatedBy(spans.Own, RuleMessage).seenBy(kind)
		}
	}
	return otherwise
}

// SpeaksOfTimeout spots error messages about timeouts. A message is a weak mark
// ("timeout=30s" in a dump of settings matches too), so it counts only where the
// user says so.
func SpeaksOfTimeout(raw []byte) bool {
	return ContainsFold(raw, "timed out") || ContainsFold(raw, "timeout") || ContainsFold(raw, "deadline exceeded")
}

func readCondition(v *field.Value) Verdict {
	if v.Empty() {
		return Completed
	}
	return truncatedBy(spans.Own, RuleCondition)
}

// readFlags reads Envoy's response flags; only these are timeouts or a caller
// that left. The others say why a request failed, and its status says so too.
func readFlags(v *field.Value) Verdict {
	worst := Completed
	for flag := range bytes.SplitSeq(v.Raw, []byte{','}) {
		switch string(bytes.TrimSpace(flag)) {
		case "UT", "SI", "UMSDR", "DT":
			return truncatedBy(spans.Own, RuleEnvoy)
		case "DC":
			worst = truncatedBy(spans.Caller, RuleEnvoy)
		}
	}
	return worst
}

// hungUp reports whether Envoy says neither a status nor why: its caller left
// before there was one.
func hungUp(r *field.Record) bool {
	flags := r.Get(field.ResponseFlags)
	return r.Has&(1<<field.ResponseFlags) != 0 && (flags.Empty() || string(flags.Raw) == "-") && string(r.Get(field.HTTPStatus).Raw) == "0"
}

func readDetails(v *field.Value) Verdict {
	if ContainsFold(v.Raw, "timeout") {
		return truncatedBy(spans.Own, RuleEnvoyText)
	}
	return Completed
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
