package ingest

// Tally is what decoding one chunk gave besides batches. Records =
// Accepted + Rejected + Blank.
type Tally struct {
	Chunk                              *Chunk
	Records, Accepted, Rejected, Blank int64
	Rejects                            []Reject // all of them, or the first of each reason
	counts                             map[Reason]int64
	Fields                             map[string]string // keys of the first accepted record
	Incomplete                         bool              // the input ends inside a record

	DuplicateKeys  int64 // keys that came twice in a record
	Rounded        int64 // durations finer than a nanosecond
	UnreadTimes    int64 // starts that could not be read
	UnusedTimeouts int64 // timeouts without a unit, or unreadable
	NumberMarks    int64 // timeouts of 0 or 1 that were read as marks
	OpenRows       int64 // last rows of CSV without a line break
	ZeroAttempts   int64 // attempt numbers below the first
	TimeoutTexts   int64 // failures whose message speaks of a timeout

	UnknownServices int64  // spans whose process is not there
	ConnectionWaits int64  // deadlines that passed while waiting for a connection
	UnreadMarks     int64  // tags called like a mark, neither yes nor no
	OtherSignals    int64  // lines of metrics or logs among the traces
	AnswerErrors    string // the first list of errors in an answer

	units, marks, basis uint8
	keepAll             bool
}

// Bits that tell how a chunk's records were read.
const (
	unitInValue uint8 = 1 << 7 // beside unitBit of the fixed units

	markField uint8 = 1 << 0
	markRules uint8 = 1 << 1

	basisStart uint8 = 1 << 0
	basisEnd   uint8 = 1 << 1
)

// unitBit is the bit of a fixed unit: 1, 2, 4 or 8.
func unitBit(u Unit) uint8 { return 1 << (u / 3) }

// reject counts a record that could not be used.
func (t *Tally) reject(line, offset int64, f *fault) {
	t.Records++
	t.Rejected++
	if t.counts == nil {
		t.counts = map[Reason]int64{}
	}
	t.counts[f.reason]++
	t.Incomplete = t.Incomplete || f.reason == Incomplete
	if t.keepAll || t.counts[f.reason] == 1 {
		t.Rejects = append(t.Rejects, Reject{t.Chunk.File.Path, line, offset, f.reason, f.detail})
	}
}

func (t *Tally) blank() {
	t.Records++
	t.Blank++
}

// accept counts a record and remembers the keys of the first.
func (t *Tally) accept(rec *record) {
	t.Records++
	t.Accepted++
	if t.Fields != nil {
		return
	}
	t.Fields = map[string]string{}
	for role := range roles {
		if v := rec.get(role); !v.empty() {
			t.Fields[role.String()] = v.key.path
		}
	}
}

// acceptSpan counts a span.
func (t *Tally) acceptSpan() {
	t.Records++
	t.Accepted++
}
