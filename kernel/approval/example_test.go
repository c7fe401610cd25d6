package approval_test

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/tool"
)

func ExampleStage() {
	operator := approval.OperatorFunc(func(_ context.Context, p approval.Prompt) (approval.Answer, error) {
		fmt.Println(p.Tool, "asks, because", p.Reason)
		return approval.Answer{Choice: approval.Session}, nil
	})
	stage := approval.New(approval.Config{}, operator, nil)
	for range 2 {
		v, err := stage.Approve(context.Background(), bashCall("edit", "make", class(tool.Write, tool.Workspace)))
		fmt.Println(v.Allow, v.By, err)
	}
	// Output:
	// bash asks, because the approval mode edit asks for changes
	// true operator <nil>
	// true grant <nil>
}
