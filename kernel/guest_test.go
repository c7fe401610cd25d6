package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// POINT-9
func TestRuntimesOfPlugins(t *testing.T) {
	runs := &remote{t: t, kind: "acme", profiles: []string{"p", "q"}}
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("q", "far away"), say("done")}, "mine": {say("of the workspace")}, "again": {task("p", "mine"), say("done")}},
		kerneltest.Tools(reading("look", answering("seen"))),
		fx.Replace(kernel.Config{Profiles: []subagent.Profile{{Name: "p", Description: "the workspace's", Prompt: "Be brief."}}}),
		kerneltest.Plugins(plugin("acme.r",
			contrib.Supply[subagent.Source](subagent.Runtimes, &remote{kind: kernel.OwnRuntime, profiles: []string{"stolen"}}),
			contrib.Supply[subagent.Source](subagent.Runtimes, runs))))
	names := func() (out []string) {
		for _, p := range k.Profiles(nil) {
			out = append(out, p.Name+" "+p.Runtime)
		}
		return out
	}
	assert.Equal(t, []string{"explore kernel", "general kernel", "p kernel", "q acme"}, names())
	found := 0
	for _, d := range k.Registry().Diagnostics() {
		if d.Code == string(plugins.PluginContributionInvalid) {
			found++
			assert.Equal(t, map[string]any{"point": "subagent.runtime", "name": "kernel", "reasonCode": "reserved"}, d.Params)
		}
	}
	assert.Equal(t, 1, found)

	turn := k.Run("go")
	assert.Equal(t, "answer to far away: seen", callsOf(turn, "")[0].Text)
	theirs := callsOf(turn, "q")
	require.Len(t, theirs, 2)
	assert.Equal(t, "look", theirs[0].Name)
	assert.Equal(t, callsOf(turn, "")[0].CallID, theirs[0].ParentID)
	assert.Equal(t, "thinking", kerneltest.All[kernel.CallProgress](turn)[0].Text)
	assert.Equal(t, 1, runs.closed)

	turn = k.RunOn(t.Context(), k.NewThread(kernel.Options{}), kernel.Input{Text: "again"})
	assert.Equal(t, "of the workspace", callsOf(turn, "")[0].Text)
	assert.Contains(t, models.of("mine")[0].System, "Be brief.")

	_, err := k.Plugins.SetEnabled(t.Context(), "acme.r", false, plugins.ScopeProcess)
	require.NoError(t, err)
	assert.Equal(t, []string{"explore kernel", "general kernel", "p kernel"}, names())
}

// remote is a runtime that calls one tool and answers.
type remote struct {
	t        *testing.T
	kind     string
	profiles []string
	closed   int
	late     func(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error)
}

func (r *remote) Type() string              { return r.kind }
func (r *remote) Runtime() subagent.Runtime { return r }
func (r *remote) Profiles() (out []subagent.Profile) {
	for _, p := range r.profiles {
		out = append(out, subagent.Profile{Name: p, Description: "a profile"})
	}
	return out
}

func (r *remote) Create(_ context.Context, s subagent.Spec) (subagent.Session, error) {
	assert.NotEmpty(r.t, s.Own)
	assert.NotEqual(r.t, s.Thread, s.Own)
	return remoteSession{r}, nil
}

type remoteSession struct{ *remote }

func (s remoteSession) Run(ctx context.Context, in subagent.Input, emit func(subagent.Event) error) (*subagent.Outcome, error) {
	s.late = in.Call
	if err := emit(subagent.Event{Text: "thinking"}); err != nil {
		return nil, err
	}
	r, err := in.Call(ctx, "look", json.RawMessage(`{}`))
	if err != nil {
		return nil, err
	}
	unknown, err := in.Call(ctx, "nothing", nil)
	if err != nil || unknown.Error.Code != tool.CodeNotFound {
		return nil, errors.New("an unknown tool was not refused")
	}
	return &subagent.Outcome{Text: "answer to " + in.Text + ": " + r.Content[0].Text}, nil
}
func (s remoteSession) Cancel(context.Context) error { return nil }
func (s remoteSession) Close(ctx context.Context) error {
	s.closed++
	_, err := s.late(ctx, "look", nil)
	assert.ErrorIs(s.t, err, tool.ErrEnded)
	return nil
}

// hired is a runtime whose sessions are a function.
type hired struct {
	kind   string
	run    func(ctx context.Context, in subagent.Input) (string, error)
	cancel func()
}

func (h *hired) Type() string                 { return h.kind }
func (h *hired) Runtime() subagent.Runtime    { return h }
func (h *hired) Profiles() []subagent.Profile { return []subagent.Profile{{Name: h.kind}} }
func (h *hired) Create(context.Context, subagent.Spec) (subagent.Session, error) {
	return h, nil
}

func (h *hired) Run(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
	text, err := h.run(ctx, in)
	return &subagent.Outcome{Text: text}, err
}

func (h *hired) Cancel(context.Context) error {
	if h.cancel != nil {
		h.cancel()
	}
	return nil
}
func (h *hired) Close(context.Context) error { return nil }

// asPlugin contributes a runtime as the plugin acme.r.
func asPlugin(h *hired) fx.Option {
	return kerneltest.Plugins(plugin("acme.r", contrib.Supply[subagent.Source](subagent.Runtimes, h)))
}

// A session's calls are told as they happen, also when several run at the same time.
func TestCallsOfASessionAreToldAsTheyHappen(t *testing.T) {
	var seen sync.Map // order in which the operator is asked
	h := &hired{kind: "acme", run: func(ctx context.Context, in subagent.Input) (string, error) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				r, err := in.Call(ctx, "change", json.RawMessage(`{}`))
				assert.NoError(t, err)
				assert.Equal(t, "ok", r.Content[0].Text)
			})
		}
		all.Wait()
		return "changed", nil
	}}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do"), say("done")}}, asPlugin(h),
		kerneltest.Tools(writing("change", answering("ok"))),
		kerneltest.Answers(approval.Once, approval.Once, approval.Once, approval.Once))
	th := k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault})
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	require.Equal(t, "changed", callsOf(turn, "")[0].Text)
	theirs := callsOf(turn, "acme")
	require.Len(t, theirs, 4)
	for _, c := range theirs {
		_, twice := seen.LoadOrStore(c.CallID, true)
		assert.False(t, twice)
		assert.Equal(t, []string{"call_pending", "approval_asked", "approval_answered", "call_started", "call_ended"}, types(turn, c.CallID))
		assert.Equal(t, callsOf(turn, "")[0].CallID, c.ParentID)
	}
	for _, p := range k.Operator.Asked() {
		assert.Equal(t, "acme", p.Call.Agent, "the operator is told who asks")
	}
	assert.Equal(t, 5, turn.Result.ToolCalls)
}

// What a session runs counts against the limits of the turn.
func TestASessionSpendsTheBudgetOfTheTurn(t *testing.T) {
	var codes []string
	h := &hired{kind: "acme", run: func(ctx context.Context, in subagent.Input) (string, error) {
		for range 3 {
			r, err := in.Call(ctx, "look", nil)
			if err != nil {
				return "", err
			}
			codes = append(codes, "")
			if r.Error != nil {
				codes[len(codes)-1] = r.Error.Code
			}
		}
		return "looked", nil
	}}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do"), say("done")}}, asPlugin(h),
		kerneltest.Tools(reading("look", answering("seen"))))
	turn := k.RunInput(t.Context(), kernel.Input{Text: "go", Limits: kernel.Limits{ToolCalls: 2}})
	assert.Equal(t, []string{"", tool.CodeUnavailable, tool.CodeUnavailable}, codes)
	assert.Equal(t, 2, turn.Result.ToolCalls)
	assert.Len(t, callsOf(turn, "acme"), 3, "each call has its result")
}

// A run is the one turn of its thread to observers of turns.
func TestObserversSeeTheRunOfASession(t *testing.T) {
	o := &observers{}
	fail := errors.New("secret")
	h := &hired{kind: "acme", run: func(_ context.Context, in subagent.Input) (string, error) {
		if in.Text == "fail" {
			return "", fail
		}
		return "did", nil
	}}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do"), task("acme", "fail"), say("done")}}, asPlugin(h),
		contrib.Supply[thread.Observer](thread.Observers, o), contrib.Supply[thread.TurnObserver](thread.TurnObservers, o))
	th := k.NewThread(kernel.Options{})
	o.lines = nil
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	require.Len(t, o.lines, 10)
	for i, status := range []string{"completed", "failed"} {
		lines := o.lines[1+4*i : 5+4*i]
		child := lines[0][len("started "):][:32]
		assert.Equal(t, []string{
			"started " + child + " of " + th.ID() + ", acme", "turn " + child + " acme", "ended " + child + " " + status, "deleting " + child,
		}, lines)
	}
	assert.Equal(t, []string{"acme.r/hired error"}, failures(turn))
	assert.NotContains(t, callsOf(turn, "")[1].Text, "secret")
}

// POINT-9: the plugin is switched off while its session runs.
func TestARuntimeIsRevokedWhileItRuns(t *testing.T) {
	began, late := make(chan struct{}), make(chan string, 1)
	h := &hired{kind: "acme", run: func(ctx context.Context, in subagent.Input) (string, error) {
		close(began)
		<-ctx.Done()
		r, err := in.Call(context.WithoutCancel(ctx), "look", nil)
		assert.NoError(t, err)
		late <- r.Error.Code
		return "all is well", nil
	}}
	k, models := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do"), say("done")}}, asPlugin(h),
		kerneltest.Tools(reading("look", answering("seen"))))
	var off sync.WaitGroup
	off.Go(func() {
		<-began
		_, err := k.Plugins.SetEnabled(t.Context(), "acme.r", false, plugins.ScopeProcess)
		assert.NoError(t, err)
	})
	turn := k.Run("go")
	off.Wait()
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
	assert.Equal(t, kernel.CodeSubagentFailed, turn.Calls()[0].Code)
	assert.Equal(t, tool.CodeUnavailable, <-late)
	requests := models.of("go")
	require.Len(t, requests, 2)
	assert.Equal(t, requests[0].System, requests[1].System, "the turn keeps what it began with")
	assert.Contains(t, requests[1].System, "- acme: ")
	assert.Equal(t, requests[0].Tools, requests[1].Tools)
	k.Run("again")
	assert.NotContains(t, models.of("go")[2].System, "- acme: ")
	assert.NotContains(t, string(models.of("go")[2].Tools[1].Schema), "acme")
}

// A session ends with the turn, and its own turn as cancelled.
func TestCancellingATurnEndsItsSessions(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o, told := &observers{}, 0
	h := &hired{kind: "acme", cancel: func() { told++ }, run: func(ctx context.Context, in subagent.Input) (string, error) {
		_, err := in.Call(context.Background(), "wait", nil)
		assert.NoError(t, err)
		return "", ctx.Err()
	}}
	k, _ := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do")}}, asPlugin(h),
		contrib.Supply[thread.TurnObserver](thread.TurnObservers, o),
		kerneltest.Tools(reading("wait", func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			cancel()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})))
	turn := k.RunInput(ctx, kernel.Input{Text: "go"})
	assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
	for _, c := range turn.Calls() {
		assert.Equal(t, tool.CodeCancelled, c.Code, c.Name)
	}
	require.Len(t, turn.Calls(), 2)
	require.Len(t, o.lines, 4)
	assert.Contains(t, o.lines[2], " cancelled")
	assert.Equal(t, 1, told)
}

// A session that does not care about its cancellation is told, loses its calls and is left behind; it has no part in
// what comes after.
func TestASessionThatDoesNotEndIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let, told, called := make(chan struct{}), 0, 0
		var after error
		h := &hired{kind: "acme", cancel: func() { told++ }}
		ctx, cancel := context.WithCancel(t.Context())
		h.run = func(_ context.Context, in subagent.Input) (string, error) {
			cancel()
			<-let
			r, err := in.Call(context.Background(), "look", nil)
			if err == nil && r.Error == nil {
				after = errors.New("the call ran")
			}
			return "late", nil
		}
		k, _ := play(t, map[string][]kerneltest.Step{"go": {task("acme", "do"), call("let", `{}`), say("fine")}},
			contrib.Supply[subagent.Source](subagent.Runtimes, h),
			kerneltest.Tools(reading("let", func(context.Context, tool.Invocation) (tool.Result, error) {
				close(let)
				synctest.Wait() // what was left behind does all that it does while this turn runs
				return tool.Text("let"), nil
			}), reading("look", func(context.Context, tool.Invocation) (tool.Result, error) {
				called++
				return tool.Text("seen"), nil
			})))
		th := k.NewThread(kernel.Options{})
		began := time.Now()
		turn := k.RunOn(ctx, th, kernel.Input{Text: "go"})
		assert.Equal(t, kernel.Interrupted, turn.Result.Stop)
		assert.Equal(t, tool.CodeCancelled, turn.Calls()[0].Code)
		assert.Equal(t, 3*time.Second, time.Since(began))
		next := k.RunOn(t.Context(), th, kernel.Input{Text: "next"})
		assert.NoError(t, after)
		assert.Zero(t, called)
		assert.Equal(t, 1, told)
		require.Len(t, next.Calls(), 1, "that of the turn itself")
		assert.Equal(t, 1, next.Result.ToolCalls)
		require.Len(t, stored[*threadlog.Result](t, k, th), 2)
		require.NoError(t, k.Stop(t.Context()))
	})
}
