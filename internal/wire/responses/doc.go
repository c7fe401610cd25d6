// Package responses is the protocol of the Responses API, under the token responses.
//
// Nothing is stored at the provider: the whole transcript is sent each time, with the encrypted reasoning of earlier
// turns. [Module] makes the protocol known to a host; [NewFactory] makes the same factory with another way to carry
// requests:
//
//	client, err := responses.NewFactory(nil).Create(ctx, model.ClientRequest{Protocol: "responses", Model: name, Key: key})
package responses
