package modelaccess_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/hook"
	hostpoint "github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/thread"
)

func TestFactsAreThoseOfTheOpenSession(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	facts := all[0].Facts
	assert.Zero(t, facts.Session(t.Context()), "no thread is open")
	assert.Zero(t, facts.Review())
	half := 0.5
	want := model.Description{
		Provider: "acme", Protocol: "lab", Model: "sees-large", ContextWindow: 1000, MaxTokens: 100, Temperature: &half,
		ImageInput: true, AudioInput: true, Gear: "default",
	}
	th := h.open("sees-large")
	got := facts.Session(t.Context())
	assert.Equal(t, want, got)
	*got.Temperature = 2
	assert.Equal(t, want, facts.Session(t.Context()), "what a reader does to its copy is its own affair")
	th.SetModel("small")
	assert.Equal(t, "small", facts.Session(t.Context()).Model)
	h.open("other")
	assert.Equal(t, "other", facts.Session(t.Context()).Model, "the thread that was opened last is the active one")
	require.NoError(t, th.Close(t.Context()))
	assert.Equal(t, "other", facts.Session(t.Context()).Model)
	require.NoError(t, h.access.Started(t.Context(), thread.Info{ID: "child", Agent: "explore"}))
	assert.Equal(t, "other", facts.Session(t.Context()).Model, "a subagent has no session of its own")
}

// observer is told of threads.
type observer func(ctx context.Context)

func (o observer) Started(ctx context.Context, _ thread.Info) error {
	o(ctx)
	return nil
}
func (o observer) Resumed(context.Context, thread.Info) error  { return nil }
func (o observer) Deleting(context.Context, thread.Info) error { return nil }

func TestFactsAreThereForEveryObserverOfAThread(t *testing.T) {
	var all []given
	var seen string
	h := start(t, asker(&all, contrib.Supply(thread.Observers, thread.Observer(observer(func(ctx context.Context) {
		seen = all[0].Facts.Session(ctx).Model
	})), contrib.Order(-100))))
	h.open("large")
	assert.Equal(t, "large", seen)
}

func TestFactsAreEmptyWhenTheSessionIsOver(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	th := h.open("large")
	require.NoError(t, th.Close(t.Context()))
	assert.Zero(t, all[0].Facts.Session(t.Context()))
}

// HOST-27
func TestGearIsReadFresh(t *testing.T) {
	var all []given
	attached := 0
	h := start(t, asker(&all, contrib.Supply(hostpoint.Attachments, hostpoint.AttachedFunc(
		func(context.Context, hostpoint.Environment) error { attached++; return nil }))))
	th := h.open("large")
	th.SetGear("low")
	assert.Equal(t, "low", all[0].Facts.Session(t.Context()).Gear)
	th.SetGear("HIGH")
	assert.Equal(t, "high", all[0].Facts.Session(t.Context()).Gear)
	assert.Zero(t, attached)
	assert.Len(t, all, 1)
}

// A hook of a turn reads the facts of the turn's thread, whatever the active thread is; the hooks of a session's start read
// those of the session.
func TestContextOfATurnMeansItsThread(t *testing.T) {
	var all []given
	var seen []string
	look := func(ctx context.Context, where string) {
		seen = append(seen, where+" "+all[0].Facts.Session(ctx).Model)
	}
	h := start(t, asker(&all,
		contrib.Supply(hook.UserMessages, hook.UserMessageFunc(
			func(ctx context.Context, _ hook.Scope, _ string) (string, bool, error) {
				look(ctx, "turn")
				return "", false, nil
			})),
		contrib.Supply(hook.Sessions, hook.SessionObserver(session{look})),
	))
	a := h.open("a")
	h.open("b")
	h.RunOn(t.Context(), a, kernel.Input{Text: "go"})
	assert.Equal(t, []string{"start a", "start b", "turn a"}, seen)
}

type session struct {
	look func(ctx context.Context, where string)
}

func (s session) SessionStarted(ctx context.Context, _ hook.Session) error {
	s.look(ctx, "start")
	return nil
}

func (s session) SessionEnded(context.Context, hook.Session) error { return nil }

// HOST-25 as the access sees it: what is saved shows while reviews are independent, and only then.
func TestReviewFactsShowWhileReviewIsIndependent(t *testing.T) {
	var all []given
	h := start(t, asker(&all))
	facts := all[0].Facts
	h.reviewBy(&modelaccess.Review{Request: request("judge"), Gear: "High"})
	r := facts.Review()
	assert.True(t, r.Independent)
	assert.Equal(t, "judge", r.Model.Model)
	assert.Equal(t, "high", r.Model.Gear)
	assert.True(t, all[0].Clients.IndependentReview())
	h.reviewBy(nil)
	assert.Zero(t, facts.Review())
	assert.False(t, all[0].Clients.IndependentReview())
	h.asked = errors.New("no such provider")
	assert.Zero(t, facts.Review())
	assert.Empty(t, h.lab.log(), "facts make no client")
}

func TestHostWithoutReviewModel(t *testing.T) {
	a := modelaccess.New(start(t).Kernel.Kernel, modelaccess.Config{})
	assert.Zero(t, a.Facts().Review())
}

// A module of the host may ask for the facts too.
func TestFactsOfAModule(t *testing.T) {
	var facts model.Facts
	p := plugins.Plugin{ID: "acme.m", Version: "1.0.0", Module: fx.Invoke(func(f model.Facts) { facts = f })}
	h := startWith(t, p.AsModule())
	h.open("large")
	assert.Equal(t, "large", facts.Session(t.Context()).Model)
}
