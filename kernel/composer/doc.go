// Package composer composes the system prompt: the sections of prompt.section in resolved order, the assembler that takes
// the whole over, placeholders, then the prompt hooks.
//
//	text, err := composer.Compose(ctx, registry.View(), composer.Inputs{Context: prompt.Context{Mode: "work"}})
//
// [Module] contributes the built-in sections, each under a target of package prompt that can be replaced, and [Memory], the
// built-in source of agent.context, which composes for the running turns that [Live] knows.
//
// Equal inputs give equal bytes, so that the prompt cache of a provider keeps its value from turn to turn.
package composer
