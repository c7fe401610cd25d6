package approval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/tool"
)

// FIELD-K5
func TestThePromptShowsACommandThatHidesItsEnd(t *testing.T) {
	op := answers(approval.Once)
	s := approval.New(approval.Config{}, op, nil)
	decide(t, s, bashCall("default", "echo hi"+strings.Repeat(" ", 200)+"; touch x", class(tool.Write, tool.Workspace)))
	require.Equal(t, 1, op.asked())
	assert.Equal(t, []approval.Argument{{Name: "command", Text: "echo hi [200 spaces] ; touch x"}}, op.prompts[0].Arguments)
}

func TestPromptFields(t *testing.T) {
	op := answers(approval.Once)
	s := approval.New(approval.Config{}, op, nil)
	c := bashCall("edit", "", class(tool.Write, tool.Network))
	c.Definition = pluginTool("acme.web", "post")
	c.Definition.Namespace = "web"
	c.Arguments = json.RawMessage(`{"url":"x","n":1.0,"deep":{"a":"\u202e"},"list":[1]}`)
	decide(t, s, c)
	p := op.prompts[0]
	assert.Equal(t, "web.post", p.Tool)
	assert.Equal(t, "plugin acme.web", p.Owner)
	assert.Equal(t, "Write, Network", p.Class)
	assert.Equal(t, "it reaches other machines", p.Reason)
	assert.True(t, p.Storable)
	assert.Equal(t, "every call of web.post up to Write, Network, in /ws", p.Covers)
	assert.Equal(t, []approval.Argument{{"url", "x"}, {"n", "1.0"}, {"deep", `{"a":"\u202e"}`}, {"list", "[1]"}}, p.Arguments)
}

func TestReasons(t *testing.T) {
	required := class(tool.Read, tool.Workspace)
	required.RequirePrompt = true
	for _, tt := range []struct {
		class tool.Classification
		want  string
	}{
		{required, "requires a prompt"},
		{class(tool.Forbidden, tool.Workspace), "each time"},
		{class(tool.Privileged, tool.Workspace), "damage"},
		{class(tool.Write, tool.OutsideWorkspace), "outside the workspace"},
		{class(tool.Write, tool.PrivilegedEscalation), "more rights"},
		{class(tool.Write, tool.Workspace), "mode default asks"},
	} {
		op := answers(approval.Once)
		decide(t, approval.New(approval.Config{}, op, nil), bashCall("", "x", tt.class))
		assert.Contains(t, op.prompts[0].Reason, tt.want)
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"a\x1b[2Jb\r\x07\x7f", `a\x1b[2Jb\x0d\x07\x7f`},
		{"a\u202eb\u200bc\ufeff", `a\u{202e}b\u{200b}c\u{feff}`},
		{"a\u00a0b", `a\u{00a0}b`},
		{"8        8", "8        8"},
		{"9         9", "9 [9 spaces] 9"},
		{"日本é", "日本é"},
		{"\xff", `\xff`},
		{"a\u0085b", `a\u{0085}b`},
	} {
		assert.Equal(t, tt.want, approval.Clean(tt.in))
	}
}

func ExampleClean() {
	fmt.Println(approval.Clean("echo hi          ; rm\u202e x\x1b[2J"))
	// Output: echo hi [10 spaces] ; rm\u{202e} x\x1b[2J
}
