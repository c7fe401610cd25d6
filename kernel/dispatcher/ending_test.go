package dispatcher_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

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
