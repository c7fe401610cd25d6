package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/points/tool"
)

func Example() {
	workspace, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(workspace) }()
	tools, err := builtin.New(builtin.Config{}).Tools(context.Background(), tool.Planning{Workspace: workspace})
	if err != nil {
		panic(err)
	}
	for _, t := range tools {
		if t.Definition.Name != "write" {
			continue
		}
		arguments := json.RawMessage(`{"path":"notes/one.txt","content":"hello\n"}`)
		class := t.Binding.Classify(context.Background(), tool.Call{Tool: "write", Arguments: arguments}, workspace)
		fmt.Println(class.Risk, class.Authority)
		result, err := t.Binding.Runtime.Invoke(context.Background(), tool.Invocation{
			Arguments: arguments, Workspace: workspace, Approved: class,
		})
		fmt.Println(result.Content[0].Text, err)
	}
	// Output:
	// Write Workspace
	// created notes/one.txt (6 bytes, 1 line) <nil>
}
