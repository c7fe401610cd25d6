package dispatcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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
		assert.Equal(t, t.Name() == "TestMetaIsForTheHost/module", len(o.Result.Meta) > 0)
		assert.Empty(t, o.Result.Spill)
	})
}

// FIELD-G7: each call has its own time limit.
func TestEachCallHasItsOwnTimeLimit(t *testing.T) {
	owners(t, func(t *testing.T, h0 *host, _ func(...tool.Registration)) {
		plugin := strings.HasSuffix(t.Name(), "plugin")
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			sleep := func(d time.Duration) func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
				return func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
					select {
					case <-time.After(d):
						return tool.Text("done"), nil
					case <-ctx.Done():
						return tool.Text("never shown"), nil
					}
				}
			}
			limit := func(d time.Duration) func(*tool.Registration) {
				return func(r *tool.Registration) { r.Binding.Timeout = d }
			}
			list := []tool.Registration{
				registration("quiet", sleep(time.Minute), limit(time.Second)), registration("chatty", sleep(3*time.Second), limit(10*time.Second)),
				registration("plain", sleep(time.Hour)),
			}
			if plugin {
				h.pluginTools("acme.t", list...)
			} else {
				h.moduleTools("m", list...)
			}
			start := time.Now()
			o := h.call("quiet", `{}`)
			assert.Equal(t, time.Second, time.Since(start))
			assert.Equal(t, tool.CodeTimeout, code(o))
			assert.Equal(t, "1s", o.Result.Error.Params["timeout"])
			assert.Equal(t, "done", h.call("chatty", `{}`).Text)
			start = time.Now()
			assert.Equal(t, tool.CodeTimeout, code(h.call("plain", `{}`)))
			assert.Equal(t, 120*time.Second, time.Since(start))
			synctest.Wait()
		})
	})
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.tools(registration("long", func(context.Context, tool.Invocation) (tool.Result, error) {
			<-time.After(48 * time.Hour)
			return tool.Text("done"), nil
		}, func(r *tool.Registration) { r.Binding.Timeout = tool.Unlimited }))
		assert.Equal(t, "done", h.call("long", `{}`).Text)
	})
}

// FIELD-H7: a tool that does not listen is left behind after two seconds, and what it returns later appears nowhere.
func TestAToolThatDoesNotListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		seen := &records{}
		add[dispatch.Recorder](h, dispatch.Recorders, seen)
		release := make(chan struct{})
		late := make(chan error, 1)
		progress := 0
		h.turn.Progress = func(string, string) { progress++ }
		h.pluginTools("acme.t", registration("deaf", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
			i.Progress("started")
			<-release
			i.Progress("late")
			_, err := i.Call(context.Background(), "deaf", nil)
			late <- err
			return tool.Text("late"), nil
		}))
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		o := h.callIn(ctx, "deaf", `{}`)
		assert.Equal(t, 3*time.Second, time.Since(start))
		assert.Equal(t, "Error tool_cancelled: The call was cancelled.", o.Text)
		assert.Equal(t, model.Cancelled, o.Status)
		assert.True(t, o.Executed)
		require.Len(t, seen.ends, 1, "the end is recorded although the turn was cancelled")
		close(release)
		require.ErrorIs(t, <-late, tool.ErrEnded)
		synctest.Wait()
		assert.Equal(t, 1, progress)
		assert.Len(t, seen.ends, 1)
		assert.Empty(t, h.subs)
	})
}

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

func TestACancelledToolMayReturnItsOwnResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.tools(registration("tidy", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			<-ctx.Done()
			<-time.After(time.Second)
			return tool.Text("half of it"), nil
		}), registration("gives_up", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}))
		for name, want := range map[string]string{"tidy": "half of it", "gives_up": "Error tool_cancelled: The call was cancelled."} {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(time.Second, cancel)
			assert.Equal(t, want, h.callIn(ctx, name, `{}`).Text)
		}
	})
}

func TestACancelledTurnStartsNothing(t *testing.T) {
	h := newHost(t)
	ran := false
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { ran = true; return tool.Text("x"), nil }))
	ctx, cancel := context.WithCancel(context.Background())
	p := h.dispatcher.Prepare(ctx, h.turn, dispatcher.Request{ID: "c1", Name: "t", Audience: tool.AudienceModel})
	_, refused := p.Refused()
	assert.False(t, refused)
	cancel()
	o := p.Run(ctx)
	assert.Equal(t, tool.CodeCancelled, code(o))
	assert.False(t, o.Executed)
	assert.Equal(t, tool.CodeCancelled, code(h.callIn(ctx, "t", `{}`)))
	assert.False(t, ran)
}

func TestACallThatCannotBeRecordedDoesNotRun(t *testing.T) {
	h := newHost(t)
	seen := &records{}
	add[dispatch.Recorder](h, dispatch.Recorders, seen)
	h.tools(registration("t", func(context.Context, tool.Invocation) (tool.Result, error) { panic("ran") }))
	h.turn.BeforeStart = func(dispatcher.Call) error { return errors.New("disk full") }
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnavailable, code(o))
	assert.False(t, o.Executed)
	assert.Empty(t, seen.starts)
	assert.Contains(t, h.log.String(), "disk full")
}

// FIELD-O8: a call from an old snapshot finds its plugin gone. The turn goes on.
func TestACallFromAnOldSnapshot(t *testing.T) {
	h := newHost(t)
	g := h.pluginTools("acme.t", says("t", "x"))
	h.tools(says("other", "y"))
	old := h.turn.Snapshot
	assert.Equal(t, "x", h.call("t", `{}`).Text)
	<-g.Stop(contrib.StopOperator).Done()
	h.turn.Snapshot = old
	o := h.call("t", `{}`)
	assert.Equal(t, tool.CodeUnavailable, code(o))
	assert.Equal(t, tool.ReasonRevoked, o.Result.Error.Params["reason"])
	assert.Equal(t, "y", h.call("other", `{}`).Text)
}

// TOOL-9: a stop reaches a running call.
func TestAStopReachesARunningCall(t *testing.T) {
	h := newHost(t)
	started := make(chan struct{})
	g := h.pluginTools("acme.t", registration("t", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}))
	done := make(chan dispatcher.Outcome)
	go func() { done <- h.call("t", `{}`) }()
	<-started
	<-g.Stop(contrib.StopOperator).Done()
	o := <-done
	assert.Equal(t, tool.CodeUnavailable, code(o))
	assert.Equal(t, tool.ReasonRevoked, o.Result.Error.Params["reason"])
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
func (recorderFunc) Ended(context.Context, dispatch.Call, tool.Result, time.Duration) error {
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
