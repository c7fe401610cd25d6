package protocols

import (
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/gemini"
	"github.com/crystalkernel/crystal/internal/wire/ollama"
	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/responses"
	"github.com/crystalkernel/crystal/points/model"
)

// Module contributes the built-in protocols. Each token has one factory, so their order decides nothing.
var Module = contrib.ProvideSet(func() contrib.Set {
	factories := []*wire.Factory{
		openai.NewFactory(nil), openai.NewDeepSeekFactory(nil), responses.NewFactory(nil),
		anthropic.NewFactory(nil), gemini.NewFactory(nil), ollama.NewFactory(nil),
	}
	set := make(contrib.Set, len(factories))
	for i, f := range factories {
		set[i] = contrib.Item[model.ClientFactory](model.Protocols, f)
	}
	return set
})
