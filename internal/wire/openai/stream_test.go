package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func client(t testing.TB, transport http.RoundTripper, change ...func(*model.ClientRequest)) model.Client {
	t.Helper()
	r := model.ClientRequest{
		Protocol: openai.Protocol, Provider: "example", Model: "example-small", BaseURL: "https://models.example/v1",
		Key: "sk-very-secret", StreamUsage: true,
	}
	for _, f := range change {
		f(&r)
	}
	f := openai.NewFactory(transport)
	if r.Protocol == openai.DeepSeek {
		f = openai.NewDeepSeekFactory(transport)
	}
	c, err := f.Create(context.Background(), r)
	require.NoError(t, err)
	return c
}

// The streams of FIELD-F, FIELD-G, FIELD-K and FIELD-P that are Chat Completions.
func TestRecordedStreams(t *testing.T) {
	wiretest.Run(t, openai.Protocol, func(rt http.RoundTripper) model.Client { return client(t, rt) })
}

func FuzzStream(f *testing.F) {
	wiretest.Fuzz(f, openai.Protocol, func(t testing.TB, rt http.RoundTripper) model.Client { return client(t, rt) })
}
