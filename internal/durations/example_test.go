package durations_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/durations"
)

func Example() {
	fmt.Println(durations.Text(284_851_000), durations.Text(5_000_000_000))
	// Output: 284.851 ms 5 s
}
