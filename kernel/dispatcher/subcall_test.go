package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/tool"
)

// A subcall that its parent did not wait for is cancelled, and has its result before the parent has its own.
func TestSubcallsEndBeforeTheirParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		started := make(chan struct{})
		got := make(chan tool.Result, 1)
		h.tools(registration("inner", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			close(started)
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}), registration("hasty", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
			go func() {
				r, _ := i.Call(ctx, "inner", nil)
				got <- r
			}()
			<-started
			return tool.Text("done"), nil
		}))
		assert.Equal(t, "done", h.call("hasty", `{}`).Text)
		require.Len(t, h.subs, 1)
		assert.Equal(t, tool.CodeCancelled, code(h.subs[0]))
		assert.Equal(t, tool.CodeCancelled, (<-got).Error.Code)
	})
}

// TOOL-14, FIELD-A11: a tool that calls a tool does not leave the pipeline.
func TestAToolThatCallsATool(t *testing.T) {
	owners(t, func(t *testing.T, h *host, offer func(...tool.Registration)) {
		type sight struct{ id, parent, name string }
		var hooks, policies, recorded []sight
		h.plugin("acme.w", func(r *contrib.Registrar) error {
			return errors.Join(
				with(hook.ToolCalls, rewriting(func(c hook.Call) (*hook.Call, error) {
					hooks = append(hooks, sight{c.ID, c.ParentID, c.Tool})
					return nil, nil
				}))(r),
				with(dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
					policies = append(policies, sight{c.ID, c.ParentID, c.Definition.Name})
					if c.Definition.Name == "denied" {
						return dispatch.Denied("acme_no", "No."), nil
					}
					return dispatch.Allowed(), nil
				}))(r),
				with[dispatch.Recorder](dispatch.Recorders, recorderFunc(func(c dispatch.Call) { recorded = append(recorded, sight{c.ID, c.ParentID, c.Definition.Name}) }))(r),
			)
		})
		budget := 20
		h.turn.TakeBudget = func() bool { budget--; return budget >= 0 }
		relay := func(name string) func(context.Context, tool.Invocation) (tool.Result, error) {
			return func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
				r, err := i.Call(ctx, name, json.RawMessage(`{}`))
				if err != nil {
					return tool.Result{}, err
				}
				if r.Failed {
					return tool.Text("inner: " + r.Error.Code), nil
				}
				return tool.Text("inner: " + r.Content[0].Text), nil
			}
		}
		depth := 0
		offer(says("inner", "x", func(r *tool.Registration) { r.Definition.Namespace = "ns" }), registration("outer", relay("ns.inner")), says("denied", "x"),
			registration("asks", relay("denied")), says("hidden", "x", func(r *tool.Registration) { r.Definition.Exposure = tool.Hidden }),
			registration("peeks", relay("hidden")), registration("loop", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
				depth++
				r, err := i.Call(ctx, "loop", nil)
				if r.Failed {
					return r, err
				}
				return tool.Text("depth"), err
			}))
		assert.Equal(t, "inner: x", h.call("outer", `{}`).Text)
		want := []sight{{"c1", "", "outer"}, {"c1/1", "c1", "inner"}}
		assert.Equal(t, want, policies)
		assert.Equal(t, want, recorded)
		assert.Equal(t, []sight{{"c1", "", "outer"}, {"c1/1", "c1", "ns.inner"}}, hooks)
		require.Len(t, h.subs, 1)
		assert.Equal(t, "c1", h.subs[0].ParentID)
		assert.Equal(t, 19, budget)

		assert.Equal(t, "inner: acme_no", h.call("asks", `{}`).Text)
		assert.Equal(t, "inner: tool_unauthorized", h.call("peeks", `{}`).Text)

		h.subs = nil
		o := h.call("loop", `{}`)
		assert.Equal(t, 9, depth)
		assert.Equal(t, tool.CodeCallDepthExceeded, code(o))
		require.Len(t, h.subs, 9)
		assert.Equal(t, map[string]any{"depth": 9, "limit": 8}, h.subs[0].Result.Error.Params)
		assert.False(t, h.subs[0].Executed)

		budget = 0
		assert.Equal(t, "inner: tool_unavailable", h.call("outer", `{}`).Text)
	})
}

type recorderFunc func(dispatch.Call)

func (f recorderFunc) Started(_ context.Context, c dispatch.Call) error { f(c); return nil }

func (f recorderFunc) Ended(context.Context, dispatch.Call, tool.Result, time.Duration) error {
	return nil
}

// FIELD-G1: one failure leaves its siblings alone; calls that look only run beside each other and end in call order.
func TestNeighboursRunAtTheSameTime(t *testing.T) {
	h := newHost(t)
	meet := make(chan struct{})
	h.tools(registration("a", func(context.Context, tool.Invocation) (tool.Result, error) { <-meet; return tool.Text("a"), nil }),
		registration("b", func(context.Context, tool.Invocation) (tool.Result, error) { panic("x") }),
		registration("c", func(context.Context, tool.Invocation) (tool.Result, error) { close(meet); return tool.Text("c"), nil }),
		says("w", "w", hints(&tool.Hints{})))
	var order []string
	add[hook.ToolResult](h, hook.ToolResults, hook.ToolResultFunc(func(_ context.Context, c hook.Call, _ hook.Result) (*hook.Result, error) {
		order = append(order, c.ID)
		return nil, nil
	}))
	ctx := context.Background()
	var prepared []*dispatcher.Prepared
	for _, name := range []string{"a", "b", "c"} {
		p := h.dispatcher.Prepare(ctx, h.turn, dispatcher.Request{ID: name, Name: name, Audience: tool.AudienceModel})
		assert.True(t, p.Parallel())
		prepared = append(prepared, p)
	}
	outcomes := make([]dispatcher.Outcome, len(prepared))
	done := make(chan struct{})
	for i, p := range prepared {
		go func() { outcomes[i] = p.Run(ctx); done <- struct{}{} }()
	}
	for range prepared {
		<-done
	}
	var texts []string
	for i, p := range prepared {
		texts = append(texts, p.Finish(ctx, outcomes[i]).Text)
	}
	assert.Equal(t, []string{"a", "Error tool_execution_failed: The tool failed.", "c"}, texts)
	assert.Equal(t, []string{"a", "b", "c"}, order)
	assert.False(t, h.dispatcher.Prepare(ctx, h.turn, dispatcher.Request{Name: "w", Audience: tool.AudienceModel}).Parallel())
}

// The cost of a call does not grow with the number of calls before it, nor with the number of tools.
func TestTheCostOfACallIsConstant(t *testing.T) {
	cost := func(tools int) float64 {
		h := newHost(t)
		list := []tool.Registration{says("t", "x")}
		for i := range tools {
			list = append(list, says(fmt.Sprintf("other%d", i), "x"))
		}
		h.tools(list...)
		h.turn.Result = nil
		least := testing.AllocsPerRun(1, func() { h.call("t", `{}`) })
		for range 50 { // pools give less back while races are looked for
			least = min(least, testing.AllocsPerRun(1, func() { h.call("t", `{}`) }))
		}
		return least
	}
	few, many := cost(1), cost(400)
	assert.InDelta(t, few, many, 2)
	assert.LessOrEqual(t, few, 30.0)
}
