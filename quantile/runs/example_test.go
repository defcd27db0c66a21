package runs_test

import (
	"fmt"

	"github.com/tailscope/tailscope/quantile/runs"
)

// Two samples are read as one: the values at the second and at the last rank.
func Example() {
	var a, b runs.Sample
	a.AddAll([]int64{30, 10, 20})
	b.AddN(20, 1000)
	u := runs.Union{&a, &b}
	fmt.Println(u.N(), u.At(2, u.N()), u.UpTo(20))
	// Output: 1003 [20 30] 1002
}
