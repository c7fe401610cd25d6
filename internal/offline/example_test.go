package offline_test

import (
	"context"
	"fmt"
	"os"

	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/points/model"
)

func ExampleFactory() {
	_ = os.Unsetenv(offline.Environment)
	client, err := offline.NewFactory().Create(context.Background(), model.ClientRequest{
		Protocol: offline.Protocol, Provider: "offline", Model: offline.Rules,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := &model.Request{Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: "read main.go"}}}
	response, err := client.Round(context.Background(), request, func(model.Delta) error { return nil })
	fmt.Println(response.Items[0].Name, response.Items[0].Arguments, response.Finish, err)
	// Output: read {"path":"main.go"} tool_calls <nil>
}
