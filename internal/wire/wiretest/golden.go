package wiretest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares a request body, indented, with a file below testdata.
func Golden(t testing.TB, name string, body []byte) {
	t.Helper()
	var got bytes.Buffer
	require.NoError(t, json.Indent(&got, body, "", "  "), "%s", body)
	got.WriteByte('\n')
	path := filepath.Join("testdata", name+".golden.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
}

// Sent returns the body that a client sends for r. The answer is an error: it is of no interest.
func Sent(t testing.TB, create func(*Server) model.Client, r *model.Request) []byte {
	t.Helper()
	s := Serve(func(int) Answer { return Text(500, "", "no") })
	_, err := create(s).Round(t.Context(), r, func(model.Delta) error { return nil })
	require.NotEmpty(t, s.Bodies(), "%v", err)
	return s.Bodies()[0]
}

// mark stands before the label of an image.
const mark = "\u2063"

// Story returns a request with everything that a protocol has to deal with: images in messages and results, blank texts,
// calls with ids, names and arguments that are not legal, a batch whose results are out of order, failures, system
// messages in the middle, and reasoning with a state of protocol and provider as well as of another one.
func Story(protocol, provider, state string) *model.Request {
	png := []byte("\x89PNG\r\n\x1a\n")
	half, whole := 0.5, 1.0
	own := &model.State{Format: protocol, Provider: provider, Data: []byte(state)}
	foreign := &model.State{Format: "other", Provider: "elsewhere", Data: []byte("opaque")}
	return &model.Request{
		Model: "example-small", System: "You are \"brief\".", AcceptsImages: true, ReplayReasoning: true,
		Temperature: &half, TopP: &whole, MaxTokens: 1000,
		Items: []*model.Item{
			{Kind: model.Message, Role: model.System, Text: "## Earlier context\nNothing yet."},
			{
				Kind: model.Message, Role: model.User, Text: "look " + mark + "[Image #1] at [Image #2]",
				Images: []model.Image{{Number: 1, MediaType: "image/png", Data: png}},
			},
			{Kind: model.Message, Role: model.User, Text: "  \n"},
			{Kind: model.Reasoning, Segments: []model.Segment{{Text: "first"}, {Text: " "}, {Text: "second"}}, State: own},
			{Kind: model.Message, Role: model.Assistant, Text: ""},
			{Kind: model.Message, Role: model.Assistant, Text: "Looking."},
			{Kind: model.ToolCall, CallID: "call_9|fc_1/ä", Name: "read", Arguments: ` {"path":"a.txt"} `},
			{Kind: model.ToolCall, CallID: "c2", Name: "bash\n", Arguments: `{"command":"ls"`},
			{Kind: model.ToolCall, CallID: "c3", Name: "", Arguments: ""},
			{Kind: model.ToolResult, CallID: "c2", Status: model.Failure, Text: "not run"},
			{
				Kind: model.ToolResult, CallID: "call_9|fc_1/ä", Status: model.Success, Text: "before\n" + mark + "[Image #3]\nafter",
				Images: []model.Image{{Number: 3, MediaType: "image/jpeg", Data: []byte("jpg")}},
			},
			{Kind: model.ToolResult, CallID: "c3", Status: model.Success, Text: ""},
			{Kind: model.Reasoning, Segments: []model.Segment{{Text: "of another"}}, State: foreign},
			{Kind: model.Reasoning},
			{Kind: model.Message, Role: model.Assistant, Text: "Done."},
			{Kind: model.Message, Role: model.User, Text: "Danke, größer \ufffd\u2028!"},
		},
		Tools: []model.Tool{
			{
				Name: "note", Description: "Keeps a \"note\".",
				Schema: []byte(`{"type":"object","properties":{"note":{"type":["string","null"]}}}`),
			},
			{Name: "wide", Schema: []byte(`{"anyOf":[{"type":"object"},{"type":"object"}],"description":"wide"}`)},
		},
	}
}
