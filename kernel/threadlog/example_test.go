package threadlog_test

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

func Example() {
	ctx := context.Background()
	store := threadlog.Memory()
	log, err := store.Create(ctx, threadlog.Header{Workspace: "/work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	records := []threadlog.Record{
		&threadlog.Turn{Turn: "t1", Item: &model.Item{Kind: model.Message, Role: model.User, Text: "How many files?"}},
		&threadlog.Round{Turn: "t1", Items: []*model.Item{{Kind: model.ToolCall, CallID: "c1", Name: "list", Arguments: "{}"}}},
	}
	for _, r := range records {
		if err := log.Append(r); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, item := range log.Items() {
		fmt.Printf("%s: %s\n", item.Kind, item.Name+item.Text)
	}
	// Output:
	// message: How many files?
	// tool_call: list
	// tool_result: The call was interrupted before the tool had started. It was not run.
}
