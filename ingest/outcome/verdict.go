package outcome

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
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
		return true, v.Use.Unit == moment.NoUnitGiven && !v.Use.NoMark
	case "0":
		return false, v.Use.Unit == moment.NoUnitGiven && !v.Use.NoMark
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

func byHTTP(n int64) Verdict {
	switch {
	case n >= 100 && n < 400:
		return Completed
	case n == 504:
		return truncatedBy(spans.Below, RuleGateway)
	case n == 522 || n == 524 || n == 598 || n == 599:
		return truncatedBy(spans.Own, RuleTimeout)
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

// ContainsFold reports whether word, in lower-case ASCII, is in b in any case.
func ContainsFold(b []byte, word string) bool { return indexFold(b, word) >= 0 }

var wordOwn = truncatedBy(spans.Own, RuleStatusWord)

// unknownWord is the verdict on a word that is in no list.
var unknownWord = failed(spans.OtherFailure)

// words are the status words in use: plain English, OpenTelemetry's, gRPC's, HTTP's
// and those of loggers for "there is none".
var words = map[string]Verdict{
	"": Completed, "ok": Completed, "okay": Completed, "success": Completed, "succeeded": Completed, "successful": Completed, "successfully": Completed,
	"complete": Completed, "completed": Completed, "done": Completed, "finished": Completed, "unset": Completed, "false": Completed, "no": Completed,
	"pass": Completed, "passed": Completed, "fulfilled": Completed, "resolved": Completed, "good": Completed, "normal": Completed,
	"none": Completed, "null": Completed, "nil": Completed, "<nil>": Completed, "(nil)": Completed, "undefined": Completed, "n/a": Completed, "na": Completed,
	"noerror": Completed, "noerrors": Completed, "noerr": Completed, "noexception": Completed, "nofailure": Completed, "{}": Completed, "[]": Completed,
	"statuscodeok": Completed, "statuscodeunset": Completed, "statuscode.ok": Completed, "statuscode.unset": Completed,
	"created": Completed, "accepted": Completed, "nocontent": Completed, "notmodified": Completed, "found": Completed, "movedpermanently": Completed,
	"info": Completed, "information": Completed, "debug": Completed, "notice": Completed, "warn": Completed, "warning": Completed, // levels
	"2xx": Completed, "3xx": Completed, "4xx": failed(spans.ClientError), "5xx": failed(spans.ServerError),

	"timeout": wordOwn, "timedout": wordOwn, "truncated": wordOwn, "deadlineexceeded": truncatedBy(spans.Own, RuleDeadline),
	"contextdeadlineexceeded": wordOwn, "i/otimeout": wordOwn, "connectiontimedout": wordOwn, "etimedout": wordOwn, "esockettimedout": wordOwn,
	"econnaborted": wordOwn, "errtimedout": wordOwn, "errconnectiontimedout": wordOwn, "requesttimedout": wordOwn, "readtimedout": wordOwn, "connecttimedout": wordOwn,
	"requesttimeout": wordOwn, "readtimeout": wordOwn, "connecttimeout": wordOwn, "connectiontimeout": wordOwn, "writetimeout": wordOwn, "sockettimeout": wordOwn,
	"operationtimedout": wordOwn, "gatewaytimeout": truncatedBy(spans.Below, RuleGateway), "gatewaytimedout": truncatedBy(spans.Below, RuleGateway),
	"contextcanceled": truncatedBy(spans.Caller, RuleCancelled), "contextcancelled": truncatedBy(spans.Caller, RuleCancelled),
	"cancelled": truncatedBy(spans.Caller, RuleCancelled), "canceled": truncatedBy(spans.Caller, RuleCancelled),
	"clientclosedrequest": truncatedBy(spans.Caller, RuleClientGone), "clientdisconnected": truncatedBy(spans.Caller, RuleClientGone),
	"errcanceled": truncatedBy(spans.Caller, RuleCancelled), "requestcanceled": truncatedBy(spans.Caller, RuleCancelled), "requestcancelled": truncatedBy(spans.Caller, RuleCancelled),

	"true": failedUnknown, "error": failedUnknown, "err": failedUnknown, "failed": failedUnknown,
	"failure": failedUnknown, "fail": failedUnknown, "statuscodeerror": failedUnknown, "statuscode.error": failedUnknown, "yes": failedUnknown,

	"refused": failed(spans.Refused), "connectionrefused": failed(spans.Refused), "econnrefused": failed(spans.Refused), "errconnectionrefused": failed(spans.Refused),
	"reset": failed(spans.Reset), "connectionreset": failed(spans.Reset), "econnreset": failed(spans.Reset), "errconnectionreset": failed(spans.Reset),
	"unavailable": failed(spans.Unavailable), "badgateway": failed(spans.Unavailable), "serviceunavailable": failed(spans.Unavailable),
	"throttled": failed(spans.Throttled), "ratelimited": failed(spans.Throttled), "toomanyrequests": failed(spans.Throttled),
	"resourceexhausted": failed(spans.Throttled),
	"unknown":           failed(spans.ServerError), "internal": failed(spans.ServerError), "unimplemented": failed(spans.ServerError),
	"aborted": failed(spans.ServerError), "dataloss": failed(spans.ServerError), "servererror": failed(spans.ServerError), "internalservererror": failed(spans.ServerError),
	"invalidargument": failed(spans.ClientError), "notfound": failed(spans.ClientError), "alreadyexists": failed(spans.ClientError),
	"permissiondenied": failed(spans.ClientError), "failedprecondition": failed(spans.ClientError), "outofrange": failed(spans.ClientError),
	"unauthenticated": failed(spans.ClientError), "clienterror": failed(spans.ClientError), "badrequest": failed(spans.ClientError),
	"unauthorized": failed(spans.ClientError), "forbidden": failed(spans.ClientError), "conflict": failed(spans.ClientError),
}
