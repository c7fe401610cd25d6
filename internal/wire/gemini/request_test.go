package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/gemini"
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
	wiretest.Golden(t, "story", sent(t, wiretest.Story(gemini.Protocol, "example", "c2lnbmVk")))
}

func named(name string) func(*wiretest.Server, *testing.T) model.Client {
	return func(s *wiretest.Server, t *testing.T) model.Client {
		return client(t, s, func(r *model.ClientRequest) { r.Model = name })
	}
}

func TestGears(t *testing.T) {
	for name, gears := range map[string]map[string]string{
		"gemini-2.5-flash": {
			"default": wiretest.Nothing, "off": `"thinkingConfig":{"includeThoughts":true,"thinkingBudget":0}`, "minimal": wiretest.Ignored,
			"low": `"thinkingBudget":1024`, "medium": `"thinkingBudget":8192`, "high": `"thinkingBudget":24576`, "maximum": wiretest.Ignored,
			"512": `"thinkingBudget":512`,
		},
		"gemini-3-pro": {
			"off": wiretest.Refused, "low": `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}`,
			"high": `"thinkingLevel":"HIGH"`, "maximum": wiretest.Ignored, "512": wiretest.Refused, "extreme": `"thinkingLevel":"extreme"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := wiretest.Request()
			r.Model = ""
			wiretest.Gears(t, func(s *wiretest.Server) model.Client { return named(name)(s, t) }, r, gears)
		})
	}
}

func TestImagesOfResultsOfOlderModelsFollow(t *testing.T) {
	r := wiretest.Story(gemini.Protocol, "example", "sig")
	r.Model = "gemini-2.5-pro"
	assert.Contains(t, string(sent(t, r)), `"response":{"result":"before\n[Image #3]\nafter"}}},{"inlineData":{"mimeType":"image/jpeg","data":"anBn"}},{"functionResponse"`)
}

func TestSignaturesGoBackOnTheirPart(t *testing.T) {
	signed := func(s string) *model.State {
		return &model.State{Format: gemini.Protocol, Provider: "example", Data: []byte(s)}
	}
	r := wiretest.Request()
	r.Items = append(r.Items,
		&model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Text: "mine"}}, State: signed("unsigned")},
		&model.Item{Kind: model.Message, Role: model.Assistant, Text: "text", State: signed("s1")},
		&model.Item{Kind: model.ToolCall, CallID: "gemini_0123", Name: "read", State: signed("s2")},
		&model.Item{Kind: model.ToolResult, CallID: "gemini_0123", Status: model.Success, Text: "x"})
	body := string(sent(t, r))
	assert.Contains(t, body, `"parts":[{"text":"text","thoughtSignature":"s1"},{"functionCall":{"name":"read","args":{}},"thoughtSignature":"s2"}]`)
	assert.Contains(t, body, `{"functionResponse":{"name":"read","response":{"result":"x"}}}`)
	assert.NotContains(t, body, "mine")
}

// A model that demands signatures, in a thread that another model began.
func TestRefusedSignaturesAreReplaced(t *testing.T) {
	s := wiretest.Serve(func(int) wiretest.Answer {
		return wiretest.Text(400, "application/json", `{"error":{"code":400,"message":"Function call is missing a thought_signature","status":"INVALID_ARGUMENT"}}`)
	})
	_, _, err := wiretest.Round(t, client(t, s), wiretest.Story("openai", "elsewhere", "x"))
	require.Error(t, err)
	require.Len(t, s.Bodies(), 2)
	assert.Contains(t, string(s.Bodies()[1]), `"thoughtSignature":"skip_thought_signature_validator"`)
	assert.NotContains(t, string(s.Bodies()[1]), "of another")
}

func TestTargetAndKey(t *testing.T) {
	s := wiretest.Serve(func(int) wiretest.Answer { return wiretest.Text(500, "", "") })
	r := wiretest.Request()
	r.Model = "tuned/x?y"
	_, _, _ = wiretest.Round(t, client(t, s), r)
	assert.Equal(t, "https://models.example/v1/models/tuned%2Fx%3Fy:streamGenerateContent?alt=sse", s.URL(0))
	assert.Equal(t, "sk-very-secret", s.Header(0).Get("x-goog-api-key"))
	assert.Empty(t, s.Header(0).Get("Authorization"))
}
