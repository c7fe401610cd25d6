package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/points/model"
)

func user(text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: model.User, Text: text}
}

func request(items ...*model.Item) *model.Request {
	return &model.Request{Model: offline.Rules, Items: items, System: "be brief"}
}

func rules(t *testing.T) model.Client {
	t.Helper()
	t.Setenv(offline.Environment, "")
	c, err := offline.NewFactory().Create(t.Context(), model.ClientRequest{Protocol: offline.Protocol, Provider: "offline", Model: offline.Rules})
	require.NoError(t, err)
	return c
}

func scripted(t *testing.T, text string) model.Client {
	t.Helper()
	t.Setenv(offline.Environment, "")
	path := filepath.Join(t.TempDir(), "story.jsonc")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := offline.NewFactory().Create(t.Context(), model.ClientRequest{Protocol: offline.Protocol, Provider: "offline", Model: path})
	require.NoError(t, err)
	return c
}

func round(t *testing.T, c model.Client, r *model.Request) (*model.Response, []model.Delta, error) {
	t.Helper()
	var deltas []model.Delta
	response, err := c.Round(t.Context(), r, func(d model.Delta) error {
		deltas = append(deltas, d)
		return nil
	})
	return response, deltas, err
}

func TestRulesUnderstandTheirForms(t *testing.T) {
	c := rules(t)
	for _, test := range []struct{ say, tool, arguments string }{
		{"list", "list", `{}`},
		{"LS", "list", `{}`},
		{"list files in cmd/x", "list", `{"path":"cmd/x"}`},
		{"ls in \"a b\"", "list", `{"path":"a b"}`},
		{"read main.go", "read", `{"path":"main.go"}`},
		{"Show 'a b.txt'", "read", `{"path":"a b.txt"}`},
		{"cat x", "read", `{"path":"x"}`},
		{"find **/*.go", "glob", `{"pattern":"**/*.go"}`},
		{"search for needle in hay", "grep", `{"pattern":"needle","path":"hay"}`},
		{"grep \"two words\"", "grep", `{"pattern":"two words"}`},
		{"write a.txt: one: two\nthree", "write", `{"path":"a.txt","content":"one: two\nthree"}`},
		{"replace old with new in a.txt", "edit", `{"oldText":"old","newText":"new","path":"a.txt"}`},
		{"run go test ./...", "bash", `{"command":"go test ./..."}`},
		{"$ echo \"a\" \"b\"", "bash", `{"command":"echo \"a\" \"b\""}`},
		{"ask why?", "question", `{"question":"why?"}`},
		{`use acme_probe {"a":1}`, "acme_probe", `{"a":1}`},
	} {
		response, _, err := round(t, c, request(user(test.say)))
		require.NoError(t, err, test.say)
		require.Len(t, response.Items, 1, test.say)
		assert.Equal(t, test.tool, response.Items[0].Name, test.say)
		assert.JSONEq(t, test.arguments, response.Items[0].Arguments, test.say)
		assert.Equal(t, model.FinishToolCalls, response.Finish)
		assert.True(t, response.Usage.Estimated)
	}
}

func TestRulesThinkReportAndHelp(t *testing.T) {
	c := rules(t)
	response, _, err := round(t, c, request(user("think of a long enough number")))
	require.NoError(t, err)
	require.Len(t, response.Items, 2)
	assert.Equal(t, "of a long enough number", response.Items[0].Segments[0].Text)
	assert.Equal(t, "Thought about it.", response.Items[1].Text)

	response, deltas, err := round(t, c, request(user("hello")))
	require.NoError(t, err)
	assert.Contains(t, response.Items[0].Text, "offline model")
	assert.Contains(t, response.Items[0].Text, "replace <old> with <new> in <path>")
	for _, d := range deltas {
		assert.LessOrEqual(t, len([]rune(d.Text)), 16)
	}

	response, _, err = round(t, c, request(user("read a"),
		&model.Item{Kind: model.ToolCall, CallID: "c1", Name: "read"}, &model.Item{Kind: model.ToolCall, CallID: "c2", Name: "bash"},
		&model.Item{Kind: model.ToolResult, CallID: "c1", Status: model.Success, Text: "1\n2\n3\n4\n5\n6"},
		&model.Item{Kind: model.ToolResult, CallID: "c2", Status: model.Denied, Text: "no"}))
	require.NoError(t, err)
	assert.Equal(t, "Done.\nread: ok\n  1\n  2\n  3\n  4\n  5\nbash: failed\n  no", response.Items[0].Text)
}

func TestScenarioPlaysItsSteps(t *testing.T) {
	c := scripted(t, "\ufeff"+`{ // a story
	  "steps": [
	    { "expect": { "lastUser": "fix", "purpose": "work", "tools": ["bash"], "system": "brief" },
	      "reasoning": "look first", "text": "Looking.",
	      "calls": [ { "id": "c1", "name": "bash", "arguments": { "command": "go test" } }, { "name": "read", "arguments": "{broken" } ],
	      "usage": { "input": 1200, "output": 40 }, "finish": "tool_calls" },
	    { "error": { "status": 429, "retryAfter": "7s", "message": "slow down" } },
	    { "text": "par", "end": "early" },
	    { "text": "par", "error": { "message": "the server fell over" } },
	    { "expect": { "purpose": "compaction" }, "text": "Short." },
	    { "text": "All tests pass.", },
	  ],
	}`)
	r := request(user("please fix it"))
	r.Tools = []model.Tool{{Name: "bash"}}
	response, _, err := round(t, c, r)
	require.NoError(t, err)
	require.Len(t, response.Items, 4)
	assert.Equal(t, `{"command":"go test"}`, response.Items[2].Arguments)
	assert.Equal(t, "c1", response.Items[2].CallID)
	assert.Equal(t, "{broken", response.Items[3].Arguments)
	assert.Equal(t, model.Usage{Input: 1200, Output: 40}, *response.Usage)

	_, _, err = round(t, c, r)
	failed, ok := errors.AsType[*model.Error](err)
	require.True(t, ok)
	assert.Equal(t, 7*time.Second, failed.RetryAfter)
	assert.Equal(t, model.KindRateLimit, failed.Kind)
	assert.True(t, failed.Retryable)

	_, deltas, err := round(t, c, r)
	failed, ok = errors.AsType[*model.Error](err)
	require.True(t, ok)
	assert.Equal(t, model.CodeStreamEnded, failed.Code)
	assert.Equal(t, "par", deltas[0].Text)

	_, _, err = round(t, c, r)
	failed, ok = errors.AsType[*model.Error](err)
	require.True(t, ok)
	assert.Equal(t, model.KindServer, failed.Kind)

	response, _, err = round(t, c, r) // the step for a compaction is left for one
	require.NoError(t, err)
	assert.Equal(t, "All tests pass.", response.Items[0].Text)
	compaction := request(user("sum up"))
	compaction.Purpose = model.Compaction
	response, _, err = round(t, c, compaction)
	require.NoError(t, err)
	assert.Equal(t, "Short.", response.Items[0].Text)

	_, _, err = round(t, c, r)
	require.ErrorIs(t, err, offline.ErrUsedUp)
}

func TestScenarioNamesTheStepThatDoesNotFit(t *testing.T) {
	c := scripted(t, `{"steps":[{"expect":{"lastUser":"fix","tools":["bash"]},"text":"x"}],"repeat":true}`)
	for range 2 { // the last step repeats
		_, _, err := round(t, c, request(user("break it")))
		require.ErrorIs(t, err, offline.ErrMismatch)
		failed, ok := errors.AsType[*model.Error](err)
		require.True(t, ok)
		assert.Equal(t, model.CodeRequestInvalid, failed.Code)
		assert.False(t, failed.Retryable)
		assert.Contains(t, failed.Message, "step 1")
		assert.Contains(t, failed.Message, `"bash"`)
	}
}

func TestScenarioFilesThatBreakTheRulesAreRefused(t *testing.T) {
	t.Setenv(offline.Environment, "")
	for text, want := range map[string]string{
		`[]`:                                    "story.json",
		`{"steps":[}`:                           "story.json:1:",
		`{}`:                                    "steps",
		`{"steps":[]}`:                          "steps",
		`{"steps":[1]}`:                         "steps",
		`{"steps":[{"delay":5}]}`:               "delay",
		`{"steps":[{"finish":"done"}]}`:         "finish",
		`{"steps":[{"text":7}]}`:                "text",
		`{"steps":[{"error":{"status":99}}]}`:   "status",
		`{"steps":[{"calls":[{"name":true}]}]}`: "name",
	} {
		path := filepath.Join(t.TempDir(), "story.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := offline.NewFactory().Create(t.Context(), model.ClientRequest{Protocol: offline.Protocol, Scenario: path})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
	}
	_, err := offline.NewFactory().Create(t.Context(), model.ClientRequest{Protocol: offline.Protocol, Model: "no/such.json"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestUnknownKeysAreNotedOnce(t *testing.T) {
	c := scripted(t, `{"steps":[{"txet":"x","text":"a"},{"text":"b"}]}`)
	_, deltas, err := round(t, c, request(user("x")))
	require.NoError(t, err)
	require.Equal(t, model.NoteDelta, deltas[0].Kind)
	assert.Contains(t, deltas[0].Text, "txet")
	_, deltas, err = round(t, c, request(user("x")))
	require.NoError(t, err)
	assert.Equal(t, model.TextDelta, deltas[0].Kind)
}

func TestClientsOfOneScenarioShareItsSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "story.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"steps":[{"text":"one"},{"text":"two"}]}`), 0o600))
	t.Setenv(offline.Environment, path)
	f := offline.NewFactory()
	var said []string
	for range 2 {
		c, err := f.CreateMultimodal(t.Context(), model.ClientRequest{Protocol: offline.Protocol, Model: offline.Rules})
		require.NoError(t, err)
		response, _, err := round(t, c, request(user("x")))
		require.NoError(t, err)
		said = append(said, response.Items[0].Text)
	}
	assert.Equal(t, []string{"one", "two"}, said)
	assert.True(t, f.CanCreate("offline"))
	assert.False(t, f.CanCreate("openai"))
}

func TestADelayEndsWithTheContext(t *testing.T) {
	c := scripted(t, `{"steps":[{"delay":"1h","text":"late"},{"delay":"3s","text":"soon"}]}`)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := c.Round(ctx, request(user("x")), func(model.Delta) error { return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
		_, err = c.Round(t.Context(), request(user("x")), func(model.Delta) error { return nil })
		require.NoError(t, err)
		assert.Equal(t, 4*time.Second, time.Since(begun))
	})
}

func TestAnErrorOfTheConsumerEndsTheRound(t *testing.T) {
	c := rules(t)
	full := errors.New("full")
	_, err := c.Round(t.Context(), request(user("x")), func(model.Delta) error { return full })
	require.ErrorIs(t, err, full)
}

func FuzzRules(f *testing.F) {
	for _, text := range []string{"read a", "write a: b", "use x {}", "replace \"a\" with 'b' in c"} {
		f.Add(text)
	}
	c, err := offline.NewFactory().Create(context.Background(), model.ClientRequest{Protocol: offline.Protocol, Model: offline.Rules})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		response, err := c.Round(t.Context(), request(user(text)), func(model.Delta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range response.Items {
			if i.Kind == model.ToolCall && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "use ") && !json.Valid([]byte(i.Arguments)) {
				t.Fatalf("%q gives the arguments %q", text, i.Arguments)
			}
		}
	})
}
