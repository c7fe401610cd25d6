package home_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

func providers(t *testing.T, text string, env ...string) *home.Settings {
	t.Helper()
	h := home.Dir(t.TempDir())
	if text != "" {
		write(t, text, h.Path(home.ProvidersFile))
	}
	s, err := home.LoadSettings(h, vars(env...), false)
	require.NoError(t, err)
	return s
}

func TestProvidersTakeEveryKey(t *testing.T) {
	s := providers(t, `{"$schema": "x", "providers": {"acme": {
		"protocol": "openai", "baseUrl": "https://models.acme.example/v1", "apiKey": "k", "apiKeyEnvironment": "E",
		"requiresApiKey": false, "organization": "o", "project": "p", "headers": {"X-Team": "t"}, "requestTimeout": "1m",
		"idleTimeout": "unlimited", "defaultModel": "large", "models": {"large": {"contextWindow": 200000, "maxTokens": 10,
		"maxTokensField": "max_completion_tokens", "temperature": 0.5, "topP": 1, "imageInput": true, "audioInput": true,
		"videoInput": true, "replayReasoningContent": true, "streamUsage": false, "thinking": ["Low"], "adaptiveThinking": false}}}}}`)
	assert.Empty(t, s.Notes)
	p := s.Providers["acme"]
	assert.Equal(t, "openai", p.Protocol)
	assert.Equal(t, "https://models.acme.example/v1", p.BaseURL)
	assert.False(t, p.RequiresKey)
	assert.Equal(t, map[string]string{"X-Team": "t"}, p.Headers)
	assert.Equal(t, time.Minute, p.RequestTimeout)
	assert.Negative(t, p.IdleTimeout)
	half, one := 0.5, 1.0
	assert.Equal(t, home.Model{
		ContextWindow: 200000, MaxTokens: 10, MaxTokensField: "max_completion_tokens", Temperature: &half, TopP: &one,
		ImageInput: true, AudioInput: true, VideoInput: true, ReplayReasoning: true, Thinking: []string{"low"},
	}, p.Models["large"])
	assert.Equal(t, 128000, p.Entry("unlisted").ContextWindow)
	assert.True(t, s.Providers["deepseek"].Entry("x").ReplayReasoning)
	assert.True(t, s.KnownGear("HIGH"))
	assert.True(t, s.KnownGear("8192"))
	assert.False(t, s.KnownGear("banana"))
}

func TestBadDefinitionCostsItselfAlone(t *testing.T) {
	s := providers(t, `{"providers": {
		"9x": {"protocol": "openai"}, "plain": 7, "noproto": {}, "good": {"protocol": "openai"},
		"openai": {"baseUrl": "ftp://x"}, "auth": {"protocol": "openai", "headers": {"authorization": "Bearer sk-1"}},
		"slow": {"protocol": "openai", "requestTimeout": 5},
		"models": {"protocol": "openai", "models": {"bad": {"contextWindow": 0}, "good": {}}}}}`)
	assert.False(t, s.Providers["good"].Broken)
	assert.NotContains(t, s.Providers, "9x")
	for _, name := range []string{"plain", "noproto", "openai", "auth", "slow"} {
		assert.True(t, s.Providers[name].Broken, name)
		_, err := s.Choose(home.Wanted{Model: name + "/m"}, home.Wanted{})
		assert.ErrorIs(t, err, home.ErrUnknownProvider, name)
	}
	assert.Equal(t, []string{"good"}, s.Providers["models"].ModelNames())
	for _, n := range s.Notes {
		assert.NotContains(t, n.Text, "sk-1")
	}
	assert.Len(t, s.Notes, 7)
}

func TestProvidersOfAProjectAreNotRead(t *testing.T) {
	s, tree := providers(t, ""), t.TempDir()
	write(t, `{"providers": {"acme": {"protocol": "openai"}}}`, tree, home.ProvidersFile)
	require.NoError(t, s.AddProject(tree))
	assert.NotContains(t, s.Providers, "acme")
	assert.Equal(t, []string{"ConfigProjectKeyIgnored"}, codes(s.Notes))
}

func TestChooseFollowsItsOrder(t *testing.T) {
	const file = `{"providers": {
		"one": {"protocol": "openai", "models": {"m1": {}}}, "two": {"protocol": "openai", "models": {"a": {}, "b": {}}},
		"three": {"protocol": "openai", "defaultModel": "d", "models": {"a": {}, "b": {}}}}}`
	type want struct{ provider, model string }
	tests := []struct {
		name           string
		option, thread home.Wanted
		config         home.Wanted
		want           want
		err            error
	}{
		{"option with slashes", home.Wanted{Model: "one/x/y"}, home.Wanted{}, home.Wanted{}, want{"one", "x/y"}, nil},
		{"option in two parts", home.Wanted{Provider: "one", Model: "x/y"}, home.Wanted{}, home.Wanted{}, want{"one", "x/y"}, nil},
		{"a bare model belongs to the thread's provider", home.Wanted{Model: "x"}, home.Wanted{Provider: "two", Model: "a"}, home.Wanted{Provider: "one"}, want{"two", "x"}, nil},
		{"a bare model belongs to the configured provider", home.Wanted{Model: "x"}, home.Wanted{}, home.Wanted{Provider: "one"}, want{"one", "x"}, nil},
		{"the thread beats the configuration", home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, home.Wanted{Provider: "one", Model: "m1"}, want{"two", "b"}, nil},
		{"the configuration", home.Wanted{}, home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, want{"two", "b"}, nil},
		{"the only model", home.Wanted{Provider: "one"}, home.Wanted{}, home.Wanted{Provider: "two", Model: "b"}, want{"one", "m1"}, nil},
		{"the default model", home.Wanted{Provider: "three"}, home.Wanted{}, home.Wanted{}, want{"three", "d"}, nil},
		{"several models", home.Wanted{Provider: "two"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"no model", home.Wanted{Provider: "openai"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"FIELD-N8 an unknown provider", home.Wanted{Model: "nosuch/model"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrUnknownProvider},
		{"FIELD-N8 an unknown provider in the file", home.Wanted{}, home.Wanted{}, home.Wanted{Provider: "nosuch"}, want{}, home.ErrUnknownProvider},
		{"a bare model of nobody", home.Wanted{Model: "x"}, home.Wanted{}, home.Wanted{}, want{}, home.ErrNoModel},
		{"HOST-42 nothing at all", home.Wanted{}, home.Wanted{}, home.Wanted{}, want{"offline", "rules"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := providers(t, file)
			s.Config.Provider, s.Config.Model = tt.config.Provider, tt.config.Model
			c, err := s.Choose(tt.option, tt.thread)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				if errors.Is(tt.err, home.ErrUnknownProvider) {
					assert.ErrorContains(t, err, "nosuch")
					assert.ErrorContains(t, err, "anthropic")
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, want{c.Provider.Name, c.Model})
		})
	}
}

// HOST-42, second half: with a key and no choice nothing is picked.
func TestPaidModelIsNeverPickedByItself(t *testing.T) {
	s := providers(t, "", "OPENAI_API_KEY", "sk-secret")
	_, err := s.Choose(home.Wanted{}, home.Wanted{})
	require.ErrorIs(t, err, home.ErrNoModel)
	assert.ErrorContains(t, err, "-m provider/model")
	assert.ErrorContains(t, err, "openai")
	assert.NotContains(t, err.Error(), "sk-secret")
}
