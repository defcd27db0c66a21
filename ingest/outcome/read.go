package outcome

import (
	"bytes"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/spans"
)

// How each piece of evidence is read by itself.

// readStatus reads a status: a number by HTTP's codes (1 to 16 by gRPC's), a word by its
// meaning, a text by the code that it names; anything else that is there is a failure.
func readStatus(v *field.Value) Verdict {
	switch v.Kind {
	case jsonscan.Absent, jsonscan.Null, jsonscan.False:
		return Completed
	case jsonscan.True:
		return failedUnknown
	}
	switch n, isNumber := count(v.Raw); {
	case !isNumber:
		return byStatusText(bytes.TrimSpace(v.Raw))
	case n >= 0 && n <= 16:
		return grpcVerdicts[n]
	default:
		return byHTTP(n)
	}
}

// readHTTP reads an HTTP status. Of a list, as nginx writes it where it tried several
// servers, the last counts.
func readHTTP(v *field.Value) Verdict {
	if v.Kind != jsonscan.Text {
		return readStatus(v)
	}
	last := *v
	last.Raw = lastOf(v.Raw)
	return readStatus(&last)
}

// lastOf returns the last of "504, 200" and "504 : 200", all of another text.
func lastOf(list []byte) []byte {
	last := list
	for i, c := range list {
		switch {
		case c == ',' || c == ':':
			last = list[i+1:]
		case c != ' ' && c != '-' && (c < '0' || c > '9'):
			return list
		}
	}
	return bytes.TrimSpace(last)
}

// statusNumber reads a status that is a whole number.
func statusNumber(v *field.Value) (n int64, isNumber bool) {
	if v.Kind != jsonscan.Number && v.Kind != jsonscan.Text {
		return 0, false
	}
	if raw := bytes.TrimSpace(v.Raw); string(raw) == "000" { // as curl writes it
		return 0, true
	}
	return count(lastOf(v.Raw))
}

// zero is a status of 0: of an RPC no error, of HTTP none at all. Then the caller of a
// server or proxy left before there was one, and the call of a client failed before.
func zero(e *Ending, r *field.Record, kind spans.Kind, v *field.Value) Verdict {
	isHTTP := v.Key.Signs.Has(field.IsHTTP)
	switch {
	case v.Key.Signs.Has(field.IsRPC) && !isHTTP, !isHTTP && (r.Signs.Has(field.ShowsRPC) || kind == spans.NoKind && r.Signs.Has(field.ShowsSpan)):
		return Completed
	case !isHTTP && !r.Signs.Has(field.ShowsHTTP):
		e.Zero, e.Said = true, false
		return Completed
	case flagged(r):
		if why := readFlags(r.Get(field.ResponseFlags)); why.Outcome == spans.Failed {
			return why
		}
		return failedUnknown
	case !byClient(r, kind):
		return truncatedBy(spans.Caller, RuleZero)
	}
	return failedUnknown
}

// flagged reports whether Envoy says why a request had no status.
func flagged(r *field.Record) bool {
	flags := r.Get(field.ResponseFlags)
	return !flags.Empty() && string(bytes.TrimSpace(flags.Raw)) != "-"
}

// byClient reports whether a record of HTTP was written by who sent the request: it says
// so, or it has an error beside no status and nothing that only a server knows.
func byClient(r *field.Record, kind spans.Kind) bool {
	switch {
	case r.Has&(1<<field.ResponseFlags) != 0: // a proxy, which has clients of its own
		return false
	case kind == spans.Client || kind == spans.Producer:
		return true
	case kind == spans.Server || kind == spans.Consumer || r.Signs.Has(field.ShowsServer):
		return false
	}
	return r.Signs.Has(field.ShowsClient) || readError(r.Get(field.Error)).Outcome != spans.Completed
}

// small is a status of 1 to 16. Those of gRPC are so small; 1 and 2 of a span are
// OpenTelemetry's, and of HTTP there is none.
func small(r *field.Record, kind spans.Kind, v *field.Value, n int64) (verdict Verdict, counts bool) {
	switch {
	case v.Key.Signs.Has(field.IsRPC):
		return grpcVerdicts[n], true
	case v.Key.Signs.Has(field.IsHTTP):
		return failedUnknown, true
	case r.Signs.Has(field.ShowsRPC):
		return grpcVerdicts[n], true
	case n == 1 && r.Signs.Has(field.ShowsSpan):
		return Completed, true
	case n == 2 && r.Signs.Has(field.ShowsSpan):
		return failedUnknown, true
	case kind != spans.NoKind:
		return Completed, false // anyone may set such a tag
	}
	return grpcVerdicts[n], true
}

// codeCounts reports whether a code is a status: beside HTTP, or a word that can be
// nothing else.
func codeCounts(r *field.Record) bool {
	if r.Signs.Has(field.ShowsHTTP) {
		return true
	}
	v := r.Get(field.Code)
	if v.Kind != jsonscan.Text {
		return false
	}
	var buf [field.MaxWord]byte
	known, ok := words[string(field.Fold(v.Raw, &buf))]
	return ok && known.Outcome == spans.Truncated
}

// readCode reads a code that counts.
func readCode(v *field.Value) Verdict {
	if verdict := readHTTP(v); verdict != unknownWord {
		return verdict
	}
	return Completed
}

// readOutcome reads an outcome; of that "unknown" says nothing.
func readOutcome(v *field.Value) Verdict {
	var buf [field.MaxWord]byte
	if v.Kind == jsonscan.Text && string(field.Fold(v.Raw, &buf)) == "unknown" {
		return Completed
	}
	return readStatus(v)
}

// readSuccess reads whether an attempt succeeded.
func readSuccess(v *field.Value) Verdict {
	if v.Empty() {
		return Completed
	}
	if yes, ok := v.Yes(); ok {
		if yes {
			return Completed
		}
		return failedUnknown
	}
	return readStatus(v)
}

// readError reads an error as a status, but for 1, which says only that there was one, and
// for messages, which are no marks.
func readError(v *field.Value) Verdict {
	if string(bytes.TrimSpace(v.Raw)) == "1" {
		return failedUnknown
	}
	if _, isNumber := count(v.Raw); isNumber || v.Kind != jsonscan.Text && v.Kind != jsonscan.Composite {
		return readStatus(v)
	}
	return byWord(bytes.TrimSpace(v.Raw))
}

// readErrorCode reads the codes of k6, of curl and of Node.
func readErrorCode(v *field.Value) Verdict {
	n, isNumber := count(v.Raw)
	switch exit := field.FoldKey(v.Key.Path); {
	case v.Empty() || isNumber && n == 0:
		return Completed
	case !isNumber:
		if w := byWord(bytes.TrimSpace(v.Raw)); w.Outcome == spans.Truncated && w.Rule == RuleStatusWord {
			return truncatedBy(spans.Own, RuleErrorCode)
		} else if w != unknownWord {
			return w
		}
		return failedUnknown
	case n == 28 && bytes.HasSuffix([]byte(exit), []byte("exitcode")), (n == 1050 || n == 1211) && bytes.HasSuffix([]byte(exit), []byte("errorcode")):
		return truncatedBy(spans.Own, RuleErrorCode)
	}
	return failedUnknown
}

func readGRPC(v *field.Value) Verdict {
	switch n, isNumber := count(v.Raw); {
	case v.Empty():
		return Completed
	case !isNumber:
		return byWord(bytes.TrimSpace(v.Raw))
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

// flagVerdicts are Envoy's response flags, short and long. Only the first are timeouts
// or a caller that left; the others say why a request failed.
var flagVerdicts = map[string]Verdict{
	"UT": flagOwn, "SI": flagOwn, "UMSDR": flagOwn, "DT": flagOwn, "DC": truncatedBy(spans.Caller, RuleEnvoy),
	"UpstreamRequestTimeout": flagOwn, "StreamIdleTimeout": flagOwn, "UpstreamMaxStreamDurationReached": flagOwn, "DurationTimeout": flagOwn,
	"DownstreamConnectionTermination": truncatedBy(spans.Caller, RuleEnvoy),
	"UF":                              failed(spans.Unavailable), "UC": failed(spans.Reset), "UR": failed(spans.Reset), "LR": failed(spans.Reset), "UH": failed(spans.Unavailable),
	"UO": failed(spans.Unavailable), "NR": failed(spans.ClientError), "NC": failed(spans.Unavailable), "NFCF": failed(spans.Unavailable), "UPE": failed(spans.ServerError),
	"DPE": failed(spans.ClientError), "RL": failed(spans.Throttled), "RLSE": failed(spans.ServerError), "OM": failed(spans.Unavailable), "DF": failed(spans.Unavailable),
	"FI": failed(spans.OtherFailure), "IH": failed(spans.ClientError), "UAEX": failed(spans.ClientError), "URX": failed(spans.Unavailable), "LH": failed(spans.Unavailable),
}

var flagOwn = truncatedBy(spans.Own, RuleEnvoy)

func readFlags(v *field.Value) Verdict {
	worst := Completed
	for rest := v.Raw; len(rest) > 0; {
		var flag []byte
		flag, rest, _ = bytes.Cut(rest, []byte{','})
		one := flagVerdicts[string(bytes.TrimSpace(flag))]
		if one.Rule != "" && (worst.Rule == "" || one.CutBy == spans.Own) || worst.Outcome == spans.Completed {
			worst = one
		}
	}
	return worst
}

// readDetails reads what Envoy and Google's load balancers say of how a request ended.
func readDetails(v *field.Value) Verdict {
	switch raw := v.Raw; {
	case ContainsFold(raw, "client_disconnected"), ContainsFold(raw, "client_timed_out"), ContainsFold(raw, "client_cancelled"), ContainsFold(raw, "downstream_remote_disconnect"):
		return truncatedBy(spans.Caller, RuleEnvoyText)
	case ContainsFold(raw, "timeout"), ContainsFold(raw, "timed_out"), ContainsFold(raw, "max_stream_duration"):
		return truncatedBy(spans.Own, RuleEnvoyText)
	}
	return Completed
}

// readTermination reads HAProxy's termination state: its first letter says who ended the
// session. Small letters are timeouts. Source: HAProxy configuration manual, 8.5.
func readTermination(v *field.Value) Verdict {
	if v.Kind != jsonscan.Text || len(v.Raw) < 2 {
		return Completed
	}
	switch v.Raw[0] {
	case 's':
		return truncatedBy(spans.Own, RuleHAProxy)
	case 'C', 'c':
		return truncatedBy(spans.Caller, RuleHAProxy)
	case 'S', 'P', 'R', 'I', 'D', 'U', 'K':
		return failed(spans.Unavailable)
	}
	return Completed
}

// byStatusText reads the text of a status. A short one that speaks of a timeout says that
// there was one.
func byStatusText(b []byte) Verdict {
	v := byWord(b)
	if v == unknownWord && len(b) <= longestStatus && Hear(b) >= OfTimeout {
		return wordOwn
	}
	return v
}

// longestStatus is the longest text that is a status and no message.
const longestStatus = 80

// byWord reads a word without regard to case, blanks, - and _, or the code that a text
// names.
func byWord(b []byte) Verdict {
	var buf [field.MaxWord]byte
	if string(b) == "-" {
		return Completed
	}
	if v, ok := words[string(field.Fold(b, &buf))]; ok {
		return v
	}
	if v, ok := namedCode(b); ok {
		return v
	}
	return unknownWord
}

// namedCode reads the code that a text names: "504 Gateway Timeout", "HTTP/1.1 504",
// "Request failed with status code 504", "rpc error: code = DeadlineExceeded desc = …".
func namedCode(b []byte) (Verdict, bool) {
	b = b[:min(len(b), 1<<10)]
	if n, rest := leadingCode(b); n > 0 && startsReason(rest) {
		return byHTTP(n), true
	}
	if at := bytes.Index(b, []byte("DEADLINE_EXCEEDED")); at >= 0 {
		return grpcVerdicts[4], true
	}
	for _, before := range codeNames {
		for from := 0; ; {
			at := indexFold(b[from:], before)
			if at < 0 {
				break
			}
			from += at + len(before)
			rest := bytes.TrimLeft(b[from:], ":= \"'(")
			if n, after := leadingCode(rest); n > 0 && !isUnit(after) {
				return byHTTP(n), true
			}
			if v, ok := grpcWord(rest); ok {
				return v, true
			}
		}
	}
	return Verdict{}, false
}

// codeNames are what stands before a code in a text, in lower case.
var codeNames = [...]string{"status code", "statuscode", "status_code", "http status", "http error", "http code", "http/1.1", "http/1.0", "http/2", "http/3", "httpstatus", "http ", "status", "code =", "error code"}

// leadingCode reads three digits of a status of HTTP that are all of a number.
func leadingCode(b []byte) (n int64, rest []byte) {
	b = bytes.TrimPrefix(b, []byte(".0 "))
	if len(b) < 3 || b[0] < '1' || b[0] > '5' || b[1]-'0' > 9 || b[2]-'0' > 9 {
		return 0, nil
	}
	if len(b) > 3 && (b[3] >= '0' && b[3] <= '9' || b[3] == '_' || b[3]|0x20 >= 'a' && b[3]|0x20 <= 'z' || b[3] == '.' && len(b) > 4 && b[4] >= '0' && b[4] <= '9') {
		return 0, nil
	}
	return int64(b[0]-'0')*100 + int64(b[1]-'0')*10 + int64(b[2]-'0'), b[3:]
}

// startsReason reports whether what follows a leading code may be its reason phrase.
func startsReason(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " :,-;(")
	return len(rest) == 0 || (rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z') && !isUnit(rest)
}

// isUnit reports whether the number before it was a time or a size.
func isUnit(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " ")
	end := 0
	for end < len(rest) && rest[end]|0x20 >= 'a' && rest[end]|0x20 <= 'z' {
		end++
	}
	switch string(bytes.ToLower(rest[:end])) {
	case "ms", "s", "us", "ns", "sec", "secs", "second", "seconds", "millis", "milliseconds", "bytes", "kb", "mb", "b", "times", "requests", "records", "rows", "of":
		return true
	}
	return false
}

// grpcWord reads the name of a code of gRPC at the start of a text.
func grpcWord(b []byte) (Verdict, bool) {
	end := 0
	for end < len(b) && (b[end]|0x20 >= 'a' && b[end]|0x20 <= 'z' || b[end] == '_') {
		end++
	}
	var buf [field.MaxWord]byte
	switch word := string(field.Fold(b[:end], &buf)); word {
	case "deadlineexceeded", "canceled", "cancelled", "unavailable", "resourceexhausted", "unknown", "internal", "unimplemented", "aborted", "dataloss", "invalidargument",
		"notfound", "alreadyexists", "permissiondenied", "failedprecondition", "outofrange", "unauthenticated":
		return words[word], true
	}
	return Verdict{}, false
}

// indexFold is the first place of word, in lower-case ASCII, in b in any case; -1 where
// there is none.
func indexFold(b []byte, word string) int {
	for i := 0; i+len(word) <= len(b); i++ {
		if b[i]|0x20 == word[0]|0x20 && bytes.EqualFold(b[i:i+len(word)], []byte(word)) {
			return i
		}
	}
	return -1
}

// Loud reports whether a level is that of a warning or above: a word, or a number as pino
// and bunyan write it.
func Loud(v *field.Value) bool {
	if v.Kind != jsonscan.Text && v.Kind != jsonscan.Number {
		return false
	}
	if n, isNumber := count(v.Raw); isNumber {
		return n >= 40
	}
	var buf [field.MaxWord]byte
	switch string(field.Fold(bytes.TrimSpace(v.Raw), &buf)) {
	case "warn", "warning", "wrn", "w", "error", "err", "eror", "e", "severe", "fatal", "ftl", "f", "panic", "dpanic", "critical", "crit", "alert", "emergency", "emerg":
		return true
	}
	return false
}
