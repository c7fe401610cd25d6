package openai

import (
	"net/http"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/points/model"
)

// The tokens of the protocol.
const (
	Protocol = "openai"
	DeepSeek = "deepseek"
)

// Module contributes the protocols openai and deepseek.
var Module = fx.Options(
	contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil)),
	contrib.Supply[model.ClientFactory](model.Protocols, NewDeepSeekFactory(nil)),
)

// NewFactory returns the factory of openai. nil is the transport that all protocols share.
func NewFactory(t http.RoundTripper) *wire.Factory {
	return factory(Protocol, "https://api.openai.com/v1/", t)
}

// NewDeepSeekFactory returns the factory of deepseek. nil is the transport that all protocols share.
func NewDeepSeekFactory(t http.RoundTripper) *wire.Factory {
	return factory(DeepSeek, "https://api.deepseek.com/", t)
}

func factory(protocol, base string, t http.RoundTripper) *wire.Factory {
	return &wire.Factory{
		Protocols: []string{protocol}, BaseURL: base, Transport: t,
		Codec: func(r model.ClientRequest) (wire.Codec, error) {
			c := &codec{
				protocol: protocol, deepseek: protocol == DeepSeek,
				limit: "max_tokens", streamUsage: r.StreamUsage,
			}
			if r.MaxTokensField != "" && !c.deepseek {
				c.limit = r.MaxTokensField
			}
			return c, nil
		},
	}
}

// codec writes requests and reads answers of one model.
type codec struct {
	protocol    string
	deepseek    bool
	limit       string // name of the member that holds the output limit
	streamUsage bool
}

var _ wire.Codec = (*codec)(nil)

func (*codec) Target(string) string { return "chat/completions" }

func (c *codec) Authorize(h http.Header, r model.ClientRequest) {
	if c.deepseek {
		wire.Bearer(h, r.Key)
		return
	}
	Authorize(h, r)
}

// Authorize sets the key as a bearer token, and the headers of organization and project. The protocol responses does the
// same.
func Authorize(h http.Header, r model.ClientRequest) {
	wire.Bearer(h, r.Key)
	if r.Organization != "" {
		h.Set("OpenAI-Organization", r.Organization)
	}
	if r.Project != "" {
		h.Set("OpenAI-Project", r.Project)
	}
}

func (c *codec) Decoder() wire.Decoder { return &decoder{} }
