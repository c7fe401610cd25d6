// Package protocols is all built-in wire protocols in one module: openai, deepseek, responses, anthropic, gemini and
// ollama. The protocol offline needs no wire and is a module of its own.
//
//	app := fx.New(kernel.Module, protocols.Module)
package protocols

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/gemini"
	"github.com/crystalkernel/crystal/internal/wire/ollama"
	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/responses"
)

// Module contributes the built-in protocols, in no particular order: each token has one factory.
var Module = fx.Options(openai.Module, responses.Module, anthropic.Module, gemini.Module, ollama.Module)
