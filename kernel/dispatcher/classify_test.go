package dispatcher_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

// APPR-4: what is not known is the worst, and hints say no more than they say.
func TestClassificationByHints(t *testing.T) {
	cases := []struct {
		hints     *tool.Hints
		risk      tool.Risk
		authority tool.Authority
		prompt    bool
	}{
		{nil, tool.Privileged, tool.PrivilegedEscalation, false},
		{&tool.Hints{}, tool.Write, tool.Workspace, false},
		{&tool.Hints{ReadOnly: true}, tool.Read, tool.Workspace, false},
		{&tool.Hints{Destructive: true, ReadOnly: true}, tool.Privileged, tool.Workspace, false},
		{&tool.Hints{OpenWorld: true}, tool.Write, tool.Network, false},
		{&tool.Hints{ReadOnly: true, OpenWorld: true}, tool.Read, tool.Network, false},
		{&tool.Hints{RequiresApproval: true, ReadOnly: true}, tool.Read, tool.Workspace, true},
		{&tool.Hints{ReadOnly: true, OpenWorld: true, RequiresApproval: true}, tool.Read, tool.Network, true},
	}
	for _, c := range cases {
		h := newHost(t)
		h.moduleTools("m", says("t", "x", hints(c.hints)))
		k := h.call("t", `{}`).Classification
		assert.Equal(t, c.risk, k.Risk)
		assert.Equal(t, c.authority, k.Authority)
		assert.Equal(t, c.prompt, k.RequirePrompt)
		assert.NotEmpty(t, k.Summary)
		assert.Equal(t, c.hints == nil, strings.Contains(k.Summary, "unknown tool"))
	}
}

func TestClassifiersComeBeforeHintsAndNeverSeeBuiltins(t *testing.T) {
	h := newHost(t)
	answer := tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "fine"}
	ok, asked := true, 0
	h.plugin("acme.k", with[tool.Classifier](tool.Classifiers, tool.ClassifierFunc(func(_ context.Context, c tool.Call, workspace string) (tool.Classification, bool, error) {
		asked++
		assert.Equal(t, "/work", workspace)
		c.Arguments[0] = 'X'
		return answer, ok, nil
	})))
	fixed := func(r *tool.Registration) {
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification {
			return tool.Classification{Risk: tool.Write, Authority: tool.OutsideWorkspace, Summary: "rule", Fingerprint: "f"}
		}
	}
	h.tools(says("ruled", "x", fixed), says("bare", "x", hints(nil)), says("broken", "x", func(r *tool.Registration) {
		r.Binding.Classify = func(context.Context, tool.Call, string) tool.Classification { panic("x") }
	}))
	h.moduleTools("m", echo("t", hints(&tool.Hints{RequiresApproval: true})))
	assert.Equal(t, tool.Classification{Risk: tool.Write, Authority: tool.OutsideWorkspace, Summary: "rule", Fingerprint: "f"}, h.call("ruled", `{}`).Classification)
	assert.Equal(t, tool.Privileged, h.call("bare", `{}`).Classification.Risk)
	assert.Equal(t, tool.Privileged, h.call("broken", `{}`).Classification.Risk)
	assert.Zero(t, asked)
	o := h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "fine", RequirePrompt: true}, o.Classification)
	assert.Equal(t, "{}", o.Text, "a classifier has its own copy")
	answer.Risk = 77
	o = h.call("t", `{}`)
	assert.Equal(t, tool.Write, o.Classification.Risk, "an unknown risk is no answer")
	require.Len(t, h.fails, 1)
	assert.Equal(t, contrib.CauseRefused, h.fails[0].Cause)
	ok = false
	assert.Equal(t, tool.Write, h.call("t", `{}`).Classification.Risk)
}

// HOOK-13: advice below the risk is ignored, and its demand for a prompt is not.
func TestLowAdviceStillAsks(t *testing.T) {
	h := newHost(t)
	low, high := tool.Read, tool.Forbidden
	advise := func(a hook.Advice) {
		add[hook.Approval](h, hook.Approvals, hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) { return &a, nil }))
	}
	h.tools(says("t", "x", hints(&tool.Hints{})))
	advise(hook.Advice{Risk: &low, RequirePrompt: true})
	advise(hook.Advice{})
	k := h.call("t", `{}`).Classification
	assert.Equal(t, tool.Write, k.Risk)
	assert.True(t, k.RequirePrompt)
	advise(hook.Advice{Risk: &high})
	assert.Equal(t, tool.Forbidden, h.call("t", `{}`).Classification.Risk)
}

// HOOK-14: raw hooks replace all four values, and the last one counts.
func TestRawHooksReplaceTheClassification(t *testing.T) {
	h := newHost(t)
	raw := func(k tool.Classification) {
		h.plugin("acme.r"+k.Summary, with[rawhook.RewriteApproval](rawhook.RewriteApprovals, rawhook.RewriteApprovalFunc(
			func(context.Context, hook.Call, tool.Classification) (*tool.Classification, error) { return &k, nil })))
	}
	var asked tool.Classification
	add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
		asked = c.Classification
		return dispatch.Allowed(), nil
	}))
	h.tools(says("t", "x", hints(&tool.Hints{Destructive: true, RequiresApproval: true})))
	raw(tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "a", Fingerprint: "forged", Always: true})
	h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Summary: "a"}, asked)
	raw(tool.Classification{Risk: tool.Forbidden, Authority: tool.Network})
	h.call("t", `{}`)
	assert.Equal(t, tool.Classification{Risk: tool.Forbidden, Authority: tool.Network}, asked)
	assert.Empty(t, h.notes)
	raw(tool.Classification{Risk: 9, Authority: tool.Network, Summary: "c"})
	h.call("t", `{}`)
	assert.Equal(t, tool.Forbidden, asked.Risk)
	require.Len(t, h.fails, 1)
	assert.Equal(t, contrib.CauseRefused, h.fails[0].Cause)
}
