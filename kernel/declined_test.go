package kernel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// FIELD-G6
func TestDecliningOneCallIsAboutThatCall(t *testing.T) {
	var ran []string
	k := kerneltest.Start(t,
		kerneltest.Script(calls("bash", `{"command":"a"}`, "bash", `{"command":"b"}`, "bash", `{"command":"c"}`), say("went on")),
		kerneltest.Tools(writing("bash", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			ran = append(ran, string(i.Arguments))
			return tool.Text("ran"), nil
		})),
		kerneltest.Answers(approval.Once, approval.No, approval.Once))
	turn := k.RunOn(t.Context(), k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault}), kernel.Input{Text: "go"})
	assert.Equal(t, []string{`{"command":"a"}`, `{"command":"c"}`}, ran)
	var codes []string
	for _, c := range turn.Calls() {
		codes = append(codes, c.Code)
	}
	assert.Equal(t, []string{"", tool.CodeApprovalRejected, ""}, codes)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, "went on", turn.Result.Text)
}

// guard is a hook that a nil pointer of would not survive being called.
type guard struct{ calls int }

func (g *guard) ToolCall(context.Context, hook.Call) (*hook.Call, error) {
	g.calls++
	return nil, nil
}

// FIELD-B3
func TestNilContributionsAreLeftOut(t *testing.T) {
	good := &guard{}
	k := kerneltest.Start(t,
		kerneltest.Script(call("look", `{}`)), kerneltest.Tools(reading("look", answering("seen"))),
		kerneltest.Plugins(plugin("acme.p",
			contrib.Provide(hook.ToolCalls, func() hook.ToolCall { return nil }),
			contrib.Supply[hook.ToolCall](hook.ToolCalls, (*guard)(nil)),
			contrib.Supply[hook.ToolCall](hook.ToolCalls, good))))
	turn := k.Run("go")
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, 1, good.calls)
	refused := 0
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == contrib.CodeRefused {
			refused++
			assert.Equal(t, "hook.tool_call", d.Point)
			assert.Equal(t, "nilContribution", d.Params["reason"])
		}
	}
	assert.Equal(t, 2, refused)
}
