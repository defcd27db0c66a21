package jsontype_test

import (
	"fmt"
	"math"

	"github.com/tailscope/tailscope/internal/jsontype"
)

// What is empty or not finite has a form that readers expect.
func Example() {
	text, err := jsontype.Object{"list", jsontype.List[int]{}, "ratio", jsontype.Number(math.Inf(1)), "name", jsontype.Text("")}.MarshalJSON()
	fmt.Println(string(text), err)
	// Output: {"list":[],"ratio":null,"name":null} <nil>
}
