// Package field holds what the fields of one record mean: the roles that a key can
// have, the table that finds them, and the values of the record at hand.
package field

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscope/tailscope/ingest/selection"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/internal/nearest"
	"github.com/tailscope/tailscope/spans"
)

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
	Success     // yes or no: whether the attempt succeeded
	Code        // a status where the record shows HTTP, and a word anywhere
	ErrorCode   // of load generators and curl
	Termination // HAProxy's termination state
	Level       // of the line
	Tries       // how many tries of the call the record covers
	// The hop that made the call, by the three keys that may name it: each has a role of its
	// own, as only the whole run shows which of them does.
	CallerKey
	UpstreamKey
	SourceKey
	Roles
)

var roleNames = [Roles]string{
	"trace", "hop", "duration", "start", "end", "time", "truncated", "retry", "attempt", "timeout",
	"cut_by", "error", "status", "outcome", "http_status", "grpc_status", "error_type", "by",
	"condition", "response_flags", "response_details", "message", "kind", "messaging", "sampler_type", "sampler_param",
	"tracestate", "weight", "span", "parent", "service", "operation", "rpc_system", "instance",
	"success", "code", "error_code", "termination", "level", "tries",
	"caller", "upstream_service", "source",
}

// String gives the name that --field takes.
func (r Role) String() string { return roleNames[r] }

// settable are the roles that --field may name.
var settable = []Role{
	Trace, Hop, Duration, Start, End, Time, TruncatedMark, RetryMark, Attempt, Timeout, Error,
	SpanKey, ParentKey, ServiceKey, OperationKey, SpanKind, InstanceKey, Success, CallerKey, WeightKey,
}

// HasUnit reports whether keys of the role may carry a unit.
func (r Role) HasUnit() bool {
	return r == Duration || r == Start || r == End || r == Time || r == Timeout
}

// Flag is one --field NAME=KEY[:UNIT].
type Flag struct {
	Role  Role
	Key   string
	Unit  moment.Unit
	Epoch bool // a bare number is a time since 1970, whose unit shows in its size
	// Means says what a time is, "start" or "end", or an attempt counts from, "0" or "1".
	Means string
}

// Constant returns the hop that a flag gives to records without one: "hop==NAME"; "file" is
// the name of the file.
func (f *Flag) Constant() (name string, ofFile, ok bool) {
	if f.Role != Hop {
		return "", false, false
	}
	name, ok = strings.CutPrefix(f.Key, "=")
	return name, f.Key == "file", ok || f.Key == "file"
}

// meanings are what may follow the key of a role instead of a unit.
var meanings = map[Role][]string{Time: {"start", "end"}, Attempt: {"0", "1"}}

// ParseFlag reads the value of --field. What follows the last colon is a unit, or a
// meaning, only for a role that has one; keys may hold colons.
func ParseFlag(s string) (Flag, error) {
	f, err := parseFlag(s, settable)
	if at := strings.LastIndexByte(f.Key, ':'); at > 0 && slices.Contains(meanings[f.Role], f.Key[at+1:]) {
		f.Key, f.Means = f.Key[:at], f.Key[at+1:]
	}
	return f, err
}

// ParsePreset is ParseFlag for a field of a preset, which may have any role.
func ParsePreset(s string) (Flag, error) {
	all := make([]Role, Roles)
	for i := range all {
		all[i] = Role(i)
	}
	return parseFlag(s, all)
}

func parseFlag(s string, roles []Role) (Flag, error) {
	name, key, ok := strings.Cut(s, "=")
	i := slices.IndexFunc(roles, func(r Role) bool { return r.String() == name })
	if !ok || i < 0 || key == "" || key == "=" {
		text := fmt.Sprintf("--field %q: write NAME=KEY or NAME=KEY:UNIT, where NAME is one of %s, or hop==NAME for a hop without a key", s, Settable())
		if near := nearest.Name(name, strings.Split(Settable(), ", ")); i < 0 && name != "" && near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		return Flag{}, errors.New(text)
	}
	f := Flag{Role: roles[i], Key: key, Unit: moment.NoUnitGiven}
	if at := strings.LastIndexByte(key, ':'); at > 0 && f.Role.HasUnit() {
		if u, ok := moment.ParseUnit(key[at+1:]); ok {
			f.Key, f.Unit = key[:at], u
		}
	}
	return f, nil
}

// ByFlag is the Flag of the use of --by's key. Those of --field lie below: the last one
// that has a bit shares it with all after it.
const ByFlag = 64

// FlagOf is the Flag of the uses of a --field, by its place in the list.
func FlagOf(place int) uint8 { return uint8(min(place+1, ByFlag-1)) }

// LacksBy reports whether none of the keys that the bits are of is that of --by.
func (c *Config) LacksBy(bits uint64) bool { return c.By != "" && bits>>(ByFlag-1) == 0 }

// Flagged lists the flags of which the bit is set, or is not.
func Flagged(list []Flag, bits uint64, set bool) (some []Flag) {
	for i, f := range list {
		if bits>>(FlagOf(i)-1)&1 == 1 == set {
			some = append(some, f)
		}
	}
	return some
}

// Settable lists what --field takes.
func Settable() string {
	names := make([]string, len(settable))
	for i, r := range settable {
		names[i] = r.String()
	}
	return strings.Join(names, ", ")
}

// OfSpans reports whether a tag of spans can have the role that a --field names. Their
// names, times and ties are where the format has them.
func (r Role) OfSpans() bool {
	switch r {
	case TruncatedMark, RetryMark, Attempt, Timeout, Error, Success, InstanceKey:
		return true
	}
	return false
}

// Config is how the user wants records read.
type Config struct {
	Fields       []Flag
	PresetFields []Flag               // those of the preset of a file, after the user's
	Unit         moment.Unit          // of bare durations and timeouts; NoUnitGiven: none
	TimeIs       string               // "start", "end" or "" (a bare timestamp is an end)
	Selection    *selection.Selection // of lines and traces; nil: all
	FirstAttempt int                  // number of the first attempt; -1: by the key
	By           string               // key whose value is the stratum; "" for none
	HopName      string               // of spans: "service", "operation", or "" for both
	InferNesting bool                 // hop logs become traces whose parents come from times
	Callers      bool                 // the hops that lines name as their callers are counted
	WeightKey    string               // tag that holds how many traces one stands for; "" for none
}

// Add enters a field that the user names, with what is said of its role. It fails where
// the same was said otherwise before.
func (c *Config) Add(f Flag) error {
	switch {
	case f.Role == WeightKey:
		return set(f, &c.WeightKey, f.Key)
	case f.Means != "" && f.Role == Time:
		if err := set(f, &c.TimeIs, f.Means); err != nil {
			return err
		}
	case f.Means != "":
		first := int(f.Means[0] - '0')
		if c.FirstAttempt >= 0 && c.FirstAttempt != first {
			return saidTwice(f, strconv.Itoa(c.FirstAttempt), f.Means)
		}
		c.FirstAttempt = first
	}
	c.Fields = append(c.Fields, f)
	return nil
}

func set(f Flag, to *string, value string) error {
	if *to != "" && *to != value {
		return saidTwice(f, *to, value)
	}
	*to = value
	return nil
}

func saidTwice(f Flag, one, other string) error {
	return fmt.Errorf("--field %s=%s: it is said to be %s, and %s elsewhere", f.Role, f.Key, other, one)
}

// Names reports whether the user named a key of role.
func (c *Config) Names(role Role) bool {
	named := func(f Flag) bool { return f.Role == role }
	return slices.ContainsFunc(c.Fields, named) || slices.ContainsFunc(c.PresetFields, named)
}

// Named lists the fields that the user and the preset name.
func (c *Config) Named() []Flag { return slices.Concat(c.Fields, c.PresetFields) }

// CallerKeys are the roles of the keys that may name a caller, the likeliest first.
var CallerKeys = [spans.CallerKeys]Role{CallerKey, UpstreamKey, SourceKey}

// NamesCaller reports whether a role is one of CallerKeys.
func (r Role) NamesCaller() bool { return r >= CallerKey && r <= SourceKey }

// CallerColumn is what one of CallerKeys is called in this run, and whether the user named
// it.
func (c *Config) CallerColumn(role Role) (name string, named bool) {
	var keys []string
	for _, f := range c.Named() {
		if f.Role == role {
			keys = append(keys, f.Key)
		}
	}
	if len(keys) == 0 {
		return role.String(), false
	}
	return strings.Join(keys, ", "), true
}

// Overrides reports whether the user's --field makes the usual keys of a role unread:
// it names another, or names the error, which settles how attempts end.
func (c *Config) Overrides(role Role, settledByError uint64) bool {
	return c.Names(role) || settledByError&(1<<role) != 0 && c.Names(Error)
}

// Linked reports whether records of hop logs are spans.
func (c *Config) Linked() bool { return c.InferNesting || c.Names(SpanKey) }
