package spill_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/spill"
)

func Example() {
	f := spill.New("", "durations")
	defer f.Close()
	piece, err := f.Write([]byte("a block "), []byte("in parts"))
	if err != nil {
		fmt.Println(err)
		return
	}
	back := make([]byte, piece.Size())
	fmt.Println(f.Read(piece, back), string(back))
	// Output: <nil> a block in parts
}
