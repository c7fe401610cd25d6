package compaction_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/points/compaction"
)

// A summariser that has the host's own summary made, and works on it.
func ExampleSummarizerFunc() {
	short := compaction.SummarizerFunc(func(ctx context.Context, r compaction.Request) (*compaction.Summary, error) {
		text, err := r.Local(ctx)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(text, "\n")
		return &compaction.Summary{Text: first}, nil
	})
	s, err := short.Summarize(context.Background(), compaction.Request{
		Local: func(context.Context) (string, error) { return "They fixed it.\nIn ten steps.", nil },
	})
	fmt.Println(s.Text, err)
	// Output: They fixed it. <nil>
}
