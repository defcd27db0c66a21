package spans

import "github.com/tailscope/tailscope/internal/jsontype"

// Outcome says how an attempt ended.
type Outcome uint8

const (
	// Completed: the duration is exact.
	Completed Outcome = iota
	// Truncated: timed out or given up, so the true duration is longer than
	// the recorded one (right-censored).
	Truncated
	// Failed: ended early by another error; not a service time.
	Failed
	// Unfinished: no end was recorded; the row carries no duration.
	Unfinished
)

// String gives the word used in reports.
func (o Outcome) String() string { return word(outcomeWords[:], uint8(o)) }

// MarshalText gives the same word for JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

var outcomeWords = [...]string{"completed", "truncated", "failed", "unfinished"}

// CutBy says whose timeout or departure cut a truncated attempt.
type CutBy uint8

const (
	// NotCut stands on every attempt that is not truncated.
	NotCut CutBy = iota
	// Own: the attempt's own timeout. Only this makes a wall.
	Own
	// Below: the attempt failed because a call under it was cut.
	Below
	// Caller: the caller left (cancelled, 499).
	Caller
	// CutUnknown: truncated, by whom is not known.
	CutUnknown
)

// CutBys lists what can cut an attempt, in the order of the reports.
var CutBys = [...]CutBy{Own, Below, Caller, CutUnknown}

// String gives the word used in reports.
func (c CutBy) String() string { return word(cutWords[:], uint8(c)) }

// MarshalJSON writes the word, null for NotCut.
func (c CutBy) MarshalJSON() ([]byte, error) { return jsontype.Text(c.String()).MarshalJSON() }

var cutWords = [...]string{"", "own", "below", "caller", "unknown"}

// Failure is the kind of error that ended a failed attempt.
type Failure uint8

const (
	// NotFailed stands on every attempt that did not fail.
	NotFailed Failure = iota
	// Refused: the connection was refused.
	Refused
	// Reset: the connection was reset.
	Reset
	// Unavailable: HTTP 502 or 503, gRPC UNAVAILABLE.
	Unavailable
	// Throttled: HTTP 429, gRPC RESOURCE_EXHAUSTED.
	Throttled
	// ServerError: another HTTP 5xx or a gRPC server-side code.
	ServerError
	// ClientError: an HTTP 4xx or a gRPC code that blames the request.
	ClientError
	// OtherFailure: named, but none of the above.
	OtherFailure
	// FailureUnknown: an error without a kind.
	FailureUnknown
)

// Failures lists the kinds of failure in the order of the reports.
var Failures = [...]Failure{Refused, Reset, Unavailable, Throttled, ServerError, ClientError, OtherFailure, FailureUnknown}

// String gives the word used in reports.
func (f Failure) String() string { return word(failureWords[:], uint8(f)) }

// MarshalText gives the same word for JSON.
func (f Failure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

var failureWords = [...]string{"", "refused", "reset", "unavailable", "throttled", "server_error", "client_error", "other", "unknown"}

func word(words []string, i uint8) string {
	if int(i) < len(words) {
		return words[i]
	}
	return "invalid"
}
