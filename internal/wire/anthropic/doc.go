// Package anthropic is the protocol of the Messages API, under the token anthropic.
//
// [Module] makes it known to a host; [NewFactory] makes the same factory with another way to carry requests:
//
//	client, err := anthropic.NewFactory(nil).Create(ctx, model.ClientRequest{Protocol: "anthropic", Model: name, Key: key})
package anthropic
