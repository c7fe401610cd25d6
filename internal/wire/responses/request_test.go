package responses_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/responses"
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
	wiretest.Golden(t, "story", sent(t, wiretest.Story(responses.Protocol, "example", "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"gAAAA\"}")))
}

func TestGears(t *testing.T) {
	wiretest.Gears(t, func(s *wiretest.Server) model.Client { return client(t, s) }, wiretest.Request(), map[string]string{
		"default": wiretest.Nothing, "off": `"reasoning":{"effort":"none"}`, "minimal": `"reasoning":{"effort":"minimal","summary":"auto"}`,
		"medium": `"reasoning":{"effort":"medium","summary":"auto"}`, "maximum": `"reasoning":{"effort":"xhigh","summary":"auto"}`,
		"8192": wiretest.Refused, "extreme": `"reasoning":{"effort":"extreme","summary":"auto"}`,
	})
}

func TestReasoningOfAnotherProviderIsText(t *testing.T) {
	state := `{"type":"reasoning","encrypted_content":"x"}`
	body := string(sent(t, wiretest.Story(responses.Protocol, "elsewhere", state)))
	assert.NotContains(t, body, `"type":"reasoning","encrypted_content"`)
	assert.Contains(t, body, `{"type":"output_text","text":"first\nsecond"}`)
}
