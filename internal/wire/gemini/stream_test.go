package gemini_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/gemini"
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func client(t testing.TB, transport http.RoundTripper, change ...func(*model.ClientRequest)) model.Client {
	t.Helper()
	r := model.ClientRequest{
		Protocol: gemini.Protocol, Provider: "example", Model: "example-small", BaseURL: "https://models.example/v1",
		Key: "sk-very-secret",
	}
	for _, f := range change {
		f(&r)
	}
	c, err := gemini.NewFactory(transport).Create(context.Background(), r)
	require.NoError(t, err)
	return c
}

// The streams of FIELD-F and FIELD-P that are of generateContent.
func TestRecordedStreams(t *testing.T) {
	wiretest.Run(t, gemini.Protocol, func(rt http.RoundTripper) model.Client { return client(t, rt) })
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, gemini.Protocol, func(t testing.TB, rt http.RoundTripper) model.Client { return client(t, rt) })
}
