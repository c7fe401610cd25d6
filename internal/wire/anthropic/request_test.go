package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/anthropic"
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

// sent returns the body that is sent for r.
func sent(t testing.TB, r *model.Request, change ...func(*model.ClientRequest)) []byte {
	t.Helper()
	return wiretest.Sent(t, func(s *wiretest.Server) model.Client { return client(t, s, change...) }, r)
}

// Everything that a request has to deal with at once. FIELD-D8 (names), FIELD-E1 and FIELD-E5 (schemas), FIELD-F1
// (arguments), FIELD-G8 (ids), FIELD-P20 (empty blocks).
func TestRequest(t *testing.T) {
	wiretest.Golden(t, "story", sent(t, wiretest.Story(anthropic.Protocol, "example", "c2lnbmVk")))
}

func TestGears(t *testing.T) {
	base := wiretest.Request()
	half := 0.5
	base.Temperature = &half
	adaptive := func(s *wiretest.Server) model.Client { return client(t, s) }
	wiretest.Gears(t, adaptive, base, map[string]string{
		"default": wiretest.Nothing, "off": `"thinking":{"type":"disabled"},"temperature":0.5`, "minimal": wiretest.Ignored,
		"low":     `"stream":true,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}`,
		"maximum": `"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}}`,
		"4096":    `"stream":true,"thinking":{"type":"enabled","budget_tokens":4096}}`,
		"10":      `"thinking":{"type":"enabled","budget_tokens":1024}}`,
		"extreme": `"output_config":{"effort":"extreme"}}`,
	})
	t.Run("by budget", func(t *testing.T) {
		fixed := func(s *wiretest.Server) model.Client {
			return client(t, s, func(r *model.ClientRequest) { r.AdaptiveThinking, r.MaxTokens = false, 1000 })
		}
		wiretest.Gears(t, fixed, base, map[string]string{
			"low": `"max_tokens":2024,`, "medium": `"budget_tokens":8192}`, "high": `"budget_tokens":24576}`,
			"maximum": `"max_tokens":33000,`, "extreme": wiretest.Ignored,
		})
	})
}

func TestTheOutputLimitHasADefault(t *testing.T) {
	assert.Contains(t, string(sent(t, wiretest.Request())), `"max_tokens":8192`)
}

func TestTheFirstMessageIsTheUsers(t *testing.T) {
	r := wiretest.Request()
	r.Items = append([]*model.Item{{Kind: model.Message, Role: model.Assistant, Text: "hi"}}, r.Items...)
	assert.Contains(t, string(sent(t, r)), `"messages":[{"role":"user","content":[{"type":"text","text":"(continued)"}]},{"role":"assistant"`)
}

// The cache mark is on the last block that is no reasoning.
func TestTheCacheMarkIsNeverOnReasoning(t *testing.T) {
	r := wiretest.Request()
	r.Items = append(r.Items, &model.Item{
		Kind: model.Reasoning, Segments: []model.Segment{{Text: " hm "}},
		State: &model.State{Format: anthropic.Protocol, Provider: "example", Data: []byte("c2ln")},
	}, &model.Item{
		Kind: model.Reasoning, State: &model.State{Format: anthropic.Protocol, Provider: "example", Data: []byte(`{"type":"redacted_thinking","data":"x"}`)},
	})
	assert.Contains(t, string(sent(t, r)), `{"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]},`+
		`{"role":"assistant","content":[{"type":"thinking","thinking":" hm ","signature":"c2ln"},{"type":"redacted_thinking","data":"x"}]}]`)
}

func TestResultsAndTheNextMessageAreOneMessage(t *testing.T) {
	r := wiretest.Request()
	r.Items = append(r.Items, &model.Item{Kind: model.ToolCall, CallID: "c1", Name: "read"},
		&model.Item{Kind: model.ToolResult, CallID: "c1", Status: model.Success, Text: "x"},
		&model.Item{Kind: model.Message, Role: model.System, Text: "later"},
		&model.Item{Kind: model.Message, Role: model.User, Text: "go on"})
	body := string(sent(t, r))
	assert.Contains(t, body, `"content":[{"type":"text","text":"x"}]},{"type":"text","text":"go on","cache_control"`)
	assert.Contains(t, body, `"system":[{"type":"text","text":"later","cache_control":{"type":"ephemeral"}}]`)
}

func TestReasoningWithoutASignatureIsNotSentBack(t *testing.T) {
	body := string(sent(t, wiretest.Story(anthropic.Protocol, "example", "unsigned")))
	assert.NotContains(t, body, "first")
	assert.Contains(t, body, "of another")
}
