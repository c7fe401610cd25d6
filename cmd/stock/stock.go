// Package stock is the built-in parts of the stock host as fx options, for programs that embed the kernel or make a host
// of another kind:
//
//	var k *kernel.Kernel
//	app := fx.New(kernel.Module, stock.Host, myplugin.Plugin.AsModule(), fx.Populate(&k))
//
// Each option contributes to the points of the kernel with the origin builtin, as plugins do with theirs; none of them
// reads a file of configuration. A program that wants fewer parts takes them one by one.
package stock

import (
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/internal/generators"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/internal/wire/protocols"
	"github.com/crystalkernel/crystal/kernel"
)

var (
	// Offline is the model that needs no network and no key: "offline/rules", or a scenario file.
	Offline fx.Option = offline.Module
	// Protocols are the wire protocols: openai, deepseek, responses, anthropic, gemini and ollama.
	Protocols fx.Option = protocols.Module
	// Tools are the built-in tools: read, list, glob, grep, edit, write and bash.
	Tools fx.Option = builtin.Module
	// Subagents are the tool task and the kernel's own runtime and profiles.
	Subagents fx.Option = kernel.Subagents
	// Access is what plugins share of the host: model.Facts, and for each generation its model.Clients and status.Updates.
	Access fx.Option = fx.Options(modelaccess.Module, statusline.Module)
	// Generators are the built-in commit messages and welcomes. They need Access.
	Generators fx.Option = generators.Module
	// Host is all of them together.
	Host fx.Option = fx.Options(Offline, Protocols, Tools, Subagents, Access, Generators)
)
