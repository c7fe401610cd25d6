package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/points/model"
)

func ExampleNewFactory() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"Hel"}}]}`+"\n\n")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"lo."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer provider.Close()
	client, err := openai.NewFactory(nil).Create(context.Background(), model.ClientRequest{
		Protocol: openai.Protocol, Provider: "example", Model: "example-small", BaseURL: provider.URL, Key: "k",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := &model.Request{Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: "hello"}}}
	response, err := client.Round(context.Background(), request, func(d model.Delta) error {
		if d.Kind == model.TextDelta {
			fmt.Printf("%q ", d.Text)
		}
		return nil
	})
	fmt.Println(response.Finish, err)
	// Output: "Hel" "lo." stop <nil>
}
