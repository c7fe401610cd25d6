package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/generations"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// contained contributes a value as a plugin and returns the guard that the host sees.
func contained[T any](t *testing.T, p *contrib.Point[T], value T, opts ...contrib.Option) (guard T, g *generations.Generation, r *contrib.Registry) {
	t.Helper()
	r, err := contrib.New(p)
	require.NoError(t, err)
	t.Cleanup(r.Close)
	g, err = generations.Activate(context.Background(), generations.Config{
		Plugin: "acme.p", ID: "g1", Registry: r,
		Build: func(_ context.Context, s *generations.Scope) (generations.App, error) {
			_, err := p.Add(s.Registrar, value, opts...)
			return nil, err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { <-g.Stop(contrib.StopShutdown).Done() })
	values := p.In(r.View(), "")
	require.Len(t, values, 1)
	return values[0], g, r
}

func call() dispatch.Call {
	return dispatch.Call{
		ID: "c1", Definition: &tool.Definition{Name: "t", InputSchema: json.RawMessage(`{}`)}, Arguments: json.RawMessage(`{}`),
		Classification: tool.Classification{Paths: []string{"p"}},
	}
}

// spoil changes everything that a stage can reach through a call.
func spoil(c dispatch.Call) {
	c.Definition.Name, c.Definition.InputSchema[0], c.Arguments[0], c.Classification.Paths[0] = "X", 'X', 'X', "X"
}

func TestGuardsOfPoliciesAndApprovers(t *testing.T) {
	verdict := dispatch.Verdict{Allow: true, By: "operator", Scope: "session", Rationale: "r"}
	var fail error
	judge := func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) { spoil(c); return verdict, fail }
	p, gp, _ := contained(t, dispatch.Policies, dispatch.PolicyFunc(judge))
	a, ga, _ := contained(t, dispatch.Approvers, dispatch.ApproverFunc(judge))
	for _, ask := range []func(context.Context, dispatch.Call) (dispatch.Verdict, error){p.Evaluate, a.Approve} {
		verdict, fail = dispatch.Verdict{Allow: true, By: "operator", Scope: "session", Rationale: "r"}, nil
		c := call()
		v, err := ask(context.Background(), c)
		require.NoError(t, err)
		assert.Equal(t, dispatch.Verdict{Allow: true, By: "stage", Rationale: "r"}, v)
		assert.Equal(t, call(), c)
		verdict = dispatch.Verdict{Code: "not a code", Message: "m", Params: map[string]any{"f": func() {}}}
		v, err = ask(context.Background(), c)
		require.NoError(t, err)
		assert.Equal(t, dispatch.Verdict{Message: "m", By: "stage"}, v)
		fail = errors.New("secret")
		v, err = ask(context.Background(), c)
		var failure *contrib.CallError
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, contrib.CauseError, failure.Cause)
		assert.NotContains(t, err.Error(), "secret")
		assert.False(t, v.Allow)
	}
	<-gp.Stop(contrib.StopOperator).Done()
	<-ga.Stop(contrib.StopOperator).Done()
	for _, ask := range []func(context.Context, dispatch.Call) (dispatch.Verdict, error){p.Evaluate, a.Approve} {
		v, err := ask(context.Background(), call())
		require.NoError(t, err, "a stage that is gone denies: it is not absent")
		assert.Equal(t, dispatch.Lost("acme.p"), v)
		assert.False(t, v.Allow)
	}
}

// FIELD-D4: a target that lost its winner is closed.
func TestStandInsDeny(t *testing.T) {
	_, g, r := contained(t, dispatch.Policies, dispatch.PolicyFunc(
		func(context.Context, dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil }),
		contrib.ReplaceTarget(dispatch.ToolPolicy+"bash"))
	<-g.Stop(contrib.StopFault).Done()
	in := dispatch.Policies.In(r.View(), "")
	require.Len(t, in, 1)
	v, err := in[0].Evaluate(context.Background(), call())
	require.NoError(t, err)
	assert.False(t, v.Allow)
	assert.Equal(t, map[string]any{"reason": "guardLost", "pluginId": "acme.p", "target": "policy:tool:bash"}, v.Params)
}

type spoiler struct{ ends []time.Duration }

func (s *spoiler) Started(_ context.Context, c dispatch.Call) error { spoil(c); return nil }

func (s *spoiler) Ended(_ context.Context, c dispatch.Call, r tool.Result, d time.Duration) error {
	spoil(c)
	r.Content[0].Text = "X"
	s.ends = append(s.ends, d)
	if len(r.Meta) > 0 {
		return errors.New("meta is for the host")
	}
	return nil
}

func TestGuardOfARecorder(t *testing.T) {
	own := &spoiler{}
	r, g, _ := contained(t, dispatch.Recorders, dispatch.Recorder(own))
	c, res := call(), tool.Text("x")
	res.Meta = json.RawMessage(`{}`)
	require.NoError(t, r.Started(context.Background(), c))
	require.NoError(t, r.Ended(context.Background(), c, res, time.Second))
	assert.Equal(t, call(), c)
	assert.Equal(t, "x", res.Content[0].Text)
	assert.Equal(t, []time.Duration{time.Second}, own.ends)
	<-g.Stop(contrib.StopOperator).Done()
	assert.ErrorIs(t, r.Started(context.Background(), c), contrib.ErrUnavailable)
}

func TestGuardOfANormalizer(t *testing.T) {
	var kept *tool.Result
	n, g, _ := contained(t, dispatch.Normalizers, dispatch.NormalizerFunc(
		func(_ context.Context, c dispatch.Call, r tool.Result) (*tool.Result, error) {
			spoil(c)
			r.Content[0].Text, r.Meta, r.Executed, r.Spill = "new", json.RawMessage(`1`), true, "/x"
			kept = &r
			return kept, nil
		}))
	given := tool.Text("old")
	given.Meta = json.RawMessage(`{"host":1}`)
	c := call()
	out, err := n.Normalize(context.Background(), c, given)
	require.NoError(t, err)
	assert.Equal(t, "old", given.Content[0].Text)
	assert.Equal(t, call(), c)
	kept.Content[0].Text = "later"
	assert.Equal(t, tool.Result{Content: tool.Text("new").Content, Meta: given.Meta}, *out)
	<-g.Stop(contrib.StopOperator).Done()
	out, err = n.Normalize(context.Background(), c, given)
	require.NoError(t, err)
	assert.Nil(t, out, "the result before stands")
}
