package findings

// Code names what was found; machines compare it.
type Code string

// Part is where a finding stands among those of one call.
type part int

const (
	asWhy part = iota
	asCost
	apart // it is not joined with others
)

// rule is a code, what finds it, and how it stands among others.
type rule struct {
	code Code
	find func(*maker)
	part part
	// caveat: it is about what is known rather than about the system.
	caveat bool
}

// The codes, in the order in which those of one call are told.
const (
	InputIncomplete  Code = "input_incomplete"
	RequestsFail     Code = "requests_fail"
	QuantileHidden   Code = "quantile_is_timeout"
	TailOwner        Code = "tail_owner"
	PoolFull         Code = "pool_full"
	SlowInstance     Code = "slow_instance"
	SlowWork         Code = "slow_work"
	NetworkOrClock   Code = "network_or_clock"
	CallerSide       Code = "caller_side"
	FailuresHide     Code = "failures_hide_tail"
	SuspectedTimeout Code = "suspected_timeout"
	MarksMissing     Code = "marks_missing"
	WrongMarks       Code = "wrong_marks"
	OrphanedWork     Code = "orphaned_work"
	CancelIgnored    Code = "cancellation_ignored"
	TimeoutsInverted Code = "timeouts_inverted"
	NearTimeout      Code = "near_timeout"
	TimeoutAdvice    Code = "timeout_advice"
	RetriesNoHelp    Code = "retries_do_not_help"
	RetriesAmplify   Code = "retries_amplify"
	RetryStorm       Code = "retry_storm"
	RetriesInStep    Code = "retries_in_step"
	ExecutedTwice    Code = "executed_twice"
	RetriesTooLate   Code = "retries_too_late"
	PermanentRetried Code = "permanent_errors_retried"
	Drift            Code = "drift"
	OneConnection    Code = "one_connection"
	ClocksDiffer     Code = "clocks_differ"
	SampleChosen     Code = "sample_chosen"
	MissingParents   Code = "missing_parents"
	DoubleInput      Code = "double_input"
	NamesFolded      Code = "names_folded"
	OwnerUnsure      Code = "owner_unsure"
	TooFew           Code = "too_few"
)

// rules is the closed list. Where an analysis is not part of the run, its functions find
// nothing.
var rules = [...]rule{
	{code: InputIncomplete, find: (*maker).inputIncomplete, part: apart},
	{code: RequestsFail, find: (*maker).requestsFail, part: asCost},
	{code: PoolFull, find: (*maker).poolFull},
	{code: SlowInstance, find: (*maker).slowInstance},
	{code: SlowWork, find: (*maker).slowWork},
	{code: NetworkOrClock, find: (*maker).networkOrClock},
	{code: CallerSide, find: (*maker).callerSide},
	{code: TailOwner, find: (*maker).tailOwner},
	{code: QuantileHidden, find: (*maker).quantileHidden},
	{code: FailuresHide, find: (*maker).failuresHide},
	{code: SuspectedTimeout, find: (*maker).suspectedTimeout, part: apart},
	{code: MarksMissing, find: (*maker).marksMissing, part: apart},
	{code: WrongMarks, find: (*maker).wrongMarks, part: apart},
	{code: TimeoutsInverted, find: (*maker).timeoutsInverted},
	{code: NearTimeout, find: (*maker).nearTimeout},
	{code: OrphanedWork, find: (*maker).orphanedWork, part: asCost},
	{code: CancelIgnored, find: (*maker).cancellationIgnored, part: asCost},
	{code: RetriesNoHelp, find: (*maker).retriesDoNotHelp, part: asCost},
	{code: RetriesAmplify, find: (*maker).retriesAmplify, part: apart},
	{code: RetryStorm, find: (*maker).retryStorm, part: apart},
	{code: RetriesInStep, find: (*maker).retriesInStep, part: asCost},
	{code: ExecutedTwice, find: (*maker).executedTwice, part: asCost},
	{code: RetriesTooLate, find: (*maker).retriesTooLate},
	{code: PermanentRetried, find: (*maker).permanentRetried, part: asCost},
	{code: Drift, find: (*maker).drift, part: apart, caveat: true},
	{code: OneConnection, find: (*maker).oneConnection, part: apart},
	{code: ClocksDiffer, find: (*maker).clocksDiffer, part: apart, caveat: true},
	{code: SampleChosen, find: (*maker).sampleChosen, part: apart, caveat: true},
	{code: MissingParents, find: (*maker).missingParents, part: apart, caveat: true},
	{code: DoubleInput, find: (*maker).doubleInput, part: apart, caveat: true},
	{code: NamesFolded, find: (*maker).namesFolded, part: apart, caveat: true},
	{code: OwnerUnsure, find: (*maker).ownerUnsure, part: apart},
	{code: TimeoutAdvice, find: (*maker).timeoutAdvice, part: apart},
	{code: TooFew, find: (*maker).tooFew, part: apart, caveat: true},
}

// Codes lists all codes, in the order of docs/findings.md.
func Codes() (list []Code) {
	for _, r := range rules {
		list = append(list, r.code)
	}
	return list
}

// place is where a code stands in the list.
func (c Code) place() int {
	for i, r := range rules {
		if r.code == c {
			return i
		}
	}
	return len(rules)
}

// told is where a code stands among those of one call: what is built wrong comes before who
// owns the tail and what a timeout hides.
func (c Code) told() int {
	if c == TimeoutsInverted || c == RetriesTooLate {
		return 2*TailOwner.place() - 1
	}
	return 2 * c.place()
}

// Caveat reports whether a finding is about what is known of a system, rather than about
// the system.
func (f *Finding) Caveat() bool {
	i := f.Code.place()
	return i < len(rules) && rules[i].caveat
}
