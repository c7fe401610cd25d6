package compaction_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var serial atomic.Int64

// activate makes a plugin contribute, and returns the registry and the generation.
func activate(t *testing.T, contribute func(r *contrib.Registrar) error) (*contrib.Registry, *generations.Generation) {
	t.Helper()
	registry, err := contrib.New(compaction.Summarizers, compaction.ToolPolicies)
	require.NoError(t, err)
	g, err := generations.Activate(t.Context(), generations.Config{
		Plugin: "acme", ID: fmt.Sprint("g", serial.Add(1)), Registry: registry,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			return nil, contribute(s.Registrar)
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { <-g.Stop(contrib.StopOperator).Done() })
	return registry, g
}

// summariser is the guard of a plugin's summariser.
func summariser(t *testing.T, f func(context.Context, compaction.Request) (*compaction.Summary, error)) (compaction.Summarizer, *generations.Generation) {
	t.Helper()
	registry, g := activate(t, func(r *contrib.Registrar) error {
		_, err := compaction.Summarizers.Add(r, compaction.SummarizerFunc(f), contrib.ReplaceTarget(compaction.LocalSummary))
		return err
	})
	list := compaction.Summarizers.In(registry.View(), "")
	require.Len(t, list, 1)
	return list[0], g
}

func request() compaction.Request {
	return compaction.Request{
		Scope: compaction.Partial, Prior: "before", Hint: "hint", Limit: 9,
		Todos: []compaction.Todo{{Content: "todo"}},
		Items: []*model.Item{
			{ID: "i1", Kind: model.Message, Role: model.User, Text: "hi", Images: []model.Image{{Number: 1, Data: []byte{1}}}},
			{ID: "i2", Kind: model.Reasoning, Segments: []model.Segment{{Text: "hm"}}, State: &model.State{Data: []byte{2}}},
			{Kind: model.Message, Role: model.System, Text: "of a hook"},
			{ID: "i3", Kind: model.Message, Role: model.Assistant, Text: "ho"},
		},
		Local: func(context.Context) (string, error) { return "local", nil },
	}
}

func TestASummariserGetsCopies(t *testing.T) {
	var late func(context.Context) (string, error)
	s, _ := summariser(t, func(ctx context.Context, r compaction.Request) (*compaction.Summary, error) {
		assert.Equal(t, "before hint 9 partial", fmt.Sprint(r.Prior, " ", r.Hint, " ", r.Limit, " ", r.Scope))
		assert.Nil(t, r.Items[1].State, "opaque state stays with the host")
		assert.Nil(t, r.Items[0].Images[0].Data)
		r.Items[0].Text = "changed"
		r.Items[0].Images[0].Number = 7
		r.Items[1].Segments[0].Text = "changed"
		r.Todos[0].Content = "changed"
		r.Items[3] = nil
		late = r.Local
		text, err := r.Local(ctx)
		return &compaction.Summary{Text: text + "\xff", Keep: []string{"i3"}}, err
	})
	r, untouched := request(), request()
	got, err := s.Summarize(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, &compaction.Summary{Text: "local\uFFFD", Keep: []string{"i3"}}, got)
	assert.Equal(t, untouched.Items, r.Items)
	assert.Equal(t, untouched.Todos, r.Todos)
	_, err = late(t.Context())
	require.ErrorIs(t, err, compaction.ErrOver, "what was given for one call refuses further use")
}

func TestASummaryHoldsOnlyIDsThatWereGiven(t *testing.T) {
	for _, c := range []struct {
		keep []string
		ok   bool
	}{
		{nil, true},
		{[]string{"i3"}, true},
		{[]string{"i9"}, false},
		{[]string{"i1"}, false},
		{[]string{"i2", "i3"}, false},
		{[]string{"", "i3"}, false},
		{[]string{"i3", "i3"}, false},
		{[]string{"i0", "i1", "i2", "", "i3"}, false},
	} {
		s, _ := summariser(t, func(context.Context, compaction.Request) (*compaction.Summary, error) {
			return &compaction.Summary{Text: "x", Keep: c.keep}, nil
		})
		_, err := s.Summarize(t.Context(), request())
		if c.ok {
			require.NoError(t, err, c.keep)
			continue
		}
		var refused *contrib.CallError
		require.ErrorAs(t, err, &refused, c.keep)
		assert.Equal(t, contrib.CauseRefused, refused.Cause)
	}
}

func TestFailuresOfASummariser(t *testing.T) {
	for name, f := range map[string]func(context.Context, compaction.Request) (*compaction.Summary, error){
		"error": func(context.Context, compaction.Request) (*compaction.Summary, error) {
			return nil, errors.New("private")
		},
		"panic": func(context.Context, compaction.Request) (*compaction.Summary, error) { panic("private") },
	} {
		s, _ := summariser(t, f)
		got, err := s.Summarize(t.Context(), request())
		assert.Nil(t, got, name)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "private", name)
	}
	s, _ := summariser(t, func(context.Context, compaction.Request) (*compaction.Summary, error) { return nil, nil })
	got, err := s.Summarize(t.Context(), request())
	require.NoError(t, err, "declining is no failure")
	assert.Nil(t, got)
}

func TestASummariserThatDoesNotListenDoesNotHoldTheTurn(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s, _ := summariser(t, func(context.Context, compaction.Request) (*compaction.Summary, error) {
		close(entered)
		<-leave
		return &compaction.Summary{Text: "late"}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Summarize(ctx, request())
		done <- err
	}()
	<-entered
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	close(leave)
}

func TestAStoppedSummariserIsUnavailable(t *testing.T) {
	s, g := summariser(t, func(context.Context, compaction.Request) (*compaction.Summary, error) {
		t.Error("called after its generation was stopped")
		return nil, nil
	})
	<-g.Stop(contrib.StopOperator).Done()
	_, err := s.Summarize(t.Context(), request())
	require.ErrorIs(t, err, contrib.ErrUnavailable)
}

type policy struct {
	name string
	ask  func(tool string) (bool, bool, error)
}

func (p *policy) Name() string { return p.name }

func (p *policy) Compactable(_ context.Context, tool string) (yes, known bool, err error) {
	return p.ask(tool)
}

func TestPolicyOfAPlugin(t *testing.T) {
	p := &policy{name: "mine", ask: func(tool string) (bool, bool, error) {
		switch tool {
		case "x":
			return true, true, nil
		case "odd":
			return true, false, nil
		case "bad":
			return true, true, errors.New("private")
		}
		return false, true, nil
	}}
	registry, g := activate(t, func(r *contrib.Registrar) error {
		_, err := compaction.ToolPolicies.Add(r, p)
		return err
	})
	guard := compaction.ToolPolicies.In(registry.View(), "")[0]
	p.name = "changed"
	assert.Equal(t, "mine", guard.Name(), "the name is read once")
	for tool, want := range map[string]string{
		"x": "true true <nil>", "read": "false true <nil>", "odd": "false false <nil>", "bad": "false false Plugin operation failed.",
	} {
		yes, known, err := guard.Compactable(t.Context(), tool)
		assert.Equal(t, want, fmt.Sprint(yes, " ", known, " ", err), tool)
	}
	<-g.Stop(contrib.StopOperator).Done()
	yes, known, err := guard.Compactable(t.Context(), "x")
	assert.Equal(t, "false false <nil>", fmt.Sprint(yes, " ", known, " ", err), "no opinion")
}

func TestNamesOfPolicies(t *testing.T) {
	for _, name := range []string{"", "a\nb", strings.Repeat("x", 65)} {
		_, g := activate(t, func(r *contrib.Registrar) error {
			_, err := compaction.ToolPolicies.Add(r, &policy{name: name})
			assert.ErrorIs(t, err, contrib.ErrInvalidContribution, "%q", name)
			return nil
		})
		assert.Len(t, g.Refused(), 1, "%q", name)
	}
}
