// Package openai is the protocol Chat Completions, under the tokens openai and deepseek. The two differ in how much
// thinking is asked for and in how earlier reasoning is sent back.
//
// [Module] makes both known to a host; [NewFactory] makes the same factory with another way to carry requests:
//
//	f := openai.NewFactory(nil)
//	client, err := f.Create(ctx, model.ClientRequest{Protocol: "openai", Model: "example-small", Key: key})
package openai
