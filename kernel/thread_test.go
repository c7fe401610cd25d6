package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
)

// diary writes down what it is told, one line each.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
	return nil
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

type sessions struct{ *diary }

func (s sessions) SessionStarted(_ context.Context, h hook.Session) error {
	return s.note("start " + h.Thread)
}

func (s sessions) SessionEnded(_ context.Context, h hook.Session) error {
	return s.note("end " + h.Thread)
}

// FIELD-A16
func TestSessionsComeInStrictPairs(t *testing.T) {
	d := &diary{}
	k := kerneltest.Start(t, kerneltest.Script(), contrib.Supply[hook.SessionObserver](hook.Sessions, sessions{d}))
	one := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), one, kernel.Input{Text: "1"})
	two := k.NewThread(kernel.Options{})
	k.RunOn(t.Context(), two, kernel.Input{Text: "2"})
	require.NoError(t, two.Close(t.Context()))
	require.NoError(t, one.Close(t.Context()))
	require.NoError(t, one.Close(t.Context()), "idempotent")
	two, err := k.Open(t.Context(), two.ID(), kernel.Options{})
	require.NoError(t, err)
	child, err := k.Fork(t.Context(), two.ID(), "")
	require.NoError(t, err)
	require.NoError(t, two.Close(t.Context()))
	_, err = k.Open(t.Context(), child, kernel.Options{})
	require.NoError(t, err)
	require.NoError(t, k.Stop(t.Context()))
	assert.Equal(t, []string{
		"start " + one.ID(), "start " + two.ID(), "end " + two.ID(), "end " + one.ID(),
		"start " + two.ID(), "end " + two.ID(), "start " + child, "end " + child,
	}, d.all())
}

// A session observer that comes in the middle of a session sees neither its start nor its end.
func TestLateSessionObserverSeesNoEndWithoutAStart(t *testing.T) {
	d := &diary{}
	k := kerneltest.Start(t, kerneltest.Script())
	th := k.NewThread(kernel.Options{})
	handle, err := hook.Sessions.Add(k.Registry().Builtin(), sessions{d})
	require.NoError(t, err)
	defer handle.Revoke()
	require.NoError(t, th.Close(t.Context()))
	assert.Empty(t, d.all())
}

// watcher observes threads.
type watcher struct {
	*diary
	name string
	fail bool
}

func (w watcher) tell(what string, i thread.Info) error {
	line := w.name + " " + what + " " + i.ID
	if i.Parent != "" {
		line += " of " + i.Parent
	}
	_ = w.note(line)
	if w.fail {
		panic("x")
	}
	return nil
}
func (w watcher) Started(_ context.Context, i thread.Info) error  { return w.tell("started", i) }
func (w watcher) Resumed(_ context.Context, i thread.Info) error  { return w.tell("resumed", i) }
func (w watcher) Deleting(_ context.Context, i thread.Info) error { return w.tell("deleting", i) }

// keeper is a source of tools that wants to know what becomes of threads.
type keeper struct {
	tool.Source
	*diary
}

func (s keeper) ReleaseThread(_ context.Context, id string) error { return s.note("released " + id) }

func (s keeper) ForkThread(_ context.Context, from, to string) (bool, error) {
	return true, s.note("forked " + from + " " + to)
}

// POINT-5
func TestLifeOfAThread(t *testing.T) {
	d := &diary{}
	store := threadlog.Disk(t.TempDir())
	k := kerneltest.Start(t, kerneltest.Script(), fx.Decorate(func(threadlog.Store) threadlog.Store { return store }),
		kerneltest.Plugins(plugin("acme.p",
			contrib.Supply[thread.Observer](thread.Observers, watcher{d, "bad", true}),
			contrib.Supply[thread.Observer](thread.Observers, watcher{d, "good", false}),
			contrib.Supply[tool.Source](tool.Sources, keeper{tool.SourceFunc("k", func(context.Context, tool.Planning) ([]tool.Registration, error) { return nil, nil }), d}),
		)))
	t1 := k.NewThread(kernel.Options{})
	scoped, err := thread.Observers.Add(k.Registry().Builtin(), watcher{d, "scoped", false}, contrib.InThread(contrib.ThreadID(t1.ID())))
	require.NoError(t, err)
	k.RunOn(t.Context(), t1, kernel.Input{Text: "1"})
	require.NoError(t, t1.Close(t.Context()))
	t1, err = k.Open(t.Context(), t1.ID(), kernel.Options{})
	require.NoError(t, err)
	t2, err := k.Fork(t.Context(), t1.ID(), "")
	require.NoError(t, err)
	require.NoError(t, k.Delete(t.Context(), t1.ID()))
	one := t1.ID()
	assert.Equal(t, []string{
		"bad started " + one, "good started " + one,
		"bad resumed " + one, "good resumed " + one, "scoped resumed " + one,
		"bad started " + t2 + " of " + one, "good started " + t2 + " of " + one, "forked " + one + " " + t2,
		"bad deleting " + one, "good deleting " + one, "scoped deleting " + one, "released " + one,
	}, d.all())
	assert.False(t, scoped.Live())
	_, err = k.Open(t.Context(), one, kernel.Options{})
	require.ErrorIs(t, err, threadlog.ErrNotFound)
	require.ErrorIs(t, k.Delete(t.Context(), one), threadlog.ErrNotFound)

	opened, err := k.Open(t.Context(), t2, kernel.Options{})
	require.NoError(t, err)
	assert.Equal(t, "good resumed "+t2+" of "+one, d.all()[len(d.all())-1])
	assert.Equal(t, kernel.Completed, k.RunOn(t.Context(), opened, kernel.Input{Text: "2"}).Result.Stop)
	assert.Equal(t, []string{"user: 1", "assistant: ok", "user: 2"}, texts(last(k).Items))
}

// lifecycle observes turns.
type lifecycle struct {
	*diary
	onStart func()
}

func (l lifecycle) TurnStarted(_ context.Context, i thread.Turn) error {
	if l.onStart != nil {
		l.onStart()
	}
	return l.note("start " + i.ID)
}

func (l lifecycle) TurnEnded(_ context.Context, i thread.Turn, s thread.Status, cause error) error {
	line := "end " + i.ID + " " + string(s)
	if cause != nil {
		line += " " + cause.Error()
	}
	return l.note(line)
}

// Start and end of a turn come in pairs, whatever ends it.
func TestTurnObserversAreToldInPairs(t *testing.T) {
	d := &diary{}
	ctx, cancel := context.WithCancel(t.Context())
	k := kerneltest.Start(t, kerneltest.Script(say("1"), kerneltest.Step{Err: errors.New("no")},
		kerneltest.Step{Before: func(context.Context, *model.Request) error { cancel(); return nil }}),
		contrib.Supply[thread.TurnObserver](thread.TurnObservers, lifecycle{diary: d}))
	k.Run("1")
	k.Run("2")
	k.RunInput(ctx, kernel.Input{Text: "3"})
	assert.Equal(t, []string{
		"start t1", "end t1 completed", "start t2", "end t2 failed failed", "start t3", "end t3 cancelled interrupted",
	}, d.all())
}

func TestObserverThatWasNotToldOfTheStartIsNotToldOfTheEnd(t *testing.T) {
	d := &diary{}
	ctx, cancel := context.WithCancel(t.Context())
	late := lifecycle{diary: d}
	k := kerneltest.Start(t, kerneltest.Script(),
		contrib.Supply[thread.TurnObserver](thread.TurnObservers, lifecycle{diary: &diary{}, onStart: cancel}),
		contrib.Supply[thread.TurnObserver](thread.TurnObservers, late))
	assert.Equal(t, kernel.Interrupted, k.RunInput(ctx, kernel.Input{Text: "1"}).Result.Stop)
	assert.Empty(t, d.all())
}

// What an observer adds when the turn becomes active is part of the turn.
func TestToolsThatAnObserverAddsArePlanned(t *testing.T) {
	var k *kerneltest.Kernel
	var handle *contrib.Handle
	k = kerneltest.Start(t, kerneltest.Script(), contrib.Supply[thread.TurnObserver](thread.TurnObservers, lifecycle{diary: &diary{}, onStart: func() {
		if handle == nil {
			var err error
			handle, err = tool.Sources.Add(k.Registry().Builtin(), tool.Fixed("late", reading("late", answering("x"))))
			assert.NoError(t, err)
		}
	}}))
	k.Run("1")
	assert.Equal(t, []string{"late"}, toolNames(last(k)))
}

// FIELD-G5
func TestResumedThreadIsTheSameThread(t *testing.T) {
	store := threadlog.Disk(t.TempDir())
	k := kerneltest.Start(t, kerneltest.Script(calls("read", `{"path":"a"}`, "read", `{"path":"b"}`, "read", `{"path":"none"}`), say("done")),
		kerneltest.Tools(abc().tool()), fx.Decorate(func(threadlog.Store) threadlog.Store { return store }))
	th := mustCreate(t, k)
	k.RunOn(t.Context(), th, kernel.Input{Text: "go"})
	before, err := json.Marshal(th.Log().Items())
	require.NoError(t, err)
	require.NoError(t, th.Close(t.Context()))
	th, err = k.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	after, err := json.Marshal(th.Log().Items())
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "next"})
	assert.Equal(t, "t2", turn.Result.Turn)
	sent, err := json.Marshal(last(k).Items[:len(last(k).Items)-1])
	require.NoError(t, err)
	assert.Equal(t, string(before), string(sent))
}

// FIELD-S1, FIELD-H12: a process that was killed in the middle of a batch.
func TestCallWithoutAResultIsClosedWhenItIsResumed(t *testing.T) {
	home := t.TempDir()
	store := threadlog.Disk(home)
	log, err := store.Create(t.Context(), threadlog.Header{Mode: kernel.ModeWork})
	require.NoError(t, err)
	for _, r := range []threadlog.Record{
		&threadlog.Turn{Turn: "t1", Item: &model.Item{Kind: model.Message, Role: model.User, Text: "go"}},
		&threadlog.Round{Turn: "t1", Round: 1, Items: []*model.Item{
			{Kind: model.ToolCall, CallID: "a", Name: "read", Arguments: `{"path":"a"}`},
			{Kind: model.ToolCall, CallID: "b", Name: "read", Arguments: `{"path":"b"}`},
			{Kind: model.ToolCall, CallID: "c", Name: "read", Arguments: `{"path":"c"}`},
		}},
		&threadlog.Call{Turn: "t1", CallID: "a"},
		&threadlog.Result{Turn: "t1", CallID: "a", Item: &model.Item{Kind: model.ToolResult, CallID: "a", Text: "A", Status: model.Success}},
		&threadlog.Call{Turn: "t1", CallID: "b"},
	} {
		require.NoError(t, log.Append(r))
	}
	require.NoError(t, log.Close())
	path := filepath.Join(home, "threads", log.ID()+".jsonl")
	old, err := os.ReadFile(path)
	require.NoError(t, err)

	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Tools(f.tool()), fx.Decorate(func(threadlog.Store) threadlog.Store { return store }))
	th, err := k.Open(t.Context(), log.ID(), kernel.Options{})
	require.NoError(t, err)
	turn := k.RunOn(t.Context(), th, kernel.Input{Text: "go on"})
	require.NotEmpty(t, turn.Notes())
	assert.Equal(t, threadlog.ThreadRepaired, turn.Notes()[0].Code)
	got := results(last(k))
	require.Len(t, got, 3)
	assert.Equal(t, "A", got[0].Text)
	assert.Equal(t, model.Interrupted, got[1].Status)
	assert.Contains(t, got[1].Text, "had started and may have done")
	assert.Contains(t, got[2].Text, "before the tool had started")
	assert.Empty(t, f.seen(), "nothing is run again")
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(old), string(now[:len(old)]))
}

// FIELD-S4: a finished call is finished.
func TestFinishedCallIsNotRunAgain(t *testing.T) {
	store := threadlog.Disk(t.TempDir())
	with := fx.Decorate(func(threadlog.Store) threadlog.Store { return store })
	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a"}`),
		kerneltest.Step{Err: &model.Error{Code: model.CodeUnreachable}}, say("fine")), kerneltest.Tools(f.tool()), with)
	th := k.NewThread(kernel.Options{})
	assert.Equal(t, kernel.Failed, k.RunOn(t.Context(), th, kernel.Input{Text: "go"}).Result.Stop)
	require.NoError(t, th.Close(t.Context()))
	th, err := k.Open(t.Context(), th.ID(), kernel.Options{})
	require.NoError(t, err)
	k.RunOn(t.Context(), th, kernel.Input{Text: "go on"})
	assert.Equal(t, []string{"a"}, f.seen())
	require.Len(t, results(last(k)), 1)
	assert.Equal(t, "A", results(last(k))[0].Text)
}

// FIELD-S6, seen from the kernel
func TestEveryForkCanGoOn(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(calls("read", `{"path":"a"}`, "read", `{"path":"b"}`), say("1")), kerneltest.Tools(abc().tool()))
	k.Run("one")
	th := k.Thread()
	before := records(t, k, th)
	for _, it := range th.Log().Items() {
		child, err := k.Fork(t.Context(), th.ID(), it.ID)
		require.NoError(t, err, it.ID)
		opened, err := k.Open(t.Context(), child, kernel.Options{})
		require.NoError(t, err)
		k.RunOn(t.Context(), opened, kernel.Input{Text: "on"})
		open := map[string]int{}
		for _, it := range last(k).Items {
			switch it.Kind {
			case model.ToolCall:
				open[it.CallID]++
			case model.ToolResult:
				open[it.CallID]--
			}
		}
		for id, n := range open {
			assert.Zero(t, n, "call %s in the fork at %s", id, it.ID)
		}
	}
	assert.Equal(t, before, records(t, k, th), "the parent is not touched")
}

func TestThreadIsOpenOnce(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script())
	k.Run("1")
	_, err := k.Open(t.Context(), k.Thread().ID(), kernel.Options{})
	require.ErrorIs(t, err, threadlog.ErrInUse)
	_, err = k.Create(t.Context(), kernel.Options{Mode: "party"})
	require.ErrorIs(t, err, kernel.ErrMode)
	_, err = k.Create(t.Context(), kernel.Options{Approval: "never"})
	require.ErrorIs(t, err, kernel.ErrApproval)
	require.ErrorIs(t, k.Thread().SetApproval("never"), kernel.ErrApproval)
	require.NoError(t, k.Thread().SetApproval(""))
	assert.Equal(t, kernel.ApprovalDefault, k.Thread().Approval())
}

// A model that cannot be had leaves the thread as it was, its model too.
func TestModelThatCannotBeHadStartsNoTurn(t *testing.T) {
	k := kerneltest.Start(t, fx.Decorate(func(kernel.Models) kernel.Models {
		return kernel.ModelsFunc(func(_ context.Context, ref string) (model.ClientRequest, error) {
			return model.ClientRequest{Protocol: "nobody", Provider: "x", Model: ref}, nil
		})
	}))
	_, err := k.Thread().Run(t.Context(), kernel.Input{Text: "go", Model: "x/y"}, nil)
	require.ErrorIs(t, err, kernel.ErrNoProtocol)
	_, _, err = k.Threads().Read(t.Context(), k.Thread().ID())
	require.ErrorIs(t, err, threadlog.ErrNotFound)
}
