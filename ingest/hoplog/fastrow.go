package hoplog

import (
	"bytes"
	"math"
	"slices"

	"github.com/tailscope/tailscope/ingest/field"
	"github.com/tailscope/tailscope/ingest/format"
	"github.com/tailscope/tailscope/ingest/outcome"
	"github.com/tailscope/tailscope/internal/jsonscan"
	"github.com/tailscope/tailscope/internal/moment"
	"github.com/tailscope/tailscope/spans"
)

// An ordinary attempt completed, and nothing about it needs a second look. Nearly
// all lines of a log are ordinary, so they take the fast path: each value is read
// once, where it stands, and no record is filled. What it accepts becomes the row
// that the general path gives; all else it leaves to that.

// rowPart is what a value is to an ordinary attempt.
type rowPart uint8

const (
	passed   rowPart = iota // nothing
	clocked                 // a time that is there; what it says is not needed
	timePart                // the one that says when the attempt began or ended
	tracePart
	chainPart // of a trace whose id is not asked for, but looked at
	hopPart
	instancePart
	callerPart
	durationPart
	timeoutPart
	cutPart // the mark of truncation
	retryPart
	numberPart // of the attempt
	triesPart  // of the call
	verdictPart
	mutePart // a verdict that nothing makes one
	levelPart
	textPart // that may be a message
)

// partOf says what the value of a key is to an ordinary attempt; ok is false where
// a record with that key needs the general path.
func (a *attempts) partOf(key *field.Key) (p rowPart, ok bool) {
	if len(key.Uses) != 1 {
		return passed, len(key.Uses) == 0
	}
	u := &key.Uses[0]
	switch u.Role {
	case field.Trace:
		if a.columns.Has(spans.Traces) {
			return tracePart, true
		}
		return passed, true
	case field.Start, field.End, field.Time:
		return clocked, true
	case field.Hop:
		return hopPart, true
	case field.InstanceKey:
		if a.columns.Has(spans.Instances) {
			return instancePart, true
		}
		return passed, true
	case field.CallerKey, field.UpstreamKey, field.SourceKey:
		if a.fields.Callers {
			return callerPart, true
		}
		return passed, true
	case field.Duration:
		return durationPart, u.Unit != moment.NoUnitGiven
	case field.Timeout:
		return timeoutPart, u.Unit != moment.NoUnitGiven
	case field.TruncatedMark:
		return cutPart, true
	case field.RetryMark:
		return retryPart, true
	case field.Attempt:
		return numberPart, true
	case field.Tries:
		return triesPart, true
	case field.Level:
		return levelPart, true
	case field.RPCSystem:
		return passed, true
	}
	return verdictPart, outcome.Plain(u.Role) != nil
}

// fastField is one value of an ordinary record: what it is, and what to know for it.
type fastField struct {
	part  rowPart
	unit  moment.Unit
	first int64 // number of the first attempt
	// caller is the index of a key that may name the caller.
	caller uint8
	plain  func(*field.Value) (completed, said bool)
	key    *field.Key
	fine   []byte // the last value of which is known that it needs no second look
}

// counts reports whether the value may be a number that is needed.
func (at *fastField) counts() bool { return at.part >= durationPart && at.part < verdictPart }

// fastRow is the fast path of records with the same keys in the same order.
type fastRow struct {
	fields []fastField
	// row is that of the record at hand; what ordinary records share stays in it.
	row      spans.Row
	hop      []byte
	constant bool // no key names the hop
	// instance is nil where the records name none.
	instance []byte
	others   bool // there are other fields for it, which count where the best is empty
	rounded  bool

	markCounts, numberCounts bool // the rules are on, for the retry
	units, marks, basis      uint8
	flags                    uint64

	infers bool   // retries are looked for
	chain  []byte // its id, where that is looked at

	// Some value must say that the attempt completed, or none can: then texts are looked
	// at that may be messages.
	mustSay, said bool

	at    int64 // ns, of timePart
	isEnd bool
	day   moment.Day
	timeN int // length of the time that day read last

	counted format.Rows // of the chunk at hand
}

// newFastRow returns the fast path of records with those keys, nil where there is
// none. basis is that of their times.
func (a *attempts) newFastRow(keys []*field.Key, basis uint8) *fastRow {
	if a.linked || a.columns.Has(spans.Strata) || a.fields.Selection != nil {
		return nil
	}
	p := &fastRow{basis: basis, counted: format.NoRows}
	var has uint64
	for _, key := range keys {
		f, role, ok := a.fastField(key)
		if !ok || has&role != 0 && role != 1<<field.InstanceKey {
			return nil
		}
		has |= role
		p.fields = append(p.fields, f)
	}
	p.constant = has&(1<<field.Hop) == 0 && a.constant.use != nil
	if has&(1<<field.Hop) == 0 && !p.constant || has&(1<<field.Duration) == 0 || !p.oneInstance(keys) {
		return nil
	}
	p.infers = a.infers(has)
	p.settle(a, has, keys)
	p.clock(a, keys)
	return p
}

// fastField returns what the value of a key is to ordinary attempts, and the bit of
// its role, 0 for a key without one.
func (a *attempts) fastField(key *field.Key) (f fastField, role uint64, ok bool) {
	if f.part, ok = a.partOf(key); !ok || len(key.Uses) == 0 {
		return f, 0, ok
	}
	u := &key.Uses[0]
	f.unit, f.first, f.plain, f.key = u.Unit, int64(u.First), outcome.Plain(u.Role), key
	if f.part == callerPart {
		f.caller = uint8(u.Role - field.CallerKey)
	}
	return f, 1 << u.Role, true
}

// clock finds the field that says when an attempt began, as attempts.start does.
func (p *fastRow) clock(a *attempts, keys []*field.Key) {
	if !a.columns.Has(spans.Starts) {
		return
	}
	for _, role := range [...]field.Role{field.Start, field.End, field.Time} {
		i := slices.IndexFunc(keys, func(k *field.Key) bool { return len(k.Uses) == 1 && k.Uses[0].Role == role })
		if i < 0 {
			continue
		}
		p.row.HasStart, p.isEnd = true, a.isEnd(role)
		p.fields[i].part = timePart
		return
	}
}

// settle sets what all ordinary records of these roles share.
func (p *fastRow) settle(a *attempts, has uint64, keys []*field.Key) {
	p.markCounts = a.fields.Rules.On(outcome.RuleRetryMark)
	p.numberCounts = a.fields.Rules.On(outcome.RuleResend) && has&(1<<field.RetryMark) == 0
	p.row.HasDuration = true
	for _, key := range keys {
		p.flags |= key.Flags
	}
	tells := has & outcome.EvidenceRoles
	if shows(keys, field.ShowsHTTP) {
		tells |= has & (1 << field.Code)
	}
	p.row.Marked = tells != 0
	p.mustSay = p.row.Marked && has&(1<<field.TruncatedMark) == 0
	for i, key := range keys {
		if !p.row.Marked && len(key.Uses) == 0 && outcome.Listens(key) {
			p.fields[i].part = textPart
		}
		if (p.infers || has&(1<<field.Tries) != 0) && p.fields[i].part == passed && len(key.Uses) == 1 && key.Uses[0].Role == field.Trace {
			p.fields[i].part = chainPart
		}
		if p.fields[i].part == verdictPart && tells&(1<<key.Uses[0].Role) == 0 {
			p.fields[i].part = mutePart
		}
	}
	for _, f := range p.fields {
		if f.part == durationPart {
			p.units = format.UnitBit(f.unit)
		}
	}
	switch {
	case has&(1<<field.TruncatedMark) != 0:
		p.marks = format.MarkField
	case p.row.Marked:
		p.marks = format.MarkRules
	}
}

// shows reports whether one of the keys has a sign.
func shows(keys []*field.Key, sign field.Signs) bool {
	return slices.ContainsFunc(keys, func(k *field.Key) bool { return k.Signs.Has(sign) })
}

// begin starts a record.
func (p *fastRow) begin() {
	p.row.Retry, p.row.Tries, p.rounded, p.said = false, 0, false, false
}

// whole is a whole number of a few digits, in its place; ok is false where the
// general path must look at it.
func (p *fastRow) whole(at *fastField, n int64) bool {
	switch at.part {
	case passed, clocked, textPart:
		return true
	case triesPart:
		p.row.Tries = outcome.TriesOf(n, at.first)
		return true
	case durationPart:
		p.row.Duration, p.row.Resolution = n*int64(moment.Pow10[at.unit]), uint8(at.unit)
		return true
	case numberPart:
		if p.numberCounts {
			p.row.Retry = n > at.first
		}
		return n >= at.first
	case timeoutPart:
		p.row.Timeout, p.row.HasTimeout = n*int64(moment.Pow10[at.unit]), n > 0
		return true
	case cutPart:
		return n == 0
	}
	return false
}

// other is a value of any kind, in its place.
func (p *fastRow) other(at *fastField, kind jsonscan.Kind, raw []byte) bool {
	switch at.part {
	case passed:
		return true
	case clocked:
		return len(raw) > 0 && kind > jsonscan.Null
	case timePart:
		return len(raw) > 0 && kind > jsonscan.Null && p.readTime(raw, at.unit)
	case chainPart:
		p.chain = raw
		return usableID(raw) && (kind == jsonscan.Text || kind == jsonscan.Number)
	case tracePart:
		p.row.Trace, p.chain = raw, raw
		return usableID(raw) && (kind == jsonscan.Text || kind == jsonscan.Number)
	case hopPart:
		p.hop = raw
		return trimmed(raw)
	case instancePart:
		p.instance = field.Instance(kind, raw)
		return !p.others || len(raw) > 0 && kind > jsonscan.Null && kind != jsonscan.Composite
	case callerPart:
		p.row.Callers[at.caller] = raw
		return kind == jsonscan.Text && trimmed(raw) || len(raw) == 0
	case durationPart:
		return p.readDuration(at, kind, raw)
	case timeoutPart:
		p.row.Timeout, p.row.HasTimeout = 0, false
		return len(raw) == 0
	case cutPart:
		return kind == jsonscan.False || len(raw) == 0 || string(raw) == "false"
	case retryPart:
		yes := kind == jsonscan.True || string(raw) == "true"
		p.row.Retry = yes && p.markCounts
		return yes || kind == jsonscan.False || string(raw) == "false"
	case triesPart:
		return len(raw) == 0 || kind == jsonscan.Null
	case verdictPart, mutePart:
		return p.completed(at, kind, raw)
	case levelPart:
		return at.isFine(raw) || !outcome.Loud(&field.Value{Raw: raw, Kind: kind}) && at.remember(raw)
	case textPart:
		return kind != jsonscan.Text && kind != jsonscan.Composite || at.isFine(raw) || !outcome.MaySpeak(raw) && at.remember(raw)
	}
	return false
}

// done completes the row once all fields were read.
func (p *fastRow) done() bool {
	switch {
	case p.mustSay && !p.said:
		return false
	case !p.row.HasStart:
	case !p.isEnd:
		p.row.Start = p.at
	case p.at < math.MinInt64+p.row.Duration:
		return false
	default:
		p.row.Start = p.at - p.row.Duration
	}
	return true
}

// sameTime reads a time at b[i:] that is as long as the last one and is read without
// looking for its end, which comes before a byte of the row's format. It returns the end, 0
// for any other. What day reads has no byte but digits and the marks of RFC 3339.
func (p *fastRow) sameTime(b []byte, i int) (end int) {
	end = i + p.timeN
	if p.timeN == 0 || end >= len(b) {
		return 0
	}
	ns, ok := p.day.Instant(b[i:end])
	if !ok {
		return 0
	}
	p.at = ns
	return end
}

func (p *fastRow) readTime(raw []byte, unit moment.Unit) bool {
	ns, ok := p.day.Instant(raw)
	if p.timeN = len(raw); !ok {
		p.timeN = 0
		ns, ok = moment.FastEpoch(raw, unit)
	}
	if ok {
		p.at = ns
		return true
	}
	t, err := moment.ParseInstant(raw, unit)
	p.at = t.NS
	if err == nil {
		p.day.Remember(raw, t.NS)
	}
	return err == nil
}

// usableID reports whether an id is used as it stands, for sure: it is no
// placeholder, for none has a digit but 0, and no traceparent.
func usableID(id []byte) bool {
	return trimmed(id) && len(id) != 55 && field.HasDigit(id)
}

// trimmed reports whether a name has no blanks around it, for sure.
func trimmed(name []byte) bool {
	return len(name) > 0 && name[0]-'!' < 0x7f-'!' && name[len(name)-1]-'!' < 0x7f-'!'
}

func (p *fastRow) readDuration(at *fastField, kind jsonscan.Kind, raw []byte) bool {
	if len(raw) == 0 || kind != jsonscan.Text && kind != jsonscan.Number {
		return false
	}
	s, err := moment.ParseDuration(raw, at.unit)
	p.row.Duration, p.row.Resolution, p.rounded = s.NS, s.Resolution, s.Rounded
	return err == nil && !s.Own && !s.Grouped && s.NS < format.EpochFrom
}

// completed reports whether the evidence says that the attempt completed. A log
// mostly says so in the same word.
func (p *fastRow) completed(at *fastField, kind jsonscan.Kind, raw []byte) bool {
	if len(raw) == 0 {
		kind = jsonscan.Null
	} else if at.isFine(raw) {
		p.said = p.said || at.part == verdictPart
		return true
	}
	completed, said := at.plain(&field.Value{Raw: raw, Kind: kind, Key: at.key, Use: &at.key.Uses[0]})
	if !completed {
		return false
	}
	if p.said = p.said || said && at.part == verdictPart; said {
		at.remember(raw)
	}
	return true
}

// isFine reports whether a value is the last that needed no second look.
func (at *fastField) isFine(raw []byte) bool { return len(raw) > 0 && bytes.Equal(at.fine, raw) }

// remember keeps a value that needs no second look. It returns true.
func (at *fastField) remember(raw []byte) bool {
	if len(raw) <= mostRemembered {
		at.fine = append(at.fine[:0], raw...)
	}
	return true
}

// mostRemembered is the longest text worth being compared with.
const mostRemembered = 256

// accept counts an ordinary record. It is entered with the others of its chunk.
func (p *fastRow) accept() {
	c := &p.counted
	c.N++
	c.First, c.Last = min(c.First, p.at), max(c.Last, p.at)
	if p.row.Duration > c.Longest {
		c.Longest, c.Line = p.row.Duration, p.row.Line
	}
	if p.rounded {
		c.Rounded++
	}
}

// enter adds what was counted to a tally.
func (p *fastRow) enter(t *format.Tally) {
	t.AddRows(&p.counted, p.row.HasStart)
	t.Flags |= p.flags
	t.Units |= p.units
	t.Marks |= p.marks
	t.Basis |= p.basis
	p.counted = format.NoRows
}

// oneInstance passes over all fields for the instance but the best: records often
// name a pod, a host and a node. It is false where two are as good.
func (p *fastRow) oneInstance(keys []*field.Key) bool {
	best, rank := -1, uint16(0)
	for i, key := range keys {
		if len(key.Uses) != 1 || key.Uses[0].Role != field.InstanceKey {
			continue
		}
		here := key.Uses[0].Rank
		if best >= 0 && here == rank {
			return false
		}
		p.others = best >= 0
		worse := i
		if best < 0 || here < rank {
			worse, best, rank = best, i, here
		}
		if worse >= 0 {
			p.fields[worse].part = passed
		}
	}
	return true
}
