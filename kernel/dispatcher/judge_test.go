package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

// TOOL-1: the first denial ends the stage. TOOL-13: a refusal leaves no record.
func TestTheFirstDenialEndsTheStage(t *testing.T) {
	h := newHost(t)
	seen := &records{}
	add[dispatch.Recorder](h, dispatch.Recorders, seen)
	hooked := 0
	add[hook.ToolResult](h, hook.ToolResults, hook.ToolResultFunc(func(context.Context, hook.Call, hook.Result) (*hook.Result, error) {
		hooked++
		return nil, nil
	}))
	third := 0
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }))
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Denied("acme_no", "No."), nil }))
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { third++; return dispatch.Allowed(), nil }))
	ran := 0
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { ran++; return tool.Text("x"), nil }))
	h.turn.BeforeStart = func(dispatcher.Call) error { ran++; return nil }
	o := h.call("t", `{}`)
	assert.Equal(t, "Error acme_no: No.", o.Text)
	assert.Equal(t, model.Denied, o.Status)
	assert.Equal(t, "stage", o.Verdict.By)
	assert.False(t, o.Executed)
	assert.False(t, o.Result.Executed)
	assert.False(t, o.Result.Error.FromTool)
	assert.Zero(t, ran+third+hooked+len(seen.starts)+len(seen.ends))
}

// TOOL-3: a plugin replaces the default policy while it lives.
func TestReplacingAStage(t *testing.T) {
	h := newHost(t)
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }),
		contrib.Named(dispatch.DefaultPolicy), contrib.Order(100))
	h.tools(says("t", "x"))
	g := h.plugin("acme.p", with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Verdict{}, nil }),
		contrib.ReplaceTarget(dispatch.DefaultPolicy)))
	assert.Equal(t, tool.CodeUnauthorized, code(h.call("t", `{}`)))
	<-g.Stop(contrib.StopOperator).Done()
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-D4: a replaced guard does not fall back to the weaker default.
func TestALostGuardStaysClosed(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	g := h.plugin("acme.p", with[dispatch.Approver](dispatch.Approvers, dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		return dispatch.Allowed(), nil
	}), contrib.ReplaceTarget(dispatch.DefaultApproval)))
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	<-g.Stop(contrib.StopFault).Done()
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnavailable, code(o))
	assert.Equal(t, map[string]any{"reason": "guardLost", "target": dispatch.DefaultApproval, "pluginId": "acme.p"}, o.Result.Error.Params)
	h.registry.ReleaseHolds("acme.p")
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-B1: a policy that fails denies, and its text is in the log file alone. FIELD-B7 is the slow one.
func TestAPolicyThatFailsDenies(t *testing.T) {
	fail := map[string]func() (dispatch.Verdict, error){
		"error": func() (dispatch.Verdict, error) { return dispatch.Allowed(), errors.New("boom secret-123") },
		"panic": func() (dispatch.Verdict, error) { panic("boom secret-123") },
	}
	for cause, f := range fail {
		for _, owner := range []string{"plugin:acme.p@g1", "builtin"} {
			h := newHost(t)
			h.tools(says("read", "x"))
			p := policy(func(dispatch.Call) (dispatch.Verdict, error) { return f() })
			if owner == "builtin" {
				add(h, dispatch.Policies, p)
			} else {
				h.plugin("acme.p", with(dispatch.Policies, p))
			}
			o := h.call("read", `{}`)
			assert.Equal(t, tool.CodePolicyFailed, code(o))
			assert.Equal(t, map[string]any{"origin": owner, "cause": cause}, o.Result.Error.Params)
			assert.False(t, o.Executed)
			out, err := json.Marshal(o)
			require.NoError(t, err)
			assert.NotContains(t, string(out), "secret-123")
			assert.Contains(t, h.log.String(), "secret-123")
		}
	}
}

// FIELD-B7: a stage that is too slow fails at its deadline.
func TestAPolicyThatIsTooSlowDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.tools(says("read", "x"))
		block := make(chan struct{})
		h.plugin("acme.p", with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { <-block; return dispatch.Allowed(), nil }),
			contrib.Deadline(time.Second)))
		start := time.Now()
		o := h.call("read", `{}`)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, tool.CodePolicyFailed, code(o))
		assert.Equal(t, "deadline", o.Result.Error.Params["cause"])
		close(block)
	})
}

// FIELD-B10: four ways not to run have four codes, and the first alone says that the operator declined.
func TestFourWaysNotToRun(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	approve := func(f func(ctx context.Context) (dispatch.Verdict, error)) func() {
		handle := add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(ctx context.Context, _ dispatch.Call) (dispatch.Verdict, error) {
			return f(ctx)
		}))
		return handle.Revoke
	}
	undo := approve(func(context.Context) (dispatch.Verdict, error) {
		return dispatch.Verdict{By: "operator", Message: "The operator declined."}, nil
	})
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeApprovalRejected, code(o))
	assert.Equal(t, "operator", o.Result.Error.Params["by"])
	assert.Equal(t, model.Denied, o.Status)
	assert.Contains(t, o.Text, "declined")
	undo()

	handle := add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return dispatch.Verdict{}, nil }))
	o = h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnauthorized, code(o))
	assert.NotContains(t, o.Text, "declined")
	handle.Revoke()

	undo = approve(func(context.Context) (dispatch.Verdict, error) { return dispatch.Allowed(), errors.New("no terminal") })
	o = h.call("t", `{}`)
	assert.Equal(t, tool.CodeApprovalFailed, code(o))
	assert.NotContains(t, o.Text, "declined")
	undo()

	ctx, cancel := context.WithCancel(context.Background())
	undo = approve(func(ctx context.Context) (dispatch.Verdict, error) {
		cancel()
		<-ctx.Done()
		return dispatch.Verdict{}, ctx.Err()
	})
	o = h.callIn(ctx, "t", `{}`)
	assert.Equal(t, tool.CodeCancelled, code(o))
	assert.Equal(t, model.Cancelled, o.Status)
	undo()
}

// An approver of a plugin that does not listen is left when the turn ends.
func TestCancellingLeavesAnApproverThatDoesNotListen(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	ctx, cancel := context.WithCancel(context.Background())
	block := make(chan struct{})
	h.plugin("acme.p", with[dispatch.Approver](dispatch.Approvers, dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		cancel()
		<-block
		return dispatch.Allowed(), nil
	})))
	assert.Equal(t, tool.CodeCancelled, code(h.callIn(ctx, "t", `{}`)))
	close(block)
}

func TestWithoutApproversOnlyReadingRuns(t *testing.T) {
	h := newHost(t)
	for _, e := range dispatch.Approvers.Entries(h.registry.View(), "") {
		require.True(t, e.Occupies(dispatch.DefaultApproval))
	}
	// A module may stand in the way of the default by replacing it with nothing of its own: revoke ours instead.
	bare, err := contrib.New(tool.Sources, tool.Restrictions, tool.Classifiers, dispatch.Policies, dispatch.Approvers, dispatch.Recorders,
		dispatch.Normalizers, hook.ToolCalls, hook.ToolResults, hook.Approvals, rawhook.RewriteApprovals)
	require.NoError(t, err)
	defer bare.Close()
	h.registry, h.registrar = bare, bare.Builtin()
	h.dispatcher = dispatcher.New(dispatcher.Config{Registry: bare})
	h.tools(says("look", "x"), says("change", "x", hints(&tool.Hints{})), says("ask", "x", hints(&tool.Hints{ReadOnly: true, RequiresApproval: true})))
	assert.Equal(t, "x", h.call("look", `{}`).Text)
	for _, name := range []string{"change", "ask"} {
		o := h.call(name, `{}`)
		assert.Equal(t, tool.CodeApprovalRejected, code(o))
		assert.Equal(t, "stage", o.Result.Error.Params["by"])
	}
}

// FIELD-A7: deny beats ask beats allow, in every combination.
func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	low := tool.Read
	policies := map[string]func() (dispatch.Verdict, error){
		"":                    func() (dispatch.Verdict, error) { return dispatch.Allowed(), nil },
		"acme_denied":         func() (dispatch.Verdict, error) { return dispatch.Denied("acme_denied", "No."), nil },
		tool.CodePolicyFailed: func() (dispatch.Verdict, error) { return dispatch.Verdict{}, errors.New("x") },
	}
	advices := map[string]*hook.Advice{"nothing": nil, "prompt": {RequirePrompt: true}, "lower": {Risk: &low}}
	for want, p := range policies {
		for kind, advice := range advices {
			h := newHost(t)
			prompts := 0
			h.plugin("acme.p", func(r *contrib.Registrar) error {
				if err := with(dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { return p() }))(r); err != nil {
					return err
				}
				return with[hook.Approval](hook.Approvals, hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) {
					return advice, nil
				}))(r)
			})
			add[dispatch.Approver](h, dispatch.Approvers, dispatch.ApproverFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
				if c.Classification.RequirePrompt {
					prompts++
				}
				return dispatch.Allowed(), nil
			}))
			h.pluginTools("acme.t", says("probe", "x", hints(&tool.Hints{})))
			o := h.call("probe", `{}`)
			assert.Equal(t, want, code(o))
			switch {
			case want != "":
				assert.Zero(t, prompts)
				assert.Empty(t, h.notes)
			case kind == "prompt":
				assert.Equal(t, 1, prompts)
			case kind == "lower":
				assert.Zero(t, prompts)
				require.Len(t, h.notes, 1)
				assert.Equal(t, "ApprovalLoweringIgnored", h.notes[0].Code)
				assert.Equal(t, tool.Write, o.Classification.Risk)
			default:
				assert.Equal(t, "x", o.Text)
			}
		}
	}
}

func TestVerdictOfAPluginIsTakenAsData(t *testing.T) {
	h := newHost(t)
	h.tools(says("t", "x"))
	v := dispatch.Verdict{Code: "two words", Message: " ", By: "operator", Scope: "persistent", Params: map[string]any{"n": 1, "f": struct{ A int }{2}}}
	h.plugin("acme.p", with(dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
		c.Definition.Name, c.Arguments[0] = "changed", 'X'
		return v, nil
	})))
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnauthorized, code(o))
	assert.Equal(t, "A policy refused the call.", o.Result.Error.Message)
	assert.Equal(t, "stage", o.Verdict.By)
	assert.Empty(t, o.Verdict.Scope)
	assert.Equal(t, map[string]any{"n": 1.0, "f": map[string]any{"A": 2.0}}, o.Result.Error.Params)
	assert.Equal(t, "t", o.Definition.Name)
	v.Code = "acme_no"
	assert.Equal(t, "acme_no", code(h.call("t", `{}`)))
}
