package moment_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/moment"
)

func ExampleParseDuration() {
	for _, text := range []string{"12.5", "1m30s", "PT3.5S"} {
		length, err := moment.ParseDuration([]byte(text), moment.Milliseconds)
		fmt.Println(length.NS, err)
	}
	// Output:
	// 12500000 <nil>
	// 90000000000 <nil>
	// 3500000000 <nil>
}
