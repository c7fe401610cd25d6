// Package ollama is the protocol of the ollama server, under the token ollama.
//
// [Module] makes it known to a host; [NewFactory] makes the same factory with another way to carry requests:
//
//	client, err := ollama.NewFactory(nil).Create(ctx, model.ClientRequest{Protocol: "ollama", Model: name})
package ollama
