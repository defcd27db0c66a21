package calls

import (
	"cmp"
	"encoding/binary"
	"math"
)

// noCall stands for the call of a server's span that answers none.
const noCall = -1

// moment is a server's span, and the call that it answers. Times are ns; start is on the
// caller's clock and begin on the callee's.
type moment struct {
	call     int32 // number of the pair, noCall for none
	caller   int32 // name of the instance that calls, 0 where none is known or nobody calls
	instance int32 // name of the instance that serves, 0 where none is known
	flags    uint32
	start    int64 // of the call
	took     int64 // its duration
	begin    int64 // of the server's span
	work     int64 // its duration
}

// The flags of a moment.
const (
	cutCall  uint32 = 1 << iota // the call was cut, but not from below
	oneHost                     // both sides name one host
	twoHosts                    // they name two
	fromCall                    // a call reached it, though maybe not the first of its spans

	placeShift = 8 // above are, in memory, one more than the number of the place, 0 for not known yet
)

func (m *moment) has(f uint32) bool { return m.flags&f != 0 }

// end is when the server was done, at most the largest number.
func (m *moment) end() int64 {
	if m.begin > math.MaxInt64-m.work {
		return math.MaxInt64
	}
	return m.begin + m.work
}

// lag is from the call's start to the server's, on two clocks.
func (m *moment) lag() int64 { return less(m.begin, m.start) }

// back is from the server's end to the call's, on two clocks.
func (m *moment) back() int64 { return less(m.took-m.work, m.lag()) }

// less is a - b, or the nearest number that there is.
func less(a, b int64) int64 {
	switch d := a - b; {
	case b < 0 && d < a:
		return math.MaxInt64
	case b > 0 && d > a:
		return math.MinInt64
	default:
		return d
	}
}

// inTime compares moments of one callee by when its server began, then by all the rest.
func inTime(a, b moment) int {
	if a.begin != b.begin {
		return cmp.Compare(a.begin, b.begin)
	}
	return cmp.Or(cmp.Compare(a.work, b.work), cmp.Compare(a.start, b.start), cmp.Compare(a.took, b.took),
		cmp.Compare(a.call, b.call), cmp.Compare(a.caller, b.caller), cmp.Compare(a.instance, b.instance), cmp.Compare(a.flags&(1<<placeShift-1), b.flags&(1<<placeShift-1)))
}

// asCalled compares moments of one pair by when the call began, then as inTime.
func asCalled(a, b moment) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return inTime(a, b)
}

// momentSize is the length of a moment in a file, in bytes.
const momentSize = 48

func (m *moment) append(to []byte) []byte {
	e := binary.LittleEndian
	to = e.AppendUint32(to, uint32(m.call))
	to = e.AppendUint32(to, uint32(m.caller))
	to = e.AppendUint32(to, uint32(m.instance))
	to = e.AppendUint32(to, m.flags)
	for _, ns := range [...]int64{m.start, m.took, m.begin, m.work} {
		to = e.AppendUint64(to, uint64(ns))
	}
	return to
}

func (m *moment) read(from []byte) {
	e := binary.LittleEndian
	m.call, m.caller, m.instance, m.flags = int32(e.Uint32(from)), int32(e.Uint32(from[4:])), int32(e.Uint32(from[8:])), e.Uint32(from[12:])
	m.start, m.took, m.begin, m.work = int64(e.Uint64(from[16:])), int64(e.Uint64(from[24:])), int64(e.Uint64(from[32:])), int64(e.Uint64(from[40:]))
}
