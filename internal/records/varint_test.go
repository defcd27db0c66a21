package records

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestNumbersAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	var list []uint64
	for bit := range 64 {
		list = append(list, 1<<bit-1, 1<<bit, 1<<bit+1)
	}
	for _, v := range append(list, math.MaxUint64) {
		b := Append([]byte{9}, v)
		if want := binary.AppendUvarint([]byte{9}, v); !bytes.Equal(b, want) {
			t.Errorf("%d: % x, want % x", v, b, want)
		}
		if got, rest := Take(append(b[1:], 7)); got != v || !bytes.Equal(rest, []byte{7}) {
			t.Errorf("%d comes back as %d before % x", v, got, rest)
		}
		for _, near := range []int64{int64(v), -int64(v)} {
			if got := Unzigzag(Zigzag(near)); got != near {
				t.Errorf("%d comes back as %d", near, got)
			}
		}
	}
}
