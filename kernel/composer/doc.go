// Package composer composes the system prompt: the sections of prompt.section in resolved order, the assembler that takes
// the whole over, placeholders, then the prompt hooks.
//
//	text, err := composer.Compose(ctx, registry.View(), composer.Inputs{Context: prompt.Context{Mode: "work"}})
//
// Equal inputs give equal bytes, so that the prompt cache of a provider keeps its value from turn to turn. [Sections] are
// the built-in sections; each stands under a target of package prompt and can be replaced.
package composer
