package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/points/model"
)

func ExampleMiddleware() {
	attempts := 0
	provider := model.ClientFunc(func(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
		if attempts++; attempts < 3 {
			return nil, &model.Error{Code: model.CodeHTTP, Status: 503, Message: "busy", Retryable: true}
		}
		return &model.Response{Finish: model.FinishStop}, nil
	})
	settings := retry.Settings{Attempts: 5, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}
	client, err := retry.New(settings).Wrap(context.Background(), provider, model.PipelineInfo{})
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Round(context.Background(), &model.Request{}, func(d model.Delta) error {
		fmt.Println("retry", d.Attempt, d.Text)
		return nil
	})
	fmt.Println(response.Finish, err)
	// Output:
	// retry 1 provider_http 503: busy
	// retry 2 provider_http 503: busy
	// stop <nil>
}
