package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

func message(role model.Role, text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: role, Text: text}
}

func call(id string) *model.Item { return &model.Item{Kind: model.ToolCall, CallID: id, Name: "x"} }

func result(id string) *model.Item {
	return &model.Item{Kind: model.ToolResult, CallID: id, Text: "of " + id}
}

// told names the blocks: a letter for the role and the items' texts or ids.
func told(items ...*model.Item) (string, error) {
	var all []string
	for b, err := range transcript.Blocks(items) {
		if err != nil {
			return strings.Join(all, " "), err
		}
		s := [...]string{"S", "U", "A", "R"}[b.Role] + ":"
		for k, i := range b.Items {
			s += i.Text + i.CallID + ","
			if b.Role == transcript.Results && b.Calls[k].CallID != i.CallID {
				return "", fmt.Errorf("result %s beside call %s", i.CallID, b.Calls[k].CallID)
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, " "), nil
}

func TestBlocks(t *testing.T) {
	got, err := told(message(model.System, "s"), message(model.User, "u"), message(model.User, "v"),
		message(model.Assistant, "a"), call("c1"), &model.Item{Kind: model.Reasoning}, call("c2"), result("c2"), result("c1"),
		message(model.Assistant, "b"), call("c1"), result("c1"), message(model.User, "w"))
	require.NoError(t, err)
	assert.Equal(t, "S:s, U:u,v, A:a,c1,,c2, R:of c1c1,of c2c2, A:b,c1, R:of c1c1, U:w,", got)
	got, err = told()
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestCallsAndResultsThatDoNotMatch(t *testing.T) { // PROTO-7
	for name, test := range map[string]struct {
		items []*model.Item
		want  error
	}{
		"no result at the end":       {[]*model.Item{call("c1")}, transcript.ErrMissingResult},
		"a message in between":       {[]*model.Item{call("c1"), message(model.User, "u"), result("c1")}, transcript.ErrMissingResult},
		"one of two":                 {[]*model.Item{call("c1"), call("c2"), result("c1")}, transcript.ErrMissingResult},
		"one twice":                  {[]*model.Item{call("c1"), call("c2"), result("c1"), result("c1")}, transcript.ErrMissingResult},
		"a result alone":             {[]*model.Item{result("c1")}, transcript.ErrUnknownResult},
		"a result of another batch":  {[]*model.Item{call("c1"), result("c1"), message(model.User, "u"), result("c1")}, transcript.ErrUnknownResult},
		"a result of no call":        {[]*model.Item{call("c1"), result("c9"), result("c1")}, transcript.ErrUnknownResult},
		"the same id twice in batch": {[]*model.Item{call("c1"), call("c1"), result("c1")}, transcript.ErrMissingResult},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := told(test.items...)
			require.ErrorIs(t, err, test.want)
		})
	}
}

func TestCallIDs(t *testing.T) { // FIELD-G8
	assert.Equal(t, "call_c1714e6400291510664549c8ebe00c26", transcript.CallID("call_9|fc_1/ä"))
	assert.Equal(t, "toolu_01-A", transcript.CallID("toolu_01-A"))
	assert.Equal(t, strings.Repeat("a", 40), transcript.CallID(strings.Repeat("a", 40)))
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		assert.Regexp(t, "^[A-Za-z0-9_-]{1,40}$", transcript.CallID(a))
		assert.Equal(t, a == b, transcript.CallID(a) == transcript.CallID(b))
	})
}

func TestCallNames(t *testing.T) { // FIELD-D8
	for name, want := range map[string]string{
		"": "unnamed", " \n": "unnamed", "bash\n": "bash_", "read": "read", "読む": "__", "a.b/c": "a_b_c",
		strings.Repeat("a", 300): strings.Repeat("a", 64), strings.Repeat("é", 300): strings.Repeat("_", 64),
	} {
		assert.Equal(t, want, transcript.CallName(name))
	}
}

func TestArguments(t *testing.T) { // FIELD-F1, FIELD-F7, FIELD-F8, FIELD-F9
	for arguments, want := range map[string]string{
		"":                              `{}`,
		" \n":                           `{}`,
		`{"path":"C:\\Users\\unicorn"}`: `{"path":"C:\\Users\\unicorn"}`,
		` {"a" : 1} `:                   `{"a" : 1}`,
		`{"command":"ls"`:               `{"invalid_arguments":"{\"command\":\"ls\""}`,
		`{"path":"a"}}`:                 `{"invalid_arguments":"{\"path\":\"a\"}}"}`,
		`[]`:                            `{"invalid_arguments":"[]"}`,
		`null`:                          `{"invalid_arguments":"null"}`,
		`"a.txt"`:                       `{"invalid_arguments":"\"a.txt\""}`,
		"{\"a\":\"x\x01y\"}":            `{"invalid_arguments":"{\"a\":\"x\u0001y\"}"}`, // FIELD-F11
		`{"a":"\ud83d"}`:                `{"a":"\ufffd"}`,
		strings.Repeat("日", 900):        `{"invalid_arguments":"` + strings.Repeat("日", 800) + `"}`,
		"{\"a\":\"b\xff\"}":             "{\"a\":\"b\uFFFD\"}",
	} {
		got := transcript.AppendArguments(nil, arguments)
		assert.Equal(t, want, string(got))
		assert.True(t, json.Valid(got))
	}
	rapid.Check(t, func(t *rapid.T) {
		arguments := rapid.String().Draw(t, "arguments")
		var object map[string]any
		require.NoError(t, json.Unmarshal(transcript.AppendArguments(nil, arguments), &object))
		var text string
		require.NoError(t, json.Unmarshal(transcript.AppendQuotedArguments(nil, arguments), &text))
		require.NoError(t, json.Unmarshal([]byte(text), &object))
	})
}

func TestPartsAreCutAtImages(t *testing.T) {
	const mark = "\u2063"
	image := func(n int) model.Image { return model.Image{Number: n, Data: []byte{1}} }
	for name, test := range map[string]struct {
		item   model.Item
		images bool
		want   string
	}{
		"text":                    {model.Item{Text: "a"}, true, "a"},
		"blank text":              {model.Item{Text: " \n"}, true, ""},
		"blank text and an image": {model.Item{Text: " \n", Images: []model.Image{image(1)}}, true, "<1>"}, // FIELD-P20
		"in the middle":           {model.Item{Text: "a " + mark + "[Image #1] b", Images: []model.Image{image(1)}}, true, "a [Image #1]|<1>| b"},
		"two, not in order":       {model.Item{Text: mark + "[Image #2]" + mark + "[Image #1]", Images: []model.Image{image(1), image(2)}}, true, "[Image #2]|<2>|[Image #1]|<1>"},
		"typed by a person":       {model.Item{Text: "[Image #1]", Images: []model.Image{image(1)}}, true, "[Image #1]|<1>"},
		"without its bytes":       {model.Item{Text: "a " + mark + "[Image #1]", Images: []model.Image{{Number: 1}}}, true, "a [Image #1]"},
		"unknown, then known":     {model.Item{Text: mark + "[Image #9] " + mark + "[Image #1]", Images: []model.Image{image(1)}}, true, "[Image #9] [Image #1]|<1>"},
		"a model without images":  {model.Item{Text: "a " + mark + "[Image #1]", Images: []model.Image{image(1)}}, false, "a [Image #1]"},
		"broken markers":          {model.Item{Text: mark + "[Image #x]" + mark + "[Image #1", Images: []model.Image{image(1)}}, true, "[Image #x][Image #1|<1>"},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			for _, p := range transcript.Parts(nil, &test.item, test.images) {
				if p.Image != nil {
					all = append(all, fmt.Sprintf("<%d>", p.Image.Number))
					continue
				}
				all = append(all, p.Text)
			}
			assert.Equal(t, test.want, strings.Join(all, "|"))
		})
	}
}

func TestReasoning(t *testing.T) {
	i := &model.Item{Segments: []model.Segment{{Text: "a"}, {Text: " "}, {Text: "b"}}, State: &model.State{Format: "f", Provider: "p"}}
	assert.Equal(t, "a\nb", transcript.Reasoning(i))
	assert.Equal(t, "a\n \nb", transcript.Exact(i))
	assert.Empty(t, transcript.Reasoning(&model.Item{Segments: []model.Segment{{Text: "\n"}}}))
	assert.NotNil(t, transcript.Own(i, "f", "p"))
	assert.Nil(t, transcript.Own(i, "f", "q"))
	assert.Nil(t, transcript.Own(i, "g", "p"))
	assert.Nil(t, transcript.Own(&model.Item{}, "", ""))
}
