package format

import "testing"

// A long line is read into ever larger buffers; the next one is read into the same.
func TestLargeBuffersAreUsedAgainAndHaveNoMoreRoomThanAskedFor(t *testing.T) {
	first := newLarge(5 << 20)
	whole := &first.whole[0]
	first.b = append(first.b, 1)
	first.share()
	first.release()
	if other := newLarge(3 << 20); &other.whole[0] == whole {
		t.Fatal("a buffer in use is given away")
	}
	first.release()
	again := newLarge(4<<20 + 1)
	if &again.whole[0] != whole || len(again.b) != 0 || cap(again.b) != 4<<20+1 {
		t.Errorf("%d bytes, room for %d", len(again.b), cap(again.b))
	}
	for range 2 * freeLarge {
		newLarge(1 << 20).release()
	}
	again.release()
	if n := len(large.list); n > freeLarge || &large.list[n-1].whole[0] != whole {
		t.Errorf("%d wait, or not the largest", n)
	}
}
