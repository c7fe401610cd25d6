package compaction_test

import (
	"fmt"

	"github.com/crystalkernel/crystal/kernel/compaction"
)

func ExampleDue() {
	settings := compaction.Settings{Window: 100000, Threshold: 0.8}
	fmt.Println(settings.Limit())
	fmt.Println(compaction.Due(settings, compaction.Load{System: 2000, Tools: 3000, Items: 60000}))
	fmt.Println(compaction.Due(settings, compaction.Load{System: 2000, Tools: 3000, Items: 60000, Reported: 81000}))
	// Output:
	// 80000
	// false
	// true
}
