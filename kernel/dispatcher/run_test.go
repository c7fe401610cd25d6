package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// owners are the two ways in which a tool comes to a host: contained, and trusted.
func owners(t *testing.T, f func(t *testing.T, h *host, offer func(...tool.Registration))) {
	t.Helper()
	t.Run("plugin", func(t *testing.T) {
		h := newHost(t)
		f(t, h, func(list ...tool.Registration) { h.pluginTools("acme.t", list...) })
	})
	t.Run("module", func(t *testing.T) {
		h := newHost(t)
		f(t, h, func(list ...tool.Registration) { h.moduleTools("m", list...) })
	})
	t.Run("inline", func(t *testing.T) {
		h := newHost(t)
		f(t, h, func(list ...tool.Registration) {
			for i := range list {
				list[i].Binding.Inline = true
			}
			h.moduleTools("m", list...)
		})
	})
}

func TestInlineToolsRunOnTheGoroutineOfTheTurn(t *testing.T) {
	running := func() string { // the first line of a stack names its goroutine
		b := make([]byte, 64)
		first, _, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), "[")
		return first
	}
	h := newHost(t)
	where := registration("where", func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text(running()), nil })
	inline := where
	inline.Definition.ID, inline.Definition.Name, inline.Binding.Inline = "inline", "inline", true
	outer := registration("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
		i.Progress("calling")
		return i.Call(ctx, "inline", nil)
	})
	outer.Binding.Inline = true
	h.tools(where, inline, outer)
	assert.Equal(t, running(), h.call("inline", `{}`).Text)
	assert.Equal(t, running(), h.call("outer", `{}`).Text, "a subcall too")
	assert.NotEqual(t, running(), h.call("where", `{}`).Text)
}

func TestAToolThatEndsItsGoroutineHasAResult(t *testing.T) {
	h := newHost(t)
	h.tools(registration("leave", func(context.Context, tool.Invocation) (tool.Result, error) {
		runtime.Goexit()
		return tool.Text("x"), nil
	}))
	o := h.call("leave", `{}`)
	assert.Equal(t, tool.CodeResultInvalid, o.Result.Error.Code)
	assert.True(t, o.Executed)
}

// TOOL-2: a recorder that fails is skipped, and the others see one start and one end.
func TestRecorders(t *testing.T) {
	h := newHost(t)
	a, b, c := &records{}, &records{fail: func() error { panic("x") }}, &records{}
	h.tools(says("t", "x"))
	first := add[dispatch.Recorder](h, dispatch.Recorders, a)
	add[dispatch.Recorder](h, dispatch.Recorders, b)
	last := add[dispatch.Recorder](h, dispatch.Recorders, c)
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	for _, r := range []*records{a, b, c} {
		assert.Len(t, r.starts, 1)
		assert.Len(t, r.ends, 1)
		assert.Positive(t, r.took[0])
	}
	first.Revoke()
	last.Revoke()
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	assert.Len(t, a.ends, 1)
	assert.Len(t, b.ends, 2)
}

// TOOL-7: neither side sees the other's memory.
func TestNothingIsShared(t *testing.T) {
	owners(t, func(t *testing.T, h *host, offer func(...tool.Registration)) {
		kept := &tool.Result{
			Content: []tool.Block{{Text: "text"}, {MediaType: "image/png", Data: []byte(png)}}, Structured: json.RawMessage(`{"a":1}`),
		}
		seen := &records{}
		add[dispatch.Recorder](h, dispatch.Recorders, seen)
		h.turn.Images = true
		offer(registration("t", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			for k := range i.Arguments {
				i.Arguments[k] = 'X'
			}
			return *kept, nil
		}))
		o := h.call("t", `{"path":"a"}`)
		kept.Content[0].Text, kept.Content[1].Data[0], kept.Structured[0] = "changed", 'X', 'X'
		assert.Equal(t, `{"path":"a"}`, o.Effective.Arguments)
		assert.Equal(t, `{"path":"a"}`, string(seen.starts[0].Arguments))
		for _, r := range []tool.Result{o.Result, seen.ends[0]} {
			assert.Equal(t, []tool.Block{{Text: "text"}, {MediaType: "image/png", Data: []byte(png)}}, r.Content)
			assert.JSONEq(t, `{"a":1}`, string(r.Structured))
		}
	})
}

// TOOL-8, FIELD-B6: how a tool can fail, and what is told of it.
func TestHowAToolCanFail(t *testing.T) {
	owners(t, func(t *testing.T, h *host, offer func(...tool.Registration)) {
		answers := map[string]func() (tool.Result, error){
			"none":   func() (tool.Result, error) { return tool.Result{}, nil },
			"error":  func() (tool.Result, error) { return tool.Text("x"), errors.New("password hunter2") },
			"panic":  func() (tool.Result, error) { panic("password hunter2") },
			"quota":  func() (tool.Result, error) { return quota(), nil },
			"copied": func() (tool.Result, error) { return tool.Failed(tool.CodeApprovalRejected, "I say so."), nil },
			"late":   func() (tool.Result, error) { return tool.Result{}, fmt.Errorf("x: %w", context.DeadlineExceeded) },
			"both":   func() (tool.Result, error) { r := quota(); r.Failed = false; return r, nil },
			"lone":   func() (tool.Result, error) { return tool.Result{Failed: true}, nil },
			"blank":  func() (tool.Result, error) { return tool.Text(" \n"), nil },
			"broken": func() (tool.Result, error) {
				return tool.Result{Content: tool.Text("x").Content, Structured: json.RawMessage(`{`)}, nil
			},
			"spaced":  func() (tool.Result, error) { return tool.Failed("two words", "x"), nil },
			"silent":  func() (tool.Result, error) { return tool.Failed("acme", " "), nil },
			"objects": func() (tool.Result, error) { r := quota(); r.Error.Params["f"] = func() {}; return r, nil },
			"huge":    func() (tool.Result, error) { return tool.Result{Content: make([]tool.Block, 257)}, nil },
			"json": func() (tool.Result, error) {
				return tool.Result{Content: tool.Text("x").Content, Structured: json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)}, nil
			},
		}
		var list []tool.Registration
		for name, f := range answers {
			list = append(list, registration(name, func(context.Context, tool.Invocation) (tool.Result, error) { return f() }))
		}
		offer(list...)
		invalid := map[string]string{
			"none": "missing", "both": "inconsistent", "lone": "inconsistent", "blank": "blank", "broken": "notJson", "spaced": "code", "silent": "code",
			"objects": "notJson", "huge": "tooLarge", "json": "tooLarge",
		}
		for name, reason := range invalid {
			o := h.call(name, `{}`)
			assert.Equal(t, tool.CodeResultInvalid, code(o), name)
			if o.Result.Error != nil {
				assert.Equal(t, reason, o.Result.Error.Params["reasonCode"], name)
			}
			assert.True(t, o.Executed)
		}
		for _, name := range []string{"error", "panic"} {
			o := h.call(name, `{}`)
			assert.Equal(t, "Error tool_execution_failed: The tool failed.", o.Text)
			assert.Equal(t, model.Failure, o.Status)
			out, err := json.Marshal(o)
			require.NoError(t, err)
			assert.NotContains(t, string(out), "hunter2")
		}
		assert.Contains(t, h.log.String(), "hunter2")
		o := h.call("quota", `{}`)
		assert.Equal(t, "Error acme_quota: No more today.\nCome back tomorrow.", o.Text)
		assert.True(t, o.Result.Error.FromTool)
		assert.EqualValues(t, 3, o.Result.Error.Params["left"])
		o = h.call("copied", `{}`)
		assert.Equal(t, tool.CodeApprovalRejected, code(o))
		assert.True(t, o.Result.Error.FromTool, "a tool that copies a code of the host can be told apart")
		assert.Equal(t, model.Failure, o.Status)
		o = h.call("late", `{}`)
		assert.Equal(t, tool.CodeTimeout, code(o))
		assert.Equal(t, model.TimedOut, o.Status)
	})
}

// A built-in tool says itself that it was cancelled or late; the same code of another tool is a failure like any other.
func TestCodesOfBuiltinToolsCount(t *testing.T) {
	want := map[string]model.Status{tool.CodeCancelled: model.Cancelled, tool.CodeTimeout: model.TimedOut, tool.CodeCommandFailed: model.Failure}
	for c, status := range want {
		run := func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Failed(c, "Half of it."), nil }
		h := newHost(t)
		h.tools(registration("own", run))
		assert.Equal(t, status, h.call("own", `{}`).Status)
		h.moduleTools("m", registration("other", run))
		assert.Equal(t, model.Failure, h.call("other", `{}`).Status)
	}
}

func quota() tool.Result {
	return tool.Result{
		Failed: true, Content: []tool.Block{{Text: "Come back tomorrow."}},
		Error: &tool.Error{Code: "acme_quota", Message: "No more today.", Params: map[string]any{"left": 3}},
	}
}

func TestMetaIsForTheHost(t *testing.T) {
	owners(t, func(t *testing.T, h *host, offer func(...tool.Registration)) {
		offer(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Result{Content: tool.Text("x").Content, Meta: json.RawMessage(`{"a":1}`), Spill: "/etc/passwd", Executed: true}, nil
		}))
		o := h.call("t", `{}`)
		assert.Equal(t, t.Name() != "TestMetaIsForTheHost/plugin", len(o.Result.Meta) > 0)
		assert.Empty(t, o.Result.Spill)
	})
}

func TestASourceThatFailsAtTheCall(t *testing.T) {
	h := newHost(t)
	var at func() ([]tool.Registration, error)
	reg := says("t", "x")
	at = func() ([]tool.Registration, error) { return []tool.Registration{reg}, nil }
	var asked []tool.Planning
	h.plugin("acme.t", with(tool.Sources, tool.SourceFunc("s", func(_ context.Context, p tool.Planning) ([]tool.Registration, error) {
		asked = append(asked, p)
		return at()
	})))
	h.plan()
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	require.Len(t, asked, 2)
	assert.Equal(t, asked[0], asked[1], "the source is asked again with the planning input of the turn")
	leased := reg
	leased.Binding.Lease = leaseFunc(func() error { return errors.New("secret") })
	for want, f := range map[string]func() ([]tool.Registration, error){
		"planningFailed":   func() ([]tool.Registration, error) { return nil, errors.New("secret") },
		"planningFailed ":  func() ([]tool.Registration, error) { panic("secret") },
		"planningFailed  ": func() ([]tool.Registration, error) { return []tool.Registration{says("u", "y")}, nil },
		"lease":            func() ([]tool.Registration, error) { return []tool.Registration{leased}, nil },
	} {
		at = f
		o := h.call("t", `{}`)
		assert.Equal(t, tool.CodeUnavailable, code(o))
		assert.Equal(t, strings.TrimSpace(want), o.Result.Error.Params["reason"])
		assert.NotContains(t, o.Text, "secret")
	}
}
