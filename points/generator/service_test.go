package generator_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/generator"
)

func titled(title string) generator.CommitMessageGenerator {
	return generator.CommitMessageFunc(func(context.Context, generator.CommitRequest) (*generator.CommitMessage, error) {
		return &generator.CommitMessage{Title: title}, nil
	})
}

func newRegistry(t *testing.T) *contrib.Registry {
	t.Helper()
	r, err := contrib.New(generator.CommitMessages, generator.Welcomes)
	require.NoError(t, err)
	return r
}

func TestHolderSeesLaterReplacements(t *testing.T) {
	r := newRegistry(t)
	held := generator.CurrentCommitMessage(r)
	ask := func() string {
		m, err := held.Suggest(t.Context(), generator.CommitRequest{Diff: "x"})
		require.NoError(t, err)
		require.NotNil(t, m)
		return m.Title
	}
	assert.Empty(t, ask(), "nobody is an empty suggestion")
	_, err := generator.CommitMessages.Add(r.Builtin(), titled("built-in"), contrib.Named(generator.CommitMessageTarget), contrib.Order(100))
	require.NoError(t, err)
	assert.Equal(t, "built-in", ask())
	other, err := r.Builtin().Module("acme")
	require.NoError(t, err)
	h, err := generator.CommitMessages.Add(other, titled("other"), contrib.ReplaceTarget(generator.CommitMessageTarget))
	require.NoError(t, err)
	assert.Equal(t, "other", ask())
	h.Revoke()
	assert.Equal(t, "built-in", ask())
}

// The generation may stop between the look and the call.
func TestWithdrawnGeneratorLeavesTheAnswerToTheNext(t *testing.T) {
	r := newRegistry(t)
	_, err := generator.CommitMessages.Add(r.Builtin(), titled("built-in"), contrib.Named(generator.CommitMessageTarget), contrib.Order(100))
	require.NoError(t, err)
	other, err := r.Builtin().Module("acme")
	require.NoError(t, err)
	var h *contrib.Handle
	h, err = generator.CommitMessages.Add(other, generator.CommitMessageFunc(
		func(context.Context, generator.CommitRequest) (*generator.CommitMessage, error) {
			h.Revoke()
			return nil, contrib.ErrUnavailable
		}), contrib.ReplaceTarget(generator.CommitMessageTarget))
	require.NoError(t, err)
	m, err := generator.CurrentCommitMessage(r).Suggest(t.Context(), generator.CommitRequest{})
	require.NoError(t, err)
	assert.Equal(t, "built-in", m.Title)
	h, err = generator.CommitMessages.Add(other, generator.CommitMessageFunc(
		func(context.Context, generator.CommitRequest) (*generator.CommitMessage, error) {
			return nil, contrib.ErrUnavailable
		},
	), contrib.ReplaceTarget(generator.CommitMessageTarget))
	require.NoError(t, err)
	defer h.Revoke()
	m, err = generator.CurrentCommitMessage(r).Suggest(t.Context(), generator.CommitRequest{})
	require.NoError(t, err)
	assert.Equal(t, &generator.CommitMessage{}, m, "one that stays unavailable is no answer")
}

func TestMessagesAreWithinTheirLimits(t *testing.T) {
	r := newRegistry(t)
	give := generator.CommitMessage{Title: "Fix\x1b the\nbug", Body: "a\x00b\tc\n" + strings.Repeat("é", generator.MaxCommitMessage)}
	_, err := generator.CommitMessages.Add(r.Builtin(), generator.CommitMessageFunc(
		func(context.Context, generator.CommitRequest) (*generator.CommitMessage, error) { return &give, nil },
	), contrib.Named(generator.CommitMessageTarget), contrib.Order(100))
	require.NoError(t, err)
	m, err := generator.CurrentCommitMessage(r).Suggest(t.Context(), generator.CommitRequest{})
	require.NoError(t, err)
	assert.Equal(t, "Fix the bug", m.Title)
	assert.True(t, strings.HasPrefix(m.Body, "ab\tc\né"))
	assert.InDelta(t, generator.MaxCommitMessage, len(m.Title)+len(m.Body), 1)
}

// welcome is a generator of a test.
type welcome struct {
	list  []generator.Suggestion
	calls []string
	err   error
}

func (w *welcome) Suggest(_ context.Context, r generator.WelcomeRequest) ([]generator.Suggestion, error) {
	w.calls = append(w.calls, "suggest "+r.Workspace)
	return w.list, w.err
}

func (w *welcome) Schedule(_ context.Context, workspace string) error {
	w.calls = append(w.calls, "schedule "+workspace)
	return w.err
}

func (w *welcome) Clear(_ context.Context, workspace string) error {
	w.calls = append(w.calls, "clear "+workspace)
	panic("no")
}

func TestReplacementOfAWelcomeTakesAllMethods(t *testing.T) {
	r := newRegistry(t)
	held := generator.CurrentWelcome(r)
	require.NoError(t, held.Schedule(t.Context(), "/ws"))
	builtin, other := &welcome{}, &welcome{list: []generator.Suggestion{{Text: "\t a\nb "}, {Text: " \x00"}, {Text: strings.Repeat("é", 300)}}}
	for range 20 {
		other.list = append(other.list, generator.Suggestion{Text: "more"})
	}
	_, err := generator.Welcomes.Add(r.Builtin(), builtin, contrib.Named(generator.WelcomeTarget), contrib.Order(100))
	require.NoError(t, err)
	module, err := r.Builtin().Module("acme")
	require.NoError(t, err)
	_, err = generator.Welcomes.Add(module, other, contrib.ReplaceTarget(generator.WelcomeTarget))
	require.NoError(t, err)

	list, err := held.Suggest(t.Context(), generator.WelcomeRequest{Workspace: "/ws"})
	require.NoError(t, err)
	require.Len(t, list, generator.MaxSuggestions)
	assert.Equal(t, "a b", list[0].Text)
	assert.Equal(t, strings.Repeat("é", 256), list[1].Text)
	other.err = errors.New("no")
	require.ErrorIs(t, held.Schedule(t.Context(), "/ws"), other.err)
	var failure *contrib.CallError
	require.ErrorAs(t, held.Clear(t.Context(), "/ws"), &failure)
	assert.Equal(t, contrib.CausePanic, failure.Cause)
	assert.Equal(t, []string{"suggest /ws", "schedule /ws", "clear /ws"}, other.calls)
	assert.Empty(t, builtin.calls)
}
