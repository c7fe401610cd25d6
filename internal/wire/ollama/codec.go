package ollama

import (
	"net/http"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/points/model"
)

// Protocol is the token of the protocol.
const Protocol = "ollama"

// Module contributes the protocol ollama.
var Module = contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil))

// NewFactory returns the factory of ollama. nil is the transport that all protocols share.
func NewFactory(t http.RoundTripper) *wire.Factory {
	return &wire.Factory{
		Protocols: []string{Protocol}, BaseURL: "http://localhost:11434/", Lines: true, Transport: t,
		Codec: func(model.ClientRequest) (wire.Codec, error) { return codec{}, nil },
	}
}

// codec writes requests and reads answers.
type codec struct{}

var _ wire.Codec = codec{}

func (codec) Target(string) string { return "api/chat" }

func (codec) Authorize(h http.Header, r model.ClientRequest) { wire.Bearer(h, r.Key) }

func (codec) Decoder() wire.Decoder { return &decoder{} }
