package outcome

import (
	"slices"
	"strings"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/moment"
)

// Keys lists the keys that say how an attempt ended or that it is a retry, best first
// for each role. One list serves the fields of hop logs and the tags of spans: keys are
// compared without regard to case, dots, blanks, - and _, and a dot also stands for
// nesting.
var Keys = [field.Roles][]string{
	field.TruncatedMark:   {"truncated", "timed_out", "is_timeout", "is_timed_out"},
	field.ResponseFlags:   {"response_flags", "response_flags_long"},
	field.ResponseDetails: {"response_code_details", "status_details"},
	field.Termination:     {"termination_state", "haproxy.termination_state"},
	field.GRPCStatus: {"rpc.grpc.status_code", "rpc.response.status_code", "rpc.status_code", "rpc.connect_rpc.error_code", "grpc.code", "grpc.status_code",
		"grpc.status", "grpc_response_status", "otel.status_code"},
	field.HTTPStatus: {"http.response.status_code", "http.status_code", "http.response.status", "http.response.code", "http.status", "http.code", "http_response_code",
		"response_code", "response.status_code", "response.status", "response.code", "res.status_code", "res.status", "resp.status_code", "resp.status", "resp_code",
		"response_status_code", "http_request.status", "downstream_status", "edge_response_status", "elb_status_code", "sc_status", "status_code",
		"result_code", "return_code", "reply_code", "origin_status", "origin_response_status", "target_status_code", "upstream_status", "upstream_status_code", "backend_status"},
	field.ErrorType: {"error.type", "error_type", "error.name", "error.kind", "error.class", "err.type", "err.code", "err.name",
		"exception.type", "exception.class", "exception_type", "errno", "error.errno"},
	field.Status:      {"status"},
	field.Code:        {"code", "result"},
	field.OutcomeWord: {"outcome", "event.outcome"},
	field.Success:     {"success", "ok", "succeeded", "successful", "is_success", "is_ok", "is_successful"},
	field.ErrorCode:   {"error_code", "exitcode", "exit_code"},
	field.Error:       {"error", "err"},
	field.RPCSystem:   {"rpc.system", "rpc.system.name"},
	field.RetryMark:   {"retry", "is_retry", "retried"},
	field.Attempt: {"attempt", "resend_count", "http.request.resend_count", "http.resend_count", "gcp.grpc.resend.count",
		"retry_attempt", "retry_number", "attempt_number", "grpc_previous_rpc_attempts", "rpc.request.metadata.grpc-previous-rpc-attempts"},
	field.Tries: {"attempt_count", "attempts", "tries", "num_attempts", "upstream_request_attempt_count", "x_envoy_attempt_count",
		"retry_count", "retries", "retry_attempts", "num_retries", "retries_count", "retry_cnt", "number_of_retries", "total_retries"},
	field.Level: {"level", "severity", "lvl", "log.level", "loglevel", "level_name", "severity_text"},
}

// firstTries are the keys whose number counts the first try too; others count what
// came after it.
var firstTries = map[string]bool{
	"attempt": true, "attemptnumber": true, "attemptcount": true, "attempts": true, "tries": true, "numattempts": true,
	"upstreamrequestattemptcount": true, "xenvoyattemptcount": true,
}

// FirstAttempt is the number that the first try of a call has under a key.
func FirstAttempt(key string) int8 {
	folded := field.FoldKey(key)
	if at := strings.LastIndexByte(key, '.'); at >= 0 && !firstTries[folded] {
		folded = field.FoldKey(key[at+1:])
	}
	if firstTries[folded] {
		return 1
	}
	return 0
}

// AddKeys makes the keys known to a table, but for those of the roles that skip says;
// first gives the number of the first attempt under a key.
func AddKeys(t *field.Table, skip func(field.Role) bool, first func(key string) int8) {
	t.Signs = signsOf
	for role, keys := range Keys {
		if skip(field.Role(role)) {
			continue
		}
		for rank, key := range keys {
			u := field.Use{Role: field.Role(role), Rank: uint16(rank), Unit: moment.NoUnitGiven}
			if u.Role == field.Attempt || u.Role == field.Tries {
				u.First = first(key)
			}
			t.AddFolded(key, u)
		}
	}
}

// signsOf says what a key shows by being there.
func signsOf(lower, folded string) field.Signs {
	var s field.Signs
	for _, rule := range [...]struct {
		words []string
		whole bool // the key is one of the words; else it holds one
		sign  field.Signs
	}{
		{[]string{"http", "responsecode", "responsestatus", "downstreamstatus", "originstatus", "resstatus", "respstatus"}, false, field.ShowsHTTP | field.IsHTTP},
		{[]string{"scstatus", "elbstatuscode", "targetstatuscode", "upstreamstatus", "upstreamstatuscode"}, true, field.ShowsHTTP | field.IsHTTP},
		{[]string{"method", "path", "url", "uri", "verb", "requestline", "responseflags", "csmethod", "csuristem", "urlpath", "urlfull"}, true, field.ShowsHTTP},
		{[]string{"requestmethod", "requestpath", "requesturl", "requesturi", "useragent"}, false, field.ShowsHTTP},
		{[]string{"responseflags", "remoteaddr", "remoteip", "remotehost", "clientip", "clientaddr", "clienthost", "useragent", "forwardedfor", "bodybytes",
			"bytessent", "upstream", "downstream", "edgeresponse", "routername", "elbstatus", "httprequest"}, false, field.ShowsServer},
		{[]string{"csmethod", "csuristem", "scstatus", "cip", "backendname", "frontendname"}, true, field.ShowsServer},
		{[]string{"attack", "errorcode", "exitcode", "expectedresponse", "vu", "urleffective", "threadname", "grpthreads"}, true, field.ShowsClient},
		{[]string{"grpc"}, false, field.ShowsRPC | field.IsRPC},
		{[]string{"otel"}, false, field.IsRPC},
		{[]string{"spanid", "parentspanid", "spankind", "kindstring", "statuscodestring", "statusmessage"}, true, field.ShowsSpan},
		{[]string{"url", "uri", "path", "method", "useragent", "query", "referer", "route", "statement", "target", "scope", "function", "namespace", "filepath"}, false, field.IsMute},
	} {
		for _, word := range rule.words {
			if folded == word || !rule.whole && strings.Contains(folded, word) {
				s |= rule.sign
			}
		}
	}
	if strings.HasPrefix(lower, "rpc") || strings.Contains(lower, ".rpc") || strings.Contains(lower, "_rpc") {
		s |= field.ShowsRPC | field.IsRPC
	}
	return s
}

// TellsSuccess reports whether a key is a usual name of whether an attempt succeeded.
func TellsSuccess(key string) bool {
	folded := field.FoldKey(key[strings.LastIndexByte(key, '.')+1:])
	return slices.ContainsFunc(Keys[field.Success], func(k string) bool { return field.FoldKey(k) == folded })
}
