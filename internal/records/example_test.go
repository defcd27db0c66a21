package records_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/records"
)

func Example() {
	b := records.Append(nil, records.Zigzag(-3))
	v, rest := records.Take(records.Append(b, 300))
	fmt.Println(records.Unzigzag(v), len(b), len(rest))
	// Output: -3 1 2
}
