package peertest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/gemini"
	"github.com/crystalkernel/crystal/internal/wire/ollama"
	"github.com/crystalkernel/crystal/internal/wire/openai"
	"github.com/crystalkernel/crystal/internal/wire/responses"
	"github.com/crystalkernel/crystal/points/model"
)

// protocol is one way to talk to the peer.
type protocol struct {
	name    string
	factory func(http.RoundTripper) *wire.Factory
	base    string // path at the peer
	model   string

	// What the peer can't play in this protocol.
	uncounted   bool         // it reports no usage
	thoughtless bool         // it sends no reasoning
	cut         model.Finish // what it says in place of length
}

var protocols = []protocol{
	{name: openai.Protocol, factory: openai.NewFactory, base: "/v1/", model: "gpt-5-mini"},
	{name: openai.DeepSeek, factory: openai.NewDeepSeekFactory, base: "/v1/", model: "deepseek-chat"},
	{name: responses.Protocol, factory: responses.NewFactory, base: "/v1/", model: "gpt-5-mini", cut: model.FinishOther},
	{name: anthropic.Protocol, factory: anthropic.NewFactory, base: "/v1/", model: "claude-sonnet-4-5"},
	{name: gemini.Protocol, factory: gemini.NewFactory, base: "/v1beta/", model: "gemini-2.5-flash"},
	{
		name: ollama.Protocol, factory: ollama.NewFactory, base: "/", model: "llama3",
		uncounted: true, thoughtless: true, cut: model.FinishStop,
	},
}

func (p protocol) client(t testing.TB, transport http.RoundTripper, host string) model.Client {
	t.Helper()
	c, err := p.factory(transport).Create(t.Context(), model.ClientRequest{
		Protocol: p.name, Provider: "peer", Model: p.model, BaseURL: "http://" + host + p.base, Key: "test-key", StreamUsage: true,
		AdaptiveThinking: true,
	})
	require.NoError(t, err)
	return c
}

var readTool = model.Tool{
	Name: "read", Description: "Reads a file.",
	Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
}

func ask(text string) *model.Request {
	return &model.Request{
		System: "Be brief.", Tools: []model.Tool{readTool},
		Items: []*model.Item{{Kind: model.Message, Role: model.User, Text: text}},
	}
}

func round(t *testing.T, c model.Client, r *model.Request) (*model.Response, string, error) {
	t.Helper()
	var text strings.Builder
	response, err := c.Round(t.Context(), r, func(d model.Delta) error {
		if d.Kind == model.TextDelta {
			text.WriteString(d.Text)
		}
		return nil
	})
	return response, text.String(), err
}

func calls(r *model.Response) (all []*model.Item) {
	for _, i := range r.Items {
		if i.Kind == model.ToolCall {
			all = append(all, i)
		}
	}
	return all
}

func TestRoundsAgainstThePeer(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c := p.client(t, transport, address)

			t.Run("text", func(t *testing.T) {
				r, text, err := round(t, c, ask("say hello"))
				require.NoError(t, err)
				assert.Equal(t, "Hello from the peer, größer als gedacht 🙂.", text)
				assert.Equal(t, model.FinishStop, r.Finish)
				require.NotNil(t, r.Usage)
				assert.Equal(t, !p.uncounted, r.Usage.Input > 0)
			})
			for say, want := range map[string]struct {
				calls int
				text  string
			}{"read the file": {1, "It says hi."}, "read both": {2, "Both say hi."}} {
				t.Run(say, func(t *testing.T) {
					q := ask(say)
					r, _, err := round(t, c, q)
					require.NoError(t, err)
					require.Len(t, calls(r), want.calls)
					assert.Equal(t, model.FinishToolCalls, r.Finish)
					q.Items = append(q.Items, r.Items...)
					for _, i := range calls(r) {
						assert.Equal(t, "read", i.Name)
						assert.Contains(t, i.Arguments, ".txt")
						q.Items = append(q.Items, &model.Item{Kind: model.ToolResult, CallID: i.CallID, Status: model.Success, Text: "hi"})
					}
					_, text, err := round(t, c, q)
					require.NoError(t, err)
					assert.Equal(t, want.text, text)
				})
			}
			t.Run("reasoning", func(t *testing.T) {
				r, text, err := round(t, c, ask("think first"))
				require.NoError(t, err)
				assert.Equal(t, "Thought.", text)
				if p.thoughtless {
					assert.Len(t, r.Items, 1)
					return
				}
				require.Equal(t, model.Reasoning, r.Items[0].Kind)
				assert.Contains(t, r.Items[0].Segments[0].Text, "One step")
			})
			t.Run("length", func(t *testing.T) {
				r, text, err := round(t, c, ask("go on for ever"))
				require.NoError(t, err)
				assert.Equal(t, "cut off he", text)
				if p.cut == "" {
					p.cut = model.FinishLength
				}
				assert.Equal(t, p.cut, r.Finish)
			})
			for say, want := range map[string]struct {
				kind    model.ErrorKind
				retried bool
				text    string
			}{
				"too fast": {model.KindRateLimit, true, "Rate limited"}, "fall over": {model.KindServer, true, "Internal error"},
				"refuse me": {model.KindAuth, false, "bad key"}, "break off": {model.KindIncomplete, true, ""}, "hang up": {model.KindIncomplete, true, ""},
			} {
				t.Run(say, func(t *testing.T) {
					_, _, err := round(t, c, ask(say))
					e, ok := errors.AsType[*model.Error](err)
					require.True(t, ok, "%v", err)
					assert.Equal(t, want.kind, e.Kind)
					assert.Equal(t, want.retried, e.Retryable)
					assert.Contains(t, e.Message, want.text)
				})
			}
		})
	}
}
