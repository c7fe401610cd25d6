// Package gemini is the protocol generateContent, under the token gemini.
//
// [Module] makes it known to a host; [NewFactory] makes the same factory with another way to carry requests:
//
//	client, err := gemini.NewFactory(nil).Create(ctx, model.ClientRequest{Protocol: "gemini", Model: name, Key: key})
//
// The protocol signs parts of its answers. A signature is state of the item that its part became, and is sent back on
// the same part.
package gemini
