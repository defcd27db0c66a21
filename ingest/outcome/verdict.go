package outcome

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// Verdict is how an attempt ended, by one piece of evidence or by all; rule
// names what made it truncated.
type Verdict struct {
	Outcome spans.Outcome
	CutBy   spans.CutBy
	Failure spans.Failure
	Rule    string
}

var (
	Completed     = Verdict{}
	failedUnknown = failed(spans.FailureUnknown)
)

func truncatedBy(by spans.CutBy, rule string) Verdict {
	return Verdict{spans.Truncated, by, spans.NotFailed, rule}
}

func failed(kind spans.Failure) Verdict { return Verdict{Outcome: spans.Failed, Failure: kind} }

// TimeoutMark reads the key "timeout" where it is yes or no and not a time.
func TimeoutMark(r *field.Record) (yes, isMark bool) {
	v := r.Get(field.Timeout)
	if v.Empty() {
		return false, false
	}
	var buf [field.MaxWord]byte
	switch string(field.Fold(v.Raw, &buf)) {
	case "true", "yes":
		return true, true
	case "false", "no":
		return false, true
	case "1":
		return true, v.Use.Unit == moment.NoUnitGiven
	case "0":
		return false, v.Use.Unit == moment.NoUnitGiven
	}
	return false, false
}

// namedCut takes who cut the attempt from the record, where it says so.
func namedCut(r *field.Record, by spans.CutBy) spans.CutBy {
	var buf [field.MaxWord]byte
	named := field.Fold(r.Get(field.CutByMark).Raw, &buf)
	for _, c := range spans.CutBys {
		if string(named) == c.String() {
			return c
		}
	}
	return by
}

// readStatus reads a status or an outcome: a number by HTTP's codes (1 to 16 by
// gRPC's), a word by its meaning; anything else that is there is a failure.
func readStatus(v *field.Value) Verdict {
	switch v.Kind {
	case jsonscan.Absent, jsonscan.Null, jsonscan.False:
		return Completed
	case jsonscan.True:
		return failedUnknown
	}
	switch n, isNumber := count(v.Raw); {
	case !isNumber:
		return byWord(bytes.TrimSpace(v.Raw))
	case n >= 0 && n <= 16:
		return grpcVerdicts[n]
	default:
		return byHTTP(n)
	}
}

// count reads a number; one that is no count is -1.
func count(b []byte) (n int64, isNumber bool) {
	d, err := moment.ParseDecimal(bytes.TrimSpace(b))
	if err != nil {
		return 0, false
	}
	if n, exact, err := d.Nanoseconds(0); err == nil && exact {
		return n, true
	}
	return -1, true
}

// readError reads an error as a status, but for 1, which says only that there
// was one.
func readError(v *field.Value) Verdict {
	if string(bytes.TrimSpace(v.Raw)) == "1" {
		return failedUnknown
	}
	return readStatus(v)
}

func byHTTP(n int64) Verdict {
	switch {
	case n >= 100 && n < 400:
		return Completed
	case n == 504:
		return truncatedBy(spans.Below, RuleGateway)
	case n == 499 || n == 460:
		return truncatedBy(spans.Caller, RuleClientGone)
	case n == 429:
		return failed(spans.Throttled)
	case n == 502 || n == 503:
		return failed(spans.Unavailable)
	case n >= 400 && n < 500:
		return failed(spans.ClientError)
	case n >= 500 && n < 600:
		return failed(spans.ServerError)
	}
	return failedUnknown
}

// grpcVerdicts is indexed by the codes of gRPC.
var grpcVerdicts = [17]Verdict{
	0: Completed, 1: truncatedBy(spans.Caller, RuleCancelled), 2: failed(spans.ServerError), 3: failed(spans.ClientError), 4: truncatedBy(spans.Own, RuleDeadline),
	5: failed(spans.ClientError), 6: failed(spans.ClientError), 7: failed(spans.ClientError),
	8: failed(spans.Throttled), 9: failed(spans.ClientError), 10: failed(spans.ServerError),
	11: failed(spans.ClientError), 12: failed(spans.ServerError), 13: failed(spans.ServerError),
	14: failed(spans.Unavailable), 15: failed(spans.ServerError), 16: failed(spans.ClientError),
}

func readGRPC(v *field.Value) Verdict {
	switch n, isNumber := count(v.Raw); {
	case v.Empty():
		return Completed
	case !isNumber:
		return byWord(v.Raw)
	case n < 0 || n > 16:
		return failedUnknown
	default:
		return grpcVerdicts[n]
	}
}

// readErrorType reads OpenTelemetry's error.type: a status number as text, a
// word, or the name of an exception class.
func readErrorType(v *field.Value) Verdict {
	w := readStatus(v)
	if w.Rule == RuleStatusWord {
		w.Rule = RuleErrorType
	}
	if w.Outcome == spans.Truncated || v.Kind != jsonscan.Text {
		return w
	}
	if ContainsFold(v.Raw, "timeout") || ContainsFold(v.Raw, "deadline") {
		return truncatedBy(spans.Own, RuleErrorType)
	}
	return w
}

// byWord reads a status word without regard to case, blanks, - and _.
func byWord(b []byte) Verdict {
	var buf [field.MaxWord]byte
	if v, ok := words[string(field.Fold(b, &buf))]; ok {
		return v
	}
	return failed(spans.OtherFailure)
}

// ContainsFold reports whether word, in lower-case ASCII, is in b in any case.
func ContainsFold(b []byte, word string) bool {
	for i := 0; i+len(word) <= len(b); i++ {
		if b[i]|0x20 == word[0] && bytes.EqualFold(b[i:i+len(word)], []byte(word)) {
			return true
		}
	}
	return false
}

var wordOwn = truncatedBy(spans.Own, RuleStatusWord)

// words are the status words in use: plain English, OpenTelemetry's and gRPC's.
var words = map[string]Verdict{
	"": Completed, "ok": Completed, "success": Completed, "succeeded": Completed, "successful": Completed,
	"complete": Completed, "completed": Completed, "done": Completed, "unset": Completed, "false": Completed,
	"none": Completed, "null": Completed, "nil": Completed, "statuscodeok": Completed, "statuscodeunset": Completed,
	"2xx": Completed, "3xx": Completed, "4xx": failed(spans.ClientError), "5xx": failed(spans.ServerError),

	"timeout": wordOwn, "timedout": wordOwn, "truncated": wordOwn, "deadlineexceeded": truncatedBy(spans.Own, RuleDeadline),
	"contextdeadlineexceeded": wordOwn, "i/otimeout": wordOwn, "connectiontimedout": wordOwn, "etimedout": wordOwn,
	"requesttimeout": wordOwn, "gatewaytimeout": truncatedBy(spans.Below, RuleGateway),
	"contextcanceled": truncatedBy(spans.Caller, RuleCancelled), "contextcancelled": truncatedBy(spans.Caller, RuleCancelled),
	"cancelled": truncatedBy(spans.Caller, RuleCancelled), "canceled": truncatedBy(spans.Caller, RuleCancelled),

	"true": failedUnknown, "error": failedUnknown, "err": failedUnknown, "failed": failedUnknown,
	"failure": failedUnknown, "fail": failedUnknown, "statuscodeerror": failedUnknown,

	"refused": failed(spans.Refused), "connectionrefused": failed(spans.Refused), "econnrefused": failed(spans.Refused),
	"reset": failed(spans.Reset), "connectionreset": failed(spans.Reset), "econnreset": failed(spans.Reset),
	"unavailable": failed(spans.Unavailable), "badgateway": failed(spans.Unavailable), "serviceunavailable": failed(spans.Unavailable),
	"throttled": failed(spans.Throttled), "ratelimited": failed(spans.Throttled), "toomanyrequests": failed(spans.Throttled),
	"resourceexhausted": failed(spans.Throttled),
	"unknown":           failed(spans.ServerError), "internal": failed(spans.ServerError), "unimplemented": failed(spans.ServerError),
	"aborted": failed(spans.ServerError), "dataloss": failed(spans.ServerError), "servererror": failed(spans.ServerError),
	"invalidargument": failed(spans.ClientError), "notfound": failed(spans.ClientError), "alreadyexists": failed(spans.ClientError),
	"permissiondenied": failed(spans.ClientError), "failedprecondition": failed(spans.ClientError), "outofrange": failed(spans.ClientError),
	"unauthenticated": failed(spans.ClientError), "clienterror": failed(spans.ClientError),
}
