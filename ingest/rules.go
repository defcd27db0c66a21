package ingest

import (
	"bytes"
	"fmt"
	"strings"

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

// RuleConfig is what the user says of the rules.
type RuleConfig struct {
	MatchMessages bool
	TruncatedIf   []string // KEY=VALUE
	Not           []string // names of rules that do not count
}

// ruleSet is the rules of a run; read-only once made.
type ruleSet struct {
	off        map[string]bool
	conditions []condition
}

// condition is one --truncated-if.
type condition struct{ key, value string }

// newRuleSet checks the user's settings.
func newRuleSet(c RuleConfig) (*ruleSet, error) {
	r := &ruleSet{off: map[string]bool{}}
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
func (r *ruleSet) On(name string) bool { return !r.off[name] }

// addConditions makes the keys of --truncated-if known; only the value asked
// for counts.
func (s *ruleSet) addConditions(t *table) {
	for _, c := range s.conditions {
		t.addExact(c.key, use{role: Condition, unit: NoUnitGiven, match: c.value})
	}
}

// evidence lists the roles that say how an attempt ended, strongest first, with
// how each is read. The strongest piece that says "cut" decides; where none
// does, the strongest that says "failed".
var evidence = [...]struct {
	role Role
	read func(*value) verdict
}{
	{Condition, readCondition},
	{ResponseFlags, readFlags},
	{ResponseDetails, readDetails},
	{GRPCStatus, readGRPC},
	{HTTPStatus, readStatus},
	{ErrorType, readErrorType},
	{Status, readStatus},
	{OutcomeWord, readStatus},
	{Error, readError},
}

// evidenceRoles are the roles whose presence says that the source tells how
// attempts end.
const evidenceRoles = 1<<TruncatedMark | 1<<GRPCStatus | 1<<HTTPStatus | 1<<ErrorType | 1<<Status | 1<<OutcomeWord | 1<<Error |
	1<<Condition | 1<<ResponseFlags | 1<<ResponseDetails

// judge says how the attempt of a record ended; marked is false where the
// record says nothing of it. ok is false for a mark that is neither yes nor no.
func (s *ruleSet) judge(r *record, kind spans.Kind) (v verdict, marked, ok bool) {
	isCut, readable := r.get(TruncatedMark).yes()
	if !readable {
		return v, true, false
	}
	timedOut, isMark := timeoutMark(r)
	marked = r.has&evidenceRoles != 0 || isMark
	if (isCut || timedOut && isMark) && s.On(RuleMark) {
		v = truncatedBy(spans.Own, RuleMark)
	} else {
		v = s.weigh(r, kind)
	}
	if v.outcome == spans.Truncated {
		v.cutBy = namedCut(r, v.cutBy)
	}
	return v, marked, true
}

// weigh reads the evidence beside the explicit mark.
func (s *ruleSet) weigh(r *record, kind spans.Kind) verdict {
	worst := completed
	for _, e := range evidence {
		if r.has&(1<<e.role) == 0 {
			continue
		}
		v := e.read(r.get(e.role))
		if e.role == HTTPStatus && deadlineOverHTTP(r) {
			v = truncatedBy(spans.Own, RuleDeadline)
		}
		if e.role == HTTPStatus && hungUp(r) {
			v = truncatedBy(spans.Caller, RuleEnvoy)
		}
		if v.outcome == spans.Truncated {
			if s.On(v.rule) {
				return v.seenBy(kind)
			}
			v = failed(spans.OtherFailure)
		}
		if worst.outcome == spans.Completed {
			worst = v
		}
	}
	if worst.outcome == spans.Failed && s.On(RuleMessage) {
		return byMessage(r, kind, worst)
	}
	return worst
}

// deadlineOverHTTP reports a 408 of gRPC or Connect, which map a deadline to it;
// of any other server it says that the server waited for its client.
func deadlineOverHTTP(r *record) bool {
	return !r.get(RPCSystem).empty() && string(bytes.TrimSpace(r.get(HTTPStatus).raw)) == "408"
}

// seenBy tells whose deadline passed: a server sees that of its caller.
func (v verdict) seenBy(kind spans.Kind) verdict {
	server := kind == spans.Server || kind == spans.Consumer
	if server && v.cutBy == spans.Own && (v.rule == RuleDeadline || v.rule == RuleErrorType || v.rule == RuleMessage) {
		v.cutBy = spans.Caller
	}
	return v
}

// byMessage reads the error messages of a failed attempt.
func byMessage(r *record, kind spans.Kind, otherwise verdict) verdict {
	for _, role := range [...]Role{Error, Message} {
		raw := r.get(role).raw
		switch {
		case containsFold(raw, "context canceled"):
			return truncatedBy(spans.Caller, RuleMessage)
		case speaksOfTimeout(raw):
			return truncatedBy(spans.Own, RuleMessage).seenBy(kind)
		}
	}
	return otherwise
}

// speaksOfTimeout spots error messages about timeouts. A message is a weak mark
// ("timeout=30s" in a dump of settings matches too), so it counts only where the
// user says so.
func speaksOfTimeout(raw []byte) bool {
	return containsFold(raw, "timed out") || containsFold(raw, "timeout") || containsFold(raw, "deadline exceeded")
}

func readCondition(v *value) verdict {
	if v.empty() {
		return completed
	}
	return truncatedBy(spans.Own, RuleCondition)
}

// readFlags reads Envoy's response flags; only these are timeouts or a caller
// that left. The others say why a request failed, and its status says so too.
func readFlags(v *value) verdict {
	worst := completed
	for flag := range bytes.SplitSeq(v.raw, []byte{','}) {
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
func hungUp(r *record) bool {
	flags := r.get(ResponseFlags)
	return r.has&(1<<ResponseFlags) != 0 && (flags.empty() || string(flags.raw) == "-") && string(r.get(HTTPStatus).raw) == "0"
}

func readDetails(v *value) verdict {
	if containsFold(v.raw, "timeout") {
		return truncatedBy(spans.Own, RuleEnvoyText)
	}
	return completed
}

// retry reports whether the source itself says that the attempt is a retry.
func (s *ruleSet) retry(r *record) bool {
	if yes, ok := r.get(RetryMark).yes(); ok && yes && s.On(RuleRetryMark) {
		return true
	}
	v := r.get(Attempt)
	if v.empty() || !s.On(RuleResend) {
		return false
	}
	d, err := parseDecimal(bytes.TrimSpace(v.raw))
	return err == nil && !d.negative && d.mantissa != 0
}
