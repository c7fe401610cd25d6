package estimate_test

import (
	"fmt"

	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

func ExampleMeter() {
	var m estimate.Meter
	m.Answer("large", &model.Usage{Input: 900, Output: 100}, nil)
	m.Add(estimate.Text("a tool result of forty characters or so."))
	fmt.Println(m.Total("large"))
	fmt.Println(m.Total("small"))
	// Output:
	// 1010 true
	// 0 false
}
