// Package prompt holds the contracts that make up the system prompt: sections, the assembler that takes the whole over,
// context of the running thread, and placeholders.
//
// A prompt is composed in this order: the sections of [Sections] in resolved order, joined by a line of three dashes;
// the last entry of [Assemblers], which is given that text; the placeholders; then the prompt hooks of package hook.
// A plugin adds a section beside the others, or replaces a built-in one by its target:
//
//	contrib.Supply(prompt.Sections, prompt.SectionFunc("tone", terse), contrib.ReplaceTarget(prompt.ResponseStyle))
//
// Revoking the contribution gives the built-in section back. The text that sections return depends on configuration and
// tools only, so that a prompt that did not change keeps its bytes and the provider's prompt cache keeps its value.
//
// The package composes nothing; the kernel does.
package prompt
