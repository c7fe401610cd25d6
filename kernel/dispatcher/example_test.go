package dispatcher_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points"
	"github.com/crystalkernel/crystal/points/tool"
)

func ExampleDispatcher_Dispatch() {
	registry, err := contrib.New(points.Catalog()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registry.Close()
	greet := tool.Registration{
		Definition: tool.Definition{
			ID: "greet", Name: "greet", Description: "Greets somebody.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
			InputSchema: json.RawMessage(`{"properties":{"who":{"type":"string"}},"required":["who"]}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			var a struct{ Who string }
			err := json.Unmarshal(i.Arguments, &a)
			return tool.Text("Hello, " + a.Who + "."), err
		})},
	}
	if _, err := tool.Sources.Add(registry.Builtin(), tool.Fixed("greetings", greet)); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	snapshot, _, err := toolset.Plan(ctx, toolset.Inputs{
		Sources: tool.Sources.Entries(registry.View(), ""), Planning: tool.Planning{Catalog: tool.CatalogWork},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	d := dispatcher.New(dispatcher.Config{Registry: registry})
	turn := &dispatcher.Turn{Thread: "t1", Turn: "turn1", Snapshot: snapshot}
	for _, arguments := range []string{`{"who":"Ada"}`, `{"who":1}`} {
		o := d.Dispatch(ctx, turn, dispatcher.Request{ID: "c1", Name: "greet", Arguments: arguments, Audience: tool.AudienceModel})
		fmt.Println(o.Status, o.Text)
	}
	// Output:
	// success Hello, Ada.
	// failure Error tool_input_invalid: greet: the arguments do not fit the schema.
	// - /who has to be string, not 1 (type)
	// Schema: {"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}
}
