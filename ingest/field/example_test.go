package field_test

import (
	"fmt"

	"github.com/tailscope/tailscope/ingest/field"
)

func ExampleParseFlag() {
	flag, err := field.ParseFlag("duration=took:ms")
	fmt.Println(flag.Role, flag.Key, flag.Unit, err)
	// Output: duration took ms <nil>
}
