package main

import (
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// start is when the made-up runs begin.
var start = time.Date(2026, 1, 15, 2, 0, 0, 0, time.UTC)

// hop is one of a log: lognormal durations, cut at a timeout of its own.
type hop struct {
	name    string
	median  float64 // ns
	sigma   float64
	timeout int64 // ns
}

var hops = []hop{
	{"gateway", 80e6, .9, 2e9}, {"auth", 3e6, .6, 250e6}, {"orders", 28e6, .9, 300e6}, {"stock", 25e6, .9, 400e6},
	{"pricing", 9e6, .7, 200e6}, {"carts", 6e6, .7, 200e6}, {"payment", 140e6, .8, 1e9}, {"fraud", 60e6, 1, 500e6},
	{"shipping", 40e6, .8, 1e9}, {"mail", 200e6, .6, 5e9}, {"search", 50e6, 1.1, 800e6}, {"retrieve", 350e6, .7, 5e9},
}

// attempt is one line of a hop log. Times are ns.
type attempt struct {
	chain    int
	hop      string
	end      time.Time
	duration int64
	cut      bool
	attempt  int // the first is 1
}

// attempts yields n of them. One that is cut is logged a little after its
// timeout and followed by a retry.
func attempts(s settings) func(yield func(attempt) bool) {
	r := rand.New(rand.NewPCG(s.seed, 0))
	return func(yield func(attempt) bool) {
		chain, try := 0, 1
		at := start
		h := hops[0]
		for range s.n {
			a := attempt{chain: chain, hop: h.name, attempt: try}
			a.duration = int64(h.median * math.Exp(h.sigma*r.NormFloat64()))
			if a.cut = a.duration >= h.timeout; a.cut {
				a.duration = h.timeout + int64(1e6*r.ExpFloat64())
			}
			if s.unit == "us" {
				a.duration -= a.duration % 1000
			}
			at = at.Add(time.Duration(r.IntN(200_000)))
			a.end = at
			if !yield(a) {
				return
			}
			if a.cut && try == 1 {
				try = 2
				continue
			}
			try, h, chain = 1, hops[r.IntN(len(hops))], chain+r.IntN(2)
		}
	}
}

// writeHops calls fmt nowhere: a pipe of a hundred million lines should wait for
// its reader.
func writeHops(w io.Writer, s settings, line func([]byte, attempt, string) []byte) {
	var buf []byte
	for a := range attempts(s) {
		buf = line(buf[:0], a, s.unit)
		w.Write(buf)
	}
}

// shown is a duration in the unit of the log.
func (a attempt) shown(unit string) int64 {
	if unit == "us" {
		return a.duration / 1000
	}
	return a.duration
}

func hopLine(b []byte, a attempt, unit string) []byte {
	b = append(b, `{"time":"`...)
	b = a.end.AppendFormat(b, time.RFC3339Nano)
	b = hex(append(b, `","chain_id":"c-`...), uint64(a.chain), 8)
	b = append(append(b, `","hop":"`...), a.hop...)
	b = append(append(append(b, `","duration_`...), unit...), `":`...)
	b = strconv.AppendInt(b, a.shown(unit), 10)
	b = strconv.AppendBool(append(b, `,"truncated":`...), a.cut)
	b = strconv.AppendInt(append(b, `,"attempt":`...), int64(a.attempt), 10)
	return append(b, "}\n"...)
}

func hopHeader(unit string) string {
	return "time,chain_id,hop,duration_" + unit + ",truncated,attempt\n"
}

func hopRow(b []byte, a attempt, unit string) []byte {
	b = a.end.AppendFormat(b, time.RFC3339Nano)
	b = hex(append(b, ",c-"...), uint64(a.chain), 8)
	b = append(append(append(b, ','), a.hop...), ',')
	b = strconv.AppendInt(b, a.shown(unit), 10)
	b = strconv.AppendBool(append(b, ','), a.cut)
	b = strconv.AppendInt(append(b, ','), int64(a.attempt), 10)
	return append(b, '\n')
}

// hex appends the last so many hexadecimal digits of a number.
func hex(b []byte, number uint64, digits int) []byte {
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[number>>shift&15])
	}
	return b
}
