package ratio_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/ratio"
)

// What is not everything never looks as if it were.
func Example() {
	fmt.Println(ratio.Percent(.165), ratio.Percent(.99999))
	// Output: 16.5 % 99.999 %
}
