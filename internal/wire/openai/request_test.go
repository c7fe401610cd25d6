package openai_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/openai"
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
	wiretest.Golden(t, "story", sent(t, wiretest.Story(openai.Protocol, "example", "c2lnbmVk")))
}

func deepseek(r *model.ClientRequest) { r.Protocol, r.ReplayReasoning = openai.DeepSeek, true }

func TestRequestOfDeepSeek(t *testing.T) {
	wiretest.Golden(t, "deepseek", sent(t, wiretest.Story(openai.DeepSeek, "example", ""), deepseek))
}

func TestGears(t *testing.T) {
	wiretest.Gears(t, func(s *wiretest.Server) model.Client { return client(t, s) }, wiretest.Request(), map[string]string{
		"": wiretest.Nothing, "default": wiretest.Nothing, "off": `"reasoning_effort":"none"`,
		"minimal": `"reasoning_effort":"minimal"`, "low": `"reasoning_effort":"low"`, "maximum": `"reasoning_effort":"xhigh"`,
		"8192": wiretest.Refused, "extreme": `"reasoning_effort":"extreme"`,
	})
	t.Run("deepseek", func(t *testing.T) {
		wiretest.Gears(t, func(s *wiretest.Server) model.Client { return client(t, s, deepseek) }, wiretest.Request(), map[string]string{
			"off": `"thinking":{"type":"disabled"}`, "minimal": wiretest.Ignored, "high": `"reasoning_effort":"high"`,
			"maximum": `"reasoning_effort":"max"`, "8192": wiretest.Refused, "extreme": `"reasoning_effort":"extreme"`,
		})
	})
}

func TestReasoningIsReplayedWhereTheModelWantsIt(t *testing.T) {
	r := wiretest.Story(openai.Protocol, "example", "")
	r.ReplayReasoning = false
	assert.NotContains(t, string(sent(t, r)), "reasoning_content")
	assert.Contains(t, string(sent(t, r, func(r *model.ClientRequest) { r.ReplayReasoning = true })), `"reasoning_content":"first\nsecond"`)
	assert.Contains(t, string(sent(t, r, func(r *model.ClientRequest) { r.Protocol = openai.DeepSeek })), `"reasoning_content":"of another"`)
}

// A deepseek model that refuses missing reasoning gets an empty one.
func TestDeepSeekIsSentEmptyReasoningWhenItWantsSome(t *testing.T) {
	s := wiretest.Serve(func(int) wiretest.Answer {
		return wiretest.Text(400, "", "Missing `reasoning_content` field in the assistant message")
	})
	r := wiretest.Request()
	r.Items = append([]*model.Item{r.Items[0], {Kind: model.Message, Role: model.Assistant, Text: "hi"}}, r.Items...)
	_, _, err := wiretest.Round(t, client(t, s, deepseek), r)
	require.Error(t, err)
	require.Len(t, s.Bodies(), 2)
	assert.NotContains(t, string(s.Bodies()[0]), "reasoning_content")
	assert.Contains(t, string(s.Bodies()[1]), `"content":"hi","reasoning_content":""`)
}

func TestOutputLimitHasTheNameThatTheModelWants(t *testing.T) {
	r := wiretest.Request()
	r.MaxTokens = 77
	assert.Contains(t, string(sent(t, r)), `"max_tokens":77`)
	assert.Contains(t, string(sent(t, r, func(r *model.ClientRequest) { r.MaxTokensField = "max_completion_tokens" })), `"max_completion_tokens":77`)
	assert.NotContains(t, string(sent(t, wiretest.Request())), "max_tokens")
	assert.Contains(t, string(sent(t, wiretest.Request(), func(r *model.ClientRequest) { r.MaxTokens = 5 })), `"max_tokens":5`)
	assert.NotContains(t, string(sent(t, r, func(r *model.ClientRequest) { r.StreamUsage = false })), "stream_options")
}

func TestImagesNeedAModelThatTakesThem(t *testing.T) {
	r := wiretest.Story(openai.Protocol, "example", "")
	r.AcceptsImages = false
	body := string(sent(t, r))
	assert.NotContains(t, body, "image_url")
	assert.Contains(t, body, `"content":"look [Image #1] at [Image #2]"`)
}
