package protocols_test

import (
	"fmt"
	"os"
	"os/exec"
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
	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

func factories() []*wire.Factory {
	return []*wire.Factory{
		openai.NewFactory(nil), openai.NewDeepSeekFactory(nil), responses.NewFactory(nil), anthropic.NewFactory(nil),
		gemini.NewFactory(nil), ollama.NewFactory(nil),
	}
}

// each runs test for each protocol with what makes its clients.
func each(t *testing.T, test func(t *testing.T, token string, create func(*wiretest.Server) model.Client)) {
	t.Helper()
	for _, f := range factories() {
		token := f.Protocols[0]
		t.Run(token, func(t *testing.T) {
			test(t, token, func(s *wiretest.Server) model.Client {
				f.Transport = s
				c, err := f.Create(t.Context(), model.ClientRequest{Protocol: token, Provider: "p", Model: "m", StreamUsage: true})
				require.NoError(t, err)
				return c
			})
		})
	}
}

func TestEmptyBlocksAreNotSent(t *testing.T) { // FIELD-P20
	each(t, func(t *testing.T, token string, create func(*wiretest.Server) model.Client) {
		body := string(wiretest.Sent(t, create, &model.Request{AcceptsImages: true, ReplayReasoning: true, Items: []*model.Item{
			{Kind: model.Message, Role: model.User, Text: "  \n", Images: []model.Image{{Number: 1, MediaType: "image/png", Data: []byte("PNG")}}},
			{Kind: model.Reasoning},
			{Kind: model.Message, Role: model.Assistant, Text: ""},
			{Kind: model.ToolCall, CallID: "c1", Name: "read", Arguments: `{"path":"a"}`},
			{Kind: model.ToolResult, CallID: "c1", Status: model.Success, Text: "hi"},
		}}))
		assert.NotContains(t, body, `"  \n"`)
		assert.NotContains(t, body, `"text":""`)
		assert.NotContains(t, body, "reasoning_content")
		assert.NotContains(t, body, `"thinking"`)
		assert.Contains(t, body, "UE5H", "the image")
		assert.Contains(t, body, `"read"`, "the call")
	})
}

func TestIDsSurviveAChangeOfProvider(t *testing.T) { // FIELD-G8, FIELD-G3
	each(t, func(t *testing.T, token string, create func(*wiretest.Server) model.Client) {
		const id = "call_9|fc_1/ä"
		body := string(wiretest.Sent(t, create, &model.Request{Items: []*model.Item{
			{Kind: model.Message, Role: model.User, Text: "x"},
			{Kind: model.ToolCall, CallID: id, Name: "read"},
			{Kind: model.ToolResult, CallID: id, Status: model.Success, Text: "one"},
			{Kind: model.ToolCall, CallID: id, Name: "read"},
			{Kind: model.ToolResult, CallID: id, Status: model.Success, Text: "two"},
		}}))
		assert.NotContains(t, body, "fc_1")
		if token != ollama.Protocol { // which has no ids
			assert.Equal(t, 4, strings.Count(body, "call_c1714e6400291510664549c8ebe00c26"))
		}
		assert.Less(t, strings.Index(body, `"one"`), strings.Index(body, `"two"`))
	})
}

func TestSchemasThatOneProtocolRefuses(t *testing.T) { // FIELD-E5
	each(t, func(t *testing.T, token string, create func(*wiretest.Server) model.Client) {
		r := wiretest.Request()
		r.Tools = []model.Tool{{Name: "keep", Schema: []byte(`{"type":"object","properties":{"note":{"type":["string","null"]}}}`)}}
		want := `{"note":{"type":["string","null"]}}`
		if token == gemini.Protocol {
			want = `{"note":{"type":"string","nullable":true}}`
		}
		assert.Contains(t, string(wiretest.Sent(t, create, r)), want)
	})
}

func TestACallWithoutAResultIsNotSent(t *testing.T) { // PROTO-7
	each(t, func(t *testing.T, _ string, create func(*wiretest.Server) model.Client) {
		s := wiretest.Serve(func(int) wiretest.Answer { return wiretest.Answer{} })
		r := wiretest.Request()
		r.Items = append(r.Items, &model.Item{Kind: model.ToolCall, CallID: "c1", Name: "read"})
		_, _, err := wiretest.Round(t, create(s), r)
		var e *model.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, model.CodeRequestInvalid, e.Code)
		assert.Empty(t, s.Bodies())
	})
}

// Reasoning that another provider made is never a reason to fail: it is text, or left out.
func TestForeignReasoningIsNoState(t *testing.T) {
	each(t, func(t *testing.T, token string, create func(*wiretest.Server) model.Client) {
		body := string(wiretest.Sent(t, create, wiretest.Story(token, "elsewhere", `{"type":"reasoning","encrypted_content":"SECRET"}`)))
		assert.NotContains(t, body, "SECRET")
		switch token {
		case responses.Protocol, anthropic.Protocol, gemini.Protocol:
			assert.Contains(t, body, `"text":"first\nsecond"`)
		case openai.DeepSeek, openai.Protocol:
			assert.Contains(t, body, `"reasoning_content":"first\nsecond"`)
		default:
			assert.Contains(t, body, `"thinking":"first\nsecond"`)
		}
	})
}

// bodies returns what each protocol sends for the same transcript and tools.
func bodies(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, f := range factories() {
		token := f.Protocols[0]
		r := wiretest.Story(token, "p", "s")
		r.Tools = append(r.Tools, wiretest.Transcript(1).Tools...)
		all.Write(wiretest.Sent(t, func(s *wiretest.Server) model.Client {
			f.Transport = s
			c, err := f.Create(t.Context(), model.ClientRequest{Protocol: token, Provider: "p", Model: "m", StreamUsage: true})
			require.NoError(t, err)
			return c
		}, r))
	}
	return all.String()
}

// printBodies makes the test below print instead of test: it is how the other processes are made.
const printBodies = "CRYSTAL_TEST_PRINT_BODIES"

func TestTheSameToolsGiveTheSameBytesInEveryProcess(t *testing.T) { // FIELD-E8
	if os.Getenv(printBodies) != "" {
		fmt.Printf("<%s|%s>", bodies(t), bodies(t))
		return
	}
	want := bodies(t)
	for range 20 {
		other := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		other.Env = append(os.Environ(), printBodies+"=1", "GORACE=atexit_sleep_ms=0")
		out, err := other.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "<"+want+"|"+want+">")
	}
}
