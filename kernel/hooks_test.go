package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/tool"
)

func onCall(f func(c hook.Call) (*hook.Call, error), opts ...contrib.Option) fx.Option {
	return contrib.Supply[hook.ToolCall](hook.ToolCalls,
		hook.ToolCallFunc(func(_ context.Context, c hook.Call) (*hook.Call, error) { return f(c) }), opts...)
}

func withArguments(c hook.Call, text string) (*hook.Call, error) {
	c.Arguments = json.RawMessage(text)
	return &c, nil
}

// FIELD-A1
func TestRewritingHooksComposeInResolvedOrder(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			k := kerneltest.Start(t,
				kerneltest.Script(call("bash", `{"command":"x"}`)),
				kerneltest.Tools(reading("bash", answering("ran"))),
				kerneltest.Plugins(
					plugin("acme.a", onCall(func(c hook.Call) (*hook.Call, error) {
						time.Sleep(200 * time.Millisecond)
						return withArguments(c, `{"command":"A"}`)
					})),
					plugin("acme.b", onCall(func(c hook.Call) (*hook.Call, error) {
						return withArguments(c, strings.Replace(string(c.Arguments), `"}`, `B"}`, 1))
					})),
				))
			turn := k.Run("go")
			require.Len(t, turn.Calls(), 1)
			assert.Equal(t, `{"command":"AB"}`, turn.Calls()[0].Arguments)
			assert.Equal(t, &kernel.CallForm{Name: "bash", Arguments: `{"command":"x"}`}, turn.Calls()[0].Original)
			assert.Equal(t, `{"command":"AB"}`, stored[*threadlog.Call](t, k, k.Thread())[0].Effective.Arguments)
			assert.Equal(t, `{"command":"x"}`, stored[*threadlog.Round](t, k, k.Thread())[0].Items[0].Arguments)
		})
	}
}

// FIELD-A2
func TestNothingReturnedKeepsWhatAnEarlierHookChanged(t *testing.T) {
	change := onCall(func(c hook.Call) (*hook.Call, error) { return withArguments(c, `{"path":"b.txt"}`) })
	keep := onCall(func(hook.Call) (*hook.Call, error) { return nil, nil })
	for name, order := range map[string][]fx.Option{"changes first": {change, keep}, "changes last": {keep, change}} {
		t.Run(name, func(t *testing.T) {
			f := abc()
			k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`)), kerneltest.Tools(f.tool()),
				kerneltest.Plugins(plugin("acme.p", order...)))
			k.Run("go")
			assert.Equal(t, []string{"b.txt"}, f.seen())
		})
	}
}

// FIELD-A3
func TestEveryHookHasItsOwnCopy(t *testing.T) {
	for name, install := range map[string]func(...fx.Option) fx.Option{
		"plugin": func(o ...fx.Option) fx.Option { return kerneltest.Plugins(plugin("acme.p", o...)) },
		"module": fx.Options,
	} {
		t.Run(name, func(t *testing.T) {
			f := abc()
			got := ""
			k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`)), kerneltest.Tools(f.tool()), install(
				onCall(func(c hook.Call) (*hook.Call, error) {
					copy(c.Arguments, `{"path":"evil!`)
					return nil, nil
				}),
				onCall(func(c hook.Call) (*hook.Call, error) {
					got = string(c.Arguments)
					return nil, nil
				}),
			))
			turn := k.Run("go")
			assert.Equal(t, `{"path":"a.txt"}`, got)
			assert.Equal(t, []string{"a.txt"}, f.seen())
			assert.Nil(t, turn.Calls()[0].Original)
		})
	}
}

var png = []byte("\x89PNG\r\n\x1a\n and the rest")

// FIELD-A4
func TestResultHooksBuildOnEachOther(t *testing.T) {
	onResult := func(f func(r hook.Result) (*hook.Result, error)) fx.Option {
		return contrib.Supply[hook.ToolResult](hook.ToolResults,
			hook.ToolResultFunc(func(_ context.Context, _ hook.Call, r hook.Result) (*hook.Result, error) { return f(r) }))
	}
	k := kerneltest.Start(t, kerneltest.Script(call("shot", `{}`)),
		kerneltest.Tools(reading("shot", func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Result{Content: []tool.Block{{Text: "x"}, {MediaType: "image/png", Data: png}}}, nil
		})),
		kerneltest.Plugins(plugin("acme.p",
			onResult(func(r hook.Result) (*hook.Result, error) { return &hook.Result{Text: r.Text + "1", Success: true}, nil }),
			onResult(func(r hook.Result) (*hook.Result, error) {
				return &hook.Result{Text: r.Text + "2", Success: true, Images: r.Images}, nil
			}),
		)))
	k.Run("go")
	got := results(last(k))
	require.Len(t, got, 1)
	assert.Equal(t, "x12\n"+threadlog.Marker(1), got[0].Text)
	require.Len(t, got[0].Images, 1)
	assert.Equal(t, png, got[0].Images[0].Data)
}

func guardHook() hook.ToolCall {
	return hook.ToolCallFunc(func(context.Context, hook.Call) (*hook.Call, error) { return nil, errors.New("no") })
}

// FIELD-A5
func TestOneLabelInTwoPluginsIsTwoHooks(t *testing.T) {
	guard := contrib.Supply(hook.ToolCalls, guardHook(), contrib.Label("guard"))
	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`)), kerneltest.Tools(f.tool()),
		kerneltest.Plugins(plugin("acme.p", guard), plugin("acme.q", guard)))
	turn := k.Run("go")
	assert.Equal(t, []string{"acme.p/guard error", "acme.q/guard error"}, failures(turn))
	assert.Equal(t, []string{"a.txt"}, f.seen())
}

// bash is a shell tool whose rule knows one forbidden command.
func bash(started *atomic.Int32) tool.Registration {
	r := writing("bash", func(context.Context, tool.Invocation) (tool.Result, error) {
		started.Add(1)
		return tool.Text("ran"), nil
	})
	r.Binding.Classify = func(_ context.Context, c tool.Call, _ string) tool.Classification {
		k := tool.Classification{Risk: tool.Write, Authority: tool.Workspace}
		if strings.Contains(string(c.Arguments), "rm -rf /") {
			k = tool.Classification{Risk: tool.Forbidden, Authority: tool.PrivilegedEscalation}
		}
		return k
	}
	return r
}

// FIELD-A6
func TestRewrittenCallIsClassifiedAndApprovedAgain(t *testing.T) {
	var started atomic.Int32
	k := kerneltest.Start(t, kerneltest.Script(call("bash", `{"command":"ls"}`)), kerneltest.Tools(bash(&started)),
		kerneltest.Plugins(plugin("acme.p", onCall(func(c hook.Call) (*hook.Call, error) { return withArguments(c, `{"command":"rm -rf /"}`) }))))
	turn := k.Run("go")
	assert.Zero(t, started.Load())
	assert.Equal(t, tool.CodeApprovalRejected, turn.Calls()[0].Code)
	assert.Equal(t, tool.Forbidden.String(), turn.Calls()[0].Risk)
	assert.Equal(t, 1, turn.Result.Denials)
	assert.Equal(t, kernel.Completed, turn.Result.Stop)
}

// FIELD-A7, HOOK-13
func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	read := tool.Read
	policies := map[string]func(context.Context, dispatch.Call) (dispatch.Verdict, error){
		"allows": func(context.Context, dispatch.Call) (dispatch.Verdict, error) { return dispatch.Allowed(), nil },
		"denies": func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
			return dispatch.Denied("acme_denied", "No."), nil
		},
		"fails": func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
			return dispatch.Verdict{}, errors.New("broken")
		},
	}
	advices := map[string]*hook.Advice{"nothing": nil, "prompt": {RequirePrompt: true}, "read": {Risk: &read}}
	for policy, evaluate := range policies {
		for advice, a := range advices {
			t.Run(policy+" and "+advice, func(t *testing.T) {
				k := kerneltest.Start(t, kerneltest.Script(call("probe", `{}`)), kerneltest.Answers(approval.Once),
					kerneltest.Plugins(plugin("acme.p",
						source(writing("probe", answering("ran"))),
						contrib.Supply(dispatch.Policies, dispatch.PolicyFunc(evaluate)),
						contrib.Supply[hook.Approval](hook.Approvals,
							hook.ApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*hook.Advice, error) { return a, nil })),
					)))
				turn := k.Run("go")
				require.Len(t, turn.Calls(), 1)
				prompts := 0
				code := map[string]string{"allows": "", "denies": "acme_denied", "fails": tool.CodePolicyFailed}[policy]
				if policy == "allows" && advice == "prompt" {
					prompts = 1
				}
				assert.Equal(t, code, turn.Calls()[0].Code)
				assert.Len(t, k.Operator.Asked(), prompts)
				lowered := 0
				for _, n := range turn.Notes() {
					if n.Code == "ApprovalLoweringIgnored" {
						lowered++
					}
				}
				assert.Equal(t, policy == "allows" && advice == "read", lowered == 1, "%v", turn.Notes())
			})
		}
	}
}

// FIELD-A11, TOOL-14 (2)
func TestToolThatCallsAToolStaysInThePipeline(t *testing.T) {
	f := abc()
	var mu sync.Mutex
	var seen []string
	note := func(where, id, parent, name string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, where+" "+id+" "+parent+" "+name)
	}
	outer := reading("outer", func(ctx context.Context, i tool.Invocation) (tool.Result, error) {
		r, err := i.Call(ctx, "read", json.RawMessage(`{"path":"a.txt"}`))
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Text("inner: " + r.Error.Code), nil
	})
	k := kerneltest.Start(t, kerneltest.Script(call("outer", `{}`)), kerneltest.Tools(f.tool()),
		kerneltest.Plugins(plugin("acme.p", source(outer),
			onCall(func(c hook.Call) (*hook.Call, error) {
				note("hook", c.ID, c.ParentID, c.Tool)
				return nil, nil
			}),
			contrib.Supply[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(func(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
				note("policy", c.ID, c.ParentID, c.Definition.Name)
				return dispatch.Verdict{Allow: c.Definition.Name != "read", Code: "acme_denied"}, nil
			})),
		)))
	turn := k.Run("go")
	assert.Equal(t, []string{"hook c1  outer", "policy c1  outer", "hook c1/1 c1 read", "policy c1/1 c1 read"}, seen)
	assert.Empty(t, f.seen())
	ended := turn.Calls()
	require.Len(t, ended, 2)
	assert.Equal(t, "c1/1", ended[0].CallID)
	assert.Equal(t, "acme_denied", ended[0].Code)
	assert.Equal(t, "c1", ended[0].ParentID)
	assert.Equal(t, "inner: acme_denied", ended[1].Text)
	// What the model sees holds the outer call alone.
	assert.Len(t, results(last(k)), 1)
}

// FIELD-A18
func TestObserversDoNotReorderTheLog(t *testing.T) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			step := call("read", `{"path":"a.txt"}`)
			step.Text = "reading"
			k := kerneltest.Start(t, kerneltest.Script(step), kerneltest.Tools(abc().tool()), kerneltest.Plugins(plugin("acme.p",
				contrib.Supply[hook.ModelResponse](hook.ModelResponses, hook.ModelResponseFunc(func(context.Context, hook.Response) error {
					time.Sleep(50 * time.Millisecond)
					return nil
				})))))
			k.Run("go")
			var order []string
			for _, r := range records(t, k, k.Thread()) {
				switch r := r.(type) {
				case *threadlog.Round:
					for _, it := range r.Items {
						order = append(order, string(it.Kind))
					}
				case *threadlog.Call, *threadlog.Result:
					order = append(order, r.Kind())
				}
			}
			assert.Equal(t, []string{"message", "tool_call", "call", "result", "message"}, order)
		})
	}
}

// FIELD-B1
func TestFailingPolicyDeniesAndItsTextStaysInTheLogFile(t *testing.T) {
	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`), say("sorry")), kerneltest.Tools(f.tool()),
		kerneltest.Plugins(plugin("acme.p", contrib.Supply[dispatch.Policy](dispatch.Policies,
			dispatch.PolicyFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
				return dispatch.Verdict{}, errors.New("boom secret-123")
			})))))
	turn := k.Run("go")
	assert.Equal(t, tool.CodePolicyFailed, turn.Calls()[0].Code)
	assert.Empty(t, f.seen())
	assert.False(t, contains(t, turn.Events, "secret-123"))
	assert.Len(t, k.Model.Requests(), 2)
	assert.NotContains(t, results(last(k))[0].Text, "secret-123")
}

// FIELD-B6
func TestPanickingToolShowsNothing(t *testing.T) {
	k := kerneltest.Start(t, kerneltest.Script(call("probe", `{}`), say("hm")),
		kerneltest.Plugins(plugin("acme.p", source(reading("probe", func(context.Context, tool.Invocation) (tool.Result, error) {
			panic("password hunter2")
		})))))
	turn := k.Run("go")
	assert.Equal(t, tool.CodeExecutionFailed, turn.Calls()[0].Code)
	assert.Contains(t, turn.Calls()[0].Text, "The tool failed.")
	assert.False(t, contains(t, turn.Events, "hunter2"))
	assert.Len(t, k.Model.Requests(), 2)
}

// FIELD-B7
func TestSlowStagesEndAtTheirDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`), say("ok")), kerneltest.Tools(abc().tool()),
			kerneltest.Plugins(plugin("acme.p",
				contrib.Supply[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
					<-forever
					return dispatch.Allowed(), nil
				}), contrib.Deadline(time.Second)),
				contrib.Supply[hook.ModelResponse](hook.ModelResponses, hook.ModelResponseFunc(func(context.Context, hook.Response) error {
					<-forever
					return nil
				}), contrib.Deadline(time.Second), contrib.Label("slow")),
			)))
		start := time.Now()
		turn := k.Run("go")
		assert.Equal(t, 2*time.Second, time.Since(start), "the observer is skipped while its first call has not returned")
		assert.Equal(t, tool.CodePolicyFailed, turn.Calls()[0].Code)
		assert.Equal(t, []string{"acme.p/slow deadline"}, failures(turn))
		assert.Equal(t, kernel.Completed, turn.Result.Stop)
		close(forever)
	})
}

// FIELD-B10
func TestFourWaysNotToRunHaveFourCodes(t *testing.T) {
	policy := func(f func(context.Context, dispatch.Call) (dispatch.Verdict, error)) fx.Option {
		return kerneltest.Plugins(plugin("acme.p", contrib.Supply(dispatch.Policies, dispatch.PolicyFunc(f))))
	}
	approver := kerneltest.Plugins(plugin("acme.p", contrib.Supply[dispatch.Approver](dispatch.Approvers,
		dispatch.ApproverFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
			return dispatch.Verdict{}, errors.New("broken")
		}))))
	ctx, cancel := context.WithCancel(t.Context())
	waiting := fx.Supply(fx.Annotate(approval.OperatorFunc(func(ctx context.Context, _ approval.Prompt) (approval.Answer, error) {
		cancel()
		<-ctx.Done()
		return approval.Answer{Choice: approval.Once}, nil
	}), fx.As(new(approval.Operator))))
	for _, c := range []struct {
		name   string
		option fx.Option
		code   string
		stop   kernel.StopReason
	}{
		{"operator", kerneltest.Answers(approval.No), tool.CodeApprovalRejected, kernel.Completed},
		{"policy", policy(func(context.Context, dispatch.Call) (dispatch.Verdict, error) { return dispatch.Verdict{}, nil }), tool.CodeUnauthorized, kernel.Completed},
		{"approver", approver, tool.CodeApprovalFailed, kernel.Completed},
		{"cancel", waiting, tool.CodeCancelled, kernel.Interrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := kerneltest.Start(t, kerneltest.Script(call("change", `{}`)), kerneltest.Tools(writing("change", answering("ran"))), c.option)
			turn := k.RunOn(ctx, k.NewThread(kernel.Options{Approval: kernel.ApprovalDefault}), kernel.Input{Text: "go"})
			require.Len(t, turn.Calls(), 1)
			assert.Equal(t, c.code, turn.Calls()[0].Code)
			assert.Equal(t, c.name == "operator", strings.Contains(turn.Calls()[0].Text, "The operator declined"))
			assert.Equal(t, c.stop, turn.Result.Stop)
		})
	}
}

// FIELD-B19
func TestUserMessageCannotBeBlanked(t *testing.T) {
	message := func(f func(string) string) fx.Option {
		return contrib.Supply[hook.UserMessage](hook.UserMessages,
			hook.UserMessageFunc(func(_ context.Context, _ hook.Scope, text string) (string, bool, error) { return f(text), true, nil }))
	}
	k := kerneltest.Start(t, kerneltest.Script(), kerneltest.Plugins(plugin("acme.p",
		message(func(string) string { return "  \n" }), message(func(s string) string { return s + " please " }))))
	k.Run("go")
	assert.Equal(t, "go please", stored[*threadlog.Turn](t, k, k.Thread())[0].Item.Text)
}

// FIELD-B21
func TestOneNoteForEachCauseAndTurn(t *testing.T) {
	var steps []kerneltest.Step
	for range 2 {
		for i := range 19 {
			steps = append(steps, call("read", `{"path":"`+strconv.Itoa(i)+`"}`))
		}
		steps = append(steps, say("done"))
	}
	k := kerneltest.Start(t, kerneltest.Script(steps...), kerneltest.Tools(abc().tool()), kerneltest.Plugins(plugin("acme.p",
		contrib.Supply[hook.ModelResponse](hook.ModelResponses,
			hook.ModelResponseFunc(func(context.Context, hook.Response) error { return errors.New("again") }), contrib.Label("o")))))
	assert.Equal(t, []string{"acme.p/o error"}, failures(k.Run("one")))
	assert.Equal(t, []string{"acme.p/o error"}, failures(k.Run("two")))
}

// HOOK-7
func TestChangedCallIDIsRefused(t *testing.T) {
	f := abc()
	k := kerneltest.Start(t, kerneltest.Script(call("read", `{"path":"a.txt"}`)), kerneltest.Tools(f.tool()),
		kerneltest.Plugins(plugin("acme.p",
			onCall(func(c hook.Call) (*hook.Call, error) {
				c.ID = "c2"
				return &c, nil
			}, contrib.Label("renames")),
			onCall(func(c hook.Call) (*hook.Call, error) { return withArguments(c, `{"path":"b.txt"}`) }),
		)))
	turn := k.Run("go")
	assert.Equal(t, []string{"acme.p/renames refused"}, failures(turn))
	assert.Equal(t, "c1", turn.Calls()[0].CallID)
	assert.Equal(t, []string{"b.txt"}, f.seen())
}

// HOOK-8
func TestNextRequestCarriesTheCallAsTheModelMadeIt(t *testing.T) {
	got := ""
	write := writing("write", func(_ context.Context, i tool.Invocation) (tool.Result, error) {
		got = string(i.Arguments)
		return tool.Text("ok"), nil
	})
	k := kerneltest.Start(t, kerneltest.Script(call("write", `{"path":"a"}`)), kerneltest.Tools(write),
		kerneltest.Plugins(plugin("acme.p", onCall(func(c hook.Call) (*hook.Call, error) { return withArguments(c, `{"path":"b"}`) }))))
	k.Run("go")
	assert.Equal(t, `{"path":"b"}`, got)
	for _, it := range last(k).Items {
		if it.Kind == model.ToolCall {
			assert.Equal(t, `{"path":"a"}`, it.Arguments)
		}
	}
	assert.Equal(t, `{"path":"b"}`, stored[*threadlog.Call](t, k, k.Thread())[0].Effective.Arguments)
}

// HOOK-9
func TestImagesOfAHookAreIgnoredWhereTheModelTakesNone(t *testing.T) {
	k := kerneltest.Start(t,
		kerneltest.ScriptOf(model.ClientRequest{ContextWindow: 128_000}, calls("a", `{}`, "a", `{"n":1}`, "a", `{"n":2}`)),
		kerneltest.Tools(reading("a", answering("x"))),
		kerneltest.Plugins(plugin("acme.p", contrib.Supply[hook.ToolResult](hook.ToolResults,
			hook.ToolResultFunc(func(_ context.Context, _ hook.Call, r hook.Result) (*hook.Result, error) {
				return &hook.Result{Text: r.Text + "!", Success: true, Images: []hook.Image{{MediaType: "image/png", Data: png}}}, nil
			})))))
	turn := k.Run("go")
	notes := 0
	for _, n := range turn.Notes() {
		if n.Code == "HookImagesIgnored" {
			notes++
		}
	}
	assert.Equal(t, 1, notes)
	for _, r := range results(last(k)) {
		assert.Equal(t, "x!", r.Text)
		assert.Empty(t, r.Images)
	}
}

// HOOK-14
func TestRawHooksMayLowerAClassification(t *testing.T) {
	rewrite := func(k tool.Classification) fx.Option {
		return contrib.Supply[rawhook.RewriteApproval](rawhook.RewriteApprovals,
			rawhook.RewriteApprovalFunc(func(context.Context, hook.Call, tool.Classification) (*tool.Classification, error) { return &k, nil }))
	}
	k := kerneltest.Start(t, kerneltest.Script(call("change", `{}`)), kerneltest.Answers(approval.Once),
		kerneltest.Tools(writing("change", answering("ran"))),
		kerneltest.Plugins(plugin("acme.p",
			rewrite(tool.Classification{Risk: tool.Read, Authority: tool.Workspace}),
			rewrite(tool.Classification{Risk: tool.Forbidden, Authority: tool.Network}),
		)))
	turn := k.Run("go")
	require.Len(t, k.Operator.Asked(), 1)
	assert.Equal(t, "Forbidden, Network", k.Operator.Asked()[0].Class)
	assert.Empty(t, k.Operator.Asked()[0].Summary)
	assert.Equal(t, model.Success, turn.Calls()[0].Status)
	for _, n := range turn.Notes() {
		assert.NotEqual(t, "ApprovalLoweringIgnored", n.Code)
	}
}
