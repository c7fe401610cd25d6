package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/schema"
)

func ExampleSchema_Check() {
	s, err := schema.Compile(json.RawMessage(`{"properties":{"count":{"type":"integer"}},"required":["count"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	args, coercions, _ := s.Check(`{"count":" 5"}`)
	fmt.Println(string(args), coercions)
	_, _, fault := s.Check(`{"count":"5x"}`)
	fmt.Println(fault.Text("count_notes", s))
	// Output:
	// {"count":5} [{/count integerFromString}]
	// count_notes: the arguments do not fit the schema.
	// - /count has to be integer, not "5x" (type)
	// Schema: {"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}
}
