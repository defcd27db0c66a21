package field

// Role is what a field of a record means.
type Role uint8

// The roles of a field. Truncated, Error, HTTPStatus, GRPCStatus and ErrorType
// say how the attempt ended; Time is a bare timestamp.
const (
	Trace Role = iota
	Hop
	Duration
	Start
	End
	Time
	TruncatedMark
	RetryMark
	Attempt
	Timeout
	CutByMark
	Error
	Status
	OutcomeWord
	HTTPStatus
	GRPCStatus
	ErrorType
	Stratum
	Condition // holds what --truncated-if asks for
	ResponseFlags
	ResponseDetails
	Message
	SpanKind
	Messaging
	SamplerType
	SamplerParam
	TraceState
	WeightKey
	SpanKey
	ParentKey
	ServiceKey
	OperationKey
	RPCSystem
	InstanceKey // the pod, host or peer that an attempt went to
	Roles
)

var roleNames = [Roles]string{
	"trace", "hop", "duration", "start", "end", "time", "truncated", "retry", "attempt", "timeout",
	"cut_by", "error", "status", "outcome", "http_status", "grpc_status", "error_type", "by",
	"condition", "response_flags", "response_details", "message", "kind", "messaging", "sampler_type", "sampler_param",
	"tracestate", "weight", "span", "parent", "service", "operation", "rpc_system", "instance",
}

// String gives the name that --field takes.
func (r Role) String() string { return roleNames[r] }

// settable are the roles that --field may name.
var settable = []Role{
	Trace, Hop, Duration, Start, End, Time, TruncatedMark, RetryMark, Attempt, Timeout, Error,
	SpanKey, ParentKey, ServiceKey, OperationKey, SpanKind, InstanceKey,
}

// HasUnit reports whether keys of the role may carry a unit.
func (r Role) HasUnit() bool {
	return r == Duration || r == Start || r == End || r == Time || r == Timeout
}
