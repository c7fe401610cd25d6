package responses

import (
	"net/http"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/points/model"
)

// Protocol is the token of the protocol.
const Protocol = "responses"

// Module contributes the protocol responses.
var Module = contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil))

// NewFactory returns the factory of responses. nil is the transport that all protocols share.
func NewFactory(t http.RoundTripper) *wire.Factory {
	return &wire.Factory{
		Protocols: []string{Protocol}, BaseURL: "https://api.openai.com/v1/", Transport: t,
		Codec: func(r model.ClientRequest) (wire.Codec, error) { return &codec{provider: r.Provider}, nil },
	}
}

// codec writes requests and reads answers of one model.
type codec struct{ provider string }

var _ wire.Codec = (*codec)(nil)

func (*codec) Target(string) string { return "responses" }

func (*codec) Authorize(h http.Header, r model.ClientRequest) { openai.Authorize(h, r) }

func (*codec) Decoder() wire.Decoder { return &decoder{} }
