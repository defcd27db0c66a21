package main

import (
	"context"
	"sync/atomic"
)

const (
	// largeChunk is from how many bytes on a chunk may have to wait: its records are
	// larger than what is usually read at once.
	largeChunk = 1 << 20
	// mostUnderWay is how many bytes large chunks that are under way may have together.
	// What holds them, and what is made of them, takes several times as much.
	mostUnderWay = 16 << 20
)

// underWay bounds the bytes of large chunks that were read and are not yet decoded,
// whatever the number of workers. One reader asks for room, workers give it back.
type underWay struct {
	bytes atomic.Int64
	given chan struct{} // some room was given back
}

func newUnderWay() *underWay { return &underWay{given: make(chan struct{}, 1)} }

// take waits until there is room for a chunk of n bytes. One that is alone has room.
// It reports false where ctx ended first.
func (u *underWay) take(ctx context.Context, n int) bool {
	if n < largeChunk {
		return true
	}
	for held := u.bytes.Load(); held > 0 && held+int64(n) > mostUnderWay; held = u.bytes.Load() {
		select {
		case <-u.given:
		case <-ctx.Done():
			return false
		}
	}
	u.bytes.Add(int64(n))
	return true
}

// give ends the way of a chunk of n bytes.
func (u *underWay) give(n int) {
	if n < largeChunk {
		return
	}
	u.bytes.Add(int64(-n))
	select {
	case u.given <- struct{}{}:
	default:
	}
}
