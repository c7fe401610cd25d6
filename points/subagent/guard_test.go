package subagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runtime is a source, its runtime and its sessions in one.
type runtime struct {
	kind     string
	profiles []subagent.Profile
	create   func(ctx context.Context, s subagent.Spec) (subagent.Session, error) // nil: itself
	run      func(ctx context.Context, in subagent.Input, emit func(subagent.Event) error) (*subagent.Outcome, error)
	told     []string
}

func (r *runtime) Runtime() subagent.Runtime    { return r }
func (r *runtime) Profiles() []subagent.Profile { return r.profiles }
func (r *runtime) Type() string                 { return r.kind }

func (r *runtime) Create(ctx context.Context, s subagent.Spec) (subagent.Session, error) {
	if r.create != nil {
		return r.create(ctx, s)
	}
	return r, nil
}

func (r *runtime) Run(ctx context.Context, in subagent.Input, emit func(subagent.Event) error) (*subagent.Outcome, error) {
	return r.run(ctx, in, emit)
}

func (r *runtime) Cancel(context.Context) error {
	r.told = append(r.told, "cancel")
	return nil
}

func (r *runtime) Close(context.Context) error {
	r.told = append(r.told, "close")
	return nil
}

// host is a registry with one plugin that contributes the runtimes.
func host(t *testing.T, runtimes ...subagent.Source) ([]subagent.Source, *generations.Generation, *contrib.Registry) {
	t.Helper()
	r, err := contrib.New(subagent.Runtimes)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	g, err := generations.Activate(context.Background(), generations.Config{
		Plugin: "acme.p", ID: "g1", Registry: r,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			for _, one := range runtimes {
				if _, err := subagent.Runtimes.Add(s.Registrar, one); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { <-g.Stop(contrib.StopShutdown).Done() })
	return subagent.Runtimes.In(r.View(), ""), g, r
}

// session makes a session of a runtime as the host sees it.
func session(t *testing.T, r *runtime) (subagent.Session, *generations.Generation) {
	t.Helper()
	sources, g, _ := host(t, r)
	s, err := sources[0].Runtime().Create(context.Background(), subagent.Spec{})
	require.NoError(t, err)
	return s, g
}

func silent(subagent.Event) error { return nil }

func TestProfilesAreReadOnce(t *testing.T) {
	r := &runtime{kind: "acme", profiles: []subagent.Profile{{Name: "p", Runtime: "other", Tools: []string{"read"}}}}
	sources, _, _ := host(t, r)
	r.kind, r.profiles[0].Name, r.profiles[0].Tools[0] = "changed", "changed", "changed"
	want := []subagent.Profile{{Name: "p", Runtime: "acme", Tools: []string{"read"}}}
	assert.Equal(t, want, sources[0].Profiles())
	assert.Equal(t, "acme", sources[0].Runtime().Type())
	sources[0].Profiles()[0].Name = "changed"
	assert.Equal(t, want, sources[0].Profiles())
}

func TestWhatCannotBeARuntime(t *testing.T) {
	_, _, reg := host(t)
	with := func(p subagent.Profile) *runtime { return &runtime{kind: "acme", profiles: []subagent.Profile{p}} }
	for name, r := range map[string]*runtime{
		"a type in capitals":    {kind: "Acme"},
		"a type without a name": {},
		"a profile with a dot":  with(subagent.Profile{Name: "a.b"}),
		"a profile of no name":  with(subagent.Profile{}),
		"a long name":           with(subagent.Profile{Name: strings.Repeat("p", 65)}),
		"a long description":    with(subagent.Profile{Name: "p", Description: strings.Repeat("d", subagent.MaxDescription+1)}),
		"a long prompt":         with(subagent.Profile{Name: "p", Prompt: strings.Repeat("d", subagent.MaxPrompt+1)}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := subagent.Runtimes.Add(reg.Builtin(), r)
			assert.ErrorIs(t, err, contrib.ErrInvalidContribution)
		})
	}
}

func TestSessionsAreGivenCopies(t *testing.T) {
	spec := subagent.Spec{Thread: "t", Profile: subagent.Profile{Tools: []string{"read"}}}
	result := tool.Text("seen")
	result.Meta = json.RawMessage(`{"host":1}`)
	var outcome *subagent.Outcome
	r := &runtime{kind: "acme"}
	r.create = func(_ context.Context, s subagent.Spec) (subagent.Session, error) {
		s.Profile.Tools[0] = "spoiled"
		return r, nil
	}
	r.run = func(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
		arguments := json.RawMessage(`{}`)
		got, err := in.Call(ctx, "look", arguments)
		arguments[0] = 'X'
		assert.Nil(t, got.Meta)
		got.Content[0].Text = "spoiled"
		outcome = &subagent.Outcome{Text: "done", Failed: true}
		return outcome, err
	}
	sources, _, _ := host(t, r)
	s, err := sources[0].Runtime().Create(context.Background(), spec)
	require.NoError(t, err)
	var given json.RawMessage
	out, err := s.Run(context.Background(), subagent.Input{Call: func(_ context.Context, _ string, a json.RawMessage) (tool.Result, error) {
		given = a
		return result, nil
	}}, silent)
	require.NoError(t, err)
	outcome.Text = "later"
	assert.Equal(t, &subagent.Outcome{Text: "done", Failed: true}, out)
	assert.Equal(t, []string{"read"}, spec.Profile.Tools)
	assert.JSONEq(t, `{}`, string(given))
	assert.Equal(t, "seen", result.Content[0].Text)
}

func TestARunHasNoDeadline(t *testing.T) {
	r := &runtime{kind: "acme"}
	bounded := func(ctx context.Context) bool {
		_, ok := ctx.Deadline()
		return ok
	}
	r.create = func(ctx context.Context, _ subagent.Spec) (subagent.Session, error) {
		assert.True(t, bounded(ctx), "the runtime has to answer")
		return r, nil
	}
	r.run = func(ctx context.Context, _ subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
		assert.False(t, bounded(ctx), "its work may take what it takes")
		return nil, nil
	}
	s, _ := session(t, r)
	out, err := s.Run(context.Background(), subagent.Input{}, silent)
	require.NoError(t, err)
	assert.Nil(t, out)
}

func TestEventsAreBoundedAndEndWithTheRun(t *testing.T) {
	var emit func(subagent.Event) error
	var call func(context.Context, string, json.RawMessage) (tool.Result, error)
	r := &runtime{kind: "acme"}
	r.run = func(_ context.Context, in subagent.Input, e func(subagent.Event) error) (*subagent.Outcome, error) {
		emit, call = e, in.Call
		for _, text := range []string{"short", strings.Repeat("é", subagent.MaxEvent), "x" + strings.Repeat("é", subagent.MaxEvent)} {
			if err := emit(subagent.Event{Text: text}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	s, _ := session(t, r)
	var shown []string
	_, err := s.Run(context.Background(), subagent.Input{Call: func(context.Context, string, json.RawMessage) (tool.Result, error) {
		return tool.Text("ran"), nil
	}}, func(e subagent.Event) error {
		shown = append(shown, e.Text)
		return nil
	})
	require.NoError(t, err)
	require.Len(t, shown, 3)
	assert.Equal(t, "short", shown[0])
	assert.Len(t, shown[1], subagent.MaxEvent)
	assert.Len(t, shown[2], subagent.MaxEvent-1, "a character is not cut in two")
	assert.True(t, utf8.ValidString(shown[2]))
	require.ErrorIs(t, emit(subagent.Event{Text: "late"}), tool.ErrEnded)
	_, err = call(context.Background(), "look", nil)
	require.ErrorIs(t, err, tool.ErrEnded)
	assert.Len(t, shown, 3)
}

// POINT-9: what another plugin may get hold of is a token.
func TestTheSessionOfAnotherRuntimeIsRefused(t *testing.T) {
	mine := &runtime{kind: "acme"}
	theirs := &runtime{kind: "thief"}
	sources, _, _ := host(t, mine, theirs)
	token, err := sources[0].Runtime().Create(context.Background(), subagent.Spec{})
	require.NoError(t, err)
	theirs.create = func(context.Context, subagent.Spec) (subagent.Session, error) { return token, nil }
	s, err := sources[1].Runtime().Create(context.Background(), subagent.Spec{})
	var refused *contrib.CallError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, contrib.CauseRefused, refused.Cause)
	assert.Nil(t, s)
	assert.Empty(t, mine.told, "it is not touched")
}

func TestFailuresOfASessionAreFailuresOfItsEntry(t *testing.T) {
	for name, run := range map[string]func(context.Context, subagent.Input, func(subagent.Event) error) (*subagent.Outcome, error){
		"error": func(context.Context, subagent.Input, func(subagent.Event) error) (*subagent.Outcome, error) {
			return &subagent.Outcome{Text: "half"}, errors.New("secret")
		},
		"panic": func(context.Context, subagent.Input, func(subagent.Event) error) (*subagent.Outcome, error) {
			panic("secret")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := session(t, &runtime{kind: "acme", run: run})
			out, err := s.Run(context.Background(), subagent.Input{}, silent)
			var failure *contrib.CallError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, contrib.Cause(name), failure.Cause)
			assert.NotContains(t, err.Error(), "secret")
			assert.Nil(t, out)
		})
	}
}

func TestAnOpenSessionIsClosedOnce(t *testing.T) {
	r := &runtime{kind: "acme"}
	s, g := session(t, r)
	require.NoError(t, s.Cancel(context.Background()))
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, s.Close(context.Background()))
	<-g.Stop(contrib.StopOperator).Done()
	assert.Equal(t, []string{"cancel", "close"}, r.told)
	require.ErrorIs(t, s.Cancel(context.Background()), contrib.ErrUnavailable)

	r = &runtime{kind: "acme"}
	s, g = session(t, r)
	<-g.Stop(contrib.StopOperator).Done()
	assert.Equal(t, []string{"close"}, r.told, "the generation closes what nobody has closed")
	_, err := s.Run(context.Background(), subagent.Input{}, silent)
	require.ErrorIs(t, err, contrib.ErrUnavailable)
}

// A session whose plugin is switched off: its calls are refused, and its run has failed whatever it returns.
func TestARunEndsWithItsGeneration(t *testing.T) {
	began, calls := make(chan struct{}), 0
	r := &runtime{kind: "acme"}
	r.run = func(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
		close(began)
		<-ctx.Done()
		assert.ErrorIs(t, context.Cause(ctx), generations.ErrStopping)
		got, err := in.Call(context.Background(), "look", nil)
		assert.NoError(t, err)
		if assert.NotNil(t, got.Error) {
			assert.Equal(t, tool.CodeUnavailable, got.Error.Code)
			assert.Equal(t, tool.ReasonRevoked, got.Error.Params["reason"])
		}
		return &subagent.Outcome{Text: "all is well"}, nil
	}
	s, g := session(t, r)
	ended := make(chan error)
	go func() {
		_, err := s.Run(context.Background(), subagent.Input{Call: func(context.Context, string, json.RawMessage) (tool.Result, error) {
			calls++
			return tool.Text("ran"), nil
		}}, silent)
		ended <- err
	}()
	<-began
	stopped := g.Stop(contrib.StopOperator)
	require.ErrorIs(t, <-ended, contrib.ErrUnavailable)
	<-stopped.Done()
	assert.Zero(t, calls)
}

// A call that runs while the plugin is switched off is lost to the session.
func TestACallThatRunsMeanwhileIsLost(t *testing.T) {
	r := &runtime{kind: "acme"}
	r.run = func(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
		got, err := in.Call(ctx, "look", nil)
		if assert.NoError(t, err) && assert.NotNil(t, got.Error) {
			assert.Equal(t, tool.CodeUnavailable, got.Error.Code)
		}
		return nil, nil
	}
	s, g := session(t, r)
	_, err := s.Run(context.Background(), subagent.Input{Call: func(context.Context, string, json.RawMessage) (tool.Result, error) {
		td := g.Stop(contrib.StopOperator)
		select {
		case <-td.Done():
			t.Error("the session is still inside")
		default:
		}
		return tool.Text("ran"), nil
	}}, silent)
	require.ErrorIs(t, err, contrib.ErrUnavailable)
}
