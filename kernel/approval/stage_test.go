package approval_test

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

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// The two tables of the modes, cell by cell. A reviewer that allows stands for "review", an operator who allows for "ask".
func TestModes(t *testing.T) {
	modes := []string{"plan", "default", "edit", "review", "audit", "full"}
	readWS, writeWS := class(tool.Read, tool.Workspace), class(tool.Write, tool.Workspace)
	required := class(tool.Read, tool.Workspace)
	required.RequirePrompt = true
	always := writeWS
	always.Always = true
	raised := class(tool.Privileged, tool.Workspace)
	raised.Always = true
	external := pluginTool("home/x", "lookup")
	external.Key.Kind = tool.OwnerExternal
	const auto, ask, review, rejected = "auto", "operator", "reviewer", "mode"
	tests := []struct {
		name  string
		tool  *tool.Definition
		class tool.Classification
		want  [6]string
	}{
		{"read", builtinTool("read"), readWS, [6]string{auto, auto, auto, auto, auto, auto}},
		{"plugin tool that reads", pluginTool("p", "x"), readWS, [6]string{auto, auto, auto, auto, auto, auto}},
		{"bash that reads", builtinTool("bash"), readWS, [6]string{rejected, auto, auto, auto, auto, auto}},
		{"write", builtinTool("write"), writeWS, [6]string{rejected, ask, auto, auto, review, auto}},
		{"edit", builtinTool("edit"), writeWS, [6]string{rejected, ask, auto, auto, review, auto}},
		{"bash", builtinTool("bash"), writeWS, [6]string{rejected, ask, ask, review, review, auto}},
		{"plugin tool that writes", pluginTool("p", "write"), writeWS, [6]string{ask, ask, ask, review, review, auto}},
		{"external tool", external, writeWS, [6]string{ask, ask, ask, review, review, auto}},
		{"external tool, always", external, always, [6]string{auto, auto, auto, auto, auto, auto}},
		{"external tool, always, raised", external, raised, [6]string{ask, ask, ask, review, review, ask}},
		{"plugin tool that claims always", pluginTool("p", "x"), always, [6]string{ask, ask, ask, review, review, auto}},
		{"outside", builtinTool("read"), class(tool.Read, tool.OutsideWorkspace), [6]string{ask, ask, ask, review, review, ask}},
		{"network", pluginTool("p", "x"), class(tool.Write, tool.Network), [6]string{ask, ask, ask, review, review, ask}},
		{"privileged", pluginTool("p", "x"), class(tool.Privileged, tool.Workspace), [6]string{ask, ask, ask, review, review, ask}},
		{"required", builtinTool("read"), required, [6]string{ask, ask, ask, ask, ask, ask}},
		{"forbidden", builtinTool("read"), class(tool.Forbidden, tool.PrivilegedEscalation), [6]string{ask, ask, ask, ask, ask, ask}},
		{"no class", pluginTool("p", "x"), tool.Classification{}, [6]string{ask, ask, ask, review, review, ask}},
	}
	for _, tt := range tests {
		for i, mode := range modes {
			t.Run(tt.name+" in "+mode, func(t *testing.T) {
				s := approval.New(approval.Config{}, answers(approval.Once), approval.ReviewerFunc(
					func(context.Context, dispatch.Call) (approval.Review, error) {
						return approval.Review{Outcome: approval.ReviewAllow, Rationale: "fine"}, nil
					}))
				c := dispatch.Call{Thread: "t1", Definition: tt.tool, Classification: tt.class, Mode: "work", Approval: mode, Workspace: "/ws"}
				if mode == "plan" {
					c.Mode, c.Approval = "plan", "full"
				}
				v := decide(t, s, c)
				assert.Equal(t, tt.want[i], v.By)
				assert.Equal(t, tt.want[i] != rejected, v.Allow)
				if !v.Allow {
					assert.Equal(t, tool.CodeApprovalRejected, v.Code)
				}
			})
		}
	}
}

// APPR-1
func TestARequiredPromptIsAskedEvenInFull(t *testing.T) {
	op := answers(approval.Once)
	s := approval.New(approval.Config{}, op, nil)
	k := class(tool.Read, tool.Workspace)
	k.RequirePrompt = true
	c := dispatch.Call{Thread: "t1", Definition: builtinTool("read"), Classification: k, Approval: "full", Arguments: json.RawMessage(`{"path":"a.txt"}`)}
	assert.Equal(t, "operator", decide(t, s, c).By)
	require.Equal(t, 1, op.asked())
	assert.False(t, op.prompts[0].Storable)
}

// APPR-3
func TestAReviewerOfAForbiddenCall(t *testing.T) {
	outcome := approval.ReviewAllow
	op := answers(approval.Once)
	s := approval.New(approval.Config{}, op, approval.ReviewerFunc(func(context.Context, dispatch.Call) (approval.Review, error) {
		return approval.Review{Outcome: outcome, Rationale: "because", RiskLevel: "high"}, nil
	}))
	c := bashCall("review", "rm -rf /", class(tool.Forbidden, tool.PrivilegedEscalation))
	assert.Equal(t, "operator", decide(t, s, c).By, "allowing does not suffice")
	assert.Equal(t, "because", op.prompts[0].Rationale)

	outcome = approval.ReviewDeny
	v := decide(t, s, c)
	assert.False(t, v.Allow)
	assert.Equal(t, "reviewer", v.By)
	assert.Contains(t, v.Message, "because")
	assert.Contains(t, v.Message, "another way")
	assert.Equal(t, map[string]any{"by": "reviewer", "riskLevel": "high", "userAuthorization": ""}, v.Params)
	assert.Equal(t, 1, op.asked())
}

// APPR-8
func TestAReviewWithoutAnAnswerAsks(t *testing.T) {
	for _, err := range []error{errors.New("provider is down"), approval.ErrNoEvidence} {
		op := answers(approval.Once)
		s := approval.New(approval.Config{}, op, approval.ReviewerFunc(func(context.Context, dispatch.Call) (approval.Review, error) {
			return approval.Review{Outcome: approval.ReviewAllow}, err
		}))
		assert.Equal(t, "operator", decide(t, s, bashCall("review", "make", class(tool.Write, tool.Workspace))).By)
	}
}

func TestAReviewEndsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := approval.New(approval.Config{}, answers(approval.Once), approval.ReviewerFunc(
			func(ctx context.Context, _ dispatch.Call) (approval.Review, error) {
				<-ctx.Done()
				return approval.Review{Outcome: approval.ReviewAllow}, nil
			}))
		start := time.Now()
		assert.Equal(t, "operator", decide(t, s, bashCall("audit", "make", class(tool.Write, tool.Workspace))).By)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

// FIELD-V6 (the text), FIELD-B10 (that nobody was there is not that somebody declined)
func TestNobodyToAsk(t *testing.T) {
	for _, s := range []*approval.Stage{approval.New(approval.Config{}, nil, nil), approval.New(approval.Config{}, answers(), nil)} {
		v := decide(t, s, bashCall("default", "touch x", class(tool.Write, tool.Workspace)))
		assert.False(t, v.Allow)
		assert.Equal(t, "no_operator", v.By)
		assert.Equal(t, tool.CodeApprovalRejected, v.Code)
		assert.Contains(t, v.Message, "--approval")
		assert.Contains(t, v.Message, "grant")
		assert.NotContains(t, v.Message, "declined")
	}
}

// FIELD-B10
func TestTheOperatorDeclines(t *testing.T) {
	op := &script{answers: []approval.Answer{{}, {Choice: approval.No, Message: "use make"}, {Choice: 99}}}
	s := approval.New(approval.Config{}, op, nil)
	c := bashCall("default", "touch x", class(tool.Write, tool.Workspace))
	v := decide(t, s, c)
	assert.False(t, v.Allow, "the zero answer is no")
	assert.Equal(t, map[string]any{"by": "operator"}, v.Params)
	assert.Contains(t, decide(t, s, c).Message, "use make")
	assert.False(t, decide(t, s, c).Allow)
}

func TestAFailingOperatorIsAFailureOfTheStage(t *testing.T) {
	broken := errors.New("terminal is gone")
	s := approval.New(approval.Config{}, approval.OperatorFunc(func(context.Context, approval.Prompt) (approval.Answer, error) {
		return approval.Answer{Choice: approval.Once}, broken
	}), nil)
	for _, c := range []dispatch.Call{bashCall("default", "x", class(tool.Write, tool.Workspace)), {}} {
		v, err := s.Approve(context.Background(), c)
		assert.ErrorIs(t, err, broken)
		assert.False(t, v.Allow)
	}
}

func TestCancellingEndsTheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := approval.New(approval.Config{}, approval.OperatorFunc(func(ctx context.Context, _ approval.Prompt) (approval.Answer, error) {
			<-ctx.Done()
			return approval.Answer{Choice: approval.Once}, nil
		}), nil)
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				v, err := s.Approve(ctx, bashCall("default", "x", class(tool.Write, tool.Workspace)))
				assert.ErrorIs(t, err, context.Canceled)
				assert.False(t, v.Allow)
			})
		}
		synctest.Wait()
		cancel()
		group.Wait()
	})
}

func TestOnePromptAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type open struct {
			thread, command string
			answer          chan approval.Answer
		}
		opened := make(chan open)
		s := approval.New(approval.Config{}, approval.OperatorFunc(func(_ context.Context, p approval.Prompt) (approval.Answer, error) {
			o := open{p.Call.Thread, p.Call.ID, make(chan approval.Answer)}
			opened <- o
			return <-o.answer, nil
		}), nil)
		var group sync.WaitGroup
		ask := func(ctx context.Context, thread, id string) {
			group.Go(func() {
				c := bashCall("default", id, class(tool.Write, tool.Workspace))
				c.Thread, c.ID = thread, id
				_, _ = s.Approve(ctx, c)
			})
			synctest.Wait()
		}
		gone, leave := context.WithCancel(context.Background())
		ask(context.Background(), "a", "a1")
		ask(context.Background(), "a", "a2")
		ask(gone, "a", "a3")
		ask(context.Background(), "a", "a4")
		first := <-opened
		assert.Equal(t, "a1", first.command)
		ask(context.Background(), "b", "b1")
		other := <-opened
		assert.Equal(t, "b1", other.command, "another thread does not wait")
		leave()
		synctest.Wait()
		first.answer <- approval.Answer{}
		second := <-opened
		assert.Equal(t, "a2", second.command)
		second.answer <- approval.Answer{}
		last := <-opened
		assert.Equal(t, "a4", last.command, "the one that gave up is not asked")
		last.answer <- approval.Answer{}
		other.answer <- approval.Answer{}
		group.Wait()
	})
}

func TestAnAnswerCoversThoseThatWaitForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		asked := 0
		s := approval.New(approval.Config{}, approval.OperatorFunc(func(context.Context, approval.Prompt) (approval.Answer, error) {
			asked++
			<-release
			return approval.Answer{Choice: approval.Session}, nil
		}), nil)
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				v, err := s.Approve(context.Background(), bashCall("default", "make", class(tool.Write, tool.Workspace)))
				assert.NoError(t, err)
				assert.True(t, v.Allow)
			})
		}
		synctest.Wait()
		close(release)
		group.Wait()
		assert.Equal(t, 1, asked)
	})
}

func TestPassingAllocatesNothing(t *testing.T) {
	s := approval.New(approval.Config{}, nil, nil)
	c := bashCall("full", "make", class(tool.Write, tool.Workspace))
	ctx := context.Background()
	var approver dispatch.Approver = s
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = approver.Approve(ctx, c) }))
	policy := approval.Policy()
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = policy.Evaluate(ctx, c) }))
}

func TestDefaultPolicy(t *testing.T) {
	write := class(tool.Write, tool.Workspace)
	with := func(k tool.Classification, paths ...string) tool.Classification { k.Paths = paths; return k }
	plugin := pluginTool("acme.a", "send")
	for name, tt := range map[string]struct {
		k     tool.Classification
		owner *tool.Definition // nil: a built-in tool
		allow bool
	}{
		"no paths":               {write, nil, true},
		"inside":                 {with(write, "/ws/a", "/ws"), nil, true},
		"one outside":            {with(write, "/ws/a", "/elsewhere/x"), nil, false},
		"a name that begins so":  {with(write, "/ws2/x"), nil, false},
		"privileged":             {with(class(tool.Privileged, tool.Workspace), "/elsewhere/x"), nil, false},
		"a read":                 {with(class(tool.Read, tool.Workspace), "/elsewhere/x"), nil, true},
		"classified as outside":  {with(class(tool.Write, tool.OutsideWorkspace), "/elsewhere/x"), nil, true},
		"a plugin's tool":        {with(write, "/elsewhere/x"), plugin, true},
		"no class":               {tool.Classification{}, nil, false},
		"no authority":           {tool.Classification{Risk: tool.Read}, nil, false},
		"no risk":                {tool.Classification{Authority: tool.Workspace}, nil, false},
		"no class of a plugin's": {tool.Classification{}, plugin, false},
	} {
		c := bashCall("full", "make", tt.k)
		c.Workspace = "/ws"
		if tt.owner != nil {
			c.Definition = tt.owner
		}
		v, err := approval.Policy().Evaluate(context.Background(), c)
		require.NoError(t, err)
		assert.Equal(t, tt.allow, v.Allow, name)
		if !tt.allow {
			assert.Equal(t, tool.CodeAccessDenied, v.Code, name)
		}
	}
}

func BenchmarkPass(b *testing.B) {
	s := approval.New(approval.Config{}, nil, nil)
	c := bashCall("full", "make", class(tool.Write, tool.Workspace))
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Approve(ctx, c)
	}
}
