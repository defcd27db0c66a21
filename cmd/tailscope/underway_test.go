package main

import (
	"context"
	"testing"
)

func TestLargeChunksWaitForRoomAndSmallOnesDoNot(t *testing.T) {
	t.Parallel()
	u, ended := newUnderWay(), make(chan bool)
	ctx, cancel := context.WithCancel(context.Background())
	for _, n := range []int{largeChunk - 1, mostUnderWay + 1, largeChunk - 1} { // alone, it has room
		if !u.take(ctx, n) {
			t.Fatalf("%d bytes have to wait", n)
		}
	}
	go func() { ended <- u.take(ctx, largeChunk) }()
	u.give(largeChunk - 1)
	u.give(mostUnderWay + 1)
	if !<-ended || u.bytes.Load() != largeChunk {
		t.Errorf("%d bytes are under way", u.bytes.Load())
	}
	go func() { ended <- u.take(ctx, mostUnderWay) }()
	cancel()
	if <-ended || u.bytes.Load() != largeChunk {
		t.Errorf("a run that has ended takes %d bytes", u.bytes.Load())
	}
	if !u.take(ctx, mostUnderWay-largeChunk) {
		t.Error("up to the limit there is room")
	}
}
