package digest_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/digest"
)

// Runs of bytes may be cut anywhere.
func ExampleRun() {
	parts := digest.Run(digest.Run(0, []byte("span")), []byte(" id"))
	fmt.Println(parts == digest.Run(0, []byte("span id")))
	// Output: true
}
