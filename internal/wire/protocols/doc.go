// Package protocols is all built-in wire protocols in one module: openai, deepseek, responses, anthropic, gemini and
// ollama. The protocol offline needs no wire and is a module of its own.
//
//	app := fx.New(kernel.Module, protocols.Module)
package protocols
