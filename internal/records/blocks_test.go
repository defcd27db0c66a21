package records

import (
	"bytes"
	"testing"
)

func TestBlocksKeepRecordsWhole(t *testing.T) {
	var b Blocks
	b.Clear()
	var want []byte
	for i := range 2000 {
		record := bytes.Repeat([]byte{byte(i)}, 1+i*7%1500)
		b.Append(record)
		want = append(want, record...)
		if last := b[len(b)-1]; !bytes.HasSuffix(last, record) {
			t.Fatalf("record %d is not whole", i)
		}
	}
	if got := bytes.Join(b, nil); !bytes.Equal(got, want) || len(b) < 5 {
		t.Errorf("%d bytes in %d blocks, want %d bytes", len(got), len(b), len(want))
	}
	if b.Clear(); len(b) != 1 || len(b[0]) != 0 || cap(b[0]) != blockBytes {
		t.Errorf("%d blocks, the first of %d bytes", len(b), cap(b[0]))
	}
	b.Append(make([]byte, 2*blockBytes))
	if len(b) != 2 || len(b[1]) != 2*blockBytes {
		t.Errorf("a long record: %d blocks", len(b))
	}
}
