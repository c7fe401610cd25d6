package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contained contributes a value as a plugin and returns the guard that the host sees.
func contained[T any](t *testing.T, p *contrib.Point[T], value T) (guard contrib.Entry[T], g *generations.Generation) {
	t.Helper()
	r, err := contrib.New(p)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	g, err = generations.Activate(context.Background(), generations.Config{
		Plugin: "acme.p", ID: "g1", Registry: r,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			_, err := p.Add(s.Registrar, value)
			return nil, err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { <-g.Stop(contrib.StopShutdown).Done() })
	entries := p.Entries(r.View(), "")
	require.Len(t, entries, 1)
	return entries[0], g
}

func definition() tool.Definition {
	return tool.Definition{
		ID: "t", Namespace: "ns", Name: "t", Description: "Does t.", NamespaceDescription: "Things.", InputSchema: json.RawMessage(`{}`),
		OutputSchema: json.RawMessage(`{}`), Hints: &tool.Hints{ReadOnly: true}, Catalogs: tool.CatalogBoth, Audiences: tool.AudienceApp,
		Exposure: tool.DeferredTool, Deferred: &tool.Deferred{SearchText: "t", Namespace: "ns"}, Annotations: json.RawMessage(`{}`),
		Presentation: json.RawMessage(`{}`),
	}
}

// TOOL-6, TOOL-7: the host takes definitions over as copies, and puts a proxy in place of each binding.
func TestGuardOfASourceTakesDefinitionsOver(t *testing.T) {
	list := []tool.Registration{{
		Definition: definition(),
		Binding: tool.Binding{Timeout: time.Second, ID: "mine", Unavailable: true, Runtime: tool.RuntimeFunc(
			func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text("x"), nil })},
	}, {Definition: tool.Definition{ID: "none"}, Binding: tool.Binding{Runtime: (*nowhere)(nil), Timeout: tool.Unlimited}}}
	e, _ := contained(t, tool.Sources, tool.SourceFunc("s", func(context.Context, tool.Planning) ([]tool.Registration, error) { return list, nil }))
	assert.Equal(t, tool.SourceMeta{ID: "s"}, e.Meta)
	assert.Equal(t, "s", e.Value.SourceID())
	got, err := e.Value.Tools(context.Background(), tool.Planning{Revision: 4})
	require.NoError(t, err)
	require.Len(t, got, 2)
	want := definition()
	want.Key = tool.Key{Kind: tool.OwnerPlugin, Owner: "acme.p", ID: "t"}
	want.PolicyScope, want.Authority = tool.ScopeProfile, "plugins:acme.p:g1"
	for _, raw := range []json.RawMessage{list[0].Definition.InputSchema, list[0].Definition.OutputSchema, list[0].Definition.Annotations, list[0].Definition.Presentation} {
		raw[0] = 'X'
	}
	list[0].Definition.Hints.ReadOnly, list[0].Definition.Deferred.SearchText = false, "changed"
	assert.Equal(t, want, got[0].Definition)
	b := got[0].Binding
	assert.Equal(t, "plugins:acme.p:g1:t:4", b.ID)
	assert.Equal(t, time.Second, b.Timeout)
	assert.True(t, b.Unavailable)
	assert.NotNil(t, b.Lease)
	assert.Nil(t, got[1].Binding.Runtime, "a nil pointer is no runtime")
	assert.Zero(t, got[1].Binding.Timeout)
}

type nowhere struct{}

func (*nowhere) Invoke(context.Context, tool.Invocation) (tool.Result, error) {
	return tool.Result{}, nil
}

func TestSourceIDsAreCheckedAtTheAdd(t *testing.T) {
	r, err := contrib.New(tool.Sources)
	require.NoError(t, err)
	defer r.Close()
	for _, id := range []string{"", " ", strings.Repeat("x", 129), "a\nb"} {
		_, err := tool.Sources.Add(r.Builtin(), tool.Fixed(id))
		assert.ErrorIs(t, err, contrib.ErrInvalidContribution, "%q", id)
	}
}

// TOOL-7: arguments and results are copies on both sides, in calls of the tool to the host as well.
func TestGuardOfASourceCopiesBothWays(t *testing.T) {
	kept := tool.Result{Failed: true, Meta: json.RawMessage(`{}`), Error: &tool.Error{Code: "c", Message: "m", Params: map[string]any{"a": []int{1}}}}
	var inner tool.Result
	e, _ := contained(t, tool.Sources, tool.Source(tool.Fixed("s", tool.Registration{
		Definition: definition(),
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
			arguments := json.RawMessage(`{"own":1}`)
			inner, _ = i.Call(ctx, "other", arguments)
			arguments[0], i.Arguments[0], i.Approved.Paths[0] = 'X', 'X', "changed"
			return kept, nil
		})},
	})))
	assert.True(t, e.Meta.(tool.SourceMeta).Fixed)
	got, err := e.Value.Tools(context.Background(), tool.Planning{})
	require.NoError(t, err)
	in := tool.Invocation{Arguments: json.RawMessage(`{}`), Approved: tool.Classification{Paths: []string{"p"}}}
	var called json.RawMessage
	mine := tool.Result{Content: []tool.Block{{Text: "x"}}, Meta: json.RawMessage(`{"secret":1}`)}
	in.Call = func(_ context.Context, _ string, arguments json.RawMessage) (tool.Result, error) {
		called = arguments
		return mine, nil
	}
	out, err := got[0].Binding.Runtime.Invoke(context.Background(), in)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(in.Arguments))
	assert.Equal(t, []string{"p"}, in.Approved.Paths)
	assert.Equal(t, `{"own":1}`, string(called))
	assert.Empty(t, inner.Meta)
	inner.Content[0].Text = "changed"
	assert.Equal(t, "x", mine.Content[0].Text)
	kept.Error.Params["a"] = 2
	assert.Equal(t, map[string]any{"a": []any{1.0}}, out.Error.Params)
	assert.Empty(t, out.Meta)
}

func TestGuardOfARestriction(t *testing.T) {
	text := "new"
	edit := &tool.Edit{Description: &text, InputSchema: json.RawMessage(`{}`), Exposure: tool.Hidden, Mask: true}
	e, g := contained(t, tool.Restrictions, tool.RestrictionFunc(
		func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
			d.InputSchema[0], d.Hints.ReadOnly = 'X', false
			return edit, nil
		}))
	d := definition()
	got, err := e.Value.Restrict(context.Background(), d, d.Exposure, tool.Planning{})
	require.NoError(t, err)
	assert.Equal(t, definition(), d)
	text, edit.InputSchema[0] = "changed", 'X'
	assert.Equal(t, "new", *got.Description)
	assert.Equal(t, `{}`, string(got.InputSchema))
	assert.True(t, got.Mask)
	edit = nil
	got, err = e.Value.Restrict(context.Background(), d, d.Exposure, tool.Planning{})
	require.NoError(t, err)
	assert.Nil(t, got)
	<-g.Stop(contrib.StopOperator).Done()
	_, err = e.Value.Restrict(context.Background(), d, d.Exposure, tool.Planning{})
	assert.ErrorIs(t, err, contrib.ErrUnavailable)
}

func TestGuardOfAClassifier(t *testing.T) {
	answer := tool.Classification{Risk: tool.Write, Authority: tool.Network, Summary: "s", Paths: []string{"/x"}, Fingerprint: "f", Always: true}
	var fail error
	e, _ := contained(t, tool.Classifiers, tool.ClassifierFunc(func(_ context.Context, c tool.Call, _ string) (tool.Classification, bool, error) {
		c.Arguments[0] = 'X'
		return answer, true, fail
	}))
	c := tool.Call{Arguments: json.RawMessage(`{}`)}
	k, ok, err := e.Value.Classify(context.Background(), c, "/work")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, tool.Classification{Risk: tool.Write, Authority: tool.Network, Summary: "s"}, k)
	assert.Equal(t, `{}`, string(c.Arguments))
	answer.Authority = 9
	_, ok, err = e.Value.Classify(context.Background(), c, "/work")
	var refused *contrib.CallError
	require.ErrorAs(t, err, &refused)
	assert.False(t, ok)
	assert.Equal(t, contrib.CauseRefused, refused.Cause)
	fail = errors.New("secret")
	_, _, err = e.Value.Classify(context.Background(), c, "/work")
	assert.NotContains(t, err.Error(), "secret")
}

func TestTakeOverKeepsWhatIsNoJSONRecognisable(t *testing.T) {
	r := tool.TakeOver(tool.Result{Failed: true, Error: &tool.Error{Code: "c", Message: "m", Params: map[string]any{"f": math.Inf(1)}}})
	_, err := json.Marshal(r.Error.Params)
	assert.Error(t, err)
	_, ok := tool.PlainParams(map[string]any{"f": func() {}})
	assert.False(t, ok)
}

func TestValidCode(t *testing.T) {
	for _, code := range []string{"acme_quota", "E-1", strings.Repeat("x", 64)} {
		assert.True(t, tool.ValidCode(code), code)
	}
	for _, code := range []string{"", "two words", "é", "a\n", strings.Repeat("x", 65)} {
		assert.False(t, tool.ValidCode(code), code)
	}
}

func TestCombineTakesTheWorse(t *testing.T) {
	a := tool.Classification{Risk: tool.Write, Authority: tool.Network, Summary: "a"}
	b := tool.Classification{Risk: tool.Privileged, Authority: tool.Workspace, Summary: "b", RequirePrompt: true}
	want := tool.Classification{Risk: tool.Privileged, Authority: tool.Network, Summary: "b", RequirePrompt: true}
	assert.Equal(t, want, a.Combine(b))
	assert.Equal(t, want, b.Combine(a))
}
