package jsonscan_test

import (
	"fmt"

	"github.com/tailscope/tailscope/internal/jsonscan"
)

func ExampleObject() {
	var s jsonscan.Scanner
	span := jsonscan.NewObject(&s, map[string]func() error{
		"name": func() error {
			_, name, err := s.Scalar()
			fmt.Printf("%s\n", name)
			return err
		},
	})
	s.At([]byte(`{"id": 7, "name": "get /"}`))
	fmt.Println(span.Read())
	// Output:
	// get /
	// <nil>
}
