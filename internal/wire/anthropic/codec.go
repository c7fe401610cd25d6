package anthropic

import (
	"net/http"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/points/model"
)

// Protocol is the token of the protocol.
const Protocol = "anthropic"

// Module contributes the protocol anthropic.
var Module = contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil))

// NewFactory returns the factory of anthropic. nil is the transport that all protocols share.
func NewFactory(t http.RoundTripper) *wire.Factory {
	return &wire.Factory{
		Protocols: []string{Protocol}, BaseURL: "https://api.anthropic.com/v1/", Transport: t,
		Codec: func(r model.ClientRequest) (wire.Codec, error) {
			return &codec{provider: r.Provider, adaptive: r.AdaptiveThinking}, nil
		},
	}
}

// codec writes requests and reads answers of one model.
type codec struct {
	provider string
	adaptive bool // the model decides how long it thinks; else it gets a budget
}

var _ wire.Codec = (*codec)(nil)

func (*codec) Target(string) string { return "messages" }

func (*codec) Authorize(h http.Header, r model.ClientRequest) {
	if h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	h.Del("X-Api-Key")
	if r.Key != "" {
		h.Set("X-Api-Key", r.Key)
	}
}

func (*codec) Decoder() wire.Decoder { return &decoder{} }
