package ollama_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/wire/ollama"
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
	wiretest.Golden(t, "story", sent(t, wiretest.Story(ollama.Protocol, "example", "c2lnbmVk")))
}

func TestGears(t *testing.T) {
	wiretest.Gears(t, func(s *wiretest.Server) model.Client { return client(t, s) }, wiretest.Request(), map[string]string{
		"default": wiretest.Nothing, "off": `"think":false`, "minimal": wiretest.Ignored, "low": `"think":"low"`,
		"maximum": `"think":"high"`, "8192": wiretest.Refused, "extreme": `"think":"extreme"`,
	})
}

func TestTarget(t *testing.T) {
	s := wiretest.Serve(func(int) wiretest.Answer { return wiretest.Text(500, "", "") })
	_, _, _ = wiretest.Round(t, client(t, s, func(r *model.ClientRequest) { r.Key = "" }), wiretest.Request())
	assert.Equal(t, "https://models.example/v1/api/chat", s.URL(0))
	assert.Empty(t, s.Header(0).Get("Authorization"))
	assert.Equal(t, "application/x-ndjson", s.Header(0).Get("Accept"))
}
