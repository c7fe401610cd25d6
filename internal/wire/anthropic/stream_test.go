package anthropic_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func client(t testing.TB, transport http.RoundTripper, change ...func(*model.ClientRequest)) model.Client {
	t.Helper()
	r := model.ClientRequest{
		Protocol: anthropic.Protocol, Provider: "example", Model: "example-small", BaseURL: "https://models.example/v1",
		Key: "sk-very-secret", AdaptiveThinking: true,
	}
	for _, f := range change {
		f(&r)
	}
	c, err := anthropic.NewFactory(transport).Create(context.Background(), r)
	require.NoError(t, err)
	return c
}

// The streams of FIELD-F (FIELD-F5 among them) and FIELD-P that are of the Messages API.
func TestRecordedStreams(t *testing.T) {
	wiretest.Run(t, anthropic.Protocol, func(rt http.RoundTripper) model.Client { return client(t, rt) })
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, anthropic.Protocol, func(t testing.TB, rt http.RoundTripper) model.Client { return client(t, rt) })
}
