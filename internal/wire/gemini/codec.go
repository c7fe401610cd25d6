package gemini

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/schema"
	"github.com/crystalkernel/crystal/points/model"
)

// Protocol is the token of the protocol.
const Protocol = "gemini"

// Module contributes the protocol gemini.
var Module = contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil))

// NewFactory returns the factory of gemini. nil is the transport that all protocols share.
func NewFactory(t http.RoundTripper) *wire.Factory {
	return &wire.Factory{
		Protocols: []string{Protocol}, BaseURL: "https://generativelanguage.googleapis.com/v1beta/", Transport: t,
		Codec: func(r model.ClientRequest) (wire.Codec, error) { return &codec{provider: r.Provider}, nil },
	}
}

// codec writes requests and reads answers of one model.
type codec struct {
	provider string
	schemas  schema.Cache
}

var _ wire.Codec = (*codec)(nil)

func (*codec) Target(model string) string {
	return "models/" + url.PathEscape(model) + ":streamGenerateContent?alt=sse"
}

func (*codec) Authorize(h http.Header, r model.ClientRequest) {
	h.Del("X-Goog-Api-Key")
	if r.Key != "" {
		h.Set("X-Goog-Api-Key", r.Key)
	}
}

func (*codec) Decoder() wire.Decoder { return &decoder{} }

// madeHere begins the ids of calls to which the server gave none. They are never sent.
const madeHere = "gemini_"

// older reports whether a model is of the generation that has token budgets for thinking, and no images in results.
func older(model string) bool { return strings.HasPrefix(model, "gemini-2") }
